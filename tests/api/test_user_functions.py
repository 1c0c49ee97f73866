"""Functions of a user's own in a grouping: what they are given, and what becomes of a failure."""

from typing import Any

import pytest
from pyspark.errors import PySparkException, StreamingQueryException

import beamlike as bl
from beamlike.errors import ColumnError, UnsupportedError
from beamlike.model.windows import Window
from tests.support.queries.rows import MakeFeed, Row
from tests.support.queries.shown import lines, shown
from tests.support.refusals import refusal
from tests.support.sums import SumOfTheLucky

pytestmark = pytest.mark.spark


VISITS = "k string, at timestamp, page string, v int"
TEN_MINUTES = bl.FixedWindows("10 minutes")


def visit(key: str, time: str, page: str, v: int) -> Row:
    return {"k": key, "at": f"2020-01-01T{time}:00Z", "page": page, "v": v}


def bounded(spark: Any, *rows: Row) -> Any:
    """In one partition, so that rows arrive in this order."""
    values = [tuple(row.values()) for row in rows]
    return spark.createDataFrame(values, "k string, at string, page string, v int").coalesce(1)


class SumBelowAHundred(SumOfTheLucky):
    """A sum that has no result from 100 on."""

    def extract(self, accumulator: int) -> int:
        if accumulator >= 100:
            raise OverflowError(f"{accumulator} is too much")
        return accumulator


def gap_of(page: str) -> str:
    """How long to wait after a page."""
    return {"film": "30 minutes", "news": "5 minutes", "odd": "soon"}[page]


def gap_of_both(visit: tuple[str, int]) -> str:
    page, minutes = visit
    return f"{minutes} minutes" if page == "film" else "5 minutes"


def minutes_of(page: str) -> str:
    return page + " minutes"


def gap_of_text_and_number(visit: tuple[int, str]) -> int:
    place, page = visit
    return 60_000 * {(1, "7"): 8, (2, "8"): 3, (3, "9"): 4}[place, page]


