"""Names that programs of Beam are written with: starts and ends of pipelines, shared objects,
annotations of several outputs, options of a block.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError


class Numbers(beam.PTransform[Any, Any]):
    """A source as Beam's guide writes it."""

    def expand(self, pbegin: Any) -> Any:
        assert isinstance(pbegin, beam.pvalue.PBegin)
        return pbegin.pipeline | beam.Create([1, 2])


class Store(beam.PTransform[Any, Any]):
    """A sink as Beam's guide writes it."""

    def __init__(self, to: list[int]) -> None:
        super().__init__()
        self.to = to

    def expand(self, pcoll: Any) -> Any:
        assert isinstance(pcoll, beam.pvalue.PValue)
        pcoll | beam.Map(self.to.append)
        return beam.pvalue.PDone(pcoll.pipeline)


def test_a_source_starts_with_the_pipeline_and_a_sink_ends_it() -> None:
    stored: list[int] = []
    with beam.Pipeline() as pipeline:
        done = pipeline | Numbers() | Store(stored)
    assert stored == [1, 2]
    assert isinstance(done, beam.pvalue.PDone)
    assert done.pipeline is pipeline
    assert isinstance(done, beam.pvalue.PValue)
    assert not isinstance(done, beam.pvalue.PBegin)
    with pytest.raises(TypeError, match="which is not a collection"):
        done | "Again" >> beam.Map(str)


def test_a_pipeline_may_be_named_as_its_start() -> None:
    pipeline = beam.Pipeline()
    assert beam.pvalue.PBegin(pipeline) is pipeline


class Model:
    made = 0

    def __init__(self) -> None:
        Model.made += 1


def test_an_annotation_may_say_the_types_of_several_outputs() -> None:
    class Split(beam.DoFn[int, Any]):
        def process(  # type: ignore[override]
            self, element: int
        ) -> Iterable[int | beam.TaggedOutput[Literal["odd"], str]]:  # type: ignore[misc]
            yield beam.TaggedOutput("odd", str(element)) if element % 2 else element

    pipeline = beam.Pipeline()
    outputs = pipeline | beam.Create([1, 2]) | beam.ParDo(Split()).with_outputs("odd")
    result = pipeline.run()
    assert [came.element.value for came in result.out_of(outputs["odd"].edge)] == ["1"]


def test_parts_are_whole_numbers_of_any_kind() -> None:
    with beam.Pipeline() as pipeline:
        numbers = pipeline | beam.Create([1, 2, 3])
        even, odd = numbers | beam.Partition(lambda number, _: np.int64(number % 2), 2)
    assert pipeline.result is not None
    found = [[it.element.value for it in pipeline.result.out_of(each.edge)] for each in (even, odd)]
    assert found == [[2], [1, 3]]
    halves = beam.Pipeline() | beam.Create([1]) | beam.Partition(lambda *_: 0.5, 2)  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="PartitionFn yielded a 'float' when it should only yield"):
        halves[0].pipeline.run()


def test_metrics_are_found_by_themselves() -> None:
    counter = beam.Metrics.counter(Model, "seen")
    with beam.Pipeline() as pipeline:
        numbers = pipeline | beam.Create([1, 2])
        numbers | beam.Map(lambda _: counter.inc())
        numbers | "Other" >> beam.Map(lambda _: beam.Metrics.counter("other", "seen").inc())
    assert pipeline.result is not None
    wanted = beam.MetricsFilter().with_name("seen").with_namespace(Model)
    (found,) = pipeline.result.metrics().query(wanted)["counters"]
    assert (found.result, found.key.metric.namespace) == (2, f"{__name__}.Model")
    assert beam.MetricResults.matches(None, found.key)
    assert not beam.MetricResults.matches(beam.MetricsFilter().with_name("other"), found.key)
    with pytest.raises(PipelineError, match="the namespace of a metric must be a text"):
        beam.Metrics.counter(3, "seen")  # type: ignore[arg-type]


def test_a_step_is_named_with_or_without_those_around_it() -> None:
    class Counted(beam.PTransform[Any, Any]):
        def expand(self, pcoll: Any) -> Any:
            return pcoll | "Count" >> beam.Map(lambda _: beam.Metrics.counter("n", "seen").inc())

    with beam.Pipeline() as pipeline:
        pipeline | beam.Create([1]) | "Outer" >> Counted()
    assert pipeline.result is not None
    metrics = pipeline.result.metrics()
    found = {
        step: len(metrics.query(beam.MetricsFilter().with_step(step))["counters"])
        for step in ("Outer", "Outer/Count", "Count", "Cou", "ter/Count")
    }
    assert found == {"Outer": 1, "Outer/Count": 1, "Count": 1, "Cou": 0, "ter/Count": 0}


def test_a_generator_is_hinted_by_what_it_yields() -> None:
    @beam.typehints.with_input_types(int)
    @beam.typehints.with_output_types(Iterator[str])
    def digits(number: Any) -> Any:
        yield from str(number)

    letters = beam.Pipeline() | beam.Create([12]) | beam.FlatMap(digits)
    assert letters.declared_type is str
