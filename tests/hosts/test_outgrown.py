"""An aggregate that becomes more than its type holds: the rows that cause it pay, and no other.

Both machines step the same shard from the same state, see `tests.support.machines.both`.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import OutgrownError, UserFunctionError
from beamlike.machine.events import Element
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.combine import Count
from beamlike.runtime.accumulator_columns import AccumulatorColumns, CheckedColumn, PickledColumn
from beamlike.runtime.checked_combine_fns import UserMade
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.lift import Lifter
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.stepping import stepper_of
from tests.support.machines.both import BothMachines
from tests.support.machines.in_shard import DictStore
from tests.support.machines.rows_of_outputs import Row, combined, panes, plan_of, table
from tests.support.refusals import refusal
from tests.support.sums import Added

pytestmark = pytest.mark.usefixtures("warnings_are_errors")

MOST = 2**63 - 1
TOO_MUCH = f"aggregate 'sum' outgrew its type int64: it would be {MOST + 1}"
LATE_TOO: dict[str, Any] = {"allowed_lateness": 100}

Rows = Sequence[dict[str, Any]]


def drops(rows: Rows) -> list[tuple[Any, ...]]:
    """What was dropped: reason, event time (ms), element, how many, and why."""
    found = [row["__beamlike"]["dropped"] for row in rows if row["__beamlike"]["dropped"]]
    at = [it["timestamp"] and it["timestamp"].timestamp() * 1000 for it in found]
    return [
        (it["reason"], when, it["element"], it["count"], it["error"])
        for it, when in zip(found, at, strict=True)
    ]


def dropped(at: int, whole: int, error: str = TOO_MUCH, key: str = "k") -> tuple[Any, ...]:
    element = f'{{"key":"{key}","whole":{whole},"real":null,"text":null,"money":null}}'
    return "failed", at, element, 1, error


def test_a_row_that_makes_a_sum_too_much_is_dropped_and_the_window_goes_on() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "sum", "n"))

    both.step(table(Row(1, whole=MOST), Row(1, "b"), Row(12, whole=7)), watermark=0)
    second = both.step(table(Row(2, whole=1), Row(3, "b")), watermark=0)
    # What makes room is taken, and then so is what did not fit before.
    third = both.step(table(Row(4, whole=-5), Row(5, whole=3)), watermark=0)
    at_end = both.step(watermark=20)

    assert (drops(second), panes(second)) == ([dropped(2, 1)], [])
    assert third == []
    assert panes(at_end, "sum", "n") == [
        ("b", 0, "ON_TIME", 2, 2),
        ("k", 0, "ON_TIME", MOST - 2, 3),
        ("k", 10, "ON_TIME", 7, 1),
    ]


def test_rows_of_one_micro_batch_count_together_and_only_then_one_by_one() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "sum", "n"))

    fits = both.step(table(*(Row(1, whole=it) for it in (MOST, 1, -1))), watermark=0)
    fails = both.step(table(*(Row(2, "b", whole=it) for it in (MOST, 1, -1, 2))), watermark=0)
    at_end = both.step(watermark=10)

    assert fits == []
    assert drops(fails) == [dropped(2, 1, key="b"), dropped(2, 2, TOO_MUCH, key="b")]
    assert panes(at_end, "sum", "n") == [
        ("b", 0, "ON_TIME", MOST - 1, 2),
        ("k", 0, "ON_TIME", MOST, 3),
    ]


@pytest.mark.parametrize("accumulation", ["discarding", "accumulating", "retracting"])
def test_each_way_of_accumulating_drops_what_its_panes_cannot_hold(accumulation: str) -> None:
    trigger = bl.Repeatedly(bl.AfterCount(1))
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), trigger, accumulation, **LATE_TOO)
    both = BothMachines(plan_of(strategy, "sum"))

    first = both.step(table(Row(1, whole=MOST)), watermark=0)
    second = both.step(table(Row(2, whole=1), Row(3, "b")), watermark=0)
    late = both.step(table(Row(4, whole=2), Row(4, whole=-9)), watermark=15)

    assert panes(first, "sum") == [("k", 0, "EARLY", MOST)]
    assert [row["sum"] for row in second if row["key"] == "b" and row["pane"]] == [1]
    of_key = [row["sum"] for row in second if row["key"] == "k" and row["pane"]]
    after = [row["sum"] for row in late if row["key"] == "k" and row["pane"]]
    if accumulation == "discarding":
        assert (of_key, drops(second), after, drops(late)) == ([1], [], [-7], [])
    else:
        withdrawn = [MOST] if accumulation == "retracting" else []
        assert (of_key, drops(second)) == ([], [dropped(2, 1)])
        assert (after, drops(late)) == ([*withdrawn, MOST - 7], [])


def test_a_clock_fires_what_was_left() -> None:
    early = bl.AfterWatermark(early=bl.AfterProcessingTime(5), late=bl.AfterCount(1))
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), early, "accumulating", **LATE_TOO)
    both = BothMachines(plan_of(strategy, "sum"))

    both.step(table(Row(1, whole=MOST)), watermark=0, clock=100)
    at_once = both.step(table(Row(2, whole=1)), watermark=0, clock=106)
    at_end = both.step(watermark=10, clock=106)

    assert (panes(at_once, "sum"), drops(at_once)) == ([("k", 0, "EARLY", MOST)], [dropped(2, 1)])
    assert panes(at_end, "sum") == [("k", 0, "ON_TIME", MOST)]


def test_a_row_pays_only_in_the_windows_that_cannot_hold_it() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.SlidingWindows(10, 5)), "sum"))

    both.step(table(Row(1, whole=MOST)), watermark=-10)
    assert drops(both.step(table(Row(7, whole=1)), watermark=-10)) == [dropped(7, 1)]
    assert panes(both.step(watermark=20), "sum") == [
        ("k", -5, "ON_TIME", MOST),
        ("k", 0, "ON_TIME", MOST),
        ("k", 5, "ON_TIME", 1),
    ]


def test_sessions_that_would_merge_to_too_much_stay_apart() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.Sessions(10)), "sum", "n"))

    both.step(table(Row(0, whole=MOST), Row(16, whole=1), Row(5, "b")), watermark=-10)
    assert drops(both.step(table(Row(8, whole=0), Row(12, "b")), watermark=-10)) == [dropped(8, 0)]
    assert panes(both.step(watermark=100), "sum", "n") == [
        ("b", 5, "ON_TIME", 2, 2),
        ("k", 0, "ON_TIME", MOST, 1),
        ("k", 16, "ON_TIME", 1, 1),
    ]


def test_decimals_are_dropped_beyond_38_digits() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "money_sum", "richest"))
    nines = Decimal("9" * 36 + ".99")

    both.step(table(Row(1, money=nines)), watermark=0)
    out = both.step(table(Row(2, money=Decimal("0.01")), Row(3, "b", money=nines)), watermark=0)

    ((reason, at, _, count, error),) = drops(out)
    assert (reason, at, count) == ("failed", 2, 1)
    assert error == (
        f"aggregate 'money_sum' outgrew its type decimal128(38, 2): it would be 1{'0' * 36}.00"
    )
    assert panes(both.step(watermark=10), "money_sum", "richest") == [
        ("b", 0, "ON_TIME", nines, nines),
        ("k", 0, "ON_TIME", nines, nines),
    ]


def test_to_fail_names_aggregate_element_window_and_key_and_how_to_go_on() -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "sum", "n", on_error="fail")
    both = BothMachines(plan)
    both.step(table(Row(1, whole=MOST), Row(1, "b")), watermark=0)
    before = dict(both.store.blobs)

    assert refusal(OutgrownError, lambda: both.step(table(Row(2, whole=1)), watermark=0)) == (
        f"{TOO_MUCH}; it was computed for the element (1, None, None, None) at 00:00:00.002 (2 "
        "ms), window [00:00:00, 00:00:00.010), key ('k',); on_error=\"drop\" leaves out the rows "
        "that it cannot hold, also in a query that restarts from its checkpoint; or cast its input "
        "column to decimal(38, 0) or double before the call, which takes a new checkpoint"
    )
    assert both.store.blobs == before


# -- combined before they arrive -------------------------------------------------------------


@pytest.mark.parametrize("machine", ["reference", "columnar"])
def test_early_combining_leaves_out_what_it_cannot_hold(machine: Any) -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "sum", "n", machine_name=machine)
    rows = table(Row(1, whole=MOST), Row(2, whole=1), Row(3, whole=0), Row(3, "b"))
    rows = rows.append_column("hash", rows.column("bucket").cast(pa.int64()))

    out, lost = Lifter(plan).lift([rows.drop_columns("bucket")], None)

    (sums,) = (name for name in out.column_names if name.endswith("_sum"))
    found = zip(*(out.column(name).to_pylist() for name in ("key_key", sums)), strict=True)
    assert sorted(found) == [("b", 1), ("k", MOST)]
    ((key, drop),) = lost
    assert isinstance(drop.element, Element)
    assert (key, drop.element.timestamp, drop.count, drop.error) == (("k",), 2, 1, TOO_MUCH)


def test_combined_rows_that_make_it_too_much_are_dropped_together() -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "sum", "n")
    both = BothMachines(plan)
    both.step(table(Row(1, whole=MOST - 2)), watermark=0)

    out = both.step(combined(plan, [("k", 0, 10, 4, 3), ("b", 0, 10, 9, 1)]), watermark=0)

    assert drops(out) == [("failed", 4, '{"key":"k"}', 3, TOO_MUCH)]
    assert panes(both.step(watermark=10), "sum", "n") == [
        ("b", 0, "ON_TIME", 1, 1),
        ("k", 0, "ON_TIME", MOST - 2, 1),
    ]


# -- functions of a user's own ------------------------------------------------------------------


class Kept(Added):
    """A sum that rests as what only this process understands, from a hundred on."""

    def compact(self, accumulator: Any) -> Any:
        return accumulator if accumulator < 100 else _Unsaved(accumulator)


class _Unsaved(int):
    def __reduce__(self) -> Any:
        raise TypeError("it stays here")


def plan_of_own(fn: bl.CombineFn, columns: AccumulatorColumns, **more: Any) -> Plan:
    whole = pa.int64()
    declared = columns.declared if isinstance(columns, CheckedColumn) else None
    user_made = UserMade("total", fn, pa.int32(), "int", declared)
    parts = (
        Part("total", user_made, 0, columns, pa.int32()),
        Part("n", Count(), None, plan_of(STRATEGY, "n").parts[0].columns, whole),
    )
    return Plan(STRATEGY, {"key": pa.string()}, {"whole": whole}, parts, 1, 4, **more)


STRATEGY = bl.WindowingStrategy(bl.FixedWindows(10))
DECLARED = CheckedColumn("total", pa.int32(), "int")


def stepped(plan: Plan, *batches: pa.Table) -> list[dict[str, Any]]:
    """What comes out of micro-batches and the end of all windows."""
    store, stepper, out = DictStore(), stepper_of(plan), list[dict[str, Any]]()
    for watermark, batch in enumerate([*batches, None], -len(batches)):
        arrivals = [] if batch is None else [batch]
        tables, _ = stepper.step(
            store, ShardInput(arrivals, [HostWatermark(10 if batch is None else watermark)], 0)
        )
        out += [row for table in tables for row in table.to_pylist()]
    return out


@pytest.mark.parametrize(
    ("fn", "columns", "most", "why"),
    [
        (
            Added(),
            DECLARED,
            2**31 - 1,
            "compact of the aggregates total, n raised CombineError: aggregate 'total': the "
            "accumulator 2147483648, which does not fit the declared type 'int': Value 2147483648 "
            "too large to fit in C integer type; declare the type that it has, or let the function "
            "return a value of that type",
        ),
        (
            Kept(),
            PickledColumn(),
            99,
            "compact of the aggregates total, n raised CombineError: the accumulator 100 cannot be "
            "pickled, and has to wait for the next micro-batch: TypeError: it stays here; let the "
            "function keep plain values",
        ),
    ],
    ids=["declared", "pickled"],
)
def test_what_the_accumulator_of_a_function_of_ones_own_cannot_hold_is_dropped(
    fn: bl.CombineFn, columns: AccumulatorColumns, most: int, why: str
) -> None:
    first, second = table(Row(1, whole=most), Row(1, "b")), table(Row(2, whole=1))
    batches = first, second, table(Row(3, whole=-3))
    slim = [batch.select(["key_key", "ts", "value_whole", "bucket"]) for batch in batches]

    out = stepped(plan_of_own(fn, columns), *slim)

    assert drops(out) == [("failed", 2, '{"key":"k","whole":1}', 1, why)]
    assert panes(out, "total", "n") == [("b", 0, "ON_TIME", 1, 1), ("k", 0, "ON_TIME", most - 3, 2)]
    with pytest.raises(UserFunctionError, match=r"key \('k',\); mend the function"):
        stepped(plan_of_own(fn, columns, on_error="fail"), *slim)


def test_a_result_that_does_not_fit_waits_for_the_next_pane_and_is_dropped_with_the_last() -> None:
    wide = CheckedColumn("total", pa.int64(), "bigint")
    batches = table(Row(1, whole=2**31), Row(1, "b")), table(Row(2, whole=1))
    slim = [batch.select(["key_key", "ts", "value_whole", "bucket"]) for batch in batches]

    out = stepped(plan_of_own(Added(), wide), *slim)

    assert panes(out, "total", "n") == [("b", 0, "ON_TIME", 1, 1)]
    ((reason, at, element, count, error),) = drops(out)
    assert (reason, at, element, count) == ("failed", None, '{"key":"k"}', 2)
    assert error.startswith("extract of the aggregates total, n raised CombineError: aggregate")
