"""The columnar machine in a Spark shard, beside the reference machine, on input that is hard.

Both step the same shard from the same state, see `tests.support.machines.both`. Scenarios as
they usually are, are in `tests.differential`; what a single row may bring is in
`test_column_shard_rows.py`.
"""

from collections.abc import Sequence
from decimal import Decimal
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import StateError
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model import combine
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.plan import Part, Plan
from tests.support.generated.strategies import any_strategy
from tests.support.machines.both import BothMachines
from tests.support.machines.either import forgetful
from tests.support.machines.in_shard import DictStore
from tests.support.machines.rows_of_outputs import Row, panes, plan_of, table
from tests.support.machines.rows_of_plans import PARTS

pytestmark = pytest.mark.usefixtures("warnings_are_errors")

NAN, INF = float("nan"), float("inf")


# -- whatever may come -----------------------------------------------------------------------

TIMES = (
    *(MIN_TIMESTAMP, MIN_TIMESTAMP + 1, MIN_TIMESTAMP + 5, -1, 0, 1, 5, 1_000, 10**12),
    *(END_OF_GLOBAL_WINDOW - 1_000, END_OF_GLOBAL_WINDOW - 1, END_OF_GLOBAL_WINDOW),
    *(END_OF_GLOBAL_WINDOW + 1, MAX_TIMESTAMP - 1),
)
WATERMARKS = (*TIMES, MAX_TIMESTAMP)
WINDOW_FNS: tuple[bl.WindowFn, ...] = (
    *(bl.FixedWindows(1), bl.FixedWindows(10, 3), bl.FixedWindows(10**15), bl.GlobalWindows()),
    *(bl.SlidingWindows(5, 1), bl.SlidingWindows(7, 20), bl.Sessions(1), bl.Sessions(10**15)),
    *(bl.Sessions(5, max_elements=2), bl.Sessions(5, max_duration=7), bl.Sessions(12)),
    bl.Sessions(4, merge_touching=True),
)
WHOLES = (0, 1, -1, 2**40, None, 7, -(2**40))
REALS = (0.1, NAN, -0.0, 0.0, None, INF, -INF, 1e308, -1e308, 5e-324)
TEXTS = ("a", "", None, "é", "b" * 50)
MONEY = (Decimal(0), Decimal("-0.01"), None, Decimal("9" * 33 + ".99"), Decimal("1.50"))


def any_rows(dice: Random, keys: Sequence[str | None], *, far: bool, windows: bool) -> list[Row]:
    rows = []
    for _ in range(dice.choice((0, 1, 2, 8, 40))):
        at = dice.choice(TIMES) if far else dice.randint(-30, 30)
        window = None
        if windows and dice.randrange(3):
            start = max(MIN_TIMESTAMP, min(at, END_OF_GLOBAL_WINDOW) - dice.randint(0, 5))
            window = start, min(END_OF_GLOBAL_WINDOW + 1, start + dice.randint(1, 20))
        values = (dice.choice(column) for column in (WHOLES, REALS, TEXTS, MONEY))
        rows += [Row(at, dice.choice(keys), *values, window)] * dice.choice((1, 1, 1, 5))
    return rows


@pytest.mark.parametrize("seed", range(0, 120, 30))
def test_whatever_comes_both_machines_say_and_remember_the_same(seed: int) -> None:
    """Times at both ends, empty tables and steps, nulls, infinities, windows that come along."""
    for number in range(seed, seed + 30):
        dice = Random(f"whatever {number}")
        strategy = any_strategy(dice, window_fn=dice.choice(WINDOW_FNS), retracting_options=True)
        names = [part.name for part in dice.sample(PARTS, dice.randint(1, len(PARTS)))]
        buckets, render = (
            dice.choice((1, 4, 64)),
            dice.choice(("retractions", "changelog", "upserts")),
        )
        plan = plan_of(strategy, *names, buckets=buckets, render=render, reports=number % 2 == 0)
        keys = [*(f"k{index}" for index in range(dice.choice((1, 3, 30)))), None, ""]
        far, watermark, clock = dice.randrange(3) > 0, MIN_TIMESTAMP, 0
        with forgetful(dice.choice((0, 5, 1_000)), dice.choice((500, 2**20)), dice.choice((2, 64))):
            both = BothMachines(plan)
            for _ in range(dice.randint(2, 8)):
                tables = []
                for _ in range(dice.choice((0, 1, 1, 2))):
                    windows = dice.randrange(4) == 0
                    rows = any_rows(dice, keys, far=far, windows=windows)
                    tables.append(table(*rows, buckets=buckets, windows=windows))
                if dice.randrange(2):
                    near = max(watermark, -30) + dice.randint(0, 12)
                    watermark = max(watermark, dice.choice(WATERMARKS) if far else near)
                clock += dice.choice((0, 0, 1, 5, 10**13))
                both.step(*tables, watermark=watermark, clock=clock, shard=7)


# -- the ends of time ------------------------------------------------------------------------


