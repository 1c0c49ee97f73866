"""Type hints are checked when a transform is applied, and while a pipeline runs if it is asked."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import pytest

import beamlike.beam as beam
from beamlike.beam import combiners
from beamlike.beam.typehints import (
    KV,
    Tuple,
    TypeCheckError,
    typehints,
    with_input_types,
    with_output_types,
)
from beamlike.errors import PipelineTypeError, UnsupportedError

K = TypeVar("K")
V = TypeVar("V")


def upper(word: str) -> str:
    return word.upper()


def letters(word: str) -> Iterator[str]:
    yield from word


@with_input_types(int)
@with_output_types(list[str])
def digits(number: Any) -> Any:
    return list(str(number))


class Doubled(beam.DoFn):
    def process(self, element: int, by: int = 2) -> Iterable[int]:
        yield by * element


def numbers() -> beam.PCollection[Any]:
    return beam.Pipeline() | "Numbers" >> beam.Create([1, 2])


REFUSED: dict[str, tuple[Any, str]] = {
    "an annotation": (
        "Up" >> beam.Map(upper),
        "'Up' requires elements of type <class 'str'>, and it was applied to a collection of "
        "<class 'int'>",
    ),
    "with_input_types": (
        "Up" >> beam.Map(lambda word: word).with_input_types(str),
        "'Up' requires elements of type <class 'str'>, and it was applied to a collection of "
        "<class 'int'>",
    ),
    "no pairs": (
        "Group" >> beam.GroupByKey(),
        "'Group' requires elements of type Tuple[TypeVariable[K], TypeVariable[V]], and it was "
        "applied to a collection of <class 'int'>; make pairs before it with WithKeys(...)",
    ),
    "no pairs to combine": (
        "Mean" >> beam.CombinePerKey(combiners.MeanCombineFn()),
        "'Mean' requires elements of type Tuple[TypeVariable[K], TypeVariable[V]], and it was "
        "applied to a collection of <class 'int'>; make pairs before it with WithKeys(...)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_hint_does_not_allow_is_refused_where_it_is_applied(name: str) -> None:
    transform, message = REFUSED[name]
    given = numbers()

    with pytest.raises(TypeCheckError) as refusal:
        _ = given | transform

    assert str(refusal.value) == message
    assert given.pipeline.applied_labels == {"Numbers"}  # as if it had never been applied


def test_what_a_transform_makes_is_what_it_declares() -> None:
    words = beam.Pipeline() | beam.Create(["tea", "salt"])
    pairs = words | "Pairs" >> beam.Map(lambda word: (word, 1)).with_output_types(Tuple[str, int])
    lengths = words | beam.Map(len)
    kinds = {
        "created": words,
        "pairs": pairs,
        "windowed": pairs | beam.WindowInto(beam.FixedWindows(60)),
        "grouped": pairs | beam.GroupByKey(),
        "annotated": words | beam.Map(upper),
        "letters": words | beam.FlatMap(letters),
        "decorated": lengths | beam.FlatMap(digits),
        "kept": words | beam.Filter(lambda word: len(word) > 3),
        "lengths": lengths,
        "declared": words | "Declared" >> beam.Map(str.strip).with_output_types(str),
    }
    assert {name: it.element_type for name, it in kinds.items()} == {
        "created": str,
        "pairs": KV[str, int],
        "windowed": KV[str, int],
        "grouped": Any,
        "annotated": str,
        "letters": str,
        "decorated": str,
        "kept": str,
        "lengths": Any,
        "declared": str,
    }


def test_checks_can_be_switched_off() -> None:
    off = beam.Pipeline(options=beam.PipelineOptions(pipeline_type_check=False))
    words = off | beam.Create([1]) | beam.Map(str).with_input_types(str)
    assert words.element_type is None


@pytest.mark.parametrize(
    "declare",
    [
        lambda: beam.Map(str).with_input_types(int, list[int]),
        lambda: beam.Map(str).with_output_types(int, odd=float),
        lambda: with_input_types(number=int),
    ],
)
def test_types_of_more_than_elements_are_for_beams_own_sdk(declare: Any) -> None:
    with pytest.raises(UnsupportedError, match="of more than the elements is for Beam's own"):
        declare()


def test_a_hint_is_a_type() -> None:
    with pytest.raises(PipelineTypeError) as refusal:
        beam.Map(str).with_output_types(5)
    assert str(refusal.value) == (
        "with_output_types needs types such as int or tuple[str, int], got 5, an instance of int"
    )


@pytest.mark.parametrize("host", ["memory", "local"])
def test_elements_that_are_what_hints_say_pass_with_side_inputs_and_outputs(host: Any) -> None:
    @with_input_types(int)
    @with_output_types(int)
    class Among(beam.DoFn):
        def process(self, element: Any, others: Any, window: Any = beam.DoFn.WindowParam) -> Any:
            yield beam.TaggedOutput("in" if element in others else "out", str(element))
            yield element

    pipeline = beam.Pipeline()
    known = beam.AsList(pipeline | "Known" >> beam.Create([1, 3]))
    split = (
        pipeline
        | beam.Create([1, 2])
        | beam.WindowInto(beam.FixedWindows(10))
        | beam.ParDo(Among(), known).with_outputs("in", "out", main="all")
    )
    result = pipeline.run(host=host)

    assert {
        tag: sorted(came.element.value for came in result.out_of(split[tag].edge))
        for tag in ("all", "in", "out")
    } == {"all": [1, 2], "in": ["1"], "out": ["2"]}


def test_types_fit_as_in_pep_483() -> None:
    fits = [
        (bool, int),
        (int, float),
        (list[int], Iterable[float]),
        (tuple[int, int], tuple[int, ...]),
        (str, Iterable[str]),
        (int | None, int | str | None),
        (dict[str, int], Iterable[str]),
        (tuple, tuple[int, str]),
    ]
    misfits = [
        (float, int),
        (int | None, int),
        (tuple[int, str], tuple[int, int]),
        (tuple[int, int, int], KV[K, V]),
        (list[str], list[int]),
        (Iterable[int], tuple[int, int]),
    ]
    consistent = typehints.is_consistent_with
    assert [pair for pair in fits if not consistent(*pair)] == []
    assert [pair for pair in misfits if consistent(*pair)] == []
