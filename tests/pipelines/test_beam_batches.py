"""Elements in batches: by key and window, and as they come."""

from time import time
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError
from beamlike.testing import TestStream

Came = list[tuple[int, Any, int]]


def orders() -> Any:
    """A bundle of four, one more, and three that are late."""
    return (
        TestStream()
        .add_elements_at_time("00:00:10", ("tea", 1), ("tea", 2), ("tea", 3), ("milk", 1))
        .add_elements_at_time("00:00:20", ("tea", 4), ("tea", 5))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", ("tea", 6), ("tea", 7), ("tea", 8))
        .advance_watermark_to_infinity()
    )


def batches(transform: Any, windows: Any = None) -> Came:
    """The step, the value and the event time of all that comes out."""
    pipeline = beam.Pipeline()
    minutes = beam.WindowInto(
        beam.FixedWindows("1 minute"), allowed_lateness="1 hour", accumulation_mode="discarding"
    )
    found = pipeline | orders() | (windows or minutes) | transform
    return [
        (came.step, came.element.value, came.element.timestamp)
        for came in pipeline.run().out_of(found.edge)
    ]


def test_a_batch_comes_with_the_pair_that_completes_it_and_the_rest_when_the_window_expires():
    assert batches(beam.GroupIntoBatches(2)) == [
        (0, ("tea", [1, 2]), 10_000),
        (1, ("tea", [3, 4]), 10_000),
        (3, ("tea", [5, 6]), 20_000),
        (3, ("tea", [7, 8]), 30_000),
        (4, ("milk", [1]), 10_000),
    ]


def test_one_window_for_everything_keeps_what_fills_no_batch_to_the_end():
    assert batches(beam.GroupIntoBatches(3), beam.WindowInto(beam.GlobalWindows())) == [
        (0, ("tea", [1, 2, 3]), 10_000),
        (3, ("tea", [4, 5, 6]), 20_000),
        (4, ("tea", [7, 8]), 30_000),
        (4, ("milk", [1]), 10_000),
    ]


def test_what_is_too_late_is_in_no_batch_and_is_reported():
    pipeline = beam.Pipeline()
    minutes = pipeline | orders() | beam.WindowInto(beam.FixedWindows("1 minute"))
    found = minutes | "Batches" >> beam.GroupIntoBatches(4)
    result = pipeline.run()
    assert [came.element.value for came in result.out_of(found.edge)] == [
        ("tea", [1, 2, 3, 4]),
        ("tea", [5]),
        ("milk", [1]),
    ]
    assert [(lost.label, lost.key) for lost in result.lost] == [("Batches/Batches", "tea")] * 3


def test_batches_have_the_windows_and_the_trigger_of_their_collection():
    pipeline = beam.Pipeline()
    fired = beam.WindowInto(
        beam.FixedWindows("1 minute"),
        trigger=beam.Repeatedly(beam.AfterCount(7)),
        accumulation_mode="accumulating",
        allowed_lateness="0 s",
    )
    minutes = pipeline | orders() | fired
    found = minutes | beam.GroupIntoBatches(2)
    assert found.windowing == minutes.windowing
    assert {
        (came.element.windows, came.element.pane.timing)
        for came in pipeline.run().out_of(found.edge)
    } == {((beam.IntervalWindow("00:00", "00:01"),), beam.Timing.UNKNOWN)}


def test_a_batch_waits_for_so_many_seconds_and_no_longer():
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("tea", 1), ("tea", 2), ("tea", 3))
        .advance_processing_time("6 s")
        .add_elements_at_time("00:00:20", ("tea", 4))
        .advance_processing_time("6 s")
        .add_elements_at_time("00:00:30", ("tea", 5))
        .advance_watermark_to_infinity()
    )
    pipeline = beam.Pipeline()
    windowed = pipeline | stream | beam.WindowInto(beam.FixedWindows("1 minute"))
    batched = windowed | beam.GroupIntoBatches(2, max_buffering_duration_secs=5)

    came = pipeline.run("memory").out_of(batched.edge)

    assert batched.windowing == windowed.windowing
    assert [(it.step, it.element.value) for it in came] == [
        (0, ("tea", [1, 2])),
        (1, ("tea", [3])),
        (3, ("tea", [4])),
        (5, ("tea", [5])),
    ]


def test_a_clock_says_when_a_batch_begins_to_wait():
    stream = (
        TestStream().add_elements_at_time("00:00:10", ("tea", 1)).advance_processing_time("6 s")
    )

    def steps(*clock: Any) -> list[int]:
        pipeline = beam.Pipeline()
        elements = pipeline | stream.advance_watermark_to_infinity()
        batched = elements | beam.GroupIntoBatches(2, 5, *clock)
        return [came.step for came in pipeline.run("memory").out_of(batched.edge)]

    assert steps() == steps(lambda: beam.Timestamp(0)) == steps(lambda: 0.5) == [1]
    assert steps(lambda: 2) == [2], "until 7 s, and so until the end"
    for arguments in ((2, None, time), (2, 0, time), (2, 5, 7)):
        with pytest.raises(PipelineError, match="add the duration, or leave the clock out"):
            beam.GroupIntoBatches(*arguments)


def test_what_stands_in_for_batches_that_may_not_wait_can_be_applied():
    windows = beam.WindowInto(
        beam.FixedWindows("1 minute"),
        trigger=beam.Repeatedly(
            beam.AfterAny(beam.AfterCount(100), beam.AfterProcessingTime("10 s"))
        ),
        accumulation_mode="discarding",
        allowed_lateness="0 s",
    )
    assert batches(beam.GroupByKey(), windows) == [
        (2, ("tea", [1, 2, 3, 4, 5]), 59_999),
        (2, ("milk", [1]), 59_999),
    ]


def test_batches_need_a_size_pairs_and_windows_that_stay_as_they_are():
    with pytest.raises(
        PipelineError, match="batch_size must be a whole number of 1 or more, got 0"
    ):
        beam.GroupIntoBatches(0)
    with pytest.raises(PipelineError, match=r"must be key-value pairs, got 'a'; make pairs"):
        (beam.Pipeline() | beam.Create(["a"]) | beam.GroupIntoBatches(1)).pipeline.run()
    with pytest.raises(PipelineError) as refusal:
        batches(beam.GroupIntoBatches(2), beam.WindowInto(beam.Sessions("1 minute")))
    assert str(refusal.value) == (
        "'GroupIntoBatches/Batches': MergingWindowFn is not supported for stateful functions: "
        "Sessions(1m) merges windows, and a state cannot be merged; use FixedWindows, "
        "SlidingWindows, calendar windows or GlobalWindows"
    )
