"""The columnar machine beside the reference machine, where random scenarios do not come."""

import warnings
from collections.abc import Iterator
from random import Random

import attrs
import numpy as np
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.machine.columnar.assign import Arrivals, LiftedArrivals
from beamlike.machine.columnar.columns import panes_of
from beamlike.machine.columnar.folds.base import Fold
from beamlike.machine.columnar.folds.choice import fold_of
from beamlike.machine.columnar.step import ColumnarGrouping
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, Lifted
from beamlike.machine.input_clocks import HostWatermark
from beamlike.machine.reference.step import Grouping
from beamlike.model import triggers
from beamlike.model.combine import Collect, Count, Sum
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window, bounds
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Script, ScriptStep, with_elements
from beamlike.runtime.store.stores import DictStore
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy
from tests.support.machines.either import run_in_both, unlike_memory
from tests.support.machines.in_shard import plan_of_numbers
from tests.support.machines.rows_of_plans import rows_of
from tests.support.refusals import refusal

FULL = bl.AfterWatermark(bl.AfterProcessingTime(2), bl.AfterCount(1))
END = AdvanceWatermark(MAX_TIMESTAMP)


@pytest.fixture(autouse=True)
def _numbers_stay_in_range() -> Iterator[None]:
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def arrive(*times: int, key: str = "k") -> Arrive:
    return Arrive(tuple((key, Element(time, time)) for time in times))


def lifted(*times: int, window: tuple[int, int], judged: bool = True) -> tuple[str, Lifted]:
    return "k", Lifted(times, len(times), bl.IntervalWindow(*window), max(times), judged)


# -- elements that come with a window --------------------------------------------------------


def with_windows(dice: Random, script: Script) -> Script:
    def given(element: Element) -> Element:
        if dice.randrange(3) == 0:
            return element
        start = element.timestamp - dice.randint(0, 5)
        return attrs.evolve(element, window=bl.IntervalWindow(start, start + dice.randint(1, 30)))

    return with_elements(script, lambda key, element: (key, given(element)))


@pytest.mark.parametrize("seed", range(0, 100, 25))
def test_elements_that_come_with_a_window_keep_it(seed: int) -> None:
    for number in range(seed, seed + 25):
        dice = Random(f"given {number}")
        strategy = any_strategy(dice, retracting_options=True)

        assert unlike_memory(strategy, with_windows(dice, any_script(dice)), Collect()) == []


# -- combined before -------------------------------------------------------------------------


def combined(dice: Random, script: Script) -> Script:
    """Each element as one or more that were combined, in a window around it."""

    def lift(key: str, element: Element) -> tuple[str, Lifted]:
        at, count = element.timestamp, dice.randint(1, 3)
        window = bl.IntervalWindow(at - dice.randint(0, 9), at + dice.randint(1, 9))
        flags = dice.random() < 0.5, dice.random() < 0.5
        return key, Lifted((element.value,) * count, count, window, at, *flags)

    return with_elements(script, lift)


@pytest.mark.parametrize("seed", range(0, 100, 25))
def test_elements_that_were_combined_before_count_one_by_one(seed: int) -> None:
    for number in range(seed, seed + 25):
        dice = Random(f"lifted {number}")
        strategy = any_strategy(dice, retracting_options=True).configured(
            timestamp_combiner="end_of_window"
        )

        assert unlike_memory(strategy, combined(dice, any_script(dice)), Collect()) == []


def test_a_time_that_is_lost_by_combining_is_refused_as_by_the_reference() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), timestamp_combiner="latest")
    plan, two = plan_of_numbers(strategy, Sum()), Lifted((2,), 2, bl.IntervalWindow(0, 10), 1, True)
    arrived = ShardInput([rows_of(plan, Arrive((("k", two),)))], [HostWatermark(0)], 0)

    assert refusal(WindowingError, ColumnShard(plan).step, DictStore(), arrived) == (
        "2 elements of [00:00:00, 00:00:00.010) came combined already, and "
        'timestamp_combiner="latest" needs the time of each; combine them after they arrived, '
        'or write timestamp_combiner="end_of_window"'
    )