class Floors(bl.WindowFn):
    """A window for each floor; there is no 13th."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        if value == 13:
            raise LookupError("there is no such floor")
        return (bl.IntervalWindow(timestamp, timestamp + 60_000 * value),)

    def __str__(self) -> str:
        return "Floors()"


LUCKY = {"n": bl.count(), "sum": bl.combine(SumOfTheLucky(), "v", "int", "int")}


def windowed(frame: Any, **changes: Any) -> Any:
    call: dict[str, Any] = {
        "key": "k",
        "timestamp": "at",
        "window": TEN_MINUTES,
        "aggregate": LUCKY,
        "output": "all",
        "shards": 2,
        "buckets": 2,
    }
    return bl.windowed(frame, **(call | changes))


# -- what they are given -----------------------------------------------------------------------


def test_a_gap_depends_on_a_column(spark: Any) -> None:
    frame = bounded(
        spark,
        visit("ann", "12:00", "film", 1),
        visit("ann", "12:20", "news", 2),
        visit("ann", "12:29", "news", 3),
        visit("bob", "12:00", "news", 4),
        visit("bob", "12:20", "news", 5),
    )
    assert lines(shown(windowed(frame, window=bl.Sessions(gap_of), window_input="page"))) == [
        "ann 3 6 | 12:00-12:34 ON_TIME 0 last",
        "bob 1 4 | 12:00-12:05 ON_TIME 0 last",
        "bob 1 5 | 12:20-12:25 ON_TIME 0 last",
    ]


def test_a_gap_depends_on_two_columns_one_of_which_is_the_key(spark: Any) -> None:
    frame = bounded(
        spark,
        visit("ann", "12:00", "film", 40),
        visit("ann", "12:39", "film", 10),
        visit("ann", "12:41", "news", 90),
        visit("ann", "12:45", "news", 90),
    )
    sessions = windowed(
        frame, key="page", window=bl.Sessions(gap_of_both), window_input=["page", "v"]
    )
    assert lines(shown(sessions)) == [
        "film 2 50 | 12:00-12:49 ON_TIME 0 last",
        "news 2 180 | 12:41-12:50 ON_TIME 0 last",
    ]


def test_a_column_is_given_as_it_is_whatever_an_aggregate_makes_of_it(spark: Any) -> None:
    frame = bounded(
        spark,
        visit("ann", "12:00", "7", 1),
        visit("ann", "12:07", "8", 2),
        visit("ann", "12:14", "9", 3),
    )
    # The mean makes a double of the text, and of the whole number.
    means = {"page": bl.mean("page"), "v": bl.mean("v")}
    minutes = windowed(frame, window=bl.Sessions(minutes_of), window_input="page", aggregate=means)
    assert lines(shown(minutes)) == [
        "ann 7.0 1.0 | 12:00-12:07 ON_TIME 0 last",
        "ann 8.5 2.5 | 12:07-12:23 ON_TIME 0 last",
    ]
    both = windowed(
        frame,
        window=bl.Sessions(gap_of_text_and_number),
        window_input=["v", "page"],
        aggregate=means,
    )
    assert lines(shown(both)) == [
        "ann 7.5 1.5 | 12:00-12:10 ON_TIME 0 last",
        "ann 9.0 3.0 | 12:14-12:18 ON_TIME 0 last",
    ]


def test_a_gap_that_depends_on_a_column_needs_to_know_which(spark: Any) -> None:
    frame = bounded(spark, visit("ann", "12:00", "film", 1))
    assert refusal(UnsupportedError, lambda: windowed(frame, window=bl.Sessions(gap_of))) == (
        "Sessions(gap_of) asks each element for its gap, and a row is no single value that could "
        'be asked; name the column that the gap depends on: window_input="page"'
    )
    assert refusal(
        ColumnError, lambda: windowed(frame, window=bl.Sessions(gap_of), window_input="title")
    ) == ("window_input: there is no column 'title'; the columns are 'k', 'at', 'page', 'v'")


# -- failures are dropped -----------------------------------------------------------------------


def test_a_row_that_a_combine_function_cannot_take_is_dropped_and_no_other(spark: Any) -> None:
    frame = bounded(
        spark,
        visit("ann", "00:01", "x", 1),
        visit("ann", "00:02", "x", 13),
        visit("ann", "00:03", "x", 2),
        visit("bob", "00:01", "x", 13),
        visit("cat", "00:11", "x", 5),
    )
    error = "error add of the aggregates n, sum raised ValueError: 13 is unlucky"
    reported = "window 00:00-00:10, count 1, " + error
    assert lines(shown(windowed(frame, carry="page"))) == [
        "ann 2 3 | 00:00-00:10 ON_TIME 0 last",
        "cat 1 5 | 00:10-00:20 ON_TIME 0 last",
        'dropped by beamlike, failed: {"k":"ann","v":13,"page":"x"} | timestamp 00:02, ' + reported,
        'dropped by beamlike, failed: {"k":"bob","v":13,"page":"x"} | timestamp 00:01, ' + reported,
    ]


@pytest.mark.nightly
def test_a_row_that_fails_has_merged_no_sessions(feed: MakeFeed) -> None:
    visits = feed(VISITS)
    sessions = windowed(
        visits.frame, window=bl.Sessions("10 minutes"), watermark="0 s", name="visits"
    )
    visits.start(sessions)
    assert visits.send(visit("ann", "00:00", "x", 1)) == []
    # It would lie between the two, and make one session of them.
    assert lines(visits.send(visit("ann", "00:08", "x", 13), visit("ann", "00:16", "x", 2))) == [
        "ann 1 1 | 00:00-00:10 ON_TIME 0 last",
        'dropped by visits, failed: {"k":"ann","v":13} | timestamp 00:08, watermark 00:00, '
        "window 00:08-00:18, count 1, "
        "error add of the aggregates n, sum raised ValueError: 13 is unlucky",
    ]
    assert lines(visits.send(visit("bob", "01:00", "x", 3))) == [
        "ann 1 2 | 00:16-00:26 ON_TIME 0 last"
    ]
    counted = [row.observedMetrics["visits"] for row in visits.progress]
    assert sum(row.dropped_failed for row in counted) == 1
    assert sum(row.panes_on_time for row in counted) == 2


def test_a_pane_without_a_result_is_dropped_with_the_number_of_its_rows(spark: Any) -> None:
    frame = bounded(
        spark,
        visit("ann", "00:01", "x", 60),
        visit("ann", "00:02", "x", 50),
        visit("bob", "00:02", "x", 50),
    )
    sums = {"sum": bl.combine(SumBelowAHundred(), "v", "int", "int")}
    assert lines(shown(windowed(frame, aggregate=sums))) == [
        "bob 50 | 00:00-00:10 ON_TIME 0 last",
        'dropped by beamlike, failed: {"k":"ann"} | window 00:00-00:10, count 2, '
        "error extract of the aggregates sum raised OverflowError: 110 is too much",
    ]


def test_a_row_that_the_window_function_cannot_place_is_dropped(spark: Any) -> None:
    frame = bounded(spark, visit("ann", "00:01", "x", 13), visit("ann", "00:01", "x", 2))
    counts = {"n": bl.count()}
    assert lines(shown(windowed(frame, window=Floors(), window_input="v", aggregate=counts))) == [
        "ann 1 | 00:01-00:03 ON_TIME 0 last",
        'dropped by beamlike, failed: {"k":"ann","v":13} | timestamp 00:01, count 1, '
        "error Floors().assign raised LookupError: there is no such floor",
    ]


NONSENSE = (
    "Sessions(gap_of).assign raised WindowError: the gap of a session must be a duration of more "
    "than 0, but gap_of returned 'soon' for the value 'odd'; return one such as \"10 minutes\" or "
    "600000 (milliseconds)"
)


def test_a_row_whose_gap_is_nonsense_is_dropped(spark: Any) -> None:
    frame = bounded(spark, visit("ann", "00:01", "odd", 1), visit("ann", "00:01", "news", 2))
    assert lines(shown(windowed(frame, window=bl.Sessions(gap_of), window_input="page"))) == [
        "ann 1 2 | 00:01-00:06 ON_TIME 0 last",
        'dropped by beamlike, failed: {"k":"ann","page":"odd","v":1} | timestamp 00:01, '
        f"count 1, error {NONSENSE}",
    ]


def flat(spark: Any, **options: Any) -> Any:
    """Two inputs with gaps of their own: the second one's depends on the page."""
    fixed = bounded(spark, visit("ann", "00:00", "news", 1))
    asked = bounded(
        spark,
        visit("ann", "00:04", "odd", 2),
        visit("ann", "00:04", "film", 3),
        visit("bob", "00:04", "lost", 4),
    )
    together = bl.flatten(
        [
            bl.stream(fixed, timestamp="at").window(bl.Sessions("5 minutes")),
            bl.stream(asked, timestamp="at").window(bl.Sessions(gap_of)),
        ]
    )
    return together.group("k", LUCKY, window_input="page", **options).everything


