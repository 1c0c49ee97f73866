"""Sums and means as Spark has them: of nulls alone they are null, those of decimals are exact, in
the type and with the rounding of Spark."""

from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final, get_args

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.runtime.options import MachineName
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.queries.rows import ON_BOTH_AT_NIGHT

COLUMNS: Final = "k string, at timestamp, n int, x double, d decimal(5,2)"
_SECOND: Final = timedelta(seconds=1)
TOTALS: Final = {
    "n": bl.sum("n"),
    "x": bl.sum("x"),
    "d": bl.sum("d"),
    "mean": bl.mean("d"),
    "rows": bl.count(),
}
MACHINES: Final = [name for name in get_args(MachineName) if name != "auto"]


def query_of(
    accumulation: Any, machine: Any = "auto", *, host: Any = "local", trigger: Any = None
) -> QueryTest:
    def job(rows: Any) -> Any:
        return hourly(
            rows,
            TOTALS,
            watermark="0 s",
            trigger=trigger or bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
            accumulation=accumulation,
            allowed_lateness="1 day",
            closing_behavior="fire_always",
            on_time_behavior="fire_always",
            machine=machine,
            shards=1,
        )

    return QueryTest(job, COLUMNS, host=host)


def row(minute: int, n: Any = None, x: Any = None, d: Any = None) -> dict[str, Any]:
    value = None if d is None else Decimal(d)
    return {"k": "a", "at": f"12:{minute:02}:00", "n": n, "x": x, "d": value}


def in_words(rows: Any) -> list[str]:
    return [
        " ".join(str(it[name]) for name in TOTALS) + (" withdrawn" if it.get("retraction") else "")
        for it in rows
    ]


PANES: Final = {
    "accumulating": [
        ["None None None None 1"],
        ["0 0.5 1.25 1.250000 2"],
        ["0 0.5 1.25 1.250000 3"],
        ["0 0.5 1.25 1.250000 3"],  # on time, with nothing new
        ["0 0.5 1.25 1.250000 4"],
        ["0 0.5 1.25 1.250000 4"],  # the last
    ],
    "discarding": [
        ["None None None None 1"],
        ["0 0.5 1.25 1.250000 1"],
        ["None None None None 1"],
        ["None None None None 0"],
        ["None None None None 1"],
        ["None None None None 0"],
    ],
    "retracting": [
        ["None None None None 1"],
        ["None None None None 1 withdrawn", "0 0.5 1.25 1.250000 2"],
        ["0 0.5 1.25 1.250000 2 withdrawn", "0 0.5 1.25 1.250000 3"],
        [],
        ["0 0.5 1.25 1.250000 3 withdrawn", "0 0.5 1.25 1.250000 4"],
        [],
    ],
}
"""The panes of nulls alone, of values, of nulls, without an element, of a null that comes late."""


@ON_BOTH_AT_NIGHT
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("accumulation", ["accumulating", "discarding"])
def test_a_pane_without_a_value_has_no_sum(accumulation: str, machine: str, host: Any) -> None:
    with query_of(accumulation, machine, host=host) as query:
        panes = [
            query.send(row(1)),
            query.send(row(2, 0, 0.5, "1.25")),
            query.send(row(3)),
            query.advance_watermark_to("13:00:00"),
            query.send(row(4)),
            query.advance_watermark_to_infinity(),
        ]
    assert [in_words(rows) for rows in panes] == PANES[accumulation]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_pane_that_is_withdrawn_had_no_sum(machine: Any) -> None:
    trigger = bl.Repeatedly(bl.AfterCount(1))
    with query_of("retracting", machine, trigger=trigger) as query:
        panes = [query.send(row(1)), query.send(row(2, 0, 0.5, "1.25")), query.send(row(3))]
    assert [in_words(rows) for rows in panes] == PANES["retracting"][:3]