def test_a_window_that_is_past_its_expiry_takes_nothing_in_and_keeps_what_it_has() -> None:
    strategy = bl.WindowingStrategy(bl.Sessions(10), bl.AfterCount(9))
    arriving = lifted(0, 1, window=(0, 11)), lifted(5, window=(5, 15))
    machine = ColumnarGrouping(strategy, COUNT)
    state, out = machine.start(1, 40, 0), []
    for _, item in arriving:
        numbers = (0, *bounds(item.window), item.timestamp, item.count)
        columns = [np.array([number]) for number in (*numbers, item.judged, item.merged)]
        arrivals = LiftedArrivals(*columns, (COUNT[0].load([pa.array([item.count])]),))
        state, panes, _ = machine.add(state, arrivals)
        out += panes
    _, panes = machine.advance_watermark(state, 41)
    by_columns = [
        (spelled(pane.window), pane.value)
        for of_step in (*out, *panes)
        for _, pane in panes_of(of_step, of_step.values[0].to_pylist())
    ]

    script = (AdvanceWatermark(40), *(Arrive((one,)) for one in arriving), AdvanceWatermark(41))
    run = run_in_memory(Grouping(strategy, Collect()), script)
    by_key = [(spelled(pane.effect.window), len(pane.effect.value)) for pane in run.panes]
    assert by_columns == by_key == [("[0,11)", 2), ("[0,15)", 1)]


# -- the ends of time ------------------------------------------------------------------------

EDGES = (MIN_TIMESTAMP, MIN_TIMESTAMP + 1, 0, END_OF_GLOBAL_WINDOW - 1, END_OF_GLOBAL_WINDOW)
FNS = (bl.FixedWindows(10), bl.SlidingWindows(10, 4), bl.GlobalWindows(), bl.Sessions(10))
TOUCHING = bl.Sessions(10, merge_touching=True)


@pytest.mark.parametrize("window_fn", [*FNS, bl.Sessions(10, max_duration=15), TOUCHING], ids=str)
@pytest.mark.parametrize("late_check", ["assigned", "element", "merged", "retain"])
@pytest.mark.parametrize("lateness", [0, 20, MAX_TIMESTAMP])
def test_the_whole_of_time_fits_into_one_bundle(
    window_fn: bl.WindowFn, late_check: str, lateness: int
) -> None:
    strategy = bl.WindowingStrategy(
        window_fn, FULL, "accumulating", lateness, "earliest", late_check=late_check
    )
    script = (
        arrive(*EDGES, MAX_TIMESTAMP - 1),
        AdvanceWatermark(MIN_TIMESTAMP + 5),
        AdvanceWatermark(20),
        arrive(*EDGES),
        AdvanceClock(5),
        AdvanceWatermark(END_OF_GLOBAL_WINDOW),
        arrive(*EDGES),
        END,
        arrive(*EDGES),
    )

    assert unlike_memory(strategy, script, Collect()) == []


# -- nothing at all --------------------------------------------------------------------------


@pytest.mark.parametrize("accumulation", ["discarding", "accumulating", "retracting"])
@pytest.mark.parametrize("window_fn", FNS, ids=str)
def test_empty_bundles_and_keys_without_windows_change_nothing(
    window_fn: bl.WindowFn, accumulation: str
) -> None:
    trigger = bl.AfterEach(bl.AfterCount(2), bl.Repeatedly(bl.AfterProcessingTime(1)))
    strategy = bl.WindowingStrategy(window_fn, trigger, accumulation)
    for keys in (0, 3):
        machine = ColumnarGrouping(strategy, COUNT)
        state = machine.start(keys, MIN_TIMESTAMP, 0)
        state, *out = machine.add(state, Arrivals(NONE, NONE, (None,)))
        state, *more = machine.add(
            state, LiftedArrivals(*[NONE] * 5, NONE > 0, NONE > 0, (COUNT[0].create(0),))
        )
        state, panes = machine.advance_watermark(state, 5)
        state, others = machine.advance_clock(state, 5)
        state, last = machine.advance_watermark(state, MAX_TIMESTAMP)

        assert (out, more, panes, others, last) == ([[], []], [[], []], [], [], [])
        assert (len(state.table), state.output_watermark.tolist()) == (0, [MAX_TIMESTAMP] * keys)