def test_a_row_of_one_input_that_its_own_window_function_cannot_place_is_dropped(spark: Any):
    assert lines(shown(flat(spark))) == [
        "ann 2 4 | 00:00-00:34 ON_TIME 0 last",
        'dropped by beamlike, failed: {"k":"ann","page":"odd","v":2} | timestamp 00:04, '
        f"count 1, error {NONSENSE}",
        'dropped by beamlike, failed: {"k":"bob","page":"lost","v":4} | timestamp 00:04, '
        "count 1, error Sessions(gap_of).assign raised KeyError: 'lost'",
    ]


# -- failures stop the query ---------------------------------------------------------------------


def test_a_batch_that_shall_fail_says_what_for(spark: Any) -> None:
    frame = bounded(spark, visit("ann", "00:01", "x", 1), visit("ann", "00:02", "x", 13))
    assert (
        "beamlike.errors.UserFunctionError: add of the aggregates n, sum raised ValueError: 13 is "
        "unlucky; it was called for the element (13,) at 2020-01-01 00:02:00 (1577836920000 ms), "
        "window [2020-01-01 00:00:00, 2020-01-01 00:10:00), key ('ann',); mend the function, or "
        'leave out what it cannot take with on_error="drop"'
    ) in refusal(PySparkException, lambda: windowed(frame, on_error="fail").collect())


def test_a_stream_that_shall_fail_says_what_for(feed: MakeFeed) -> None:
    visits = feed(VISITS)
    sessions = windowed(
        visits.frame,
        window=bl.Sessions(gap_of),
        window_input="page",
        watermark="0 s",
        on_error="fail",
    )
    visits.start(sessions)
    assert visits.send(visit("ann", "00:01", "news", 1)) == []
    assert (
        f"beamlike.errors.UserFunctionError: {NONSENSE}; it was called for the element ('odd', 2) "
        "at 2020-01-01 00:02:00 (1577836920000 ms), key ('bob',); mend the function, or leave out "
        'what it cannot take with on_error="drop"'
    ) in refusal(StreamingQueryException, lambda: visits.send(visit("bob", "00:02", "odd", 2)))
    assert not visits.query.isActive


def test_a_flatten_that_shall_fail_says_what_for(spark: Any) -> None:
    assert (
        f"beamlike.errors.UserFunctionError: {NONSENSE}; it was called for the element ('odd', 2) "
        "at 2020-01-01 00:04:00 (1577837040000 ms), key ('ann',); mend the function, or leave out "
        'what it cannot take with on_error="drop"'
    ) in refusal(PySparkException, lambda: flat(spark, on_error="fail").collect())
