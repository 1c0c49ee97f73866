"""Panes put into windows anew: a warning where the end of their window would decide."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
import beamlike.scio as scio
from beamlike.errors import UnwiseStrategyWarning
from beamlike.testing import QueryTest, TestStream

ORDERS = "id string, shop string, at timestamp"
HOUR, SESSIONS = bl.FixedWindows("1 hour"), bl.Sessions("5 minutes")
SAYS = (
    "Sessions(5m) goes by the times of panes of 'once', and these are stamped with the end of "
    "their window of FixedWindows(1h), whenever their elements were; write "
    "timestamp_combiner=\"earliest\" in the window(...) of 'once', or, where it only leaves out "
    "what comes again, deduplicate(...) in its place"
)
SAYS_OF_PIPELINES = (
    "{label!r} puts panes into Sessions(5m) by their time, and {before!r} stamps them with the end "
    "of their window of FixedWindows(1h), whenever their elements were; before {before!r} write "
    'timestamp_combiner="earliest", or, where it only leaves out what comes again, take '
    "DeduplicatePerKey in its place"
)


@contextmanager
def said(*expected: str) -> Iterator[None]:
    """What is warned of in the block, and that each warning points at this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    found = [it for it in caught if issubclass(it.category, UnwiseStrategyWarning)]
    assert [str(it.message) for it in found] == list(expected)
    assert {it.filename for it in found} <= {__file__}


def order(number: str, at: str) -> dict[str, str]:
    return {"id": number, "shop": "north", "at": at}


def first_panes(orders: Any, window: Any = HOUR, **parts: Any) -> bl.Stream:
    """The first pane of each order, by a grouping."""
    rows = bl.stream(orders, timestamp="at", watermark="10 minutes").window(
        window,
        trigger=bl.Repeatedly(bl.AfterCount(1)),
        accumulation="discarding",
        allowed_lateness="2 hours",
        **parts,
    )
    return rows.group(["id", "shop"], {"n": bl.count()}, name="once").where("pane.is_first")


def in_sessions(once: bl.Stream) -> bl.Stream:
    sessions = once.window(SESSIONS, trigger=bl.DefaultTrigger(), accumulation="discarding")
    return sessions.group("shop", {"orders": bl.count()}, name="per session")


def sessions_of(job: Callable[[Any], Any]) -> list[str]:
    """The sessions of orders of 12:00, sent twice, and 12:20."""
    query = QueryTest(job, ORDERS)
    query.send(order("a", "12:00"), order("b", "12:20"))
    query.send(order("a", "12:00"))
    query.advance_watermark_to_infinity()
    return sorted(
        f"{row['window']['start']:%H:%M:%S}-{row['window']['end']:%H:%M:%S} {row['orders']}"
        for row in query.rows
    )


def test_sessions_of_panes_at_the_end_of_their_window_are_others_and_are_warned_of() -> None:
    with said(SAYS):
        sessions = sessions_of(lambda orders: in_sessions(first_panes(orders)))
    assert sessions == ["12:59:59-13:04:59 2"]


@pytest.mark.parametrize(
    "once",
    [
        lambda orders: first_panes(orders, timestamp_combiner="earliest"),
        lambda orders: (
            bl.stream(orders, timestamp="at", watermark="10 minutes")
            .window(HOUR, accumulation="discarding", allowed_lateness="2 hours")
            .deduplicate(["id", "shop"], within="3 hours", name="once")
        ),
    ],
    ids=["earliest", "deduplicate"],
)
def test_both_ways_that_the_warning_names_give_the_sessions_of_the_orders(once: Any) -> None:
    with said():
        sessions = sessions_of(lambda orders: in_sessions(once(orders)))
    assert sessions == ["12:00:00-12:05:00 1", "12:20:00-12:25:00 1"]


@pytest.mark.parametrize(
    "change",
    [
        lambda once: once.select("id", "shop"),
        lambda once: once.deduplicate("id", name="again"),
        lambda once: bl.flatten([once, once]),
        lambda once: once.window(timestamp_combiner="earliest").group(
            ["id", "shop"], {"n": bl.count()}, name="earliest of ends"
        ),
    ],
    ids=["select", "deduplicate", "flatten", "a grouping that keeps the times"],
)
def test_it_is_known_after_other_verbs(change: Any) -> None:
    with said(SAYS):
        QueryTest(lambda orders: in_sessions(change(first_panes(orders))).rows, ORDERS)


@pytest.mark.parametrize(
    "window", [HOUR, bl.FixedWindows("1 day"), bl.CalendarDays(), bl.GlobalWindows(), None], ids=str
)
def test_windows_that_hours_lie_in_are_not_warned_of(window: Any) -> None:
    def job(orders: Any) -> Any:
        again = first_panes(orders).window(
            window, trigger=bl.Repeatedly(bl.AfterCount(1)), allowed_lateness="2 hours"
        )
        return again.group("shop", {"orders": bl.count()}).rows

    with said():
        QueryTest(job, ORDERS)


def test_hours_of_sessions_are_those_in_which_they_end_and_are_not_warned_of() -> None:
    def job(orders: Any) -> Any:
        rows = bl.stream(orders, timestamp="at", watermark="10 minutes")
        sessions = rows.window(SESSIONS).group("shop", {"orders": bl.count()})
        return sessions.window(HOUR).group([], {"sessions": bl.count()}).rows

    with said():
        QueryTest(job, ORDERS)


# -- pipelines ---------------------------------------------------------------------------------

STREAM = (
    TestStream()
    .add_elements_at_time("12:00:00", ("a", 1), ("a", 1))
    .add_elements_at_time("12:20:00", ("b", 1))
    .advance_watermark_to_infinity()
)


def restamped(pair: Any) -> Any:
    return beam.window.TimestampedValue(pair, 60 * pair[1])


@pytest.mark.parametrize(
    ("between", "warns"),
    [
        (beam.Map(lambda pair: pair), True),
        (beam.Filter(lambda pair: True), True),
        (beam.Values(), True),
        (beam.Map(restamped), False),
        (beam.FlatMap(lambda pair: [beam.window.TimestampedValue(pair, 0)]), False),
        (beam.WithTimestamps(lambda pair: 60), False),
        (beam.Reshuffle(), True),
    ],
    ids=["map", "filter", "values", "stamps", "stamps inside", "with timestamps", "reshuffle"],
)
def test_a_pipeline_warns_unless_a_function_gives_times(between: Any, warns: bool) -> None:
    pipeline = beam.Pipeline()
    hours = pipeline | STREAM | "Hours" >> beam.WindowInto(beam.FixedWindows(3600))
    panes = hours | "Once" >> beam.GroupByKey() | "Between" >> between
    expected = SAYS_OF_PIPELINES.format(label="Sessions", before="Once")
    with said(*[expected] * warns):
        panes | "Sessions" >> beam.WindowInto(beam.Sessions(300))


@pytest.mark.parametrize("combiner", [None, "earliest"])
def test_scios_verbs_warn_as_well(combiner: Any) -> None:
    sc = scio.ScioContext(beam.Pipeline())
    options = scio.WindowOptions(timestamp_combiner=combiner)
    once = sc.test_stream(STREAM).with_fixed_windows("1 hour", options=options).count_by_value()
    expected = SAYS_OF_PIPELINES.format(
        label="with_session_windows", before="count_by_value/Combine"
    )
    with said(*[expected] * (combiner is None)):
        once.with_session_windows("5 minutes")
