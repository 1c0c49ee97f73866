"""Options of how programs of Beam and Scio are run, tested and measured, in runs that differ in
one of them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa

import beamlike.beam as beam
from beamlike import testing
from beamlike.scio import ScioContext
from beamlike.testing import TestPipeline, TestStream, TransformOverride
from tests.options.playing import HOUR, Differs, beamed, came


def closed(**option: Any) -> Any:
    """How a context of Scio ends, closed with an option of `Pipeline.run`."""
    sc = ScioContext()
    sc.parallelize([1])
    return sc.close(**option).state


def delayed(**option: Any) -> Any:
    """The panes of a stream whose trigger waits for processing time."""
    stream = (
        TestStream()
        .add_elements_at_time("00:00:01", ("a", 1))
        .advance_processing_time("10 s")
        .add_elements_at_time("00:00:02", ("a", 2))
        .advance_watermark_to_infinity()
    )
    pipeline = beam.Pipeline()
    windows = beam.WindowInto(
        beam.FixedWindows(60),
        trigger=beam.Repeatedly(beam.AfterProcessingTime(**option)),
        accumulation_mode="discarding",
    )
    return came(pipeline, pipeline | stream | windows | beam.GroupByKey())


def waiting(**option: Any) -> Any:
    """When a batch that waits comes out."""
    stream = (
        TestStream().add_elements_at_time("00:00:10", ("tea", 1)).advance_processing_time("6 s")
    )
    pipeline = beam.Pipeline()
    elements = pipeline | stream.advance_watermark_to_infinity()
    batched = elements | beam.GroupIntoBatches(2, 5, **option)
    return [output.step for output in pipeline.run("memory").out_of(batched.edge)]


def counted(**option: Any) -> Any:
    """The counters of two names."""
    pipeline = beam.Pipeline()
    counts = [beam.metrics.Metrics.counter("tests", name) for name in ("one", "other")]
    _ = pipeline | beam.Create([1]) | beam.Map(lambda _: [count.inc() for count in counts])
    return pipeline.run().metrics().values(**option)["counters"]


def divided(number: int) -> Any:
    yield beam.pvalue.TaggedOutput("odd" if number % 2 else "even", number)


def odd_and_even(**option: Any) -> Any:
    """The outputs of numbers, of which one alone was named."""
    return beamed(
        lambda numbers: (numbers | beam.ParDo(divided).with_outputs("even", **option))["odd"]
    )


def doubled(**option: Any) -> Any:
    """What a test pipeline makes of a number, some of its transforms overridden."""
    with TestPipeline(**option) as pipeline:
        made = pipeline | beam.Create([1]) | "Double" >> beam.Map(lambda number: 2 * number)
    return [output.element.value for output in pipeline.result.out_of(made.edge)]  # type: ignore[union-attr]


def overridden(
    way: Callable[..., TransformOverride], makes: Any, host: Any = "memory", **option: Any
) -> Any:
    """What comes out of a step of numbers that is overridden."""
    with testing.run_with_overrides(way("Step", makes, **option), host=host) as sc:
        made = sc.parallelize([1]).with_name("Step").map(str)
    return [output.element.value for output in sc.pipeline.result.out_of(made.edge)]


def taking(way: Callable[..., TransformOverride], makes: Any = str) -> Differs:
    return Differs(partial(overridden, way, makes), partial(overridden, way, makes, takes=str))


def letters(of: Callable[..., Any], **option: Any) -> Any:
    """Batches of letters in four windows."""
    sc = ScioContext()
    timed = sc.parallelize_timestamped("aabcd", [0, 1, 60_000, 120_000, 2])
    return came(sc.pipeline, of(timed.with_fixed_windows("1 minute"), **option))


def weighted(rows: Any, **option: Any) -> Any:
    return rows.batch_weighted(9, lambda letter: 1, **option)


class Streaming:
    """Stands for a streaming DataFrame, which only a run reads."""

    isStreaming = True


def source(**option: Any) -> Any:
    """The clock of a source of rows, some of which may be idle."""
    rows: Any = Streaming()
    times = {"timestamp": "at", "watermark": "0 s", "idle_after": "1 minute"}
    return beam.FromDataFrame(rows, **{**times, **option}).clock


def framed(**option: Any) -> Any:
    """What the elements of a collection become rows with."""
    numbers = beam.Pipeline() | beam.Create([1])
    session: Any = object()
    with patch("beamlike.hosts.spark.graph.frames.frame_of") as frame_of:
        beam.to_data_frame(numbers, "n int", spark=session, **option)
    return frame_of.call_args.kwargs


def in_session(harness: Callable[..., Any], **option: Any) -> Any:
    """How a context of a test ends that runs in memory."""
    with harness(host="memory", **option) as sc:
        sc.parallelize([1])
    return sc.pipeline.result.state


ROWS: Final = pa.table(
    {
        **{"key": ["red"], "value": [5], "team": ["blue"], "score": [7]},
        **{"event_time": ["12:00:26"], "arrival": ["12:05:19"]},
    }
)


def arrivals(**option: str) -> Any:
    return list(testing.arrivals_from_dataframe(ROWS, **option))


def figure(keys: Sequence[str] = "ab", **option: Any) -> Any:
    """How many panels a picture has, and its ground."""
    elements = [(key, 1) for key in keys]
    stream = TestStream().add_elements_at_time("12:00:00", *elements)
    results = stream.advance_watermark_to_infinity().run(window=HOUR)
    picture = testing.figure_of(results.run, results.strategy, **option)
    return len(picture.scenes), picture.palette.paper


RUNS: Final[dict[str, Differs]] = {
    **{
        f"scio.ScioContext.close.{name}": Differs(closed, partial(closed, **{name: value}))
        for name, value in {
            "checkpoint": "/nowhere",
            "host": "elsewhere",
            "shards": 2,
            "spark": object,
            "trigger": {"availableNow": True},
            "wake_every": "1 s",
        }.items()
    },
    "beam.AfterProcessingTime.delay": Differs(delayed, partial(delayed, delay=20)),
    "beam.GroupIntoBatches.clock": Differs(waiting, partial(waiting, clock=lambda: 2)),
    "beam.MetricResults.values.filter": Differs(
        counted, partial(counted, filter=beam.metrics.MetricsFilter().with_name("one"))
    ),
    "beam.Filter.with_outputs.allow_unknown_tags": Differs(
        odd_and_even, partial(odd_and_even, allow_unknown_tags=True)
    ),
    "testing.TestPipeline.overrides": Differs(
        doubled, partial(doubled, overrides=[TransformOverride.of("Double", lambda number: 7)])
    ),
    "testing.TransformOverride.of.takes": taking(TransformOverride.of),
    "testing.TransformOverride.of_iter.takes": taking(TransformOverride.of_iter),
    "testing.TransformOverride.of_kv.takes": taking(TransformOverride.of_kv),
    "testing.TransformOverride.of_iter_kv.takes": taking(TransformOverride.of_iter_kv),
    "testing.run_with_overrides.host": Differs(
        lambda: overridden(TransformOverride.of, str),
        lambda: overridden(TransformOverride.of, str, host="elsewhere"),
    ),
    "scio.SCollection.batch_weighted.max_live_windows": Differs(
        partial(letters, weighted), partial(letters, weighted, max_live_windows=2)
    ),
    "testing.arrivals_from_dataframe.key": Differs(arrivals, partial(arrivals, key="team")),
    "testing.arrivals_from_dataframe.value": Differs(arrivals, partial(arrivals, value="score")),
    "beam.FromDataFrame.idle": Differs(source, partial(source, idle="advance")),
    "beam.to_data_frame.shards": Differs(framed, partial(framed, shards=2)),
    "beam.to_data_frame.wake_every": Differs(framed, partial(framed, wake_every="7 s")),
    **{
        f"testing.{harness.__name__}.spark": Differs(
            partial(in_session, harness), partial(in_session, harness, spark=object)
        )
        for harness in (testing.run_with_context, testing.run_with_overrides)
    },
    "testing.figure_of.dark": Differs(figure, partial(figure, dark=True)),
    "testing.figure_of.key": Differs(figure, partial(figure, key="a")),
}
