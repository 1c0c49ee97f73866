"""The triggers that Beam does not have, each by what it brings out of a window."""

import math
from typing import Any

import pytest

from beamlike.errors import TriggerError, UnsupportedError, UserFunctionError, WindowingError
from beamlike.machine.columnar.composites import columns_of_trigger as run_over_columns
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Element, Pane
from beamlike.machine.liftable import check_liftable
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.extra_triggers import (
    AfterDelta,
    AfterSilence,
    AfterTotal,
    EveryEventTime,
    EveryProcessingTime,
)
from beamlike.model.report import report
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.texts import trigger_of
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.trigger_base import continuation
from beamlike.model.triggers import (
    AfterAll,
    AfterCount,
    AfterEach,
    AfterFirst,
    AfterSynchronizedProcessingTime,
    AfterWatermark,
    Repeatedly,
    Trigger,
)
from beamlike.model.windowfns import FixedWindows, GlobalWindows
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, ScriptStep

OWN = [EveryProcessingTime(5), EveryEventTime(5), AfterSilence(5), AfterDelta(5), AfterTotal(5)]


class Unclear:
    """As an array of several: it can be compared, and the answer is neither yes nor no."""

    def __gt__(self, other: object) -> "Unclear":
        return self

    def __bool__(self) -> bool:
        raise ValueError("neither true nor false")

    def __repr__(self) -> str:
        return "Unclear()"


def at(timestamp: int, value: Any = None) -> Arrive:
    return Arrive((("k", Element(timestamp if value is None else value, timestamp)),))


def to(watermark: int) -> AdvanceWatermark:
    return AdvanceWatermark(watermark)


def clock(instant: int) -> AdvanceClock:
    return AdvanceClock(instant)


def panes(
    trigger: Trigger, *script: ScriptStep, window: Any = None, accumulation: str = "accumulating"
) -> list[tuple[int, Any]]:
    """The panes before the last, each with its step."""
    window = window or FixedWindows(100)
    strategy = WindowingStrategy(
        window, trigger, accumulation, 1000, on_time_behavior="fire_if_non_empty"
    )
    run = run_in_memory(Grouping(strategy, Collect()), script)
    return [
        (output.step, output.effect.value)
        for output in run.outputs
        if isinstance(output.effect, Pane)
    ]


# -- intervals -------------------------------------------------------------------------------


def test_the_clock_passing_multiples_of_an_interval_brings_what_is_new() -> None:
    trace = (clock(3), at(1), clock(10), clock(11), clock(21), at(2), clock(30), clock(31))

    assert panes(EveryProcessingTime(10), *trace) == [(3, [1]), (7, [1, 2])]


def test_an_interval_may_fire_although_nothing_is_new() -> None:
    every = EveryProcessingTime(10, fire_unchanged=True)
    trace = (clock(3), at(1), clock(11), clock(20), clock(21), clock(55), clock(60), clock(61))

    assert panes(every, *trace) == [(2, [1]), (4, [1]), (5, [1]), (7, [1])]
    assert panes(every, *trace, accumulation="discarding") == [(2, [1])]


def test_an_offset_shifts_the_multiples() -> None:
    trace = (at(1), clock(3), clock(4), at(2), clock(13), clock(14))

    assert panes(EveryProcessingTime(10, 3), *trace) == [(2, [1]), (5, [1, 2])]


def test_an_interval_may_be_counted_from_the_firing_before() -> None:
    every = EveryProcessingTime(10, since_firing=True, fire_unchanged=True)
    first = (clock(7), at(1), clock(10), clock(11), clock(21), clock(22), clock(32), clock(33))
    late = (clock(1000), at(1), clock(1001), clock(1011), clock(1012))

    assert panes(every, *first) == [(3, [1]), (5, [1]), (7, [1])]
    assert panes(every, *late) == [(2, [1]), (4, [1])]


def test_every_firing_of_the_window_counts_for_an_interval_since_the_firing() -> None:
    every = EveryProcessingTime(10, since_firing=True, fire_unchanged=True)
    both = Repeatedly(AfterFirst(AfterCount(2), every))
    trace = (at(1), clock(5), at(2), clock(15), clock(16))

    assert panes(both, *trace) == [(2, [1, 2]), (4, [1, 2])]


def test_a_rhythm_in_event_time_begins_after_the_first_element() -> None:
    trace = (at(20), at(7), to(30), to(31), to(40), at(50), to(41))

    assert panes(EveryEventTime(10, fire_unchanged=True), *trace) == [
        (3, [20, 7]),
        (6, [20, 7, 50]),
    ]


