"""The live view of real streaming queries."""

import json
import re
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import EnvironmentProblem

pytestmark = pytest.mark.spark

Start = Callable[..., Any]
HOURS: dict[str, Any] = {
    "key": "user",
    "timestamp": "at",
    "watermark": "10 minutes",
    "window": bl.FixedWindows("1 hour"),
    "trigger": bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
    "accumulation": "accumulating",
    "allowed_lateness": "1 hour",
    "aggregate": {"n": bl.count()},
    "name": "hours",
    "shards": 2,
}


class Source:
    """Rows from JSON files, and the query over them. What comes out goes nowhere."""

    def __init__(self, spark: Any, home: Path, panes: Callable[[Any], Any], name: str) -> None:
        self._inbox, self._sent = home / "in", 0
        self._inbox.mkdir(parents=True)
        frame = spark.readStream.schema("user string, at timestamp").json(str(self._inbox))
        writer = panes(frame).writeStream.format("noop").queryName(name)
        self.query = writer.option("checkpointLocation", str(home / "checkpoint")).start()

    def put(self, *rows: tuple[str | None, str]) -> None:
        hidden = self._inbox / f".{self._sent}.json"
        lines = [json.dumps({"user": user, "at": f"2020-01-01T{at}Z"}) for user, at in rows]
        hidden.write_text("\n".join(lines), encoding="utf-8")
        hidden.rename(self._inbox / f"{self._sent}.json")
        self._sent += 1

    def send(self, *rows: tuple[str | None, str]) -> None:
        self.put(*rows)
        self.query.processAllAvailable()


@pytest.fixture(autouse=True)
def nothing_else_runs(spark: Any) -> None:
    """A view of a session shows all of its queries, also what Spark tells late of earlier ones."""
    assert [query.name for query in spark.streams.active] == []  # who started one stops it
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()


@pytest.fixture
def start(spark: Any, tmp_path: Path) -> Iterator[Start]:
    """Starts queries, and stops them."""
    started: list[Source] = []

    def make(panes: Callable[[Any], Any], name: str = "sales") -> Source:
        source = Source(spark, tmp_path / str(len(started)), panes, name)
        started.append(source)
        return source

    yield make
    for source in started:
        source.query.stop()


def hours(frame: Any, **options: Any) -> Any:
    return bl.windowed(frame, **(HOURS | options))


def numbers(view: Any) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{view.url}data.json", timeout=10) as answer:
        queries: list[dict[str, Any]] = json.load(answer)["queries"]
        return queries