def test_the_watermark_may_jump_to_the_end_of_time_at_once() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "n"))
    rows = [Row(at) for at in (MIN_TIMESTAMP, 0, END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP - 1)]

    assert both.step(table(*rows), watermark=MIN_TIMESTAMP) == []
    out = both.step(watermark=MAX_TIMESTAMP)

    assert panes(out, "n") == [
        ("k", MIN_TIMESTAMP - 5, "ON_TIME", 1),
        ("k", 0, "ON_TIME", 1),
        ("k", END_OF_GLOBAL_WINDOW // 10 * 10, "ON_TIME", 2),
    ]
    # Neither a window nor the year before the first has a time that SQL can show.
    assert [row["window"] for row in out if row["__beamlike"]["start"] != 0] == [
        {"start": None, "end": None}
    ] * 2
    assert both.store.blobs == {}


def test_a_gap_as_long_as_time_joins_everything_on_its_way() -> None:
    gap = END_OF_GLOBAL_WINDOW // 2
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.Sessions(gap)), "n"))

    both.step(table(Row(0), Row(gap - 1), Row(0, "other")), watermark=MIN_TIMESTAMP)
    out = both.step(watermark=MAX_TIMESTAMP)

    assert panes(out, "n") == [("k", 0, "ON_TIME", 2), ("other", 0, "ON_TIME", 1)]


def test_windows_of_a_millisecond_hold_one_instant_each() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.FixedWindows(1)), "n"))

    both.step(table(*(Row(index // 2) for index in range(2_000))), watermark=-1)
    out = both.step(watermark=1_000)

    assert panes(out, "n") == [("k", index, "ON_TIME", 2) for index in range(1_000)]


def test_the_global_window_fires_by_data_and_rests_until_the_end_of_time() -> None:
    strategy = bl.WindowingStrategy(
        bl.GlobalWindows(), bl.Repeatedly(bl.AfterCount(2)), "accumulating"
    )
    both = BothMachines(plan_of(strategy, "n", "all"))

    first = both.step(table(Row(5, whole=1), Row(-5, whole=2), Row(0, "b")), watermark=0)
    second = both.step(table(Row(9, whole=3)), watermark=10)
    third = both.step(table(Row(1, whole=4)), watermark=10**15)
    last = both.step(watermark=MAX_TIMESTAMP)

    begin = MIN_TIMESTAMP
    assert panes(first, "n", "all") == [("k", begin, "EARLY", 2, [1, 2])]
    assert second == []
    assert panes(third, "n", "all") == [("k", begin, "EARLY", 4, [1, 2, 3, 4])]
    assert panes(last, "n", "all") == [
        ("b", begin, "ON_TIME", 1, [1]),
        ("k", begin, "ON_TIME", 4, [1, 2, 3, 4]),
    ]
    assert [row["window"] for row in last] == [{"start": None, "end": None}] * 2
    assert both.store.blobs == {}


# -- little and nothing ----------------------------------------------------------------------


def test_a_micro_batch_without_rows_may_only_move_the_clock() -> None:
    strategy = bl.WindowingStrategy(
        bl.FixedWindows(10), bl.AfterWatermark(early=bl.AfterProcessingTime(5)), "accumulating"
    )
    both = BothMachines(plan_of(strategy, "n"))
    both.step(table(Row(3), Row(4)), watermark=0, clock=100)

    assert both.step(watermark=0, clock=105) == []
    assert panes(both.step(table(), watermark=0, clock=106), "n") == [("k", 0, "EARLY", 2)]
    assert both.step(table(), table(), watermark=0, clock=200) == []
    assert both.step(watermark=0, clock=200) == []
    assert panes(both.step(watermark=10, clock=200), "n") == [("k", 0, "ON_TIME", 2)]


def test_clocks_that_a_restarted_query_reports_too_low_are_not_believed() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), bl.AfterProcessingTime(5))
    both = BothMachines(plan_of(strategy, "n"))
    both.step(table(Row(3)), watermark=5, clock=100)

    assert both.step(table(Row(3, "late"), Row(7)), watermark=-20, clock=3) == []
    assert panes(both.step(watermark=0, clock=106), "n") == [
        ("k", 0, "EARLY", 2),
        ("late", 0, "EARLY", 1),
    ]


def test_a_step_in_which_everything_is_late_leaves_nothing_behind() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "n"))
    both.step(watermark=100)

    out = both.step(table(*(Row(index, f"k{index}") for index in range(50))), watermark=100)

    drops = [row["__beamlike"]["dropped"] for row in out]
    assert sorted((drop["reason"], drop["missed_ms"]) for drop in drops) == sorted(
        ("expired", 100 - (index // 10 * 10 + 9)) for index in range(50)
    )
    assert both.store.blobs == {}


def test_a_key_of_which_one_element_is_late_keeps_the_others() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.Sessions(10)), "n"))
    both.step(watermark=50)

    out = both.step(table(Row(0), Row(45), Row(52), Row(0, "b")), watermark=50)

    assert [row["key"] for row in out] == ["b", "k"] or [row["key"] for row in out] == ["k", "b"]
    assert panes(both.step(watermark=100), "n") == [("k", 45, "ON_TIME", 2)]


