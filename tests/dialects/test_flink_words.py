"""Flink's words: triggers with a rhythm, distances and timeouts, evictors, windows of the clock."""

from datetime import timedelta
from typing import Any

import pytest

from beamlike.dialects import flink
from beamlike.dialects.stages import Row
from beamlike.errors import UserFunctionError
from beamlike.model.combine import CombineFn, Count, Latest, Max, Sum
from beamlike.model.windows import Window

TEN = flink.key_by().window(flink.TumblingEventTimeWindows.of("10 ms"))
BY_CLOCK = flink.key_by().window(flink.TumblingProcessingTimeWindows.of("10 ms"))
ALL = flink.key_by().window(flink.GlobalWindows.create())


def add(one: int, other: int) -> int:
    return one + other


def growth(before: int, after: int) -> float:
    return after - before


def results(rows: list[Row]) -> list[Any]:
    return [row.value for row in rows]


# -- what they are in the model ----------------------------------------------------------------


def test_triggers_show_what_they_are_in_the_model() -> None:
    timeout = flink.ProcessingTimeoutTrigger.of
    five = flink.CountTrigger.of(5)
    by_clock = flink.ContinuousProcessingTimeTrigger.of("4 ms")
    shown = {
        str(windowed.trigger(trigger).reduce(add).strategy.trigger)
        for windowed, trigger in [
            (TEN, flink.ContinuousEventTimeTrigger.of("4 ms")),
            (TEN, by_clock),
            (BY_CLOCK, by_clock),
            (TEN, flink.DeltaTrigger.of(2, growth)),
            (TEN, timeout(five, "8 ms")),
            (TEN, timeout(five, "8 ms", reset_timer_on_new_record=True)),
        ]
    }

    assert shown == {
        "AfterWatermark(early=EveryEventTime(4ms, to_end=True, fire_unchanged=True), "
        "late=AfterCount(1))",
        "EveryProcessingTime(4ms, fire_unchanged=True)",
        "Repeatedly(AfterDelta(2, delta=growth))",
        "Repeatedly(AfterFirst(Repeatedly(AfterCount(5)), AfterProcessingTime(7ms)))",
        "Repeatedly(AfterFirst(Repeatedly(AfterCount(5)), AfterSilence(7ms)))",
    }


# -- triggers ----------------------------------------------------------------------------------


def test_a_rhythm_fires_whether_anything_is_new_or_not() -> None:
    harness = TEN.trigger(flink.ContinuousEventTimeTrigger.of("4 ms")).reduce(add).harness()
    harness.process_element("a", 1, 1)

    assert results(harness.process_watermark(3)) == []
    assert results(harness.process_watermark(4)) == [1]
    assert results(harness.process_watermark(9)) == [1, 1]


def test_a_rhythm_that_purges_fires_nothing_twice() -> None:
    trigger = flink.PurgingTrigger.of(flink.ContinuousEventTimeTrigger.of("4 ms"))
    harness = TEN.trigger(trigger).reduce(add).harness()
    harness.process_element("a", 1, 1)

    assert results(harness.process_watermark(4)) == [1]
    assert results(harness.process_watermark(9)) == []


def test_a_rhythm_does_not_fire_for_what_has_passed_as_flink_does() -> None:
    harness = TEN.trigger(flink.ContinuousEventTimeTrigger.of("2 ms")).reduce(add).harness()
    harness.process_watermark(5)
    harness.process_element("a", 1, 0)

    # Flink would fire for 2 and 4 first, both with this watermark.
    assert results(harness.process_watermark(6)) == [1]


def test_a_rhythm_of_the_clock_does_not_mind_the_end_of_windows_in_event_time() -> None:
    trigger = flink.ContinuousProcessingTimeTrigger.of("4 ms")
    harness = TEN.trigger(trigger).allowed_lateness("1 second").reduce(add).harness()
    harness.set_processing_time(1_000)
    harness.process_element("a", 1, 3)

    # Flink would wait until 9, which the clock has passed, and never end.
    assert results(harness.set_processing_time(1_003)) == []
    assert results(harness.set_processing_time(1_008)) == [1, 1]
    assert results(harness.process_watermark(20)) == []