NONE = np.zeros(0, np.int64)
COUNT: list[Fold] = [fold_of(Count(), ())]


def test_keys_that_no_clock_move_concerned_catch_up() -> None:
    machine = ColumnarGrouping(bl.WindowingStrategy(bl.FixedWindows(10), bl.AfterCount(5)), COUNT)
    state = machine.start(2, 0, 0)
    bundle = Arrivals(np.array([1]), np.array([25]), (None,))
    state, _, _ = machine.add(state, bundle)

    moved, _ = machine.advance_watermark(state, 8)
    moved, _ = machine.advance_clock(moved, 3)
    caught_up = machine.caught_up(state, 8, 3)

    assert (caught_up.watermark, caught_up.clock) == (moved.watermark, moved.clock) == (8, 3)
    assert caught_up.output_watermark.tolist() == moved.output_watermark.tolist() == [8, 8]
    assert machine.caught_up(caught_up, 40, 3).output_watermark.tolist() == [40, 29]


# -- bounded sessions ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_bounded_sessions_are_cut_where_the_reference_cuts_them(seed: int) -> None:
    for number in range(seed, seed + 20):
        dice = Random(f"bounded {number}")
        gap = dice.randint(1, 9)
        bounds = {
            "max_duration": dice.choice([None, gap, gap + dice.randint(1, 30)]),
            "max_elements": dice.choice([None, 1, 2, dice.randint(3, 9)]),
            "merge_touching": dice.choice([False, True]),
        }
        strategy = any_strategy(dice, window_fn=bl.Sessions(gap, **bounds))
        spread = dice.choice([20, 100])
        bundles = [[dice.randrange(spread) for _ in range(30)] for _ in range(4)]
        script = (
            *(arrive(*times) for times in bundles),
            AdvanceWatermark(30),
            *(arrive(*times, key="l") for times in bundles),
            AdvanceClock(9),
            arrive(*bundles[0]),
            END,
        )

        assert unlike_memory(strategy, script, Collect()) == []


def test_sessions_merge_that_only_one_between_them_kept_apart() -> None:
    """It closed, and the next bundle of their key makes the window function look again.

    Then their trigger is asked too: together they have elements enough.
    """
    strategy = bl.WindowingStrategy(
        bl.Sessions(10, max_elements=3), bl.AfterCount(3), "accumulating", 99
    )
    script = arrive(0, 0, 2, 2, 2, 4), arrive(50), END

    assert [
        (output.step, spelled(output.effect.window), output.effect.value)
        for output in run_in_both(strategy, script, Collect()).panes
    ] == [(0, "[2,12)", [2, 2, 2]), (1, "[0,14)", [0, 0, 4]), (2, "[50,60)", [50])]


def test_a_drop_says_which_bounded_session_it_nearly_joined() -> None:
    strategy = bl.WindowingStrategy(bl.Sessions(10, max_duration=25), FULL, "accumulating", 5)
    script = (
        arrive(0, 8, 15, 24, 33, 40),
        AdvanceWatermark(22),
        arrive(5, 6, 30),
        AdvanceWatermark(31),
        arrive(5, 14, 16, 24),
    )

    drops = (output.effect for output in run_in_both(strategy, script, Collect()).drops)
    assert [
        (drop.value, drop.nearest_session and spelled(drop.nearest_session)) for drop in drops
    ] == [(5, "[0,25)"), (6, "[0,25)"), (5, None), (14, None), (16, None)]


# -- names of sessions -----------------------------------------------------------------------


def names_in(strategy: bl.WindowingStrategy, script: Script) -> list[str]:
    """Each pane with its session, if both machines say the same."""
    panes = (output.effect for output in run_in_both(strategy, script, Collect()).panes)
    return [f"{spelled(pane.window)} of {spelled(pane.session)}" for pane in panes]


def spelled(window: Window | None) -> str:
    assert window is not None
    return f"[{window.start},{window.end})"


