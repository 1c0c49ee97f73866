"""The page in a real browser: stepping, the keyboard, the address, what is shown and said."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.model.combine import Collect
from beamlike.runtime.memory import run_in_memory
from beamlike.testing import TestStream
from beamlike.viz.explain import explain
from beamlike.viz.page import save_page
from beamlike.viz.recording import Recording
from tests.support.corpus import scenarios_of
from tests.support.recordings import BY_FIVE, ordered, recorded

pytestmark = pytest.mark.browser

BLOG = Path(__file__).parents[1] / "conformance" / "cases" / "blog" / "blog_session.json"
BRIDGE = "late activity bridges two sessions (discarding)"


def of_the_blog(title: str) -> Recording:
    (scenario,) = [scenario for scenario in scenarios_of(BLOG) if scenario.title == title]
    run = run_in_memory(scenario.machine(), scenario.script)
    return Recording.of(run, scenario.strategy, scenario.combine)


class Reader:
    """Somebody who looks at a page, and notes everything that it should not do."""

    def __init__(self, tab: Any, folder: Path) -> None:
        self.tab = tab
        self.folder = folder
        self.noticed: list[str] = []
        self.requested: list[str] = []
        tab.set_default_timeout(10_000)
        tab.on("console", lambda message: self.noticed.append(message.text))
        tab.on("pageerror", lambda error: self.noticed.append(str(error)))
        tab.on("request", lambda request: self.requested.append(request.url))

    def open(self, recording: Any, fragment: str = "", title: str = "a title") -> None:
        self.address = save_page(recording, self.folder / "page.html", title).as_uri()
        self.tab.goto(self.address + fragment)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.tab.keyboard.press(key)

    @property
    def fragment(self) -> str:
        return self.tab.url.partition("#")[2]

    @property
    def said(self) -> list[str]:
        return self.texts("#said p, #said h2, #said li")

    def texts(self, selector: str) -> list[str]:
        """What is written there, each with single spaces."""
        written = "nodes => nodes.map(node => node.innerText ?? node.textContent)"
        return [" ".join(text.split()) for text in self.tab.locator(selector).evaluate_all(written)]

    def figure(self, kind: str) -> list[str]:
        """The labels of the elements, merges or panes that the figure shows."""
        return self.tab.locator(f"#figure [data-kind={kind}] text").all_text_contents()


@pytest.fixture
def reader(browser: Any, tmp_path: Path) -> Iterator[Reader]:
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    reader = Reader(tab, tmp_path)
    yield reader
    tab.close()
    assert reader.noticed == []
    assert {url.partition("#")[0] for url in reader.requested} == {reader.address}


def test_the_session_of_the_blog_is_reported_step_by_step(reader: Reader):
    recording = of_the_blog(BRIDGE)
    reader.open(recording, title=BRIDGE)
    shown = [reader.said]
    for _ in range(6):
        reader.press("ArrowRight")
        shown.append(reader.said)
    sentences = [
        sentence for sentence in explain(recording).sentences if sentence.topic != "waiting"
    ]
    assert [words[2:] for words in shown] == [
        [sentence.text for sentence in sentences if sentence.step == step] for step in range(7)
    ]
    assert [words[:2] for words in shown[1:4]] == [
        ["Step 1, 2 of 7", "1 element arrived"],
        ["Step 2, 3 of 7", "The watermark moved to 00:13:00"],
        ["Step 3, 4 of 7", "1 element arrived"],
    ]


def test_the_figure_shows_what_has_happened_and_nothing_of_what_will(reader: Reader):
    reader.open(of_the_blog(BRIDGE), "#step=3")
    assert reader.figure("element") == ["'open app'", "'show product'", "'add to cart'"]
    assert reader.figure("merge") == ["grows", "grows"]
    assert reader.figure("pane") == [
        "on time #0: ['open app', 'show product']",
        "late #0: ['add to cart']",
    ]
    assert reader.texts("#figure text.water") == ["watermark 00:13:00"]
    reader.press("ArrowLeft")
    assert reader.figure("pane") == ["on time #0: ['open app', 'show product']"]


def test_the_windows_show_their_triggers_panes_and_until_when_they_take_elements(reader: Reader):
    reader.open(of_the_blog("early, on-time and late panes of one growing session"), "#step=4")
    assert reader.texts(".window") == [
        "[00:00:00, 00:12:00) changed in this step "
        "Open: no pane of its own yet, 1 new element. Takes elements until the watermark passes "
        "00:21:59.999. "
        "early #0: ['0', '1'] "
        "AfterWatermark waiting "
        "waits for the watermark to reach 00:12:00 or the clock to pass 00:03:00 "
        "early: AfterProcessingTime(1m) waiting "
        "waits for the clock to pass 00:03:00 "
        "late: AfterCount(1) waiting "
        "waits for its turn"
    ]
    reader.press("End")
    assert reader.texts("#windows") == ["No window is left: nothing is remembered."]


def test_keys_buttons_the_slider_and_the_address_agree(reader: Reader):
    reader.open(of_the_blog(BRIDGE), "#step=5")
    where = []
    for key in ("ArrowRight", "ArrowRight", "Home", "ArrowLeft", "PageDown", "PageUp", "End"):
        reader.press(key)
        where.append((key, reader.fragment, reader.tab.locator("#count").inner_text()))
    assert where == [
        ("ArrowRight", "step=6", "7 of 7"),
        ("ArrowRight", "step=6", "7 of 7"),
        ("Home", "step=0", "1 of 7"),
        ("ArrowLeft", "step=0", "1 of 7"),
        ("PageDown", "step=6", "7 of 7"),
        ("PageUp", "step=0", "1 of 7"),
        ("End", "step=6", "7 of 7"),
    ]
    for name, expected in (("Step back", 5), ("First step", 0), ("Step forward", 1)):
        reader.tab.get_by_role("button", name=name).click()
        assert reader.fragment == f"step={expected}"
    reader.tab.get_by_role("slider", name="Step").fill("4")
    assert reader.said[0] == "Step 4, 5 of 7"
    reader.tab.locator("#figure rect.row").nth(2).click()
    assert reader.fragment == "step=2"
    assert [
        reader.tab.get_by_role("button", name=name).is_disabled()
        for name in ("First step", "Step back", "Step forward", "Last step")
    ] == [False] * 4


def test_a_link_inside_the_story_goes_to_its_step(reader: Reader):
    reader.open(of_the_blog(BRIDGE))
    reader.tab.get_by_text("The whole scenario in words").click()
    reader.tab.get_by_role("link", name="Step 3: 1 element arrived").click()
    reader.tab.wait_for_function("document.querySelector('#count').textContent === '4 of 7'")
    assert reader.said[0] == "Step 3, 4 of 7"
    assert reader.texts("#sentences [aria-current=step] > a") == ["Step 3: 1 element arrived"]


def test_an_address_that_names_no_step_opens_the_first(reader: Reader):
    reader.open(of_the_blog(BRIDGE), "#step=tea&key=7&scenario=<b>")
    assert reader.said[0] == "Step 0, 1 of 7"


def test_an_address_past_the_end_opens_the_last_step(reader: Reader):
    reader.open(of_the_blog(BRIDGE), "#step=99")
    assert reader.said[0] == "Step 6, 7 of 7"


def test_a_window_without_a_pane_says_so_and_no_trigger_is_reported_that_no_one_wrote(
    reader: Reader,
):
    stream = TestStream().add_elements_at_time("12:01:00", ("table 3", "tea"))
    windowing = {"window": bl.FixedWindows("5 minutes"), "accumulation": "discarding"}
    late = bl.AfterWatermark(late=bl.AfterCount(1))
    reader.open(recorded(stream, trigger=late, allowed_lateness="0 s", **windowing), "#step=0")
    assert reader.texts(".window") == [
        "[12:00:00, 12:05:00) changed in this step "
        "Open: no pane yet, 1 element. Takes elements until the watermark passes 12:04:59.999. "
        "AfterWatermark waiting waits for the watermark to reach 12:05:00 "
        "late: AfterCount(1) waiting waits for its turn"
    ]


def test_an_early_phase_that_is_over_says_so(reader: Reader):
    stream = (
        TestStream()
        .add_elements_at_time("12:01:00", ("table 3", "tea"))
        .advance_watermark_to("12:05:00")
    )
    trigger = bl.AfterWatermark(early=bl.AfterCount(3), late=bl.AfterCount(1))
    windowing = {"window": bl.FixedWindows("5 minutes"), "accumulation": "discarding"}
    reader.open(recorded(stream, trigger=trigger, allowed_lateness="1 m", **windowing), "#step=1")
    assert reader.texts(".window .node") == [
        "AfterWatermark waiting",
        "early: AfterCount(3) the early phase is over",
        "late: AfterCount(1) waiting waits for 1 more element (0 of 1)",
    ]


def test_an_element_that_one_of_its_windows_took_is_no_dropped_one(reader: Reader):
    stream = (
        TestStream()
        .add_elements_at_time("12:03:00", ("k", "a"))
        .advance_watermark_to("12:06:00")
        .add_elements_at_time("12:04:00", ("k", "late"))
    )
    reader.open(recorded(stream, window=bl.SlidingWindows("10 minutes", "5 minutes")), "#step=2")
    late = "#figure [data-kind=element][data-step='2']"
    assert reader.texts(f"{late} text") == [
        "'late', dropped from 1 of 2 windows: expired, missed by 1m 1ms"
    ]
    assert reader.tab.locator(f"{late} circle.late").count() == 1
    assert reader.tab.locator(f"{late} path.cross").count() == 0
    assert "dropped in part 12:04:00" in reader.texts("#panes tbody tr")[-1]


@pytest.mark.parametrize("at", ["12:00:10", "12:02:30", "12:04:50"])
def test_the_words_of_a_dropped_element_are_beside_its_cross(reader: Reader, at: str):
    stream = (
        TestStream()
        .add_elements_at_time(at, ("k", 0))
        .advance_watermark_to("18:00:00")
        .add_elements_at_time(at, ("k", "a value that goes on and on, " * 3))
    )
    reader.tab.set_viewport_size({"width": 420, "height": 800})
    reader.open(recorded(stream, window=bl.FixedWindows("5 minutes")), "#step=2")
    boxes = [
        reader.tab.locator(f"#figure [data-kind=element][data-step='2'] {part}").bounding_box()
        for part in ("text", "path.cross")
    ]
    words, cross = boxes
    middle = cross["x"] + cross["width"] / 2
    assert words["x"] > middle + 6 or words["x"] + words["width"] < middle - 6
    (shown,) = reader.texts("#figure [data-kind=element][data-step='2'] text")
    assert shown.startswith("'a")


def test_of_a_long_value_there_is_less_and_the_reason_stays(reader: Reader):
    stream = (
        TestStream()
        .add_elements_at_time("12:00:10", ("k", 0))
        .advance_watermark_to("18:00:00")
        .add_elements_at_time("12:00:10", ("k", "a value that goes on and on, " * 3))
    )
    reader.tab.set_viewport_size({"width": 420, "height": 800})
    reader.open(recorded(stream, window=bl.FixedWindows("5 minutes")), "#step=2")
    (shown,) = reader.texts("#figure [data-kind=element][data-step='2'] text")
    assert shown.startswith("'a value")
    assert shown.endswith("…, expired, missed by 5h 55m 1ms")


def test_the_times_on_the_two_sides_of_a_fold_do_not_run_into_each_other(reader: Reader):
    stream = (
        TestStream()
        .add_elements_at_time("12:00:10", ("k", 0))
        .add_elements_at_time("14:02:30", ("k", 1))
    )
    reader.tab.set_viewport_size({"width": 520, "height": 800})
    reader.open(recorded(stream, window=bl.FixedWindows("5 minutes")), "#step=1")
    times = reader.tab.locator("#axis text.tick:not(.label)").all()
    boxes = [box for time in times if (box := time.bounding_box())]
    assert len(boxes) > 2
    ends = [box["x"] + box["width"] for box in boxes]
    assert all(end < after["x"] for end, after in zip(ends, boxes[1:], strict=False))


def test_an_element_at_the_minimum_timestamp_leaves_the_times_of_others_legible(reader: Reader):
    stream = TestStream().add_elements(("k", 0)).add_elements_at_time("12:00:00", ("k", 1))
    windowing = {"trigger": bl.Repeatedly(bl.AfterCount(1)), "accumulation": "discarding"}
    reader.open(recorded(stream, window=bl.GlobalWindows(), **windowing), "#step=1")
    assert reader.texts("#axis text.tick:not(.label)") == [
        "1970-01-01",
        "7445-10-25",
        "+012921-08-18",
    ]


def test_what_is_left_out_is_reported_exactly(reader: Reader):
    stream = (
        TestStream()
        .add_elements_at_time("12:00:00", ("k", 1))
        .add_elements_at_time("14:00:00", ("k", 2))
    )
    reader.open(recorded(stream, window=bl.FixedWindows("1 minute")), "#step=1")
    (shown,) = [text for text in reader.texts("#axis text") if "left out" in text]
    assert shown == "1h 58m left out"


def test_time_goes_upwards_only_where_a_clock_moves(reader: Reader):
    still = TestStream().add_elements_at_time("12:00:00", ("k", 1))
    ticking = still.advance_processing_time("5 s")
    axes = []
    for stream in (still, ticking):
        reader.open(recorded(stream, window=bl.FixedWindows("1 minute")))
        axes.append(reader.texts("#figure text.axis"))
    assert axes == [["↑ order of arrival"], ["↑ processing time"]]


TWO_TABLES = (
    TestStream()
    .add_elements_at_time("12:01:00", ("table 3", "tea"))
    .add_elements_at_time("12:02:00", ("table 4", "rum"))
    .advance_watermark_to("12:05:00")
)


def test_each_key_has_its_own_story(reader: Reader):
    reader.open(recorded(TWO_TABLES, window=bl.FixedWindows("5 minutes")), "#step=1")
    assert reader.said[2:] == ["All of it belongs to other keys."]
    reader.tab.get_by_label("Key").select_option("'table 4'")
    assert reader.said[2:] == ["'rum' at 12:02:00 opens [12:00:00, 12:05:00)."]
    assert reader.fragment == "step=1&key=2"
    assert reader.figure("element") == ["'rum'"]


def test_several_scenarios_are_chosen_from_a_list(reader: Reader):
    by_title = {title: of_the_blog(title) for title in ("single session", BRIDGE)}
    reader.open(by_title, "#step=2&scenario=2")
    assert reader.tab.title() == BRIDGE
    reader.tab.get_by_label("Scenario").select_option("single session")
    assert (reader.tab.title(), reader.fragment) == ("single session", "step=0&scenario=1")


def test_withdrawn_panes_are_struck_out_and_drops_are_crossed_with_their_reason(reader: Reader):
    reader.open(recorded(ordered(), **BY_FIVE | {"accumulation": "retracting"}), "#step=1")
    assert reader.texts("#figure text.struck") == []
    reader.press("ArrowRight")
    assert reader.texts("#figure text.struck") == [
        "on time #0: ['tea']",
        "withdrawn: on time #0: ['tea']",
    ]
    reader.press("End")
    assert reader.tab.locator("#figure .cross").count() == 1
    assert reader.figure("element")[-1] == "'salt', expired, missed by 1ms"
    assert reader.texts("#panes tbody tr") == [
        "1 [12:00:00, 12:05:00) on time #0 12:04:59.999 ['tea'] AfterWatermark[end of window]",
        "2 [12:00:00, 12:05:00) withdrawal of on time #0 12:04:59.999 ['tea']",
        "2 [12:00:00, 12:05:00) late #1 12:04:59.999 ['tea', 'milk']"
        " AfterWatermark.late[AfterCount(1)]",
        "4 [12:00:00, 12:05:00) dropped 12:04:30 'salt' expired, missed by 1ms",
    ]


def test_a_value_that_is_markup_is_shown_as_it_is(reader: Reader):
    nasty = "</script><img src=x onerror=alert(1)>"
    stream = TestStream().add_elements_at_time("12:01:00", (nasty, nasty))
    reader.open(recorded(stream, window=bl.FixedWindows("5 minutes")), title=nasty)
    assert reader.texts("h1") == [nasty]
    assert reader.said[2:] == [f"{nasty!r} at 12:01:00 opens [12:00:00, 12:05:00)."]
    assert reader.tab.locator("img").count() == 0


def test_a_screen_reader_hears_each_step_and_what_the_figure_shows(reader: Reader):
    reader.open(of_the_blog(BRIDGE), "#step=2")
    said = reader.tab.locator("#said")
    assert [said.get_attribute(name) for name in ("aria-live", "aria-atomic")] == ["polite", "true"]
    assert reader.tab.get_by_role("slider").get_attribute("aria-valuetext") == (
        "step 2: The watermark moved to 00:13:00"
    )
    figure = reader.tab.get_by_role("img", name="Timeline of 'joe' up to step 2")
    assert figure.locator("desc").text_content() == (
        "Event time across, order of arrival upwards. 2 elements, 0 dropped. "
        "The watermark stands at 00:13:00. Windows: [00:00:00, 00:11:30). "
        "Panes: on time #0 of [00:00:00, 00:11:30): ['open app', 'show product']."
    )


def test_all_of_it_can_be_reached_with_the_tabulator(reader: Reader):
    reader.open({"one": of_the_blog(BRIDGE), "two": of_the_blog(BRIDGE)}, "#step=2")
    reached = []
    for _ in range(14):
        reader.press("Tab")
        reached.append(
            reader.tab.evaluate("document.activeElement.id || document.activeElement.tagName")
        )
    assert reached == [
        "A",
        "scenario",
        *("first", "back", "play", "slider", "forward", "last", "density"),
        "scroll",
        *("SUMMARY", "SUMMARY", "DIV", "SUMMARY"),  # a window, the panes and their table, the story
    ]


def hundreds() -> Recording:
    stream: Any = TestStream()
    for minute in range(300):
        stream = stream.add_elements_at_time(minute * 60_000, ("a", minute))
        if minute % 10 == 9:
            stream = stream.advance_watermark_to(minute * 60_000)
    return recorded(stream, window=bl.FixedWindows("30 minutes"))


def test_three_hundred_elements_are_in_view_at_once_and_readable_one_by_one(reader: Reader):
    reader.open(hundreds(), "#step=330")
    room = "(() => { const it = document.querySelector('#scroll');"
    assert reader.tab.evaluate(room + " return it.scrollHeight <= it.clientHeight; })()")
    assert reader.tab.locator("#figure [data-kind=element]").count() == 300
    reader.tab.get_by_role("button", name="Overview").click()
    assert reader.tab.evaluate(room + " return it.scrollHeight > 10 * it.clientHeight; })()")
    assert reader.figure("element")[-1] == "299"
    # The present is scrolled into view.
    now = reader.tab.locator("#figure .now").bounding_box()
    box = reader.tab.locator("#scroll").bounding_box()
    assert box["y"] <= now["y"] <= box["y"] + box["height"]


@pytest.mark.parametrize("width", [320, 390, 700, 1000, 1900])
def test_nothing_sticks_out_sideways(reader: Reader, width: int):
    reader.tab.set_viewport_size({"width": width, "height": 800})
    reader.open(of_the_blog("early, on-time and late panes of one growing session"), "#step=15")
    assert reader.tab.evaluate("document.documentElement.scrollWidth") <= width
    figure = reader.tab.locator("#figure").bounding_box()
    assert figure["x"] + figure["width"] <= width


def test_on_paper_everything_is_there_and_no_button(reader: Reader):
    reader.open(of_the_blog(BRIDGE), "#step=6")
    reader.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    reader.tab.emulate_media(media="print")
    assert reader.tab.locator(".stepper button:visible").count() == 0
    assert len(reader.texts("#sentences > li")) == 7
    assert len(reader.texts("#panes tbody tr")) == 3


def test_a_scenario_without_steps_says_so(reader: Reader):
    run = of_the_blog("no activities, no sessions")
    empty = Recording.of(type(run.run)((), ()), run.strategy, Collect())
    reader.open(empty)
    assert reader.texts("p:visible") == ["Nothing happened in this scenario: it has no steps."]


def test_without_scripts_the_panes_are_there_as_text(browser: Any, tmp_path: Path):
    path = save_page(of_the_blog(BRIDGE), tmp_path / "page.html")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(path.as_uri())
    assert "['open app', 'show product']" in tab.locator("noscript pre").inner_text()
    context.close()


def test_it_plays_to_the_end_and_begins_anew_from_there(reader: Reader):
    reader.open(of_the_blog(BRIDGE), "#step=4")
    button = reader.tab.get_by_role("button", name="Play")
    button.click()
    assert reader.tab.locator("#play").inner_text() == "Pause"
    reader.tab.wait_for_function("() => document.querySelector('#last').disabled")
    reader.tab.wait_for_function("() => document.querySelector('#play').textContent === 'Play'")
    button.click()
    reader.tab.wait_for_function("() => document.querySelector('#first').disabled")
    reader.tab.get_by_role("button", name="Pause").click()
    assert reader.tab.locator("#play").get_attribute("aria-pressed") == "false"
