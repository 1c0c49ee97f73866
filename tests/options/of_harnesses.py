"""Options of test harnesses and of small helpers, in runs that differ in one of them."""

from functools import partial
from typing import Any, Final

import beamlike as bl
import beamlike.beam as beam
from beamlike.model.combine import Sum
from beamlike.scio import ScioMetrics
from beamlike.testing import TestPipeline, TestStream
from tests.options.playing import HOUR, Differs, beamed, came

EARLY: Final = bl.WindowingStrategy(HOUR, bl.AfterWatermark(early=bl.AfterCount(1)))


def counted(count: Any) -> Any:
    """A metric after a run that changes it."""
    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([1, 2]) | beam.Map(count)
    return pipeline.run().metrics().query()


def increase(number: int, **by: int) -> None:
    beam.metrics.Metrics.counter("tests", "n").inc(**by)


def decrease(number: int, **by: int) -> None:
    beam.metrics.Metrics.counter("tests", "n").dec(**by)


def read_options(**option: Any) -> Any:
    """What a test pipeline read from its command line."""
    return TestPipeline(**option).options.view_as(beam.StandardOptions).streaming


def joined_without(**option: Any) -> Any:
    return came(option.get("pipeline", beam.Pipeline()), {} | beam.CoGroupByKey(**option))


def drawn(**option: Any) -> Any:
    results = (
        TestStream().add_elements_at_time("12:00:00", ("a", 1)).advance_watermark_to_infinity()
    )
    return results.run(window=HOUR).figure(**option).palette.paper


RUNS: Final[dict[str, Differs]] = {
    "beam.Distinct.label": Differs(
        lambda: beam.Distinct().label, lambda: beam.Distinct(label="once").label
    ),
    "beam.FlatMap.fn": Differs(
        lambda: beamed(lambda numbers: numbers | beam.Map(lambda n: [n]) | beam.FlatMap()),
        lambda: beamed(
            lambda numbers: (
                numbers | beam.Map(lambda n: [n]) | beam.FlatMap(fn=lambda items: items * 2)
            )
        ),
    ),
    "beam.Counter.inc.n": Differs(
        lambda: counted(increase), lambda: counted(partial(increase, n=2))
    ),
    "beam.Counter.dec.n": Differs(
        lambda: counted(decrease), lambda: counted(partial(decrease, n=2))
    ),
    "beam.CoGroupByKey.pipeline": Differs(
        joined_without, lambda: joined_without(pipeline=beam.Pipeline())
    ),
    "scio.ScioMetrics.distribution.name": Differs(
        lambda: ScioMetrics.distribution("one"), lambda: ScioMetrics.distribution("one", "other")
    ),
    "report.combine": Differs(
        lambda: str(bl.report(EARLY).may_emit_empty_on_time),
        lambda: str(bl.report(EARLY, Sum()).may_emit_empty_on_time),
    ),
    "testing.TestPipeline.argv": Differs(read_options, lambda: read_options(argv=["--streaming"])),
    "testing.Results.figure.dark": Differs(drawn, lambda: drawn(dark=True)),
}
