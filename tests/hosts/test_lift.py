"""Rows combined before they reach their shard: both machines combine them alike."""

from collections.abc import Sequence
from random import Random
from typing import Any

import attrs
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

import beamlike as bl
from beamlike.errors import OutgrownError, UserFunctionError, WindowingError
from beamlike.machine.events import DropReason
from beamlike.machine.liftable import check_liftable
from beamlike.model.combine import Count, Sum
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.checked_combine_fns import UserMade
from beamlike.runtime.lift import Lifter
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.stepping import choose_machine
from tests.support.examples import examples
from tests.support.generated.strategies import any_strategy
from tests.support.machines.every_aggregate import bind, every_aggregate
from tests.support.sums import SumOfTheLucky

NUMBER = pa.int64()
YEAR_20000 = 568_971_820_800_000
VALUES: dict[str, tuple[T.DataType, list[Any]]] = {
    "whole": (T.LongType(), [3, -1, 2**40, None]),
    "real": (T.DoubleType(), [0.5, float("nan"), -0.0, 1e300, 0.1, None]),
    "text": (T.StringType(), ["b", "", "é", None]),
}
KINDS = {name: kind for name, (kind, _) in VALUES.items()}
EVERY = bind(KINDS, every_aggregate(KINDS, by="whole", shown="text"))


def plan_of_every_aggregate(strategy: bl.WindowingStrategy) -> Plan:
    keys = {"k": pa.string(), "x": pa.float64()}
    return Plan(strategy, keys, EVERY.values, tuple(EVERY.parts.values()))


def any_liftable(dice: Random, *, unjudged: bool) -> bl.WindowingStrategy:
    while True:
        window_fn = bl.CalendarDays(1, "Europe/Warsaw") if dice.randrange(8) == 0 else None
        strategy = any_strategy(dice, window_fn=window_fn, retracting_options=True)
        try:
            check_liftable(strategy, unjudged=unjudged)
        except WindowingError:
            continue
        return strategy


def any_rows(dice: Random, plan: Plan, around: int, *, carried: bool) -> pa.Table:
    """Up to nine rows; if windows are carried, some of them come in one, as panes do."""
    count = dice.randrange(10)
    columns: dict[str, pa.Array] = {
        "key_k": pa.array(dice.choices("ab", k=count), pa.string()),
        "key_x": pa.array(dice.choices([0.0, float("nan")], k=count), pa.float64()),
    }
    for label, kind in plan.values.items():
        chosen = dice.choices(VALUES[label.partition(" as ")[0]][1], k=count)
        if kind == pa.float64():
            chosen = [None if value is None else float(value) for value in chosen]
        columns[f"value_{label}"] = pa.array(chosen, kind)
    times = [around + dice.randint(-15, 15) for _ in range(count)]
    if carried:
        ends = [time + 1 if dice.randrange(3) else None for time in times]
        starts = [None if end is None else end - dice.randint(1, 9) for end in ends]
        columns |= {"start": pa.array(starts, NUMBER), "end": pa.array(ends, NUMBER)}
    columns |= {"ts": pa.array(times, NUMBER)}
    pairs = zip(columns["key_k"].to_pylist(), columns["key_x"].to_pylist(), strict=True)
    columns["hash"] = pa.array([hash((k, str(x))) for k, x in pairs], NUMBER)
    return pa.table(columns)


def described(
    plan: Plan, tables: Sequence[pa.Table], watermark: int | None, hidden_columns: Sequence[str]
) -> tuple[Any, ...]:
    """What comes of rows, in words: types, combined rows, and drops."""
    table, dropped = Lifter(plan).lift(tables, watermark)
    table.validate(full=True)
    rows = sorted(map(repr, table.drop_columns(list(hidden_columns)).to_pylist()))
    return table.schema, rows, sorted(map(repr, dropped))


@settings(max_examples=examples(300))
@given(dice=st.randoms(use_true_random=False), unjudged=st.booleans())
def test_both_machines_combine_the_same_rows_alike(dice: Random, unjudged: bool) -> None:
    plan = plan_of_every_aggregate(any_liftable(dice, unjudged=unjudged))
    assert choose_machine(plan).machine == "columnar"
    around = dice.choice([0, 0, 0, END_OF_GLOBAL_WINDOW - 5])
    carried = dice.random() < 0.3
    tables = [
        any_rows(dice, plan, around, carried=carried and index > 0)
        for index in range(dice.randint(1, 3))
    ]
    watermark = None if unjudged else around + dice.randint(-20, 30)
    by_reference = attrs.evolve(plan, machine_name="reference")
    # The reference may name the time of an element of another window that overlaps.
    hidden_columns = ("ts",) if carried else ()
    expected = described(by_reference, tables, watermark, hidden_columns)
    assert described(plan, tables, watermark, hidden_columns) == expected


# -- in full --------------------------------------------------------------------------------


def plan_of(strategy: bl.WindowingStrategy, fn: bl.CombineFn | None = None, **options: Any) -> Plan:
    parts = (
        Part("total", fn or Sum(), 0, PlainColumn(NUMBER), NUMBER),
        Part("n", Count(), None, PlainColumn(NUMBER), NUMBER),
    )
    return Plan(strategy, {"user": pa.string()}, {"v": NUMBER}, parts, **options)


def rows(*given: tuple[str, int, int], **more: list[int]) -> pa.Table:
    """Rows of a key, a value and an event time."""
    users = [user for user, _, _ in given]
    return pa.table(
        {
            "key_user": pa.array(users, pa.string()),
            "value_v": pa.array([value for _, value, _ in given], NUMBER),
            **{name: pa.array(values, NUMBER) for name, values in more.items()},
            "ts": pa.array([at for _, _, at in given], NUMBER),
            "hash": pa.array([{"ann": 1, "joe": 2}[user] for user in users], NUMBER),
        }
    )


