"""Scio's batches by key: lists that go on from bundle to bundle, and end with their window."""

from typing import Any

import pytest

from beamlike.errors import PipelineError, TransformError
from beamlike.model.time import show_instant
from beamlike.scio import ScioContext, SCollection, WindowOptions
from beamlike.testing import FinishedTestStream
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
