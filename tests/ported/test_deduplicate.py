"""Elements of which each comes out once, as Beam tests them.

Original: ``transforms/deduplicate_test.py`` and ``DeduplicateTest.java`` of apache/beam. Numbers
are seconds. What the clock decides, the original gives to a clock of its own.
"""

from typing import Any

import pytest
from states.cases import Cases

import beamlike.beam as beam
from beamlike.beam import window
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to, equal_to_per_window
from beamlike.beam.transforms.deduplicate import Deduplicate, DeduplicatePerKey
from beamlike.errors import PipelineError

case = Cases()


def at(value: Any, second: float) -> Any:
    return window.TimestampedValue(value, second)


@case
def in_different_windows(p):
    stream = TestStream().advance_watermark_to(0)
    stream = stream.add_elements([at(1, 0), at(2, 10), at(3, 20), at(1, 30), at(2, 40), at(3, 50)])
    windowed = p | stream | beam.WindowInto(window.FixedWindows(30))
    found = windowed | Deduplicate(processing_time_duration=10 * 60)
    expected = {window.IntervalWindow(0, 30): [1, 2, 3], window.IntervalWindow(30, 60): [1, 2, 3]}
    assert_that(found, equal_to_per_window(expected))


@case
def in_the_same_window_by_processing_time(p):
    stream = TestStream().advance_watermark_to(0)
    stream = stream.add_elements([at(("k", n), 0) for n in (1, 2)]).advance_processing_time(5)
    stream = stream.add_elements([at(("k", 3), 0)]).advance_processing_time(6)
    stream = stream.add_elements([at(("k", 4), 0)])
    found = p | stream | DeduplicatePerKey(processing_time_duration=10)
    assert_that(found | beam.Map(lambda pair: pair[1] in (1, 2) or pair[1]), equal_to([True, 4]))


@case
def by_event_time(p):
    stream = TestStream().advance_watermark_to(0).add_elements([at("a", 0), at("b", 1)])
    stream = stream.advance_watermark_to(5).add_elements([at("a", 5), at("b", 6)])
    stream = stream.advance_watermark_to(10.5).add_elements([at("a", 11), at("b", 11)])
    found = p | stream | Deduplicate(event_time_duration=10)
    timed = found | beam.Map(lambda it, at=beam.DoFn.TimestampParam: (it, int(at)))
    assert_that(timed, equal_to([("a", 0), ("b", 1), ("a", 11)]))


@case
def by_either_clock(p):
    """What is known is forgotten when the first of the durations is over."""
    stream = TestStream().advance_watermark_to(0).add_elements([at("a", 0)])
    stream = stream.advance_processing_time(3).add_elements([at("a", 1)])
    stream = stream.advance_watermark_to(20).add_elements([at("a", 21)])
    found = p | stream | Deduplicate(processing_time_duration=2, event_time_duration=10)
    timed = found | beam.Map(lambda it, at=beam.DoFn.TimestampParam: (it, int(at)))
    assert_that(timed, equal_to([("a", 0), ("a", 1), ("a", 21)]))


@case
def what_is_known_holds_no_watermark(p):
    stream = TestStream().advance_watermark_to(0).add_elements([at(("k", 1), 2)])
    stream = stream.advance_watermark_to(12).add_elements([at(("k", 5), 3), at(("k", 7), 13)])
    windowed = (
        p
        | stream
        | beam.WindowInto(
            window.FixedWindows(10),
            trigger=beam.trigger.AfterWatermark(late=beam.trigger.AfterCount(1)),
            allowed_lateness=100,
            accumulation_mode=beam.AccumulationMode.DISCARDING,
        )
    )
    counted = windowed | DeduplicatePerKey(event_time_duration=30) | beam.CombinePerKey(sum)
    panes = counted | beam.Map(lambda it, pane=beam.DoFn.PaneInfoParam: (it, pane.timing.value))
    assert_that(panes, equal_to([(("k", 1), "ON_TIME"), (("k", 7), "ON_TIME")]))


@pytest.mark.parametrize("transform", [Deduplicate, DeduplicatePerKey])
def test_a_duration_is_needed(transform: Any) -> None:
    with pytest.raises(PipelineError, match=f"{transform.__name__} requires at least providing"):
        transform()


test_ported, test_all_of_them_on_spark = case.tests()
