"""Elements of several windows are windowed anew: as many elements as there were windows.

Originals: ``WindowTest.test_rewindow`` of Beam Python, and of Beam Java ``singleWindowFnSucceeds``
and ``multipleWindowsWindowFnSucceeds`` in ``WindowEvaluatorFactoryTest``, ``testMultiStage`` in
``TestStreamTest`` and ``testRewindowWithTimestampCombiner`` in ``GroupByKeyTest``.
"""

from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.testing import (
    TestPipeline,
    TestStream,
    TestWindowedValue,
    assert_that,
    contain_in_any_order,
    element,
    emit_exactly,
    equal_to,
    expect,
    on_time_pane,
)
from beamlike.testing import TimestampedValue as At


def timed(pipeline: beam.Pipeline, *times: int, name: str = "Create") -> beam.PCollection[int]:
    """Numbers that happen at as many milliseconds."""
    return pipeline | name >> beam.Create([At(time, time) for time in times])


def test_a_number_in_three_windows_is_there_three_times_when_it_is_windowed_anew() -> None:
    with TestPipeline() as pipeline:
        grouped = (
            timed(pipeline, *range(10))
            | "window" >> beam.WindowInto(beam.SlidingWindows("6 ms", "2 ms"))
            | "rewindow" >> beam.WindowInto(beam.FixedWindows("5 ms"))
            | "rewindow2" >> beam.WindowInto(beam.FixedWindows("5 ms"))
            | beam.Map(lambda number: ("key", number))
            | beam.GroupByKey()
        )
        first = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
        expect(grouped).to(
            emit_exactly(
                on_time_pane("key", first, 0, 5, is_last=True),
                on_time_pane("key", [number + 5 for number in first], 5, 10, is_last=True),
            )
        )


def test_each_of_the_windows_is_replaced_by_all_the_new_ones() -> None:
    with TestPipeline() as pipeline:
        sliding = beam.SlidingWindows("6 ms", "3 ms")
        again = timed(pipeline, 3) | beam.WindowInto(sliding) | "Again" >> beam.WindowInto(sliding)
        twice = [element(3, 0, 6, timestamp=3), element(3, 3, 9, timestamp=3)]
        expect(again).to(emit_exactly(*twice, *twice))


def test_windows_that_stay_as_they_are_make_no_more_of_an_element() -> None:
    with TestPipeline() as pipeline:
        sliding = timed(pipeline, 3) | beam.WindowInto(beam.SlidingWindows("6 ms", "3 ms"))
        patient = sliding | "Trigger" >> beam.WindowInto(
            trigger=beam.Never(), accumulation_mode="accumulating", allowed_lateness="0 ms"
        )
        expect(patient).to(
            emit_exactly(element(3, 0, 6, timestamp=3), element(3, 3, 9, timestamp=3))
        )


def test_what_vanished_between_windows_does_not_come_back() -> None:
    with TestPipeline() as pipeline:
        gaps = timed(pipeline, 1, 3, 10) | beam.WindowInto(beam.SlidingWindows("3 ms", "10 ms"))
        everything = gaps | "Everything" >> beam.WindowInto(beam.GlobalWindows())
        expect(everything).to(contain_in_any_order([1, 10]))


def test_a_side_input_of_everything_has_an_element_once_for_each_window_it_was_in() -> None:
    with TestPipeline() as pipeline:
        sliding = timed(pipeline, 3) | beam.WindowInto(beam.SlidingWindows("6 ms", "3 ms"))
        everything = sliding | "Everything" >> beam.WindowInto(beam.GlobalWindows())
        seen = (
            pipeline
            | "Main" >> beam.Create(["x"])
            | beam.Map(lambda x, side: (x, side), beam.AsList(everything))
        )
        expect(seen).to(contain_in_any_order([("x", [3, 3])]))


def test_an_assertion_of_beam_python_windows_anew_too() -> None:
    with TestPipeline() as pipeline:
        sliding = timed(pipeline, 3) | beam.WindowInto(beam.SlidingWindows("6 ms", "3 ms"))
        seen: list[Any] = []
        assert_that(sliding, equal_to([3, 3]))
        assert_that(sliding, seen.extend)
        assert_that(
            sliding,
            equal_to(
                [
                    TestWindowedValue(3, 0.003, [beam.IntervalWindow(0, 0.006)]),
                    TestWindowedValue(3, 0.003, [beam.IntervalWindow(0.003, 0.009)]),
                ]
            ),
            reify_windows=True,
        )
    assert seen == [3, 3]


def test_what_a_grouping_let_out_is_windowed_by_its_stamp() -> None:
    with TestPipeline() as pipeline:
        pairs = [At(("foo", 1), 1), At(("foo", 4), 4), At(("bar", 3), 3), At(("foo", 9), 9)]
        sums = (
            pipeline
            | beam.Create(pairs)
            | "Latest" >> beam.WindowInto(timestamp_combiner="latest")
            | beam.CombinePerKey(sum)
            | "FixedWindows" >> beam.WindowInto(beam.FixedWindows("1 ms"))
        )
        expect(sums).to(
            emit_exactly(
                on_time_pane("foo", 14, 9, 10, timestamp=9, is_last=True),
                on_time_pane("bar", 3, 3, 4, timestamp=3, is_last=True),
            )
        )


def test_an_element_from_before_all_times_goes_through_two_stages() -> None:
    with TestPipeline() as pipeline:
        given = pipeline | (
            TestStream()
            .add_elements("before")
            .advance_watermark_to(0)
            .add_elements_at_time(beam.Timestamp(10), "after")
            .advance_watermark_to_infinity()
        )
        grouped = (
            given
            | beam.WindowInto(beam.FixedWindows("1 s"))
            | beam.Map(lambda word: (word, word))
            | beam.GroupByKey()
            | beam.Keys()
            | "Upper" >> beam.Map(str.upper)
            | "Rewindow" >> beam.WindowInto(beam.GlobalWindows())
        )
        shown: list[Any] = []
        assert_that((given, grouped) | beam.Flatten(), shown.extend)
    assert shown == ["before", "BEFORE", "after", "AFTER"]


@pytest.mark.parametrize("host", ["memory", "local"])
def test_an_event_ends_a_session_in_a_pipeline_by_the_element_that_is_windowed(host: str) -> None:
    """The grouping that follows sees values without what ended the session."""

    def is_last(ride: tuple[str, str]) -> bool:
        return ride[1] == "arrived"

    with TestPipeline(host=host) as pipeline:
        rides = [At(("ann", "moving"), 0), At(("ann", "arrived"), 4), At(("ann", "moving"), 5)]
        grouped = (
            pipeline
            | beam.Create(rides)
            | beam.WindowInto(bl.Sessions("10 ms", ends_with=is_last))
            | beam.Map(lambda ride: (ride[0], 1))
            | beam.CombinePerKey(sum)
        )
        expect(grouped).to(
            emit_exactly(
                on_time_pane("ann", 2, 0, 5, is_last=True),
                on_time_pane("ann", 1, 5, 15, is_last=True),
            )
        )
