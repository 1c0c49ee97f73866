"""Options that are known not to be shown: those without an effect, and those without a scenario.

Both sets only become smaller. An option that is new belongs into a table of runs.
"""

from collections.abc import Callable
from typing import Any, Final

import beamlike.beam as beam
from tests.options.playing import Differs, beamed, scio

PAIRS: Final = (("a", 1), ("a", 3), ("b", 2))
KEYS: Final = ("a", "b")


def sums(change: Callable[[Any], Any]) -> Any:
    """Sums by key, combined as an option says."""
    transform = change(beam.CombinePerKey(sum))
    return beamed(lambda numbers: numbers | beam.Map(lambda n: (n % 2, n)) | transform)


def total(change: Callable[[Any], Any]) -> Any:
    """The sum of all, combined as an option says."""
    return beamed(lambda numbers: numbers | change(beam.CombineGlobally(sum)))


def sparse(verb: str, **option: Any) -> Differs:
    """A join of Scio with a hint of how its other side is looked up, and without."""

    def run(**options: Any) -> Any:
        def join(left: Any) -> Any:
            right = left.keys() if verb == "sparse_intersect_by_key" else left
            main = left.keys() if verb == "sparse_lookup" else left
            return getattr(main, verb)(right, 3, **options)

        return scio(join, *PAIRS)

    return Differs(run, lambda: run(**option))


WITHOUT_EFFECT: Final[dict[str, Differs]] = {
    # Work is not spread yet: elements of a hot key all go to one shard.
    "beam.CombinePerKey.with_hot_key_fanout": Differs(
        lambda: sums(lambda numbers: numbers),
        lambda: sums(lambda numbers: numbers.with_hot_key_fanout(4)),
    ),
    "beam.CombineGlobally.with_fanout": Differs(
        lambda: total(lambda numbers: numbers),
        lambda: total(lambda numbers: numbers.with_fanout(4)),
    ),
    "scio.SCollection.with_fanout": Differs(
        lambda: scio(lambda numbers: numbers.sum(), 1, 2),
        lambda: scio(lambda numbers: numbers.with_fanout(4).sum(), 1, 2),
    ),
    "scio.SCollection.with_hot_key_fanout": Differs(
        lambda: scio(lambda numbers: numbers.sum_by_key(), *PAIRS),
        lambda: scio(lambda numbers: numbers.with_hot_key_fanout(4).sum_by_key(), *PAIRS),
    ),
    # Hosts decide where work is done.
    "beam.Create.reshuffle": Differs(
        lambda: beamed(lambda numbers: numbers),
        lambda: beamed(lambda numbers: created(numbers, reshuffle=False)),
    ),
    "beam.Reshuffle.num_buckets": Differs(
        lambda: beamed(lambda numbers: numbers | beam.Reshuffle()),
        lambda: beamed(lambda numbers: numbers | beam.Reshuffle(num_buckets=4)),
    ),
    # Joins are exact, without a Bloom filter.
    "scio.SCollection.sparse_intersect_by_key.compute_exact": sparse(
        "sparse_intersect_by_key", compute_exact=False
    ),
    **{
        f"scio.SCollection.{verb}.fp_prob": sparse(verb, fp_prob=0.5)
        for verb in (
            *("sparse_join", "sparse_left_outer_join", "sparse_right_outer_join"),
            *("sparse_full_outer_join", "sparse_intersect_by_key", "sparse_lookup"),
        )
    },
    # Nothing shows it.
    "beam.Pipeline.display_data": Differs(
        lambda: beam.Pipeline().run(), lambda: beam.Pipeline(display_data={"a": 1}).run()
    ),
    # The clock is that of the pipeline.
    "beam.GroupIntoBatches.clock": Differs(
        lambda: beamed(lambda numbers: numbers | beam.WithKeys(1) | beam.GroupIntoBatches(2)),
        lambda: beamed(
            lambda numbers: numbers | beam.WithKeys(1) | beam.GroupIntoBatches(2, clock=int)
        ),
    ),
}


def created(numbers: Any, **option: Any) -> Any:
    """The three numbers of `beamed`, created once more with an option."""
    timed = [beam.TimestampedValue(n, n * 3600) for n in (0, 1, 2)]
    return numbers.pipeline | "Again" >> beam.Create(timed, **option)


WITHOUT_SCENARIO: Final = frozenset(
    {
        # A session of Spark, a server or a table elsewhere.
        *("local_session.app_name", "local_session.cores", "local_session.short_lived"),
        *("live_view.port", "tables.Delta.storage_options", "tables.Iceberg.properties"),
        *("tables.JDBC.properties", "beam.to_data_frame.shards", "beam.to_data_frame.wake_every"),
        *("beam.FromDataFrame.idle", "testing.run_with_context.spark"),
        *("testing.run_with_overrides.host", "testing.run_with_overrides.spark"),
        # As of `Pipeline.run`, to which they are handed on.
        *("scio.ScioContext.close.checkpoint", "scio.ScioContext.close.host"),
        *("scio.ScioContext.close.shards", "scio.ScioContext.close.spark"),
        *("scio.ScioContext.close.trigger", "scio.ScioContext.close.wake_every"),
        "beam.PipelineResult.wait_until_done.duration",
        # Taken so that programs and tests of Beam need no change.
        *("beam.BatchElements.record_metrics", "beam.Filter.with_outputs.allow_unknown_tags"),
        *("beam.DoFn.WatermarkEstimatorParam.watermark_estimator_provider",),
        *("beam.MetricResults.values.filter",),
        "beam.PipelineOptions.get_all_options.display_warnings",
        *("testing.TestPipeline.blocking", "testing.TestPipeline.display_data"),
        *("testing.TestPipeline.overrides", "testing.TestPipeline.timeout"),
        # Used by place, and not by name, in the tests that have them.
        *("scio.SCollection.batch_byte_sized.max_live_windows",),
        *("scio.SCollection.batch_weighted.max_live_windows",),
        "scio.SCollectionWithSideInput.batch_weighted.max_live_windows",
        *("testing.TransformOverride.of.takes", "testing.TransformOverride.of_iter.takes"),
        *("testing.TransformOverride.of_iter_kv.takes", "testing.TransformOverride.of_kv.takes"),
        *("testing.arrivals_from_dataframe.key", "testing.arrivals_from_dataframe.value"),
        *("testing.broken_trigger_rules.values", "testing.broken_trigger_rules.window"),
        *("testing.figure_of.dark", "testing.figure_of.key"),
    }
)
"""Options of which no test says yet what they do."""