@pytest.mark.parametrize("machine", MACHINES)
def test_sessions_of_nulls_merge_with_sums(machine: Any) -> None:
    def job(rows: Any) -> Any:
        sessions = bl.Sessions("5 minutes")
        return hourly(rows, TOTALS, watermark="1 hour", window=sessions, machine=machine)

    query = QueryTest(job, COLUMNS)
    for minute, n in ((0, None), (8, None), (4, 7), (30, None), (34, None)):
        query.send(row(minute, n))
    assert in_words(query.advance_watermark_to_infinity()) == [
        "7 None None None 3",
        "None None None None 2",
    ]


def test_a_query_that_starts_again_knows_that_there_was_no_value() -> None:
    with query_of("accumulating") as query:
        query.send(row(1))
        query.restart()
        assert in_words(query.send(row(2))) == ["None None None None 2"]
        query.restart()
        assert in_words(query.send(row(3, 4, 0.0, "0.01"))) == ["4 0.0 0.01 0.010000 3"]


def test_sums_of_an_earlier_version_go_on_as_the_numbers_that_they_were() -> None:
    from beamlike.machine.columnar.folds.choice import fold_of
    from beamlike.model.combine.sql import SqlSum

    for dtype, zero in ((pa.int64(), 0), (pa.float64(), 0.0), (pa.decimal128(38, 2), Decimal(0))):
        fold = fold_of(SqlSum(), [dtype])
        assert str(SqlSum()) == "Sum()"
        saved = pa.array([zero, None], dtype)
        assert fold.extract(fold.load([saved])).to_pylist() == [zero, None]
        assert fold.save(fold.load([saved]))[0].equals(saved)


# -- decimals -------------------------------------------------------------------------------------

DECIMALS: Final = [
    (1, 1),
    (5, 2),
    (10, 0),
    (18, 18),
    (28, 2),
    (34, 30),
    (38, 18),
    (38, 35),
    (38, 38),
]


def decimals(random: Random, precision: int, scale: int) -> list[Decimal | None]:
    """Values whose sum and mean fit, some at the edges of what is rounded."""
    digits = min(precision, 33)
    values = [
        random.choice([-1, 1]) * random.randrange(10 ** random.randrange(1, digits + 1))
        for _ in range(random.randrange(1, 30))
    ]
    exact = [Decimal((value < 0, tuple(map(int, str(abs(value)))), -scale)) for value in values]
    return [value if random.random() < 0.9 else None for value in exact]


@pytest.mark.spark
@pytest.mark.parametrize(("precision", "scale"), DECIMALS)
def test_sums_and_means_of_decimals_are_sparks_to_the_last_digit(
    spark: Any, precision: int, scale: int
) -> None:
    from pyspark.sql import functions as F

    random = Random(precision * 100 + scale)
    rows = [
        (f"{key}", 0, value) for key in range(40) for value in decimals(random, precision, scale)
    ]
    names, times, values = zip(*rows, strict=True)
    dtype = pa.decimal128(precision, scale)
    at = pa.array(times, pa.timestamp("us", "UTC"))
    table = pa.table({"k": names, "at": at, "d": pa.array(values, dtype)})
    native = (
        spark.createDataFrame(table).groupBy("k").agg(F.sum("d").alias("s"), F.avg("d").alias("m"))
    )
    expected = native.toArrow()
    for machine in MACHINES:
        ours = hourly(table, {"s": bl.sum("d"), "m": bl.mean("d")}, machine=machine)
        ours = ours.select(["k", "s", "m"])
        assert ours.schema.types == expected.schema.types
        assert sorted(map(str, ours.to_pylist())) == sorted(map(str, expected.to_pylist()))


