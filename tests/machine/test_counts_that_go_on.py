"""Counts of a window that no firing begins anew, and intervals that are counted in ticks."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import TriggerError, UnsupportedError
from beamlike.machine.columnar.composites import columns_of_trigger as run_over_columns
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle, Element, Pane
from beamlike.machine.reference.running import Now
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.texts import trigger_of
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.trigger_analysis import can_close, can_fire, can_stay_open
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, ScriptStep
from beamlike.testing import TestStream
from tests.support.beam_python import loses_in_beam_python


def at(*timestamps: int) -> Arrive:
    return Arrive(tuple(("k", Element(timestamp, timestamp)) for timestamp in timestamps))


def counted(trigger: bl.Trigger, *script: ScriptStep, window: Any = None) -> list[tuple[int, Any]]:
    """How many elements each pane has, after its step. Panes are discarded."""
    window = window or bl.FixedWindows(100)
    strategy = bl.WindowingStrategy(
        window, trigger, "discarding", 1000, on_time_behavior="fire_if_non_empty"
    )
    run = run_in_memory(Grouping(strategy, Count()), script)
    return [(pane.step, pane.effect.value) for pane in run.panes if isinstance(pane.effect, Pane)]


def test_elements_of_the_window_are_counted_and_not_those_of_the_pane() -> None:
    assert counted(bl.EveryCount(3), at(1), at(2), at(3), at(4), at(5, 6, 7), at(8), at(9)) == [
        (2, 3),
        (4, 4),
        (6, 2),
    ]
    assert counted(
        bl.Repeatedly(bl.AfterCount(3)), at(1), at(2), at(3), at(4), at(5, 6, 7), at(8)
    ) == [(2, 3), (4, 4)]


def test_another_firing_does_not_begin_the_count_anew() -> None:
    by_clock = bl.EveryProcessingTime(10)
    trigger = bl.Repeatedly(bl.AfterFirst(bl.EveryCount(3), by_clock))

    assert counted(trigger, at(1), at(2), AdvanceClock(11), at(3), at(4), at(5), at(6)) == [
        (2, 2),
        (3, 1),
        (6, 3),
    ]


def test_late_elements_are_counted_with_those_that_came_before_the_end() -> None:
    end = AdvanceWatermark(100)
    late = bl.AfterWatermark(early=bl.AfterCount(2), late=bl.EveryCount(5))

    assert counted(late, at(1), at(2), at(3), end, at(4), at(5), at(6)) == [(1, 2), (3, 1), (5, 2)]
    # What was a multiple before the end is not one after it.
    assert counted(bl.AfterWatermark(late=bl.EveryCount(2)), at(1), at(2), end, at(3), at(4)) == [
        (2, 2),
        (4, 2),
    ]


def test_the_next_of_several_has_counted_what_the_one_before_waited_for() -> None:
    trigger = bl.AfterEach(bl.AfterCount(2), bl.EveryCount(3))

    assert counted(trigger, at(1), at(2), at(3), at(4), at(5), at(6)) == [(1, 2), (2, 1), (5, 3)]


def test_sessions_that_merge_add_up_their_counts() -> None:
    late = bl.AfterWatermark(late=bl.EveryCount(4))
    sessions = bl.Sessions(10)

    assert counted(bl.EveryCount(3), at(0), at(20), at(12), at(8), window=sessions) == [(3, 4)]
    # Also as the trigger of late elements, of which none has come yet.
    script = at(0), at(12), at(8), AdvanceWatermark(22), at(9)
    assert counted(late, *script, window=sessions) == [(3, 3), (4, 1)]


def test_what_the_next_of_several_has_counted_outlasts_a_merge() -> None:
    trigger = bl.AfterEach(bl.AfterCount(3), bl.EveryCount(4))
    apart = at(0), at(12), at(8), at(9)
    together = at(0), at(1), at(2), at(3)

    assert counted(trigger, *apart, window=bl.Sessions(10)) == [(2, 3), (3, 1)]
    assert counted(trigger, *together, window=bl.Sessions(10)) == [(2, 3), (3, 1)]
    assert counted(trigger, *together) == [(2, 3), (3, 1)]


def test_a_tick_is_the_step_in_which_a_clock_counts() -> None:
    def fires(*clocks: int, first: int = 0) -> list[int]:
        trigger = bl.EveryProcessingTime(12, since_firing=True, tick=10, fire_unchanged=True)
        script = [AdvanceClock(first), at(1), *map(AdvanceClock, clocks)]
        strategy = bl.WindowingStrategy(bl.FixedWindows(100), trigger, "accumulating")
        run = run_in_memory(Grouping(strategy, Count()), tuple(script))
        return [run.clocks()[pane.step][1] for pane in run.panes]

    # Twelve are two ticks, from the beginning of that in which it fired.
    assert fires(10, 11, 20, 21, 30, 40, 41) == [21, 41]
    assert fires(29, 40, 41, 50, 60, 61) == [29, 41, 61]
    # A window that comes when its first firing would have been over is not made to wait, but at
    # the beginning of a tick it is.
    assert fires(42, 60, 61, first=41) == [41, 61]
    assert fires(41, 60, 61, first=40) == [41, 61]


def test_it_says_what_it_waits_for_and_what_it_fired_for() -> None:
    stream = TestStream().add_elements_at_time(0, ("a", 1), ("a", 2), ("a", 3), ("a", 4))
    results = stream.advance_watermark_to_infinity().run(
        window=bl.FixedWindows(100),
        trigger=bl.EveryCount(3),
        accumulation="discarding",
        allowed_lateness=0,
    )
    machine = Grouping(bl.WindowingStrategy(bl.FixedWindows(100), bl.EveryCount(3)), Count())
    state, _ = machine.step(KeyState(), Bundle((Element(1, 1),)))
    window = bl.IntervalWindow(0, 100)
    view = machine.trigger.view(state.windows[window].trigger, Now(window, state.watermark, 0))

    assert "by EveryCount(3): the elements of the window have passed a multiple of 3" in " ".join(
        str(results.explain()).split()
    )
    assert view.waits_for == "2 more elements of 3"


def test_what_is_known_of_it_before_anything_runs() -> None:
    trigger = bl.EveryCount(3)
    assert (can_fire(trigger, False), can_stay_open(trigger, False)) == (True, True)
    assert (trigger.always_fires, can_close(trigger, True)) == (True, False)
    assert not trigger.may_finish
    assert not loses_in_beam_python(trigger, 5)
    assert bl.continuation(trigger) == bl.Repeatedly(bl.AfterCount(1))
    assert trigger.latest_first_firing(bl.IntervalWindow(0, 10)) == MAX_TIMESTAMP
    with pytest.raises(UnsupportedError, match=r"EveryCount\(3\) runs key by key"):
        run_over_columns(trigger, False)


@pytest.mark.parametrize(
    "trigger", [bl.EveryCount(3), bl.EveryProcessingTime(12, since_firing=True, tick="1 minute")]
)
def test_it_is_read_back_from_its_text(trigger: bl.Trigger) -> None:
    assert trigger_of(str(trigger)) == trigger


@pytest.mark.parametrize(
    ("count", "interval", "said"),
    [
        (0, {}, "EveryCount count must be a whole number of 1 or more, got 0"),
        (1, {"since_firing": True, "tick": 0}, "tick must be 1 ms or more"),
        (1, {"tick": 5}, "goes with since_firing=True, got 5ms"),
    ],
)
def test_a_mistake_is_named(count: int, interval: Any, said: str) -> None:
    with pytest.raises(TriggerError) as caught:
        bl.Repeatedly(bl.AfterFirst(bl.EveryCount(count), bl.EveryProcessingTime(5, **interval)))

    assert said in str(caught.value)
