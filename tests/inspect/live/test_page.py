"""The page in a real browser: what it shows, and that it asks nobody else."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from beamlike.inspect.live.history import History
from beamlike.inspect.live.server import PageServer
from beamlike.inspect.queries.progress import Progress
from tests.support.queries.reports import report

pytestmark = pytest.mark.browser

Open = Callable[..., Any]
HOURS = {
    "panes_early": 4,
    "panes_on_time": 2,
    "dropped_expired": 3,
    "dropped_null_key": 1,
    "windows_open": 7,
    "watermark": 1_577_837_700_000,
}
DAYS = {"panes_late": 5, "windows_open": 2}


@pytest.fixture
def shown(browser: Any) -> Iterator[Open]:
    """Opens the page of a history. Nothing may go wrong in it, and nothing else be asked for."""
    closing: list[Callable[[], None]] = []
    complaints: list[str] = []

    def show(history: History, **how: Any) -> Any:
        server = PageServer(history)
        page = browser.new_page(**how)
        page.clock.install()  # it goes on by itself, and may be told to go faster
        closing.extend((page.close, server.close))
        page.on("console", lambda it: complaints.append(it.text))
        page.on("pageerror", lambda it: complaints.append(str(it)))

        def asked(request: Any) -> None:
            if not request.url.startswith((server.url, "data:,")):
                complaints.append(request.url)

        page.on("request", asked)
        page.goto(server.url)
        page.locator("#clock:not(:empty)").wait_for()
        return page

    yield show
    for close in closing:
        close()
    assert complaints == []


def running(*metrics: dict[str, Any], name: str = "sales", run: str = "r") -> History:
    """A query with a micro-batch for each of these metrics."""
    history = History()
    for batch, of_batch in enumerate(metrics):
        reported = report(
            batch,
            run=run,
            name=name,
            took=800,
            parts={"addBatch": 600, "walCommit": 150},
            watermark="2020-01-01T00:15:00.000Z",
            newest="2020-01-01T00:25:00.000Z",
            metrics=of_batch,
        )
        history.progressed(Progress.of(reported))
    return history


def table(page: Any, body: str) -> list[list[str]]:
    """The rows of a table, cell by cell."""
    rows = page.locator(f"#{body} tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def facts(page: Any) -> dict[str, list[str]]:
    """What the boxes at the top say: the number, and the line below it."""
    return {
        it.locator("dt").inner_text(): it.locator("dd").all_inner_texts()
        for it in page.locator("#facts > div").all()
    }


def test_before_any_query_the_page_says_what_it_waits_for(shown: Open) -> None:
    page = shown(History())
    assert page.inner_text("body").splitlines()[-1] == (
        "No streaming query yet. As soon as one starts in this session, it is here."
    )
    assert page.locator("main").is_hidden()


def test_a_query_that_has_just_started_is_there_and_its_numbers_come_later(shown: Open) -> None:
    history = History()
    history.started("q", "r", "sales", clock=0)
    page = shown(history)
    assert page.inner_text("#notice") == (
        "The query has started. Its numbers come with its first micro-batch."
    )
    assert page.inner_text("h2") == "sales starting"

    history.progressed(Progress.of(report(0, query="q", run="r", metrics={"hours": HOURS})))
    page.locator("#groupings tr").wait_for()
    assert page.inner_text("h2") == "sales running"
    assert page.locator("#notice").is_hidden()


def test_all_numbers_of_a_query_stand_on_the_page(shown: Open) -> None:
    history = running({"hours": HOURS}, {"hours": HOURS | {"windows_open": 6}})
    history.ended("the query", "r", None, clock=1_767_225_661_000)  # so that no clock goes on
    page = shown(history)
    assert page.inner_text("h2") == "sales stopped"
    assert facts(page) == {
        "Watermark (UTC)": [
            "2020-01-01 00:15:00",
            "2,191 days behind the clock, 10 min 0 s behind the newest row",
        ],
        "Open windows": ["6", "that the state keeps"],
        "Panes": ["12", "8 early, 4 on time, 0 late"],
        "Dropped rows": ["8", "6 expired, 2 null_key"],
        "Last batch": ["1", "10 rows, begun 1 min 0 s before the end"],
        "Time of a batch": ["800 ms", "addBatch 600 ms, walCommit 150 ms"],
        "Rows in a second": ["13", "10 arrived in a second, 20 in all"],
        "State": ["4.3 KB", "in files, 1.1 MB in memory, 24 rows of the store"],
    }
    assert table(page, "groupings") == [
        ["hours", "2020-01-01 00:15:00", "6", "8 +4", "4 +2", "0 +0", "8 +4"]
    ]
    late = "came after its window was over, allowed lateness and all"
    assert table(page, "drops") == [
        ["expired", "hours", late, "3", "6"],
        ["null_key", "hours", "has no key", "1", "2"],
    ]


def test_the_charts_say_in_words_what_they_draw(shown: Open) -> None:
    history = running({"hours": HOURS}, {"hours": HOURS | {"panes_early": 0, "windows_open": 6}})
    page = shown(history)
    pictures = page.locator("#charts svg[role=img]").all()
    assert [picture.get_attribute("aria-label") for picture in pictures] == [
        "Watermark (UTC). A line over batches 0 to 1. "
        "Last 01-01 00:15, least 01-01 00:15, most 01-01 00:15.",
        "Open windows. A line over batches 0 to 1. Last 6, least 6, most 7.",
        "Panes in each batch. Bars for batches 0 to 1. "
        "Last batch: early 0, on time 2, late 0. Most in a batch: 6.",
        "Dropped rows in each batch. Bars for batches 0 to 1. "
        "Last batch: expired 3, null_key 1. Most in a batch: 4.",
        "Time of a batch. Bars for batches 0 to 1. "
        "Last batch: addBatch 600 ms, walCommit 150 ms, the rest 50 ms. Most in a batch: 800 ms.",
        "Rows in a second. A line over batches 0 to 1. Last 13, least 13, most 13.",
        "State in files. A line over batches 0 to 1. Last 4.3 KB, least 4.3 KB, most 4.3 KB.",
    ]
    bars = page.locator("#charts figure").nth(2).locator(".bar title").all_text_contents()
    assert bars == ["batch 0: early 4", "batch 0: on time 2", "batch 1: on time 2"]


def test_of_many_parts_the_largest_have_names_and_the_others_are_one(shown: Open) -> None:
    parts = {f"part {index}": 100 - index for index in range(7)}
    history = History()
    history.progressed(Progress.of(report(0, took=1_000, parts=parts)))
    legend = shown(history).locator("#charts figure", has_text="Time of a batch").locator("li")
    assert legend.all_inner_texts() == ["the rest", "part 0", "part 1", "part 2", "others"]


def test_each_kind_has_a_pattern_besides_its_colour(shown: Open) -> None:
    page = shown(running({"hours": HOURS | {"panes_late": 1}}))
    used = page.locator("#charts figure").nth(2).locator(".bar").all()
    names = [it.get_attribute("fill").removeprefix("url(#").rstrip(")") for it in used]
    drawn = [page.locator(f"#{name}").evaluate(AS_DRAWN) for name in names]
    assert [(name, *it) for name, it in zip(names, drawn, strict=True)] == [
        ("early", "rotate(45)", ["13", "1.2"]),
        ("ontime", "rotate(0)", ["9", "0"]),
        ("late", "rotate(-45)", ["6", "1.6"]),
    ]


AS_DRAWN = """pattern => [
    pattern.getAttribute("patternTransform"),
    [...pattern.querySelectorAll("rect")].map(it => it.getAttribute("width")),
]"""


def test_the_last_batches_are_a_table_too(shown: Open) -> None:
    page = shown(running({"hours": HOURS}, {"hours": HOURS, "days": DAYS}))
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    titles = page.locator("#columns th").all_inner_texts()
    newest, oldest = (dict(zip(titles, row, strict=True)) for row in table(page, "batches"))
    assert newest == {
        "batch": "1",
        "begun (UTC)": "2026-01-01 00:00:01",
        "time": "800 ms",
        "rows": "10",
        "rows in a second": "13",
        "watermark (UTC)": "2020-01-01 00:15:00",
        "open windows, all groupings": "9",
        "early": "4",
        "on time": "2",
        "late": "5",
        "dropped": "3 expired, 1 null_key",
        "state rows": "24",
        "state memory": "1.1 MB",
        "state files": "4.3 KB",
        "time went to": "addBatch 600 ms, walCommit 150 ms, the rest 50 ms",
    }
    assert (oldest["batch"], oldest["late"], oldest["open windows, all groupings"]) == (
        *("0", "0"),
        "7",
    )


def test_the_charts_show_one_of_several_groupings_if_asked(shown: Open) -> None:
    page = shown(running({"hours": HOURS, "days": DAYS}))
    assert [row[0] for row in table(page, "groupings")] == ["hours", "days"]
    page.get_by_label("Charts of panes, drops and windows show").select_option("days")
    words = page.locator("#charts svg[role=img]").nth(2).get_attribute("aria-label")
    assert "Last batch: early 0, on time 0, late 5." in words


def test_the_source_of_a_pipeline_has_drops_and_nothing_else(shown: Open) -> None:
    history = History()
    reported = json.loads(report(0, metrics={"Rows": {"dropped_bad_timestamp": 2}}))
    for name in ("windows_open", "watermark"):
        del reported["observedMetrics"]["Rows"][name]
    history.progressed(Progress.of(json.dumps(reported)))

    page = shown(history)

    assert table(page, "groupings") == [["Rows", "a source", "", "", "", "", "2 +2"]]
    assert table(page, "drops") == [["bad_timestamp", "Rows", "its time cannot be read", "2", "2"]]


def test_a_query_without_a_grouping_of_beamlikes_says_what_is_not_known(shown: Open) -> None:
    page = shown(running({}))
    assert page.inner_text("#remark") == (
        "No grouping of beamlike's reports from this query, so that panes, dropped rows and open "
        "windows are not known. Groupings of windowed, of stream and of pipelines over streams "
        "report."
    )
    assert list(facts(page)) == [
        *("Watermark (UTC)", "Last batch", "Time of a batch", "Rows in a second", "State")
    ]
    assert page.locator("#groupings").is_hidden()


def test_a_query_that_failed_shows_why_and_what_was_known_last(shown: Open) -> None:
    history = running({"hours": HOURS})
    words = "Traceback\nbeamlike.errors.StateError: <b>another</b> plan\n  window: 1h\n\tat java"
    history.ended("the query", "r", words, clock=1_767_225_661_000)
    page = shown(history)
    assert page.inner_text("h2") == "sales failed"
    assert page.inner_text("#problem") == (
        "The query failed: StateError\n<b>another</b> plan\n  window: 1h"
    )
    assert facts(page)["Panes"] == ["6", "4 early, 2 on time, 0 late"]


def test_names_are_words_and_never_markup(shown: Open) -> None:
    evil = "<img src=x onerror=alert(1)>"
    page = shown(running({evil: HOURS | {"dropped_expired": 1}}, name=evil))
    assert page.inner_text("#name") == evil
    assert table(page, "groupings")[0][0] == evil
    assert page.locator("img").count() == 0


def test_several_queries_are_chosen_by_keyboard_and_the_choice_outlives_a_reload(shown: Open):
    history = running({"hours": HOURS}, name="one", run="1")
    history.progressed(Progress.of(report(0, run="2", name="two")))
    history.ended("the query", "2", None, clock=0)
    page = shown(history)
    buttons = page.locator("#queries button")
    assert buttons.all_inner_texts() == ["two: stopped", "one: running"]
    assert page.inner_text("#name") == "one"  # one that runs comes first

    buttons.first.focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#name") == "two"
    assert buttons.first.get_attribute("aria-pressed") == "true"

    page.reload()
    page.locator("#name", has_text="two").wait_for()


def test_a_page_on_pause_stays_as_it_is(shown: Open) -> None:
    history = running({"hours": HOURS})
    page = shown(history)
    page.get_by_role("button", name="Pause").click()
    history.progressed(Progress.of(report(9, run="r", metrics={"hours": HOURS})))
    asked: list[str] = []
    page.on("request", lambda it: asked.append(it.url))
    page.clock.run_for(5_000)
    assert (asked, facts(page)["Last batch"][0]) == ([], "0")
    page.get_by_role("button", name="Pause").click()
    page.locator("#facts dd.main", has_text=re.compile("^9$")).wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_read_stands_out_from_its_paper(scheme: str, shown: Open) -> None:
    page = shown(running({"hours": HOURS}), color_scheme=scheme)
    for selector in ("h1", "dt", "dd.more", "thead th", "#state", "#charts text", "td small"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector


CONTRAST = """element => {
  const light = (words) => {
    const parts = words.match(/[\\d.]+/g).slice(0, 3).map(it => it / 255)
      .map(it => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const style = getComputedStyle(element);
  const ink = light(element.closest("svg") ? style.fill : style.color);
  let below = element;
  const paint = (it) => getComputedStyle(it).backgroundColor;
  while (paint(below) === "rgba(0, 0, 0, 0)") below = below.parentElement;
  const paper = light(paint(below));
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}"""


def test_a_narrow_window_does_not_scroll_sideways(shown: Open) -> None:
    page = shown(running({"hours": HOURS}), viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_when_the_view_is_gone_the_page_says_so_and_keeps_what_it_knew(browser: Any) -> None:
    server = PageServer(running({"hours": HOURS}))
    page = browser.new_page()
    page.goto(server.url)
    page.wait_for_selector("#groupings tr")
    server.close()
    page.wait_for_selector("#notice:not([hidden])")
    assert page.inner_text("#notice") == (
        "No answer: the view was closed, or its process has ended. "
        "Below is the last that was known."
    )
    assert facts(page)["Open windows"] == ["7", "that the state keeps"]
    page.close()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        *((390, "dark"), (1280, "light")),
        *(pytest.param(*it, marks=pytest.mark.nightly) for it in ((390, "light"), (1280, "dark"))),
    ],
)
def test_axe_finds_nothing(shown: Open, axe: Callable[[Any], list[str]], scheme: str, width: int):
    history = running({"hours": HOURS, "days": DAYS}, {"hours": HOURS})
    page = shown(history, color_scheme=scheme, viewport={"width": width, "height": 900})
    for closed in page.locator("details:not([open]) > summary").all()[::-1]:
        closed.click()
    assert axe(page) == []
