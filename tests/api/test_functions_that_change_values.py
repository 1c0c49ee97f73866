"""Functions that change in place what they are given: all else that holds it stays as it is."""

from collections.abc import Sequence
from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.sums import Added, AddedInSteps

ROWS = "k string, at timestamp, xs array<int>"
MACHINES = pytest.mark.parametrize("machine", ["auto", "reference"])


def drained(items: list[Any]) -> int:
    """How many items a list had, which are taken out of it."""
    count = 0
    while items:
        items.pop()
        count += 1
    return count


class Draining(Added):
    """How many items there are. It takes them out of its elements."""

    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        return accumulator + sum(map(drained, values))


class DrainingInSteps(AddedInSteps):
    """As `Draining`, in the shape of Beam Python."""

    def add_input(self, accumulator: int, element: list[Any]) -> int:
        return accumulator + drained(element)


class Careless(bl.CombineFn):
    """All items, sorted. Every method changes the accumulators that it is given."""

    def create(self) -> list[Any]:
        return []

    def add(self, accumulator: list[Any], values: Any, timestamps: Any) -> list[Any]:
        for value in values:
            while value:
                accumulator.append(value.pop(0))
            if accumulator[-1] == 13:
                raise ValueError("13 is unlucky")
        return accumulator

    def merge(self, first: list[Any], second: list[Any]) -> list[Any]:
        while second:
            first.append(second.pop(0))
        return first

    def extract(self, accumulator: list[Any]) -> list[Any]:
        found = []
        while accumulator:
            found.append(accumulator.pop())
        return sorted(found)


def counting(window: bl.WindowFn, machine: str, fn: Any) -> Any:
    def job(rows: Any) -> Any:
        counted = bl.combine(fn, "xs", returns="bigint")
        parts = {"first": counted, "all": bl.collect("xs"), "again": counted}
        return hourly(rows, parts, watermark="0 s", window=window, machine=machine)

    return job


@MACHINES
@pytest.mark.parametrize("fn", [Draining(), DrainingInSteps()], ids=["its own", "in steps"])
@pytest.mark.parametrize(
    ("window", "starts"),
    [
        (bl.FixedWindows("1 hour"), [12]),
        (bl.SlidingWindows("2 hours", "1 hour"), [11, 12]),
        (bl.Sessions("10 minutes"), [12]),
    ],
    ids=["fixed", "sliding", "sessions"],
)
def test_an_element_is_the_same_for_all_aggregates_and_windows(
    window: bl.WindowFn, starts: list[int], fn: Any, machine: str
) -> None:
    query = QueryTest(counting(window, machine, fn), ROWS)
    query.send({"k": "a", "at": "12:05", "xs": [1, 2, 3]}, {"k": "a", "at": "12:06", "xs": [4]})
    rows = query.advance_watermark_to_infinity()
    assert [
        (row["window"]["start"].hour, row["first"], row["all"], row["again"]) for row in rows
    ] == [(hour, 4, [[1, 2, 3], [4]], 4) for hour in starts]


def panes_of(query: QueryTest) -> list[Any]:
    return [
        row["all"] if row["dropped"] is None else row["dropped"]["element"] for row in query.rows
    ]


def careless(machine: str, window: bl.WindowFn) -> Any:
    def job(rows: Any) -> bl.Stream:
        stream = bl.stream(rows, timestamp="at", watermark="1 hour").window(
            window,
            trigger=bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
            accumulation="accumulating",
            allowed_lateness="1 hour",
        )
        return stream.group(
            "k",
            {"all": bl.combine(Careless(), "xs", returns="array<int>")},
            machine=machine,  # type: ignore[arg-type]
        )

    return job


@MACHINES
def test_a_result_that_empties_its_accumulator_leaves_the_one_that_stands(machine: str) -> None:
    query = QueryTest(careless(machine, bl.FixedWindows("1 hour")), ROWS)
    query.send({"k": "a", "at": "12:05", "xs": [3, 1]})
    query.send({"k": "a", "at": "12:06", "xs": [2]})
    query.restart()
    query.send({"k": "a", "at": "12:07", "xs": [0]})
    assert panes_of(query) == [[1, 3], [1, 2, 3], [0, 1, 2, 3]]


@MACHINES
def test_a_merge_that_empties_the_part_that_it_merges(machine: str) -> None:
    query = QueryTest(careless(machine, bl.Sessions("10 minutes")), ROWS)
    query.send({"k": "a", "at": "12:00", "xs": [3, 1]}, {"k": "a", "at": "12:16", "xs": [5]})
    query.send({"k": "a", "at": "12:08", "xs": [2]})
    assert panes_of(query) == [[1, 3], [5], [1, 2, 3, 5]]


@MACHINES
def test_what_a_call_has_changed_before_it_raised_is_as_it_was(machine: str) -> None:
    query = QueryTest(careless(machine, bl.FixedWindows("1 hour")), ROWS)
    query.send({"k": "a", "at": "12:05", "xs": [3, 1]})
    query.send({"k": "a", "at": "12:06", "xs": [2]}, {"k": "a", "at": "12:07", "xs": [7, 13]})
    query.send({"k": "a", "at": "12:08", "xs": [0]})
    assert sorted(panes_of(query), key=str) == [
        *([0, 1, 2, 3], [1, 2, 3], [1, 3]),
        '{"k":"a","xs":[7,13]}',
    ]


def longest_first(items: list[int]) -> int:
    return drained(items)


def minutes_of(items: list[int]) -> str:
    return f"{drained(items)} minutes"


def is_last(items: list[int]) -> bool:
    return drained(items) == 4


def test_functions_of_the_window_and_of_an_order_may_change_their_value() -> None:
    for window in (bl.Sessions(minutes_of), bl.Sessions("2 minutes", ends_with=is_last)):

        def job(rows: Any, window: bl.WindowFn = window) -> Any:
            top = bl.combine_fns.Top(1, by=longest_first)
            longest = bl.combine(top, "xs", returns="array<array<int>>")
            parts = {"longest": longest, "all": bl.collect("xs")}
            return hourly(rows, parts, watermark="0 s", window=window, window_input="xs")

        query = QueryTest(job, ROWS)
        query.send({"k": "a", "at": "12:00", "xs": [1]}, {"k": "a", "at": "12:00:30", "xs": [2, 3]})
        (row,) = query.advance_watermark_to_infinity()
        assert (row["longest"], row["all"]) == ([[2, 3]], [[1], [2, 3]])
