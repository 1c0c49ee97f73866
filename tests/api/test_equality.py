"""Equal values are those that Spark takes for equal: every NaN, and the zeros of both signs."""

import itertools
import math
import struct
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly

NANS = [
    struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    for bits in (0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000)
]
VALUES = [*NANS, 0.0, -0.0, 1.0]
MACHINES = pytest.mark.parametrize("machine", ["columnar", "reference"])


def in_words(value: Any) -> Any:
    """A value by which NaN is equal to NaN, and -0.0 differs from 0.0."""
    if isinstance(value, list):
        return [in_words(item) for item in value]
    return str(value) if isinstance(value, float) else value


def rows(dtype: pa.DataType) -> pa.Table:
    count = len(VALUES)
    return pa.table(
        {
            "k": ["a"] * count,
            "at": pa.array([0] * count, pa.timestamp("us", "UTC")),
            "v": pa.array(VALUES, pa.float64()).cast(dtype),
            "n": list(range(count)),
        }
    )


@MACHINES
@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32()], ids=str)
def test_nan_of_any_bits_is_one_value_and_minus_zero_is_zero(machine: Any, dtype: Any) -> None:
    aggregate = {
        "count": bl.count_distinct("v"),
        "set": bl.collect_set("v"),
        "estimate": bl.approx_distinct("v"),
        "least": bl.min("v"),
        "greatest": bl.max("v"),
        "at_least": bl.min_by("n", by="v"),
        "at_greatest": bl.max_by("n", by="v"),
        "in_order": bl.bottom("n", 6, by="v"),
    }
    (pane,) = hourly(rows(dtype), aggregate, machine=machine).to_pylist()
    assert {name: in_words(pane[name]) for name in aggregate} == {
        "count": 3,
        "set": ["0.0", "1.0", "nan"],
        "estimate": 3,
        "least": "0.0",
        "greatest": "nan",
        "at_least": 3,
        "at_greatest": 0,
        "in_order": [3, 4, 5, 0, 1, 2],
    }
    by_value = hourly(rows(dtype), key="v", machine=machine).to_pylist()
    assert {str(pane["v"]): pane["n"] for pane in by_value} == {"0.0": 2, "1.0": 1, "nan": 3}
    assert math.copysign(1, next(it["v"] for it in by_value if it["v"] == 0)) == 1


SCORES = [
    ("b", 7, 3, "12:00:02"),
    ("a", 7, 1, "12:00:02"),
    ("c", 7, 2, "12:00:01"),
    ("d", 9, None, "12:00:09"),
    ("e", 7, 0, "12:00:03"),
]
BY_SCORE = {
    "best": bl.top("name", 4, by="score"),
    "least": bl.bottom("name", 3, by="score"),
    "greatest": bl.max_by("place", by="score"),
    "first": bl.min_by("place", by="score"),
}


def of_scores(rows: Any, machine: Any = "auto") -> Any:
    return hourly(rows, BY_SCORE, key=[], machine=machine)


EARLIEST_FIRST = {
    "best": ["d", "c", "a", "b"],
    "least": ["c", "a", "b"],
    "greatest": None,  # that of d
    "first": 2,  # that of c
}


@MACHINES
def test_of_rows_that_are_equal_by_a_column_the_earliest_counts_whenever_it_arrives(machine: Any):
    for order in itertools.permutations(SCORES):
        names, scores, places, times = zip(*order, strict=True)
        at = pa.array([datetime.fromisoformat(f"2024-01-01T{time}Z") for time in times])
        table = pa.table({"name": names, "score": scores, "place": places, "at": at})
        (pane,) = of_scores(table, machine).to_pylist()
        assert {name: pane[name] for name in BY_SCORE} == EARLIEST_FIRST


