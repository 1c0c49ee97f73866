"""Functions with ``process_batch``: what a batch is, and what comes of it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import beamlike.beam as beam
from beamlike.beam.transforms.window import IntervalWindow, TimestampedValue
from beamlike.errors import PipelineError, PipelineTypeError, TransformError

HOSTS = pytest.mark.parametrize("host", ["memory", "local"])


def values(collection: Any, host: Any = "memory") -> list[Any]:
    result = collection.pipeline.run(host=host)
    return [came.element.value for came in result.out_of(collection.edge)]


def created(*elements: Any) -> Any:
    return beam.Pipeline() | beam.Create(elements)


class Lists(beam.DoFn[Any, Any]):
    """Each number with the batch that it was in."""

    def process_batch(self, batch: list[int]) -> Iterator[list[tuple[int, list[int]]]]:
        yield [(number, batch) for number in batch]


@HOSTS
def test_elements_of_one_time_are_one_batch(host: Any) -> None:
    numbers = created(TimestampedValue(1, 5), TimestampedValue(2, 7), TimestampedValue(3, 5))
    assert sorted(values(numbers | beam.ParDo(Lists()), host)) == [
        (1, [1, 3]),
        (2, [2]),
        (3, [1, 3]),
    ]


@HOSTS
def test_a_batch_is_an_array_where_the_annotation_says_so(host: Any) -> None:
    class Doubled(beam.DoFn[Any, Any]):
        def process_batch(
            self, batch: np.ndarray[Any, np.dtype[np.int32]], more: int
        ) -> Iterator[np.ndarray[Any, np.dtype[np.int32]]]:
            assert (type(batch), batch.dtype) == (np.ndarray, np.int32)
            yield batch * 2 + more

    doubled = created(1, 2, 3) | beam.ParDo(Doubled(), 1)
    assert sorted(values(doubled | beam.Map(int), host)) == [3, 5, 7]


@HOSTS
def test_a_batch_knows_its_timestamp_and_its_window_and_so_does_what_comes_of_it(host: Any) -> None:
    class Placed(beam.DoFn[Any, Any]):
        @beam.DoFn.yields_elements
        def process_batch(
            self,
            batch: list[int],
            timestamp: Any = beam.DoFn.TimestampParam,
            window: Any = beam.DoFn.WindowParam,
        ) -> Iterator[Any]:
            yield (sum(batch), timestamp.micros // 1_000_000, window)

    placed = (
        created(TimestampedValue(1, 5), TimestampedValue(2, 5), TimestampedValue(3, 12))
        | beam.WindowInto(beam.SlidingWindows(10, 5))
        | beam.ParDo(Placed())
        | beam.Map(lambda it, window=beam.DoFn.WindowParam: (it, it[2] == window))
    )
    assert sorted(values(placed, host), key=repr) == [
        ((3, 12, IntervalWindow(10, 20)), True),
        ((3, 12, IntervalWindow(5, 15)), True),
        ((3, 5, IntervalWindow(0, 10)), True),
        ((3, 5, IntervalWindow(5, 15)), True),
    ]


@HOSTS
def test_batches_go_to_the_outputs_that_they_are_tagged_for(host: Any) -> None:
    class Parted(beam.DoFn[Any, Any]):
        def process_batch(self, batch: list[int]) -> Iterator[Any]:
            yield [number for number in batch if number % 2]
            yield beam.TaggedOutput("even", [number for number in batch if not number % 2])

    outputs = created(1, 2, 3, 4) | beam.ParDo(Parted()).with_outputs("even", main="odd")
    result = outputs.odd.pipeline.run(host=host)
    assert [sorted(came.element.value for came in result.out_of(it.edge)) for it in outputs] == [
        [1, 3],
        [2, 4],
    ]


@HOSTS
def test_a_batch_sees_side_inputs(host: Any) -> None:
    class Added(beam.DoFn[Any, Any]):
        def process_batch(self, batch: list[int], more: list[int]) -> Iterator[list[int]]:
            yield [number + sum(more) for number in batch]

    numbers = created(1, 2)
    more = numbers.pipeline | "More" >> beam.Create([10, 20])
    added = numbers | beam.ParDo(Added(), more=beam.pvalue.AsList(more))
    assert sorted(values(added, host)) == [31, 32]


@HOSTS
def test_batches_that_process_yields_come_apart(host: Any) -> None:
    class Twice(beam.DoFn[Any, Any]):
        @beam.DoFn.yields_batches
        def process(self, element: int, *args: Any, **kwargs: Any) -> Iterator[list[int]]:
            yield [element, element]

    assert sorted(values(created(1, 2) | beam.ParDo(Twice()), host)) == [1, 1, 2, 2]


def test_process_goes_before_process_batch() -> None:
    class Both(Lists):
        def process(self, element: int, *args: Any, **kwargs: Any) -> Iterator[Any]:
            yield (element, "alone")

    assert values(created(1, 2) | beam.ParDo(Both())) == [(1, "alone"), (2, "alone")]


def test_a_type_that_says_what_the_batch_is() -> None:
    class Said(beam.DoFn[Any, Any]):
        def get_input_batch_type(self, input_element_type: Any) -> Any:
            return list[int]

        def process_batch(self, batch):  # type: ignore[no-untyped-def]
            yield batch

    assert sorted(values(created(1, 2) | beam.ParDo(Said()))) == [1, 2]


def test_hints_are_those_of_elements() -> None:
    hints = beam.ParDo(Lists()).get_type_hints()
    assert hints.input_types == ((int,), {})
    assert hints.simple_output_type() == beam.typehints.Tuple[int, beam.typehints.List[int]]
    with pytest.raises(PipelineTypeError, match="requires elements of type <class 'int'>"):
        created("a") | beam.ParDo(Lists())


def test_what_fails_is_named_with_its_batch() -> None:
    class Fails(beam.DoFn[Any, Any]):
        def process_batch(self, batch: list[int]) -> Iterator[list[int]]:
            yield [1 // number for number in batch]

    with pytest.raises(TransformError, match=r"'ParDo\(Fails\)' raised ZeroDivision.* for 1 and 2"):
        values(created(1, 0, 2) | beam.ParDo(Fails()))

    good, bad = created(1, 0, 2) | "Handled" >> beam.ParDo(Fails()).with_exception_handling()
    result = good.pipeline.run(host="memory")
    assert [came.element.value for came in result.out_of(good.edge)] == [1, 0]
    assert [came.element.value[0] for came in result.out_of(bad.edge)] == [0]


class Unannotated(beam.DoFn[Any, Any]):
    def process_batch(self, batch):  # type: ignore[no-untyped-def]
        yield batch


class AsSet(beam.DoFn[Any, Any]):
    def process_batch(self, batch: set[int]) -> Iterator[list[int]]:
        yield [*batch]


class Keyed(beam.DoFn[Any, Any]):
    def process_batch(self, batch: list[int], key: Any = beam.DoFn.KeyParam) -> Iterator[list[int]]:
        yield batch


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (Unannotated(), "'ParDo(Unannotated)': the batch of process_batch is not annotated, and "),
        (AsSet(), "'ParDo(AsSet)': the batch of process_batch is of set, and batches"),
        (Keyed(), "'ParDo(Keyed)': process_batch asks for DoFn.KeyParam in its parameter 'key', "),
    ],
)
def test_what_a_batch_cannot_be_is_refused_where_it_is_applied(fn: Any, text: str) -> None:
    for pardo in (beam.ParDo(fn), beam.ParDo(fn).with_exception_handling()):
        with pytest.raises(PipelineError) as refusal:
            created(1) | pardo
        assert text in str(refusal.value)


def test_an_answer_that_is_not_a_batch_is_refused() -> None:
    class Summed(beam.DoFn[Any, Any]):
        def process_batch(self, batch: list[int]) -> Iterator[Any]:
            yield sum(batch)

    with pytest.raises(PipelineError, match="yielded 3 as a batch, and batches are lists or arr"):
        values(created(1, 2) | beam.ParDo(Summed()))