def arrived(view: Any, is_there: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """The numbers once they are so; Spark tells its listeners when it likes."""
    for _ in range(600):
        found = numbers(view)
        if is_there(found):
            return found
        threading.Event().wait(0.05)
    raise AssertionError(f"this is all that came: {found}")


@pytest.mark.nightly
@pytest.mark.browser
def test_the_page_of_a_running_query_shows_the_numbers_of_its_progress(
    spark: Any, start: Start, browser: Any
) -> None:
    with bl.live_view(spark) as view:
        page = browser.new_page()
        page.goto(view.url)
        page.get_by_text("No streaming query yet.").wait_for()

        source = start(hours)
        source.send(("ann", "00:05:00"), ("ann", "00:25:00"), (None, "00:26:00"))
        source.send(("ann", "01:15:00"), ("bob", "01:16:00"))
        source.send(("ann", "00:30:00"))
        source.send(("ann", "02:30:00"))
        source.send(("ann", "00:31:00"))
        source.query.stop()
        page.locator("#state.stopped").wait_for()
        progress = source.query.recentProgress
        last = progress[-1]

        total: Counter[str] = Counter()
        for it in progress:
            counts = it.observedMetrics["hours"].asDict()
            total.update({of: counts[of] for of in counts if of.startswith(("panes_", "dropped_"))})
        # What these rows make, whatever micro-batches Spark puts between them.
        assert [total[f"panes_{it}"] for it in ("early", "on_time", "late")] == [1, 3, 1]
        assert (total["dropped_expired"], total["dropped_null_key"]) == (1, 1)
        reported = last.observedMetrics["hours"]
        assert (reported.windows_open, reported.watermark) == (3, 1_577_845_200_000)  # 02:20

        rows = page.locator("#groupings tr").all()
        assert [row.locator("th, td").all_inner_texts() for row in rows] == [
            [
                "hours",
                "2020-01-01 02:20:00",
                "3",
                f"1 +{reported.panes_early}",
                f"3 +{reported.panes_on_time}",
                f"1 +{reported.panes_late}",
                f"2 +{reported.dropped_expired + reported.dropped_null_key}",
            ]
        ]
        page.locator("summary").click()
        titles = page.locator("#columns th").all_inner_texts()
        batches = [
            dict(zip(titles, row.locator("td").all_inner_texts(), strict=True))
            for row in page.locator("#batches tr").all()
        ]
        assert [
            (
                batch["batch"],
                batch["rows"],
                batch["open windows"],
                batch["early"],
                batch["on time"],
                batch["late"],
            )
            for batch in reversed(batches)
        ] == [
            tuple(map(str, (it.batchId, it.numInputRows, *_counts(it.observedMetrics["hours"]))))
            for it in progress
        ]
        (query,) = numbers(view)
        assert [it["parts"] | {"triggerExecution": it["took"]} for it in query["recent"]] == [
            dict(it.durationMs) for it in progress
        ]
        assert [(it["state_rows"], it["state_memory"]) for it in query["recent"]] == [
            (it.stateOperators[0].numRowsTotal, it.stateOperators[0].memoryUsedBytes)
            for it in progress
        ]
        page.close()


def _counts(reported: Any) -> tuple[int, int, int, int]:
    return reported.windows_open, reported.panes_early, reported.panes_on_time, reported.panes_late


@pytest.mark.nightly
def test_a_view_that_is_opened_later_knows_what_was_before_and_counts_it_once(
    spark: Any, start: Start
) -> None:
    source = start(hours)
    source.send(("ann", "00:05:00"), ("ann", "00:25:00"))
    with bl.live_view(source.query) as view:
        start(lambda frame: frame, "another query")
        source.send(("ann", "01:15:00"))
        last = source.query.lastProgress["batchId"]
        (query,) = arrived(view, lambda found: found[0]["recent"][-1]["batch"] == last)
        progress = source.query.recentProgress
        assert [it["batch"] for it in query["recent"]] == [it.batchId for it in progress]
        assert query["name"] == "sales"
        panes = {"EARLY": 1, "ON_TIME": 1, "LATE": 0}
        assert query["groupings"] == [{"name": "hours", "panes": panes, "dropped": {}}]


def test_a_query_that_failed_says_why_in_the_words_of_its_error(spark: Any, start: Start) -> None:
    words = re.compile(r'1 row\(s\) cannot be grouped; the first: null_key in .*"user":null')
    with bl.live_view(spark) as view:
        source = start(lambda frame: hours(frame, on_error="fail"))
        source.put((None, "00:05:00"))
        (query,) = arrived(view, lambda found: found[0]["state"] == "failed" if found else False)
        assert query["problem"]["error_class"] == "InputRowError"
        assert words.match(query["problem"]["text"])
        assert "\n" not in query["problem"]["text"]
        with bl.live_view(source.query) as afterwards:
            assert numbers(afterwards)[0]["problem"] == query["problem"]


def test_closing_leaves_no_listener_thread_or_port_and_the_query_goes_on(spark: Any, start: Start):
    source = start(hours)
    with bl.live_view(spark):  # after the first of all Spark keeps a thread for listeners
        pass
    threads, listeners = set(threading.enumerate()), len(spark.streams._jsqm.listListeners())

    view = bl.live_view(spark)
    assert len(spark.streams._jsqm.listListeners()) == listeners + 1
    view.close()
    view.close()

    assert [it for it in threading.enumerate() if it.name.startswith("beamlike")] == []
    assert set(threading.enumerate()) <= threads
    assert len(spark.streams._jsqm.listListeners()) == listeners
    with pytest.raises(urllib.error.URLError):
        numbers(view)
    assert source.query.isActive


def test_a_notebook_shows_the_page_in_a_frame_with_a_link(spark: Any) -> None:
    with bl.live_view(spark) as view:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", view.url)
        assert repr(view) == f"LiveView({view.url})"
        html = view._repr_html_()
        assert f'<a href="{view.url}"' in html
        assert f'<iframe src="{view.url}" title="Live view of streaming queries"' in html
    assert repr(view) == "LiveView(closed)"
    assert view._repr_html_() == "<p>This live view is closed.</p>"


@pytest.mark.parametrize("source", [None, "spark", 3])
def test_what_is_neither_a_session_nor_a_query_is_refused(source: Any) -> None:
    words = "live_view takes a SparkSession or a StreamingQuery, got"
    with pytest.raises(EnvironmentProblem, match=words):
        bl.live_view(source)


def test_a_query_of_another_session_is_refused(spark: Any, tmp_path: Path) -> None:
    other = spark.newSession()
    source = Source(other, tmp_path, hours, "elsewhere")
    try:
        with pytest.raises(EnvironmentProblem, match="belongs to another session"):
            bl.live_view(source.query)
        with bl.live_view(other) as view:
            assert [number["name"] for number in numbers(view)] == ["elsewhere"]
    finally:
        source.query.stop()
