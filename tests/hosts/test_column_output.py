"""Output rows of panes in columns: those that the panes would make one by one."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model import combine
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.accumulator_columns import ListColumn, PlainColumn, StampedColumns
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.stepping import stepper_of
from tests.support.machines.both import BothMachines
from tests.support.machines.in_shard import DictStore
from tests.support.queries.rows import ONLY_PANE

NOON = datetime(2020, 1, 1, 12)
ORDERED: dict[str, tuple[pa.DataType, list[Any]]] = {
    "tiny": (pa.int8(), [1, None, -128]),
    "int": (pa.int32(), [2**31 - 1, None, -5]),
    "whole": (pa.int64(), [2**63 - 1, None, -(2**63)]),
    "single": (pa.float32(), [0.5, None, float("nan")]),
    "real": (pa.float64(), [-0.0, None, float("-inf")]),
    "money": (pa.decimal128(7, 2), [Decimal("1.50"), None, Decimal("-0.05")]),
    "fortune": (pa.decimal128(38, 0), [Decimal(10**38 - 1), None, Decimal(1)]),
    "day": (pa.date32(), [date(1, 1, 1), None, date(9999, 12, 31)]),
    "moment": (
        pa.timestamp("us", "UTC"),
        [NOON.replace(tzinfo=UTC), None, NOON.replace(1, 1, 1, tzinfo=UTC)],
    ),
    "local": (pa.timestamp("us"), [NOON, None, datetime.max]),
    "text": (pa.string(), ["é", None, ""]),
    "bits": (pa.binary(), [b"\x00", None, b""]),
    "flag": (pa.bool_(), [True, None, False]),
    "span": (pa.duration("us"), [timedelta(1), None, timedelta(-1)]),
}
NESTED: dict[str, tuple[pa.DataType, list[Any]]] = {
    "tags": (pa.list_(pa.string()), [["a", None], None, []]),
    "place": (pa.struct([("x", pa.int64())]), [{"x": 1}, None, {"x": None}]),
    "marks": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], None, []]),
}
KINDS = ORDERED | NESTED
FULL = bl.AfterWatermark(early=bl.Repeatedly(bl.AfterCount(1)), late=bl.Always())
COUNT = Part("n", combine.Count(), None, PlainColumn(pa.int64()), pa.int64())


def arrivals(*rows: tuple[str, int], **values: pa.Array) -> pa.Table:
    return pa.table(
        {
            "key_user": [key for key, _ in rows],
            "ts": pa.array([at for _, at in rows], pa.int64()),
            **values,
            "bucket": pa.array([0] * len(rows), pa.int32()),
        }
    )


def plan_of(strategy: bl.WindowingStrategy, *parts: Part, **more: Any) -> Plan:
    values = more.pop("values", {})
    return Plan(strategy, {"user": pa.string()}, values, parts or (COUNT,), 1, 1, **more)


@pytest.mark.parametrize(
    ("accumulation", "render"),
    [
        ("accumulating", "retractions"),
        *(("retracting", render) for render in ("retractions", "changelog", "upserts")),
    ],
)
@pytest.mark.parametrize("name", KINDS)
def test_values_of_every_type_come_out_as_they_went_in(name: str, accumulation: str, render: Any):
    kind, values = KINDS[name]
    parts = [
        Part("one", combine.First(), 0, StampedColumns(kind), kind),
        Part("all", combine.Collect(), 0, ListColumn(kind), pa.list_(kind)),
        Part("some", combine.Collect(keep_nulls=False), 0, ListColumn(kind), pa.list_(kind)),
        COUNT,
    ]
    if name in ORDERED:
        parts.append(Part("least", combine.Min(), 0, PlainColumn(kind), kind))
        parts.append(Part("most", combine.Max(), 0, PlainColumn(kind), kind))
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), FULL, accumulation, 100)
    both = BothMachines(plan_of(strategy, *parts, values={name: kind}, render=render))
    first, second, third = values
    seen = []
    for at, value, watermark in ((1, first, 0), (2, second, 5), (3, third, 20), (4, first, 20)):
        column = pa.array([value, third], kind)
        rows = arrivals(("ann", at), ("bob", 7), **{f"value_{name}": column})
        seen += both.step(rows, watermark=watermark)
    seen += both.step(watermark=MAX_TIMESTAMP)

    reported = [row["all"] for row in seen if row["user"] == "ann" and row["pane"]]
    # What came first is in the first pane, as it was.
    assert repr(reported[0]) == repr(pa.array([[first]], pa.list_(kind)).to_pylist()[0])
    assert {row["user"] for row in seen} == {"ann", "bob"}


def test_a_row_has_the_key_the_window_the_values_the_time_and_the_pane() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.FixedWindows(60_000))))
    both.step(arrivals(("ann", 61_000), ("ann", 62_000)), watermark=0)

    (row,) = both.step(watermark=120_000)

    minute = datetime(1970, 1, 1, 0, 1, tzinfo=UTC)
    assert row == {
        "user": "ann",
        "window": {"start": minute, "end": minute + timedelta(minutes=1)},
        "n": 2,
        "timestamp": minute + timedelta(seconds=59, milliseconds=999),
        "pane": ONLY_PANE,
        "__beamlike": {
            **dict.fromkeys(("kind", "problem", "part", "shard")),
            **dict.fromkeys(("watermark", "dropped")),
            **{"ts": 119_999, "start": 60_000, "end": 120_000},
        },
    }


READABLE = -62_135_596_800_000, 253_402_300_799_999
"""The first and the last millisecond that a Python datetime can hold."""


def test_instants_that_sql_cannot_show_are_null_and_their_neighbours_are_not() -> None:
    first, last = READABLE
    strategy = bl.WindowingStrategy(bl.FixedWindows(1), timestamp_combiner="latest")
    both = BothMachines(plan_of(strategy))
    both.step(
        arrivals(*(("ann", at) for at in (first - 1, first, last, last + 1))), watermark=-(10**15)
    )

    rows = both.step(watermark=MAX_TIMESTAMP)

    shown = {
        row["__beamlike"]["ts"]: (
            row["timestamp"] is not None,
            row["window"]["start"] is not None,
            row["window"]["end"] is not None,
        )
        for row in rows
    }
    assert shown == {
        first - 1: (False, False, True),
        first: (True, True, True),
        last: (True, True, False),
        last + 1: (False, False, False),
    }


def test_retractions_come_right_before_what_replaces_them_and_repeat_what_they_withdraw() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.Sessions(10), FULL, "retracting")))
    both.step(arrivals(("ann", 0)), watermark=-1)
    both.step(arrivals(("ann", 15)), watermark=-1)

    rows = both.step(arrivals(("ann", 7)), watermark=-1)

    reported = [
        (row["retraction"], row["__beamlike"]["start"], row["__beamlike"]["end"], row["n"])
        for row in rows
    ]
    assert sorted(reported) == [(False, 0, 25, 3), (True, 0, 10, 1), (True, 15, 25, 1)]


def run_in_columns(plan: Plan, *steps: tuple[pa.Table | None, int]) -> list[pa.Table | None]:
    stepper, store = stepper_of(attrs.evolve(plan, machine_name="columnar")), DictStore()
    outputs = []
    for table, watermark in steps:
        arrivals = [] if table is None else [table]
        tables, _ = stepper.step(store, ShardInput(arrivals, [HostWatermark(watermark)], 0), 3)
        outputs.append(pa.concat_tables(tables) if tables else None)
    return outputs


def test_what_merges_is_withdrawn_in_the_order_in_which_a_reader_needs_it() -> None:
    plan = plan_of(bl.WindowingStrategy(bl.Sessions(10), FULL, "retracting"))
    apart, between = arrivals(("ann", 0), ("ann", 15)), arrivals(("ann", 7))

    *_, table = run_in_columns(plan, (apart, -1), (between, -1))

    assert table is not None
    assert table.column("retraction").to_pylist() == [True, True, False]
    assert table.column("n").to_pylist() == [1, 1, 3]


@pytest.mark.parametrize(
    ("render", "said"),
    [
        ("changelog", [("delete", None), ("delete", None), ("upsert", 3)]),
        ("upserts", [("delete", None), ("upsert", 3)]),
    ],
)
def test_rendered_as_changes_a_merge_deletes_what_is_no_more(
    render: Any, said: list[tuple[str, int | None]]
) -> None:
    plan = plan_of(bl.WindowingStrategy(bl.Sessions(10), FULL, "retracting"), render=render)
    apart, between = arrivals(("ann", 0), ("ann", 15)), arrivals(("ann", 7))

    *_, table = run_in_columns(plan, (apart, -1), (between, -1))

    assert table is not None
    rows = table.to_pylist()
    assert sorted(((row["change"], row["n"]) for row in rows), key=str) == said


def test_a_stage_before_another_reports_where_it_is_even_if_nothing_comes_out() -> None:
    quiet, loud = plan_of(bl.WindowingStrategy(bl.FixedWindows(10))), True
    telling = attrs.evolve(quiet, reports=loud)

    assert run_in_columns(quiet, (None, 5)) == [None]
    nothing, held, out = run_in_columns(telling, (None, 5), (arrivals(("ann", 7)), 6), (None, 30))

    def reports(table: pa.Table | None) -> list[tuple[Any, Any]]:
        assert table is not None
        assert table.schema == OutputTable(telling).schema
        marks = table.column("__beamlike").to_pylist()
        return [(mark["shard"], mark["watermark"]) for mark in marks if mark["kind"] == "report"]

    # An element holds the watermark at the end of its window.
    assert [reports(table) for table in (nothing, held, out)] == [[(3, 5)], [(3, 6)], [(3, 30)]]
    assert out is not None
    assert [row["n"] for row in out.to_pylist()] == [1, None]
