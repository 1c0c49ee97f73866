"""Batches that wait no longer than so long, as Beam Java tests them.

Original: ``GroupIntoBatchesTest.java`` of apache/beam. Where it looks at the sizes of batches,
their values and event times are here, too.
"""

from typing import Any

import pytest
from states.cases import Cases

import beamlike.beam as beam
from beamlike.beam import window
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.utils.timestamp import Timestamp

case = Cases()
NAMES = ["Einstein", "Darwin", "Copernicus", "Pasteur", "Curie"]
NAMES += ["Faraday", "Newton", "Bohr", "Galilei", "Maxwell"]
DISCARDING = beam.AccumulationMode.DISCARDING


class _Reify(beam.DoFn):
    def process(self, element, at=beam.DoFn.TimestampParam):
        yield [*element[1]], at


def names_at_their_seconds(seconds_between: float = 0) -> TestStream:
    """A name each second of event time, and some seconds of processing time after each."""
    stream = TestStream().advance_watermark_to(0)
    for second, name in enumerate(NAMES):
        stream = stream.add_elements([window.TimestampedValue(("key", name), second)])
        if seconds_between:
            stream = stream.advance_processing_time(seconds_between)
    return stream


def batched(p: Any, stream: TestStream, windows: Any, **how: Any) -> Any:
    """The batches of five, each with its event time."""
    windowed = (
        p
        | stream
        | beam.WindowInto(
            windows,
            trigger=beam.trigger.AfterWatermark(),
            allowed_lateness=0.03,
            accumulation_mode=DISCARDING,
        )
    )
    return windowed | beam.GroupIntoBatches(5, **how) | beam.ParDo(_Reify())


def expected(*cuts: tuple[int, int]) -> Any:
    return equal_to([(NAMES[first:after], Timestamp(first)) for first, after in cuts])


@case
def in_streaming_mode(p):
    stream = names_at_their_seconds().advance_watermark_to(5).advance_watermark_to(7)
    stream = stream.advance_watermark_to(10).advance_watermark_to_infinity()
    found = batched(p, stream, window.FixedWindows(6))
    assert_that(found, expected((0, 5), (5, 6), (6, 10)))


@case
def buffering_timer_in_fixed_window(p):
    """A batch waits five seconds, and two pass after each name."""
    stream = names_at_their_seconds(2).advance_watermark_to(10).advance_watermark_to_infinity()
    found = batched(p, stream, window.FixedWindows(4), max_buffering_duration_secs=5)
    assert_that(found, expected((0, 3), (3, 4), (4, 7), (7, 8), (8, 10)))


@case
def buffering_timer_in_global_window(p):
    stream = names_at_their_seconds(2).advance_watermark_to(10).advance_watermark_to_infinity()
    found = batched(p, stream, window.GlobalWindows(), max_buffering_duration_secs=5)
    assert_that(found, expected((0, 3), (3, 6), (6, 9), (9, 10)))


@case
def a_batch_that_is_full_does_not_wait(p):
    stream = names_at_their_seconds(0.1).advance_watermark_to_infinity()
    found = batched(p, stream, window.GlobalWindows(), max_buffering_duration_secs=50)
    assert_that(found, expected((0, 5), (5, 10)))


@case
def with_sharded_key(p):
    stream = names_at_their_seconds(0.1).advance_watermark_to_infinity()
    sharded = p | stream | beam.GroupIntoBatches.WithShardedKey(5, 50)
    keys = sharded | beam.Map(lambda pair: (pair[0].key, len(pair[1])))
    assert_that(keys, equal_to([("key", 5), ("key", 5)]))


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize("name", case.builds)
def test_ported(name: str, host: Any) -> None:
    case.run(name, host)


@pytest.mark.spark
def test_all_of_them_on_spark(spark: Any) -> None:
    case.run_side_by_side(spark)
