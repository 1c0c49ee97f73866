"""Two groupings in a row, in memory: the second sees the panes of the first on time."""

from collections.abc import Iterable

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count, Sum
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import AfterCount, AfterProcessingTime, AfterWatermark, Repeatedly
from beamlike.model.windowfns import FixedWindows
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.script import Arrive, Run, ScriptStep
from tests.support.machines.chain import ChainStage, run_chain

TEN = IntervalWindow(0, 10)


def batches(*steps: ScriptStep) -> list[tuple[ScriptStep, ...]]:
    return [(step,) for step in steps]


def all_as_one(key: object, pane: Pane) -> Iterable[tuple[str, int]]:
    return [("all", pane.value)]


def arrive(*elements: tuple[str, int]) -> Arrive:
    """Keys and event times."""
    return Arrive(tuple((key, Element(1, at)) for key, at in elements))


def counted_twice(
    strategy: WindowingStrategy,
    batches: list[tuple[ScriptStep, ...]],
    *,
    then: WindowingStrategy | None = None,
    anew: WindowingStrategy | None = None,
) -> tuple[Run, Run]:
    """A count for each key, and then the sum of the counts, windowed anew or not."""
    second = Grouping(anew or then or strategy.after_grouping(), Sum())
    stage = ChainStage(second, all_as_one, rewindowed=anew is not None)
    one, two = run_chain(Grouping(strategy, Count()), [stage], batches)
    return one, two


def shown(run: Run) -> list[tuple[object, ...]]:
    """Step, window, value, timing and index of each pane; drops as they are."""
    rows: list[tuple[object, ...]] = []
    for out in run.outputs:
        it = out.effect
        if isinstance(it, Pane):
            rows.append((out.step, str(it.window), it.value, it.info.timing.value, it.info.index))
        else:
            rows.append((out.step, "dropped", it.reason))
    return rows


def test_panes_of_one_watermark_are_grouped_on_time_by_the_next_stage() -> None:
    strategy = WindowingStrategy(
        FixedWindows(10), AfterWatermark(late=AfterCount(1)), "accumulating", allowed_lateness=100
    )
    first, second = counted_twice(
        strategy,
        batches(arrive(("a", 1), ("b", 2), ("b", 3)), AdvanceWatermark(10), arrive(("b", 4))),
    )
    on_time = PaneInfo(Timing.ON_TIME, 0, 0, True, False)
    assert [out.effect for out in first.outputs][:2] == [
        Pane(TEN, 1, 9, on_time),
        Pane(TEN, 2, 9, on_time),
    ]
    # Steps of the second stage: the two panes, then the watermark, then the late pane.
    assert shown(second) == [
        (1, "[00:00:00, 00:00:00.010)", 3, "ON_TIME", 0),
        (2, "[00:00:00, 00:00:00.010)", 6, "LATE", 1),
    ]


def test_what_the_first_stage_holds_back_holds_the_watermark_of_the_second() -> None:
    waits_for_two = WindowingStrategy(
        FixedWindows(10), Repeatedly(AfterCount(2)), allowed_lateness=100
    )
    sums = WindowingStrategy(FixedWindows(10), allowed_lateness=100)
    _, second = counted_twice(
        waits_for_two, batches(arrive(("a", 1)), AdvanceWatermark(50), arrive(("a", 2))), anew=sums
    )
    assert [step for step in second.script if isinstance(step, AdvanceWatermark)] == [
        AdvanceWatermark(9),  # where the element holds the first stage
        AdvanceWatermark(50),
    ]
    assert shown(second) == [(2, "[00:00:00, 00:00:00.010)", 2, "ON_TIME", 0)]


def test_early_panes_flow_on_at_once_with_the_continuation_of_a_count() -> None:
    strategy = WindowingStrategy(
        FixedWindows(10), AfterWatermark(early=AfterCount(2), late=AfterCount(1)), "discarding", 10
    )
    _, second = counted_twice(
        strategy, batches(arrive(("a", 1), ("a", 2)), arrive(("a", 3)), AdvanceWatermark(10))
    )
    assert shown(second) == [
        (0, "[00:00:00, 00:00:00.010)", 2, "EARLY", 0),
        # The on-time pane of the first stage arrives before the watermark that let it out.
        (1, "[00:00:00, 00:00:00.010)", 1, "EARLY", 1),
        (2, "[00:00:00, 00:00:00.010)", 0, "ON_TIME", 2),
    ]


def test_a_stream_windowed_anew_is_put_into_windows_by_the_time_of_its_panes() -> None:
    minutes = WindowingStrategy(FixedWindows(10))
    hours = WindowingStrategy(FixedWindows(100))
    _, second = counted_twice(
        minutes,
        batches(arrive(("a", 1), ("a", 15), ("a", 25)), AdvanceWatermark(MAX_TIMESTAMP)),
        anew=hours,
    )
    assert shown(second) == [(1, "[00:00:00, 00:00:00.100)", 3, "ON_TIME", 0)]


def test_merged_sessions_merge_again_only_if_somebody_says_so() -> None:
    sessions = WindowingStrategy(Sessions(10))
    elements = arrive(("a", 0), ("a", 5), ("b", 12))
    _, second = counted_twice(
        sessions,
        batches(elements, AdvanceWatermark(MAX_TIMESTAMP)),
        then=sessions.after_grouping().remerge(),
    )
    assert shown(second) == [(1, "[00:00:00, 00:00:00.022)", 3, "ON_TIME", 0)]
    _, second = counted_twice(sessions, batches(elements, AdvanceWatermark(MAX_TIMESTAMP)))
    assert shown(second) == [
        (1, "[00:00:00, 00:00:00.015)", 2, "ON_TIME", 0),
        (1, "[00:00:00.012, 00:00:00.022)", 1, "ON_TIME", 0),
    ]


def test_sessions_windowed_anew_start_where_the_panes_are_stamped() -> None:
    sessions = WindowingStrategy(Sessions(10))
    _, second = counted_twice(
        sessions,
        batches(arrive(("a", 0), ("a", 5), ("b", 12)), AdvanceWatermark(MAX_TIMESTAMP)),
        anew=sessions,
    )
    assert shown(second) == [(1, "[00:00:00.014, 00:00:00.031)", 3, "ON_TIME", 0)]


def test_processing_time_of_the_first_stage_fires_the_second_at_the_next_move() -> None:
    strategy = WindowingStrategy(
        FixedWindows(100), Repeatedly(AfterProcessingTime(5)), "discarding"
    )
    _, second = counted_twice(strategy, batches(arrive(("a", 1)), AdvanceClock(6), AdvanceClock(7)))
    # The continuation is synchronized processing time: ready once the clock moves on.
    assert shown(second) == [(2, "[00:00:00, 00:00:00.100)", 1, "EARLY", 0)]


def test_steps_of_one_batch_reach_the_next_stage_as_one_bundle() -> None:
    strategy = WindowingStrategy(
        FixedWindows(10), AfterWatermark(late=AfterCount(1)), "discarding", allowed_lateness=100
    )
    late_and_on_time = (arrive(("a", 1), ("b", 12)), AdvanceWatermark(20))
    _, second = counted_twice(strategy, [(AdvanceWatermark(10),), late_and_on_time])
    assert shown(second) == [
        (1, "[00:00:00, 00:00:00.010)", 1, "LATE", 0),
        (2, "[00:00:00.010, 00:00:00.020)", 1, "ON_TIME", 0),
    ]
