"""What a call would accept and never use is refused, with what to write instead."""

from functools import partial
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import WindowingError
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.refusals import refusal

VIEWS = "user string, at timestamp, page string, v int"
HOUR = bl.FixedWindows("1 hour")
LEAVE_OUT = "leave it out, or use what asks, such as Sessions(gap_of) or AfterDelta"
UNREAD = "has no effect, because no value is asked for by"


def gap_of(page: str) -> int:
    return 1000 * len(page)


windowed = partial(hourly, key="user", watermark="0 s")


def rows(events: Any, window: bl.WindowFn = HOUR) -> bl.Stream:
    return bl.stream(events, timestamp="at", watermark="0 s").window(window)


refused = partial(refusal, WindowingError, QueryTest)


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (HOUR, "FixedWindows(1h)"),
        (bl.Sessions("1 minute"), "Sessions(1m)"),
        (bl.GlobalWindows(), "GlobalWindows()"),
        (bl.CalendarDays(1), str(bl.CalendarDays(1))),
    ],
)
def test_columns_for_windows_that_look_at_times_are_refused(window: Any, words: str) -> None:
    trigger = bl.Repeatedly(bl.AfterCount(1))
    parts = {"trigger": trigger, "accumulation": "discarding", "allowed_lateness": 0}
    message = refused(lambda it: windowed(it, window=window, window_input="page", **parts), VIEWS)
    assert message == (f"window_input=['page'] {UNREAD} {words} and {trigger}; {LEAVE_OUT}")


def test_so_are_columns_for_sessions_that_have_merged() -> None:
    def job(events: Any) -> bl.Stream:
        visits = rows(events, bl.Sessions(gap_of))
        counted = visits.group(["user", "page"], {"n": bl.count()}, window_input="page")
        return counted.group("user", {"n": bl.sum("n")}, window_input="page")

    assert refused(job, VIEWS).startswith(f"window_input=['page'] {UNREAD} Sessions(")


def test_so_are_columns_for_a_look_up_and_a_join() -> None:
    inputs = {"one": VIEWS, "other": "user string, since timestamp, plan string"}

    def sides(one: Any, other: Any) -> tuple[bl.Stream, bl.Stream]:
        there = bl.stream(other, timestamp="since", watermark="0 s").window(HOUR)
        return rows(one), there

    def looked_up(one: Any, other: Any) -> bl.Stream:
        return bl.look_up(*sides(one, other), on="user", window_input="page")

    def joined(one: Any, other: Any) -> bl.Stream:
        names = {"left": "page", "right": "plan"}
        return bl.join(*sides(one, other), on="user", window_input=names)

    assert f"{UNREAD} FixedWindows(1h); {LEAVE_OUT}" in refused(looked_up, inputs)
    assert f"{UNREAD} FixedWindows(1h) and DefaultTrigger(); " in refused(joined, inputs)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"window": bl.Sessions(gap_of)}, id="a gap"),
        pytest.param({"window": bl.Sessions("1 minute", ends_with="page")}, id="an end"),
        pytest.param(
            {
                "trigger": bl.Repeatedly(bl.AfterDelta(5, len)),
                "accumulation": "discarding",
                "allowed_lateness": 0,
            },
            id="a trigger",
        ),
    ],
)
def test_columns_that_are_read_are_taken(parts: dict[str, Any]) -> None:
    query = QueryTest(lambda events: windowed(events, window_input="page", **parts), VIEWS)
    query.send({"user": "ann", "at": "12:00:00", "page": "page"})
    assert [row["n"] for row in query.advance_watermark_to_infinity()] == [1]


@pytest.mark.parametrize("carry", ["page", ["page", "v"]])
def test_columns_of_dropped_rows_are_refused_where_none_are_delivered(carry: Any) -> None:
    assert refused(lambda events: windowed(events, carry=carry), VIEWS) == (
        f'carry={carry!r} shows columns with dropped rows, and output="panes" delivers none; add '
        'output="all", or leave carry out'
    )
    for output in ("all", "dropped"):
        QueryTest(lambda events, output=output: windowed(events, carry=carry, output=output), VIEWS)
