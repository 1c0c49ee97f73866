"""Type hints are checked when a transform is applied, and while a pipeline runs if it is asked."""

import typing
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
from beamlike.errors import PipelineTypeError

K = TypeVar("K")
V = TypeVar("V")


def upper(word: str) -> str:
    return word.upper()


def letters(word: str) -> Iterator[str]:
    yield from word


@with_input_types(number=int)
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
    "an argument beside the element": (
        "By" >> beam.ParDo(Doubled(), "2"),
        "Type hint violation for 'By': requires <class 'int'> but got <class 'str'> for by; all "
        "its hints: IOTypeHints[inputs=(<class 'int'>, <class 'int'>), outputs=(<class 'int'>)]",
    ),
    "no pairs": (
        "Group" >> beam.GroupByKey(),
        "Input type hint violation at Group: expected Tuple[TypeVariable[K], TypeVariable[V]], "
        "got <class 'int'>; make pairs before it with WithKeys(...)",
    ),
    "no pairs to combine": (
        beam.CombinePerKey(combiners.MeanCombineFn()),
        "'CombinePerKey(MeanCombineFn)' requires elements of type Tuple[TypeVariable[K], "
        "Union[<class 'float'>, <class 'int'>]], and it was applied to a collection of "
        "<class 'int'>",
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
        "grouped": pairs | beam.GroupByKey(),
        "counted": pairs | "Count" >> combiners.Count.PerKey(),
        "mean": pairs | "Mean" >> combiners.Mean.PerKey(),
        "each": words | combiners.Count.PerElement(),
        "listed": words | combiners.ToList(),
        "a mapping": pairs | combiners.ToDict(),
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
        "grouped": Tuple[str, typing.Iterable[int]],
        "counted": Tuple[str, int],
        "mean": Tuple[str, float],
        "each": Tuple[Any, int],
        "listed": typing.List[str],  # noqa: UP006
        "a mapping": typing.Dict[str, int],  # noqa: UP006
        "annotated": str,
        "letters": str,
        "decorated": str,
        "kept": str,
        "lengths": Any,
        "declared": str,
    }


def test_variables_in_hints_stand_for_what_is_given() -> None:
    @with_input_types(tuple[K, V])
    @with_output_types(tuple[V, K])
    class Swap(beam.DoFn):
        def process(self, element: Any) -> Any:
            key, value = element
            yield value, key

    swapped = beam.Pipeline() | beam.Create([("tea", 1)]) | beam.ParDo(Swap())
    assert swapped.element_type == Tuple[int, str]


def test_named_outputs_have_types_of_their_own() -> None:
    split = numbers() | beam.ParDo(lambda number: [number]).with_output_types(
        int, odd=float
    ).with_outputs("odd", "even", main="all")
    assert [it.element_type for it in (split["all"], split.odd, split.even)] == [int, float, Any]


def test_what_comes_out_of_a_composite_has_to_be_what_it_declares() -> None:
    class Texts(beam.PTransform):
        def expand(self, pcoll: beam.PCollection[int]) -> beam.PCollection[str]:
            return pcoll | beam.Map(lambda number: number + 1).with_output_types(int)

    with pytest.raises(TypeCheckError, match=r"^Output type hint violation at Texts: expected "):
        _ = numbers() | Texts()


def test_checks_can_be_switched_off() -> None:
    off = beam.Pipeline(options=beam.PipelineOptions(pipeline_type_check=False))
    words = off | beam.Create([1]) | beam.Map(str).with_input_types(str)
    assert words.element_type is None


def test_a_hint_is_a_type() -> None:
    with pytest.raises(PipelineTypeError) as refusal:
        beam.Map(str).with_output_types(5)
    assert str(refusal.value) == (
        "with_output_types needs types such as int or tuple[str, int], got 5, an instance of int"
    )


@pytest.mark.parametrize("host", ["memory", "local"])
def test_elements_that_are_what_hints_say_pass_with_side_inputs_and_outputs(host: Any) -> None:
    @with_input_types(int, list[int])
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