@pytest.mark.spark
def test_spark_reads_rows_that_are_equal_in_any_order_and_has_the_same(spark: Any) -> None:
    from pyspark.sql import functions as F

    for seed in range(3):
        rows = spark.createDataFrame(SCORES, "name string, score int, place int, time string")
        rows = rows.selectExpr("*", "timestamp(concat('2024-01-01 ', time, 'Z')) at")
        panes = of_scores(rows.repartition(4, F.rand(seed))).select(*BY_SCORE)
        assert [row.asDict() for row in panes.collect()] == [EARLIEST_FIRST]


NESTED: dict[str, tuple[pa.DataType, Any]] = {
    "list": (pa.list_(pa.float64()), lambda value: [None, value]),
    "list of lists": (pa.list_(pa.list_(pa.float32())), lambda value: [[], [value]]),
    "struct": (pa.struct([("x", pa.float64())]), lambda value: {"x": value}),
    "struct of lists": (
        pa.struct([("x", pa.list_(pa.struct([("y", pa.float64())])))]),
        lambda value: {"x": [{"y": value}, None]},
    ),
}


@MACHINES
@pytest.mark.parametrize("shape", NESTED)
def test_values_are_equal_at_any_depth(machine: Any, shape: str) -> None:
    dtype, inside = NESTED[shape]
    values = [*map(inside, VALUES), None]
    table = pa.table(
        {
            "at": pa.array(range(len(values)), pa.timestamp("us", "UTC")),
            "v": pa.array(values, dtype),
        }
    )
    aggregate = {
        "count": bl.count_distinct("v"),
        "estimate": bl.approx_distinct("v"),
        "set": bl.collect_set("v"),
        "first": bl.first("v"),
        "last": bl.last("v"),
        "of_time": bl.max_by("v", by="at"),
    }
    (pane,) = hourly(table, aggregate, key=[], machine=machine).to_pylist()
    assert {name: str(pane[name]) for name in aggregate} == {
        "count": "3",
        "estimate": "3",
        "set": str([inside(0.0), inside(1.0), inside(NANS[0])]),
        "first": str(inside(NANS[0])),
        "last": str(inside(1.0)),
        "of_time": "None",
    }


@MACHINES
def test_values_of_maps_come_out_as_they_are(machine: Any) -> None:
    dtype = pa.map_(pa.string(), pa.list_(pa.float64()))
    values = [[("a", [value])] for value in VALUES]
    at = pa.array(range(len(values)), pa.timestamp("us", "UTC"))
    table = pa.table({"at": at, "v": pa.array(values, dtype)})
    aggregate = {"all": bl.collect("v"), "last": bl.last("v"), "n": bl.approx_distinct("v")}
    (pane,) = hourly(table, aggregate, key=[], machine=machine).to_pylist()
    assert str(pane["all"]) == str(values)
    assert (str(pane["last"]), pane["n"]) == (str(values[-1]), 3)


# -- zeros of both signs, one by one; `tests/matrix` has Spark ------------------------------------

OF_ZEROS = {
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


def result(values: tuple[float, ...], machine: str, window: bl.WindowFn) -> dict[str, str]:
    """The aggregates of these values in one window, each in a micro-batch of its own."""
    how: dict[str, Any] = {"watermark": "1 hour", "window": window, "machine": machine}
    schema = "k string, at timestamp, v double, vs array<double>"
    query = QueryTest(lambda rows: hourly(rows, OF_ZEROS, **how), schema)
    for minute, value in enumerate(values):
        query.send({"k": "a", "at": f"12:0{minute}", "v": value, "vs": [value]})
    (row,) = query.advance_watermark_to_infinity()
    return {name: repr(row[name]) for name in OF_ZEROS}


def orders() -> Iterator[tuple[float, ...]]:
    for count in (1, 2, 3):
        yield from itertools.product((0.0, -0.0), repeat=count)
    yield from itertools.permutations((0.0, -0.0, 1.0))


@pytest.mark.parametrize("window", [bl.FixedWindows("1 hour"), bl.Sessions("10 minutes")], ids=str)
@MACHINES
def test_of_equal_zeros_the_first_counts_and_a_set_has_none_with_a_sign(
    machine: str, window: Any
) -> None:
    for values in orders():
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
        assert result(values, machine, window) == expected, values


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