def test_a_timeout_begins_with_the_first_element_or_with_each() -> None:
    five = flink.CountTrigger.of(5)
    first = ALL.trigger(flink.ProcessingTimeoutTrigger.of(five, 8)).reduce(add).harness()
    each = ALL.trigger(flink.ProcessingTimeoutTrigger.of(five, 8, True)).reduce(add).harness()
    rows = []
    for harness in (first, each):
        harness.process_element("a", 1, 0)
        harness.set_processing_time(5)
        harness.process_element("a", 2, 0)
        rows.append([results(harness.set_processing_time(clock)) for clock in (7, 8, 12, 13)])

    assert rows == [[[], [3], [], []], [[], [], [], [3]]]


def test_a_window_with_a_timeout_fires_once_more_when_it_is_forgotten() -> None:
    trigger = flink.ProcessingTimeoutTrigger.of(flink.CountTrigger.of(2), "1 hour")
    harness = TEN.trigger(trigger).allowed_lateness("5 ms").reduce(add).harness()
    harness.process_element("a", 1, 0)

    assert results(harness.process_element("a", 2, 0)) == [3]
    assert results(harness.process_watermark(13)) == []
    assert results(harness.process_watermark(14)) == [3]


def test_a_window_is_forgotten_although_its_timeout_has_cleared_its_end() -> None:
    trigger = flink.ProcessingTimeoutTrigger.of(flink.EventTimeTrigger.create(), "5 ms")
    harness = TEN.trigger(trigger).reduce(add).harness()
    harness.process_element("a", 1, 0)

    assert results(harness.set_processing_time(5)) == [1]
    assert results(harness.process_watermark(9)) == []
    # Flink would keep it for ever.
    assert harness.process_element("a", 2, 0)[0].kind == "dropped"


# -- evictors ----------------------------------------------------------------------------------


def sums(windowed: flink.WindowedStream, *values: int) -> list[list[Any]]:
    """What each element brings out, with its place as its time."""
    harness = windowed.trigger(flink.CountTrigger.of(1)).reduce(add).harness()
    return [
        results(harness.process_element("a", value, index)) for index, value in enumerate(values)
    ]


def test_an_evictor_may_run_after_the_function() -> None:
    before = ALL.evictor(flink.CountEvictor.of(2))
    after = ALL.evictor(flink.CountEvictor.of(2, do_evict_after=True))

    assert sums(before, 1, 2, 4, 8) == [[1], [3], [6], [12]]
    assert sums(after, 1, 2, 4, 8) == [[1], [3], [7], [14]]


def test_an_evictor_measures_from_the_newest_element() -> None:
    evictor = flink.DeltaEvictor.of(3, lambda value, newest: abs(newest - value))
    after = flink.DeltaEvictor.of(3, lambda value, newest: abs(newest - value), True)

    assert sums(ALL.evictor(evictor), 1, 9, 7, 2) == [[1], [9], [16], [2]]
    assert sums(ALL.evictor(after), 1, 9, 7, 2) == [[1], [10], [16], [18]]


def test_what_an_evictor_left_in_is_measured_only_at_a_firing() -> None:
    evictor = flink.DeltaEvictor.of(3, lambda value, newest: abs(newest - value))
    harness = ALL.evictor(evictor).trigger(flink.CountTrigger.of(3)).reduce(add).harness()

    # 9 is far from 1, and nobody asks then.
    assert [results(harness.process_element("a", value, 0)) for value in (1, 9, 2)] == [[], [], [3]]


def test_a_combine_function_is_asked_of_what_an_evictor_left() -> None:
    every = flink.CountTrigger.of(1)
    newest, before = flink.CountEvictor.of(2), flink.TimeEvictor.of("3 ms")
    after = flink.CountEvictor.of(2, do_evict_after=True)
    arrivals = ((1, 0), (9, 1), (4, 3), (2, 2))

    def comes(evictor: flink.Evictor, combine: CombineFn) -> list[list[Any]]:
        harness = ALL.evictor(evictor).trigger(every).aggregate(combine).harness()
        return [results(harness.process_element("a", value, at)) for value, at in arrivals]

    assert comes(newest, Sum()) == [[1], [10], [13], [6]]
    assert comes(after, Sum()) == [[1], [10], [14], [15]]
    assert comes(before, Max()) == [[1], [9], [9], [9]]
    # Event times are known too: 4 is later than 2, which came after it.
    assert comes(newest, Latest()) == [[1], [9], [4], [4]]


