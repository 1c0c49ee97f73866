"""0.0 and -0.0, which are equal and look different, on both machines; `tests/matrix` has Spark."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest

ROWS = "k string, at timestamp, v double, vs array<double>"
AGGREGATES = {
    "least": bl.min("v"),
    "greatest": bl.max("v"),
    "first": bl.first("v"),
    "last": bl.last("v"),
    "bottom": bl.bottom("v", 1),
    "top": bl.top("v", 1),
    "different": bl.collect_set("v"),
    "different_lists": bl.collect_set("vs"),
    "lists": bl.count_distinct("vs"),
}


def result(values: tuple[float, ...], machine: str, **how: Any) -> dict[str, str]:
    """The aggregates of these values in one window, each in a micro-batch of its own."""

    def job(rows: Any) -> Any:
        return bl.windowed(
            rows,
            key="k",
            timestamp="at",
            watermark="1 hour",
            aggregate=AGGREGATES,
            machine=machine,  # type: ignore[arg-type]
            **how,
        )

    query = QueryTest(job, ROWS)
    for minute, value in enumerate(values):
        query.send({"k": "a", "at": f"12:0{minute}", "v": value, "vs": [value]})
    (row,) = query.advance_watermark_to_infinity()
    return {name: repr(row[name]) for name in AGGREGATES}


def orders() -> Iterator[tuple[float, ...]]:
    for count in (1, 2, 3):
        yield from itertools.product((0.0, -0.0), repeat=count)
    yield from itertools.permutations((0.0, -0.0, 1.0))


@pytest.mark.parametrize("window", [bl.FixedWindows("1 hour"), bl.Sessions("10 minutes")], ids=str)
def test_of_equal_zeros_the_first_counts_and_a_set_has_none_with_a_sign(window: Any) -> None:
    for values in orders():
        found = {machine: result(values, machine, window=window) for machine in MACHINES}
        least = next(value for value in values if value == 0)
        greatest = max(values)  # Python's own takes the first of equal ones, too
        different = sorted({value + 0.0 for value in values})
        expected = {
            "least": repr(least),
            "greatest": repr(greatest),
            "first": repr(values[0]),
            "last": repr(values[-1]),
            "bottom": repr([least]),
            "top": repr([greatest]),
            "different": repr(different),
            "different_lists": repr([[it] for it in different]),
            "lists": repr(len(different)),
        }
        assert found == dict.fromkeys(MACHINES, expected), values


MACHINES = ("columnar", "reference")


def test_a_zero_that_is_withdrawn_takes_the_one_of_its_sign() -> None:
    def job(rows: Any) -> Any:
        values = bl.stream(rows, timestamp="at", watermark="1 hour").window(
            bl.FixedWindows("1 hour"),
            trigger=bl.Repeatedly(bl.AfterCount(1)),
            accumulation="retracting",
            allowed_lateness="1 hour",
        )
        latest = values.group("k", {"v": bl.last("v")}, name="latest")
        return latest.group([], {"least": bl.min("v")}, name="least")

    query = QueryTest(job, "k string, at timestamp, v double")
    for key, minute, value in (("a", 1, -0.0), ("b", 2, 0.0), ("a", 3, 1.0)):
        query.send({"k": key, "at": f"12:0{minute}", "v": value})
    rows = [repr(row["least"]) for row in query.rows if not row["retraction"]]
    assert rows[-1] == "0.0"
