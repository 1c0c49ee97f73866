"""Batches: by key, going on from bundle to bundle until their window ends, and of all elements."""

from time import time
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, TransformError
from beamlike.model.time import show_instant
from beamlike.scio import ScioContext, SCollection, WindowOptions
from beamlike.testing import FinishedTestStream, TestStream
from beamlike.testing import test_stream_of as stream_of

PATIENT = WindowOptions(allowed_lateness="20 s", accumulation_mode="discarding")


def came(collection: SCollection[Any]) -> list[tuple[int, Any, str]]:
    """Step, element and event time of everything that came out, in order."""
    out = collection.pipeline.run().out_of(collection.edge)
    return [(it.step, it.element.value, show_instant(it.element.timestamp)) for it in out]


def elements(collection: SCollection[Any]) -> list[Any]:
    return [element for _, element, _ in came(collection)]


def minutes(stream: FinishedTestStream, options: WindowOptions | None = None) -> SCollection[Any]:
    return ScioContext().test_stream(stream).with_fixed_windows("1 minute", options=options)


def test_a_list_is_full_with_the_pair_that_completes_it_and_is_at_its_earliest_time():
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", ("a", 1), ("b", 1))
        .add_elements_at_time("00:00:05", ("a", 2), ("a", 3), ("a", 4), ("a", 5))
        .advance_watermark_to_infinity()
    )
    assert came(minutes(stream).batch_by_key(2)) == [
        (1, ("a", [1, 2]), "00:00:05"),
        (1, ("a", [3, 4]), "00:00:05"),
        (2, ("a", [5]), "00:00:05"),
        (2, ("b", [1]), "00:00:10"),
    ]


def test_what_is_left_waits_for_the_window_to_expire_and_late_pairs_go_with_it():
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", ("a", 1))
        .advance_watermark_to("00:01:10")
        .add_elements_at_time("00:00:05", ("a", 2))
        .advance_watermark_to("00:01:20")
        .add_elements_at_time("00:00:04", ("a", 3))
        .advance_watermark_to_infinity()
    )
    batches = minutes(stream, PATIENT).batch_by_key(9)

    assert came(batches) == [(3, ("a", [1, 2]), "00:00:05")]
    dropped = [(it.label, it.drop.element.value[0]) for it in batches.pipeline.run().lost]
    assert dropped == [("batch_by_key", ("a", 3))]


def test_lists_hold_values_of_one_window():
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", ("a", 1))
        .add_elements_at_time("00:01:10", ("a", 2))
        .add_elements_at_time("00:00:20", ("a", 3))
        .advance_watermark_to_infinity()
    )
    windows = minutes(stream).batch_by_key(2).with_window().map(lambda it: (it[0], it[1].start))
    assert elements(windows) == [(("a", [1, 3]), 0), (("a", [2]), 60_000)]

    everything = ScioContext().test_stream(stream).batch_by_key(2)
    assert came(everything) == [(1, ("a", [1, 2]), "00:00:10"), (3, ("a", [3]), "00:00:20")]


def test_a_value_that_would_cost_too_much_begins_the_next_list():
    words = ["aaaa", "b", "cc", "ddd", "eeeeeeeee", "f"]
    pairs = ScioContext().parallelize([("k", word) for word in words])
    assert elements(pairs.batch_weighted_by_key(5, len)) == [
        ("k", ["aaaa", "b"]),
        ("k", ["cc", "ddd"]),
        ("k", ["eeeeeeeee"]),
        ("k", ["f"]),
    ]
    assert elements(pairs.batch_weighted_by_key(4, len)) == [
        ("k", ["aaaa"]),
        ("k", ["b", "cc"]),
        ("k", ["ddd"]),
        ("k", ["eeeeeeeee"]),
        ("k", ["f"]),
    ]


def test_the_time_of_a_value_that_does_not_fit_counts_for_the_list_before_as_in_beam():
    timed = [(("k", "aaa"), "00:00:10"), (("k", "bbb"), "00:00:05")]
    batches = ScioContext().parallelize_timestamped(timed).batch_weighted_by_key(5, len)
    assert [it[1:] for it in came(batches)] == [
        (("k", ["aaa"]), "00:00:05"),
        (("k", ["bbb"]), "00:00:05"),
    ]