def combined(table: pa.Table) -> list[tuple[Any, ...]]:
    """Key, window, count, time, whether it was judged, and merged, sum, count, hash."""
    return sorted(tuple(row.values()) for row in table.to_pylist())


BOTH = pytest.mark.parametrize("machine", ["columnar", "reference"])


@BOTH
def test_rows_are_combined_by_key_and_window_and_those_too_late_are_told_apart(machine: Any):
    strategy = bl.WindowingStrategy(bl.Sessions(10), allowed_lateness=2)
    given = [
        rows(("ann", 1, 30), ("joe", 2, 31), ("ann", 3, 5)),
        rows(("ann", 4, 25), ("ann", 5, 41), ("joe", 6, 14)),
    ]
    table, dropped = Lifter(plan_of(strategy, machine_name=machine)).lift(given, 26)
    assert combined(table) == [
        ("ann", 25, 40, 2, 30, True, True, 5, 2, 1),
        ("ann", 41, 51, 1, 41, True, False, 5, 1, 1),
        ("joe", 31, 41, 1, 31, True, False, 2, 1, 2),
    ]
    shown = sorted(
        (key, drop.value, drop.timestamp, drop.missed_by, drop.nearest_session, drop.watermark)
        for key, drop in dropped
    )
    assert shown == [(("ann",), (3,), 5, 10, None, 26), (("joe",), (6,), 14, 1, None, 26)]


@BOTH
def test_a_row_is_combined_in_each_of_its_windows(machine: Any) -> None:
    plan = plan_of(bl.WindowingStrategy(bl.SlidingWindows(10, 5)), machine_name=machine)
    table, dropped = Lifter(plan).lift([rows(("ann", 1, 7), ("ann", 2, 12))], None)
    assert combined(table) == [
        ("ann", 0, 10, 1, 7, False, False, 1, 1, 1),
        ("ann", 5, 15, 2, 12, False, False, 3, 2, 1),
        ("ann", 10, 20, 1, 12, False, False, 2, 1, 1),
    ]
    assert dropped == []


@BOTH
def test_a_row_that_comes_in_a_window_stays_in_it(machine: Any) -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), machine_name=machine)
    given = [rows(("ann", 1, 9)), rows(("ann", 2, 9), ("ann", 4, 29), start=[0, 0], end=[10, 30])]
    table, dropped = Lifter(plan).lift(given, None)
    assert combined(table) == [
        ("ann", 0, 10, 2, 9, False, False, 3, 2, 1),
        ("ann", 0, 30, 1, 29, False, False, 4, 1, 1),
    ]
    assert dropped == []


def test_the_time_of_combined_rows_is_that_of_the_latest_among_them() -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10)))
    given = rows(("ann", 1, 3), ("ann", 2, 7), ("ann", 4, 2), start=[0, 5, 0], end=[10, 15, 10])
    table, _ = Lifter(plan).lift([given], None)
    assert combined(table) == [
        ("ann", 0, 10, 2, 3, False, False, 5, 2, 1),
        ("ann", 5, 15, 1, 7, False, False, 2, 1, 1),
    ]


@BOTH
def test_a_row_beyond_the_calendar_is_left_out_alone(machine: Any) -> None:
    plan = plan_of(bl.WindowingStrategy(bl.CalendarDays(1, "UTC")), machine_name=machine)
    given = [rows(("ann", 1, 5), ("joe", 2, YEAR_20000))]
    table, ((key, drop),) = Lifter(plan).lift(given, None)
    assert combined(table) == [("ann", 0, 86_400_000, 1, 5, False, False, 1, 1, 1)]
    assert (key, drop.value, drop.window, drop.reason) == (("joe",), (2,), None, DropReason.FAILED)
    assert "reaches from year 1 to year 9999" in str(drop.error)


@BOTH
def test_no_rows_are_combined_to_none(machine: Any) -> None:
    plan = plan_of(bl.WindowingStrategy(bl.Sessions(10)), machine_name=machine)
    table, dropped = Lifter(plan).lift([rows()], 5)
    assert (table.num_rows, dropped) == (0, [])


@BOTH
def test_what_outgrows_its_type_is_reported(machine: Any) -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), machine_name=machine, on_error="fail")
    with pytest.raises(OutgrownError, match=r"^aggregate 'total' outgrew its type int64: .*'ann'"):
        Lifter(plan).lift([rows(("ann", 2**62, 1), ("ann", 2**62, 2))], None)


LUCKY = UserMade("total", SumOfTheLucky(), NUMBER, "bigint", "bigint")
UNLUCKY = rows(("ann", 1, 1), ("joe", 13, 2), ("ann", 3, 3))


def test_a_row_that_a_function_of_ones_own_cannot_take_is_left_out() -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), LUCKY, on_error="drop")
    table, ((key, drop),) = Lifter(plan).lift([UNLUCKY], None)
    assert combined(table) == [("ann", 0, 10, 2, 3, False, False, 4, 2, 1)]
    assert (key, drop.value, drop.timestamp, drop.error) == (
        ("joe",),
        (13,),
        2,
        "add of the aggregates total, n raised ValueError: 13 is unlucky",
    )


def test_such_a_row_is_reported_with_its_key() -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), LUCKY, on_error="fail")
    with pytest.raises(UserFunctionError, match=r"13 is unlucky; .*key \('joe',\)"):
        Lifter(plan).lift([UNLUCKY], None)