def test_a_rhythm_never_waits_for_what_the_watermark_has_passed() -> None:
    assert panes(EveryEventTime(10), to(35), at(5), to(40), to(41)) == [(3, [5])]


def test_a_watermark_that_passes_several_multiples_fires_once() -> None:
    assert panes(EveryEventTime(10, fire_unchanged=True), at(5), to(45), to(51)) == [
        (1, [5]),
        (2, [5]),
    ]


def test_as_an_early_trigger_a_rhythm_ends_with_the_window_and_late_ones_begin_there() -> None:
    early = AfterWatermark(early=EveryEventTime(40, fire_unchanged=True), late=AfterCount(1))
    late = AfterWatermark(late=EveryEventTime(40, fire_unchanged=True))
    trace = (at(5), to(41), to(90), to(100), to(121), to(161))

    assert panes(early, *trace) == [(1, [5]), (2, [5])]
    assert panes(late, *trace) == [(3, [5]), (4, [5]), (5, [5])]


def test_sessions_that_merge_wait_for_the_earliest_instant() -> None:
    every = EveryEventTime(10, offset=3)
    trace = (at(0), at(40), at(20), to(4), to(43), to(44))

    assert panes(every, *trace, window=Sessions(25)) == [(3, [0, 40, 20])]


def test_a_rhythm_to_the_end_counts_on_where_the_session_would_have_ended() -> None:
    every = EveryEventTime(10, to_end=True, fire_unchanged=True)
    trace = (at(1), at(3), to(4), to(5), to(6), to(7))
    # It would have ended with 3, and does with 5.
    assert panes(every, *trace, window=Sessions(3)) == [(2, [1, 3]), (4, [1, 3])]


def test_a_condition_of_time_stays_met_until_the_others_are() -> None:
    both = Repeatedly(AfterAll(EveryEventTime(10), AfterCount(2)))

    assert panes(both, at(1), to(11), to(20), at(2), to(21)) == [(3, [1, 2])]


# -- silence ---------------------------------------------------------------------------------


def test_each_element_begins_a_silence_anew() -> None:
    trace = (at(1), clock(4), at(2), clock(9), clock(10), at(3), clock(15), clock(16))

    assert panes(Repeatedly(AfterSilence(5)), *trace) == [(4, [1, 2]), (7, [1, 2, 3])]


def test_merged_sessions_are_silent_since_the_latest_element() -> None:
    trace = (at(0), clock(3), at(30), at(15), clock(8), clock(9))

    assert panes(Repeatedly(AfterSilence(5)), *trace, window=Sessions(20)) == [(5, [0, 30, 15])]


# -- a change of value -----------------------------------------------------------------------


def test_a_delta_is_measured_from_the_element_that_fired_last() -> None:
    values = [1, 3, 4, 6, 7]
    trace = [at(time, value) for time, value in enumerate(values)]

    assert panes(Repeatedly(AfterDelta(2)), *trace) == [(2, [1, 3, 4]), (4, values)]
    assert panes(AfterWatermark(early=AfterDelta(2)), *trace) == [(2, [1, 3, 4]), (4, values)]


def test_every_element_of_a_bundle_is_measured_and_the_trigger_is_asked_once() -> None:
    together = Arrive(tuple(("k", Element(value, 0)) for value in [1, 9, 2]))

    assert panes(Repeatedly(AfterDelta(5)), together, at(1, 5), at(2, 8)) == [
        (0, [1, 9, 2]),
        (2, [1, 9, 2, 5, 8]),
    ]


def test_merged_sessions_go_on_from_the_element_of_the_first() -> None:
    trace = (at(0, 10), at(30, 90), at(15, 12), at(16, 16))

    assert panes(Repeatedly(AfterDelta(5)), *trace, window=Sessions(20)) == [(3, [10, 90, 12, 16])]


@pytest.mark.parametrize("window", [FixedWindows(100), Sessions(200)], ids=str)
def test_a_late_delta_is_measured_from_an_element_before_the_end(window: Any) -> None:
    end = to(100) if window == FixedWindows(100) else to(200)
    trigger = AfterWatermark(late=AfterDelta(5))

    assert panes(trigger, at(0, 10), end, at(0, 12), at(0, 16), window=window) == [
        (1, [10]),
        (3, [10, 12, 16]),
    ]