def test_the_watermark_behind_waits_for_lists_that_are_not_full():
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", ("a", 1))
        .advance_watermark_to("00:00:50")
        .add_elements_at_time("00:00:55", ("a", 2))
        .advance_watermark_to("00:02:00")
        .advance_watermark_to_infinity()
    )
    batches = minutes(stream).batch_by_key(9)
    shorter = batches.with_fixed_windows("20 s").map_values(sum).group_by_key()

    # The list is at 10 s, when the watermark was at 50 s long ago: it is not late.
    assert came(shorter) == [(3, ("a", [3]), "00:00:19.999")]
    assert batches.pipeline.run().lost == ()


def test_a_list_keeps_the_pane_of_the_pair_that_completes_it_and_the_rest_has_none():
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", ("a", 1), ("a", 2))
        .advance_watermark_to_infinity()
    )
    sums = minutes(stream).sum_by_key().map(lambda pair: ("all", pair))
    full, rest = (sums.batch_by_key(size).with_pane_info() for size in (1, 2))

    def timings(scollection: SCollection[Any]) -> list[Any]:
        return [(batch, pane.timing.value) for batch, pane in elements(scollection)]

    assert timings(full) == [(("all", [("a", 3)]), "ON_TIME")]
    assert timings(rest) == [(("all", [("a", 3)]), "UNKNOWN")]


def test_the_collection_is_windowed_as_before():
    stream = stream_of().add_elements_at_time("00:00:10", ("a", 1)).advance_watermark_to_infinity()
    given = minutes(stream, PATIENT)
    assert given.batch_by_key(2).windowing == given.windowing


@pytest.mark.nightly
@pytest.mark.spark
def test_batches_are_the_same_on_spark(spark: Any):
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", ("a", 1), ("b", 1))
        .add_elements_at_time("00:00:05", ("a", 2), ("a", 3))
        .advance_watermark_to("00:01:10")
        .add_elements_at_time("00:00:07", ("a", 4))
        .advance_watermark_to_infinity()
    )
    batches = minutes(stream, PATIENT).batch_by_key(2)
    in_memory = came(batches)
    on_spark = batches.pipeline.run("spark", spark).out_of(batches.edge)

    assert sorted(
        (it.step, it.element.value, show_instant(it.element.timestamp)) for it in on_spark
    ) == sorted(in_memory)
    assert len(in_memory) == 3


@pytest.mark.parametrize(
    ("verb", "problem"),
    [
        (lambda it: it.batch_by_key(0), "the size must be a whole number of 1 or more, got 0"),
        (lambda it: it.batch_weighted_by_key(2, 3), "needs a function, got 3"),
        (lambda it: it.batch_by_key(2, "soon"), "max_buffering_duration"),
        (
            lambda it: it.with_session_windows("1 minute").batch_by_key(2),
            r"Sessions\(1m\) merges windows, .*; use FixedWindows",
        ),
    ],
)
def test_batches_that_are_none_are_refused(verb: Any, problem: str):
    with pytest.raises(PipelineError, match=f"^'batch_.*{problem}"):
        verb(ScioContext().parallelize([("a", 1)]))


def test_what_is_no_pair_fails_in_the_run():
    with pytest.raises((PipelineError, TransformError), match="must be key-value pairs"):
        elements(ScioContext().parallelize([1]).batch_by_key(2))


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_list_waits_no_longer_than_it_may_and_is_full_when_its_values_cost_enough(host: Any):
    context = ScioContext()
    stream = (
        stream_of()
        .add_elements_at_time("00:00:01", ("a", 1), ("a", 2))
        .add_elements_at_time("00:00:02", ("a", 3))
        .advance_processing_time("6 s")
        .add_elements_at_time("00:00:03", ("a", 4), ("a", 9))
        .advance_watermark_to_infinity()
    )
    batches = context.test_stream(stream).batch_weighted_by_key(4, int, "5 s")
    out = context.run(host).outputs.out_of(batches.edge)
    assert [(it.step, it.element.value, it.element.timestamp) for it in out] == [
        (1, ("a", [1, 2]), 1000),
        (2, ("a", [3]), 2000),
        (3, ("a", [4]), 3000),
        (3, ("a", [9]), 3000),
    ]


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