# -- many ------------------------------------------------------------------------------------


def test_of_200_keys_in_64_buckets_half_are_due() -> None:
    strategy = bl.WindowingStrategy(
        bl.Sessions(10), bl.AfterWatermark(late=bl.AfterCount(1)), "accumulating", 20
    )
    both = BothMachines(plan_of(strategy, "n", "sum", "all", buckets=64))
    rows = [Row(index % 2 * 1_000 + index % 7, f"k{index % 200}", index) for index in range(1_000)]
    with forgetful(few=10, page=3_000):
        assert both.step(table(*rows, buckets=64), watermark=-1) == []
        due = both.step(watermark=100)
        late = both.step(table(Row(995, "k1", 7), Row(95, "k2", 8), buckets=64), watermark=100)
        save = both.step(watermark=2_000)

    # Even keys have their elements before the watermark.
    assert [(key, total) for key, _, _, total in panes(due, "n")] == [
        (key, 5) for key in sorted(f"k{index}" for index in range(0, 200, 2))
    ]
    assert [(row["key"], row["__beamlike"]["start"]) for row in late] == []
    assert [(key, n) for key, _, _, n in panes(save, "n") if key in ("k1", "k2", "k3")] == [
        *(("k1", 6), ("k2", 1), ("k3", 5))
    ]
    assert len(panes(save)) == 101
    assert both.store.blobs == {}


def test_thousands_of_equal_elements_are_all_counted() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.Sessions(5)), "n", "sum", "words"))

    both.step(table(*[Row(3, whole=2, text="x")] * 3_000), watermark=0)
    out = both.step(table(*[Row(7, whole=2, text="x")] * 3_000), watermark=100)

    assert panes(out, "n", "sum", "words") == [("k", 3, "ON_TIME", 6_000, 12_000, ["x"] * 6_000)]


# -- other state -----------------------------------------------------------------------------


def test_state_of_another_plan_is_refused() -> None:
    both = BothMachines(plan_of(bl.WindowingStrategy(bl.FixedWindows(10)), "n"))
    both.step(table(Row(3)), watermark=0)
    other = ColumnShard(plan_of(bl.WindowingStrategy(bl.FixedWindows(20)), "n"))

    with pytest.raises(StateError, match=r"the checkpoint has 'FixedWindows\(10ms\)'"):
        other.step(both.store, ShardInput([], [HostWatermark(0)], 0))


def test_keys_of_several_columns_and_no_key_at_all() -> None:
    number = pa.int64()
    parts = (Part("n", combine.Count(), None, PlainColumn(number), number),)
    strategy = bl.WindowingStrategy(bl.FixedWindows(10))
    two = BothMachines(Plan(strategy, {"a": pa.float64(), "b": pa.string()}, {}, parts, 1, 2))
    rows = {"ts": [1] * 6, "bucket": pa.array([1] * 6, pa.int32())}
    keys = {"key_a": [NAN, 0.5, NAN, None, None, 0.5], "key_b": ["x", None, "x", None, None, "x"]}
    two.step(pa.table({**keys, **rows}), watermark=0)
    counted = [(row["a"], row["b"], row["n"]) for row in two.step(watermark=10)]
    none = BothMachines(Plan(strategy, {}, {}, parts, 1, 1))
    none.step(pa.table({"ts": [1, 2], "bucket": pa.array([0, 0], pa.int32())}), watermark=0)

    assert sorted(map(repr, counted)) == [
        "(0.5, 'x', 1)",
        "(0.5, None, 1)",
        "(None, None, 2)",
        "(nan, 'x', 2)",
    ]
    assert [row["n"] for row in none.step(watermark=10)] == [2]


def test_nan_keys_are_one_key_whatever_their_bits_over_several_steps() -> None:
    number = pa.int64()
    parts = (Part("n", combine.Count(), None, PlainColumn(number), number),)
    both = BothMachines(
        Plan(bl.WindowingStrategy(bl.FixedWindows(10)), {"a": pa.float64()}, {}, parts, 1, 1)
    )
    for bits in (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001):
        key = np.array([bits], np.uint64).view(np.float64)
        both.step(
            pa.table({"key_a": key, "ts": [1], "bucket": pa.array([0], pa.int32())}), watermark=0
        )

    assert [row["n"] for row in both.step(watermark=10)] == [3]


def test_a_store_holds_no_pickles_of_built_in_aggregates() -> None:
    store = DictStore()
    shard = ColumnShard(plan_of(bl.WindowingStrategy(bl.Sessions(10), bl.Always(), "retracting")))

    shard.step(
        store,
        ShardInput([table(Row(3, real=1.5, text="a", money=Decimal(1)))], [HostWatermark(0)], 0),
    )

    assert not any("pickle" in name for name in shard.layout.schema.names)
    assert all(b"cloudpickle" not in blob for blob in store.blobs.values())