@pytest.mark.parametrize("window", [FixedWindows(100), Sessions(10)], ids=str)
def test_a_delta_whose_turn_comes_later_has_measured_from_the_first_element(window: Any) -> None:
    trigger = AfterEach(AfterCount(3), Repeatedly(AfterDelta(5)))
    trace = at(0, 1), at(12, 2), at(8, 3), at(9, 5), at(7, 7)

    assert panes(trigger, *trace, window=window) == [(2, [1, 2, 3]), (4, [1, 2, 3, 5, 7])]


def test_a_distance_may_be_a_function_of_ones_own() -> None:
    def longer(before: str, after: str) -> int:
        return len(after) - len(before)

    trace = [at(time, word) for time, word in enumerate(["a", "abc", "abcd"])]

    assert panes(Repeatedly(AfterDelta(2, longer)), *trace) == [(2, ["a", "abc", "abcd"])]


def test_an_element_that_cannot_be_measured_fails_or_is_dropped_alone() -> None:
    strategy = WindowingStrategy(FixedWindows(100), Repeatedly(AfterDelta(2)), "accumulating")
    script = (
        Arrive((("k", Element(1, 0)), ("k", Element("x", 1)), ("k", Element(5, 2)))),
        to(MAX_TIMESTAMP),
    )

    with pytest.raises(UserFunctionError, match=r"AfterDelta\(2\)\.delta"):
        run_in_memory(Grouping(strategy, Collect()), script)
    run = run_in_memory(Grouping(strategy, Collect(), "drop"), script)
    assert [
        output.effect.value if isinstance(output.effect, Pane) else output.effect.reason.value
        for output in run.outputs
        if isinstance(output.effect, Pane | Drop)
    ] == ["failed", [1, 5], [1, 5]]


@pytest.mark.parametrize("distance", [None, "far", [2, 3], Unclear()], ids=repr)
def test_a_distance_that_is_no_number_is_a_mistake_of_the_function(distance: Any) -> None:
    trigger = Repeatedly(AfterDelta(2, lambda before, after: distance))

    with pytest.raises(UserFunctionError, match=r"AfterDelta\(2, delta=.*\.delta raised"):
        panes(trigger, at(0, 1), at(1, 2))


# -- a total ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "fires"), [(3.75, False), (4, True), (4.25, True)], ids=["below", "at", "above"]
)
def test_a_total_is_reached_at_exactly_it(last: float, fires: bool) -> None:
    found = panes(Repeatedly(AfterTotal(10)), at(1, 6), at(2, last))
    assert found == ([(1, [6, last])] if fires else [])


def test_each_pane_adds_up_anew_and_null_counts_for_nothing() -> None:
    script = tuple(
        Arrive((("k", Element(value, time)),))
        for time, value in ((1, 6), (2, 5), (3, 9), (4, None), (5, -1), (6, 2))
    )
    assert panes(Repeatedly(AfterTotal(10)), *script, accumulation="discarding") == [
        (1, [6, 5]),
        (5, [9, None, -1, 2]),
    ]
    assert panes(AfterWatermark(early=AfterTotal(10)), *script) == [
        (1, [6, 5]),
        (5, [6, 5, 9, None, -1, 2]),
    ]


def test_sessions_that_merge_have_their_totals_together() -> None:
    trace = (at(1, 4), at(30, 5), at(15, 1))
    assert panes(AfterTotal(10), *trace, window=Sessions(20)) == [(2, [4, 5, 1])]


def test_tenths_add_up_exactly_as_they_are_kept() -> None:
    """The sum is of the floats, without another rounding at each step."""
    tenths = tuple(at(time, 0.1) for time in range(1, 11))
    assert panes(Repeatedly(AfterTotal(1)), *tenths, accumulation="discarding") == [(9, [0.1] * 10)]


def test_what_is_no_number_names_the_trigger() -> None:
    with pytest.raises(UserFunctionError, match=r"AfterTotal adds up numbers, got 'x'"):
        panes(Repeatedly(AfterTotal(1)), at(1, "x"))


# -- what is known of them without data ------------------------------------------------------


def said(trigger: Trigger) -> WindowingStrategy:
    return WindowingStrategy(FixedWindows(100), trigger, "accumulating", 10)


def test_what_they_can_do_is_reported_before_any_data_comes() -> None:
    shown = [report(said(trigger)) for trigger in OWN]

    assert [bool(it.may_lose_data) for it in shown] == [False, False, True, True, True]
    assert [bool(it.can_finish) for it in shown] == [False, False, True, True, True]
    assert [bool(it.never_fires) for it in shown] == [False] * 5
    assert [bool(it.needs_clock) for it in shown] == [True, False, True, False, False]
    assert not any(it.fires_unchanged for it in shown)