def test_a_session_that_begins_like_one_that_stands_has_another_name() -> None:
    closes = bl.AfterEach(bl.AfterCount(1), bl.AfterCount(1))
    strategy = bl.WindowingStrategy(bl.Sessions(10), closes, "retracting", 50)

    assert names_in(strategy, (arrive(0), arrive(5), arrive(0))) == [
        "[0,10) of [0,10)",
        "[0,10) of [0,10)",
        "[0,15) of [0,10)",
        "[0,10) of [-1,10)",
    ]


AT_THREE = bl.OrFinally(bl.Repeatedly(bl.AfterCount(2)), bl.AfterCount(3))


def test_a_name_is_taken_until_its_session_expires() -> None:
    strategy = bl.WindowingStrategy(bl.Sessions(10), AT_THREE, "retracting")

    assert names_in(strategy, (arrive(0, 0), arrive(5), arrive(0), END)) == [
        "[0,10) of [0,10)",
        "[0,10) of [0,10)",
        "[0,15) of [0,10)",
        "[0,10) of [-1,10)",
    ]


def test_a_name_is_free_when_its_session_expires_a_moment_before() -> None:
    strategy = bl.WindowingStrategy(bl.Sessions(10), AT_THREE, "retracting")

    assert names_in(strategy, (arrive(0, 0), arrive(-5), arrive(0), END)) == [
        "[0,10) of [0,10)",
        "[0,10) of [0,10)",
        "[-5,10) of [0,10)",
        "[0,10) of [0,10)",
    ]


@pytest.mark.parametrize("seed", range(0, 80, 20))
def test_sessions_that_often_begin_alike_have_the_names_that_the_reference_gives(seed: int) -> None:
    for number in range(seed, seed + 20):
        dice = Random(f"names {number}")
        gap = dice.randint(3, 9)
        longest = dice.choice([None, gap, gap + dice.randint(1, 9)])
        strategy = any_strategy(
            dice,
            window_fn=bl.Sessions(gap, max_duration=longest),
            trigger=dice.choice(OFTEN),
            accumulation=bl.AccumulationMode.RETRACTING,
        )
        script: list[ScriptStep] = []
        for watermark in range(0, 40, 2):
            times = [watermark + dice.randint(-3, 5) for _ in range(dice.randint(0, 4))]
            script += [arrive(*times), AdvanceWatermark(watermark), AdvanceClock(watermark)]

        assert unlike_memory(strategy, (*script, END), Collect()) == []


OFTEN = (
    bl.AfterEach(bl.AfterCount(1), bl.AfterCount(1)),
    bl.AfterEach(bl.AfterCount(1), bl.AfterCount(1), bl.AfterCount(2)),
    bl.Repeatedly(bl.AfterCount(1)),
    bl.AfterWatermark(bl.AfterCount(1)),
    bl.AfterWatermark(bl.AfterProcessingTime(1), bl.AfterCount(2)),
)


# -- what it does not do ---------------------------------------------------------------------


def gap_of(value: int) -> int:
    return value


class Mine(bl.FixedWindows):
    """Somebody's own, although it looks like one of beamlike's."""


class MyTrigger(triggers.Trigger):
    def __str__(self) -> str:
        return "MyTrigger()"


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        (
            bl.WindowingStrategy(bl.Sessions(gap_of)),
            "the gap of Sessions(gap_of) is a function of yours, which is called for one element "
            "at a time",
        ),
        (
            bl.WindowingStrategy(Mine(10)),
            "FixedWindows(10ms) calls a function of yours, Mine, for one element at a time",
        ),
        (
            bl.WindowingStrategy(bl.FixedWindows(10), bl.Repeatedly(MyTrigger())),
            "MyTrigger() is a trigger of yours, and only beamlike's run over columns",
        ),
    ],
)
def test_what_calls_for_a_function_of_the_users_is_refused(
    strategy: bl.WindowingStrategy, reason: str
) -> None:
    assert refusal(UnsupportedError, lambda: ColumnarGrouping(strategy, COUNT)) == reason