@pytest.mark.parametrize("machine", MACHINES)
def test_intervals_add_up_and_their_mean_is_rounded_away_from_zero(machine: Any) -> None:
    micros = timedelta(microseconds=1)
    values = {
        "a": [timedelta(days=3), None, -_SECOND],
        "b": [None],
        "c": [-micros, timedelta(0)],
        "d": [micros, micros, timedelta(0)],
    }
    rows = [(key, value) for key, of_key in values.items() for value in of_key]
    table = pa.table(
        {
            "k": [key for key, _ in rows],
            "at": pa.array([0] * len(rows), pa.timestamp("us", "UTC")),
            "v": pa.array([value for _, value in rows], pa.duration("us")),
        }
    )
    panes = hourly(table, {"sum": bl.sum("v"), "mean": bl.mean("v")}, machine=machine)
    assert {row["k"]: (row["sum"], row["mean"]) for row in panes.to_pylist()} == {
        "a": (timedelta(days=3) - _SECOND, (timedelta(days=3) - _SECOND) / 2),
        "b": (None, None),
        "c": (-micros, -micros),
        "d": (2 * micros, micros),
    }


def test_decimals_that_are_withdrawn_leave_the_sum_and_the_mean() -> None:
    def job(rows: Any) -> Any:
        values = bl.stream(rows, timestamp="at", watermark="1 hour").window(
            bl.FixedWindows("1 hour"),
            trigger=bl.Repeatedly(bl.AfterCount(1)),
            accumulation="retracting",
            allowed_lateness="1 hour",
        )
        latest = values.group("k", {"d": bl.last("d"), "n": bl.last("n")}, name="latest")
        totals = {"sum": bl.sum("d"), "mean": bl.mean("d"), "whole": bl.sum("n")}
        return latest.group([], totals, name="totals")

    query = QueryTest(job, "k string, at timestamp, d decimal(5,2), n int")
    for key, minute, value in (("a", 1, "0.10"), ("b", 2, None), ("a", 3, "0.25"), ("a", 4, None)):
        exact = None if value is None else Decimal(value)
        number = None if exact is None else int(exact * 100)
        query.send({"k": key, "at": f"12:0{minute}", "d": exact, "n": number})
    stand = [row for row in query.rows if not row["retraction"]]
    assert [(row["sum"], row["mean"], row["whole"]) for row in stand][-2:] == [
        (Decimal("0.25"), Decimal("0.250000"), 25),
        (Decimal("0.25"), Decimal("0.250000"), 25),
    ]


def test_a_quotient_is_rounded_half_up_and_once() -> None:
    from beamlike.model.combine.sql import mean_of

    assert mean_of(Decimal("5e-38"), 11, 38) == 0  # 0.4545... of the last digit
    assert mean_of(Decimal("6e-38"), 13, 38) == 0  # 0.4615...
    assert mean_of(Decimal("6e-38"), 11, 38) == Decimal("1e-38")
    assert mean_of(Decimal("-5e-38"), 10, 38) == Decimal("-1e-38")
    assert mean_of(Decimal("0.5"), 4, 2) == Decimal("0.13")


@pytest.mark.parametrize("machine", MACHINES)
def test_a_row_that_makes_a_sum_or_a_mean_too_much_is_dropped_and_no_other(machine: Any) -> None:
    def job(rows: Any) -> Any:
        totals = {"sum": bl.sum("d"), "mean": bl.mean("e")}
        return hourly(rows, totals, key=[], watermark="1 hour", machine=machine, output="all")

    query = QueryTest(job, "at timestamp, d decimal(38,0), e decimal(38,10)")
    great, mean = Decimal("9" * 38), Decimal("9" * 28 + ".5")
    query.send({"at": "12:00:00", "d": great, "e": 1})
    query.send({"at": "12:00:01", "d": 1, "e": 3})
    query.send({"at": "12:00:02", "d": -1, "e": mean})
    kept, *lost = sorted(
        query.advance_watermark_to_infinity() + query.rows[:-1],
        key=lambda row: row["dropped"] is not None,
    )
    assert (kept["sum"], kept["mean"]) == (great, 1) or kept["sum"] == great - 1
    assert lost
    assert {it["dropped"]["reason"] for it in lost} == {"failed"}