def test_firing_what_came_out_before_is_reported_unless_it_is_discarded() -> None:
    strategy = said(AfterWatermark(early=EveryEventTime(5, fire_unchanged=True)))

    assert report(strategy).fires_unchanged
    assert "fires unchanged" in str(report(strategy))
    assert not report(strategy.configured(accumulation="discarding")).fires_unchanged


def test_state_in_the_global_window_is_bounded_if_time_alone_lets_it_go() -> None:
    bounded = [
        bool(report(WindowingStrategy(GlobalWindows(), Repeatedly(it))).bounded_state_per_key)
        for it in OWN
    ]

    assert bounded == [True, True, False, False, False]


def test_what_they_let_through_does_not_wait_again() -> None:
    assert [continuation(trigger) for trigger in OWN] == [
        Repeatedly(AfterSynchronizedProcessingTime()),
        Repeatedly(AfterCount(1)),
        AfterSynchronizedProcessingTime(),
        AfterCount(1),
        AfterCount(1),
    ]


def test_only_a_rhythm_in_event_time_says_when_its_first_pane_is_due() -> None:
    window = IntervalWindow(0, 12)

    assert [trigger.latest_first_firing(window) for trigger in OWN] == [
        MAX_TIMESTAMP,
        15,
        *[MAX_TIMESTAMP] * 3,
    ]
    assert EveryEventTime(5, to_end=True).latest_first_firing(window) == 11


@pytest.mark.parametrize(
    "trigger",
    [
        *OWN,
        EveryProcessingTime(5, 2, since_firing=True, fire_unchanged=True),
        EveryEventTime("90 seconds", 2, to_end=True, fire_unchanged=True),
        AfterDelta(0.5),
        AfterTotal(2.5),
        AfterWatermark(early=AfterFirst(AfterDelta(2), AfterSilence("1 hour"))),
    ],
    ids=str,
)
def test_their_texts_can_be_read_back(trigger: Trigger) -> None:
    assert trigger_of(str(trigger)) == trigger


def test_a_threshold_is_a_plain_number_whatever_it_was_given_as() -> None:
    class Percent(float):
        def __repr__(self) -> str:
            return f"{self:.0%}"

    assert str(AfterDelta(Percent(0.5))) == "AfterDelta(0.5)"


def test_a_distance_is_known_by_its_name_alone() -> None:
    trigger = trigger_of("Repeatedly(AfterDelta(2, delta=price_jump))")

    assert str(trigger) == "Repeatedly(AfterDelta(2, delta=price_jump))"
    with pytest.raises(UserFunctionError, match="price_jump is a name in a text"):
        panes(trigger, at(0, 1), at(1, 2))


@pytest.mark.parametrize("trigger", OWN, ids=str)
def test_the_columnar_machine_leaves_them_to_the_other(trigger: Trigger) -> None:
    with pytest.raises(UnsupportedError, match="runs key by key"):
        run_over_columns(Repeatedly(trigger), False)


@pytest.mark.parametrize("trigger", [EveryEventTime(5), AfterDelta(5)], ids=str)
def test_what_looks_at_each_element_takes_none_that_were_combined_before(trigger: Trigger) -> None:
    with pytest.raises(WindowingError, match="looks at each"):
        check_liftable(said(Repeatedly(trigger)))


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda: EveryEventTime(0), "more than 0 ms"),
        (lambda: EveryProcessingTime("0s"), "more than 0 ms"),
        (lambda: EveryEventTime(5, fire_unchanged=1), "True or False, got 1"),
        (lambda: EveryProcessingTime(5, since_firing="yes"), "True or False"),
        (lambda: AfterDelta(-1), "0 or more"),
        (lambda: AfterDelta(True), "0 or more"),
        (lambda: AfterDelta(1, delta=3), "function of two values"),
        (lambda: AfterTotal("5"), "AfterTotal total must be a finite number, got '5'"),  # type: ignore[arg-type]
        (lambda: AfterTotal(math.inf), "AfterTotal total must be a finite number, got inf"),
        (lambda: AfterTotal(True), "AfterTotal total must be a finite number, got True"),
    ],
)
def test_what_has_no_meaning_is_refused(make: Any, advice: str) -> None:
    with pytest.raises(TriggerError, match=advice):
        make()