# -- functions ---------------------------------------------------------------------------------


def described(key: str, window: Window, result: object) -> tuple[object, ...]:
    return key, window.start, window.end, result


def test_a_function_may_be_given_the_key_and_the_window() -> None:
    operators = [
        TEN.reduce(add, described),
        TEN.aggregate(Count(), described),
        TEN.process(described),
        TEN.evictor(flink.CountEvictor.of(1)).reduce(add, described),
        TEN.evictor(flink.CountEvictor.of(1)).aggregate(Count(), described),
    ]
    rows = []
    for operator in operators:
        harness = operator.harness()
        for value in (1, 2):
            harness.process_element("a", value, 12)
        rows += results(harness.process_watermark_to_infinity())

    assert rows == [("a", 10, 20, value) for value in (3, 2, [1, 2], 2, 1)]


def test_a_function_of_the_window_that_raises_is_named() -> None:
    harness = TEN.process(lambda key, window, elements: elements[1]).harness()
    harness.process_element("a", 1, 12)

    with pytest.raises(UserFunctionError, match=r"IndexError.*key 'a'"):
        harness.process_watermark_to_infinity()


# -- windows -----------------------------------------------------------------------------------


def test_windows_may_be_of_all_elements() -> None:
    tumbling = flink.TumblingEventTimeWindows.of("10 ms")
    harness = flink.window_all(tumbling).process(described).harness()
    harness.process_element(None, 1, 12)
    harness.process_element(None, 2, 15)

    assert harness.process_watermark_to_infinity() == [
        Row("value", None, (None, 10, 20, [1, 2]), (10, 20), 19)
    ]


def test_the_global_window_may_fire_when_the_stream_ends() -> None:
    at_end = flink.key_by().window(flink.GlobalWindows.create_with_end_of_stream_trigger())
    harness = at_end.reduce(add).harness()
    for key, value in (("a", 1), ("b", 2), ("a", 4)):
        assert harness.process_element(key, value, 12) == []
    assert harness.process_watermark(10**12) == []

    assert harness.process_watermark_to_infinity() == [
        Row("value", "a", 5, None, None),
        Row("value", "b", 2, None, None),
    ]


def test_windows_may_begin_before_their_multiples() -> None:
    eight_hours_earlier = flink.TumblingEventTimeWindows.of("1 day", timedelta(hours=-8))
    sliding = flink.SlidingEventTimeWindows.of(10, 5, -1)

    hour = 3_600_000
    assert [(it.start, it.end) for it in eight_hours_earlier.window_fn.assign(0)] == [
        (-8 * hour, 16 * hour)
    ]
    assert sorted((it.start, it.end) for it in sliding.window_fn.assign(4)) == [(-1, 9), (4, 14)]


def test_windows_of_the_clock_take_what_comes_in_their_last_millisecond() -> None:
    harness = BY_CLOCK.reduce(add).harness()
    harness.set_processing_time(9)
    harness.process_element("a", 1, 77)

    assert harness.set_processing_time(10) == [Row("value", "a", 1, (0, 10), 9)]


def test_what_comes_in_the_millisecond_in_which_its_window_was_given_out_is_in_the_next() -> None:
    harness = BY_CLOCK.reduce(add).harness()
    harness.process_element("a", 1)
    assert results(harness.set_processing_time(9)) == [1]
    harness.process_element("a", 2)

    # The test harness of Flink would give out a second result for [0, 10).
    assert harness.set_processing_time(19) == [Row("value", "a", 2, (10, 20), 19)]


def test_sliding_windows_and_dynamic_gaps_go_by_the_clock_too() -> None:
    sliding = flink.SlidingProcessingTimeWindows.of(4, 2)
    sessions = flink.ProcessingTimeSessionWindows.with_dynamic_gap(lambda value: value)
    rows = []
    for windows in (sliding, sessions):
        harness = flink.key_by().window(windows).reduce(add).harness()
        harness.set_processing_time(2)
        harness.process_element("a", 5, 99)
        rows.append([(row.value, row.window) for row in harness.set_processing_time(50)])

    assert rows == [[(5, (0, 4)), (5, (2, 6))], [(5, (2, 7))]]
