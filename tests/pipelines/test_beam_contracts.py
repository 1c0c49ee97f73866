"""What Beam gives to methods and functions of users, and asks them for."""

from collections.abc import Iterable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.coders import coders
from beamlike.errors import CoderError, PipelineError


class Named(beam.DoFn[Any, Any]):
    def default_label(self) -> str:
        return "by name"

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        yield element


class NamedSum(beam.CombineFn[Any, Any]):
    def default_label(self) -> str:
        return "all of them"

    def create_accumulator(self, *args: Any, **kwargs: Any) -> int:
        return 0

    def add_input(self, mutable_accumulator: int, element: int, *args: Any, **kw: Any) -> int:
        return mutable_accumulator + element

    def merge_accumulators(self, accumulators: Any, *args: Any, **kwargs: Any) -> int:
        return sum(accumulators)

    def extract_output(self, accumulator: int, *args: Any, **kwargs: Any) -> int:
        return accumulator


class NamedPart(beam.PartitionFn):
    def default_label(self) -> str:
        return "even or odd"

    def partition_for(self, element: int, num_partitions: int, *args: Any, **kwargs: Any) -> int:
        return element % num_partitions


def test_functions_of_users_say_their_labels() -> None:
    assert beam.ParDo(Named()).label == "ParDo(by name)"
    assert beam.ParDo(Named()).with_outputs("other").label == "ParDo(by name)"
    assert beam.ParDo(Named()).with_exception_handling().label == "ParDo(by name)"
    assert beam.CombineGlobally(NamedSum()).label == "CombineGlobally(all of them)"
    assert beam.CombinePerKey(NamedSum()).label == "CombinePerKey(all of them)"
    assert beam.Partition(NamedPart(), 2).label == "Partition(even or odd)"

    class Plain(beam.DoFn[Any, Any]):
        def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
            yield element

    assert beam.ParDo(Plain()).label == "ParDo(Plain)"
    assert Plain().default_label() == "Plain"


def test_two_functions_of_a_class_with_labels_of_their_own_need_no_names() -> None:
    class Numbered(Named):
        def __init__(self, number: int) -> None:
            self.number = number

        def default_label(self) -> str:
            return f"number {self.number}"

    numbered = (
        (beam.Pipeline() | beam.Create([1])) | beam.ParDo(Numbered(1)) | beam.ParDo(Numbered(2))
    )
    assert str(numbered.edge.node.label) == "ParDo(number 2)"


def test_a_label_that_is_not_a_text_is_refused() -> None:
    class Unnamed(Named):
        def default_label(self) -> Any:
            return 7

    with pytest.raises(PipelineError, match=r"default_label of Unnamed returned 7; return a text"):
        (beam.Pipeline() | beam.Create([1])) | beam.ParDo(Unnamed())


def test_a_coder_of_whole_numbers_has_the_bytes_of_beam_and_refuses_what_does_not_fit() -> None:
    coder = coders.VarIntCoder()
    encoded = {0: "00", 127: "7f", 300: "ac02", -1: "ffffffffffffffffff01"}
    assert {value: coder.encode(value).hex() for value in encoded} == encoded
    assert [coder.decode(coder.encode(value)) for value in encoded] == [*encoded]
    with pytest.raises(CoderError, match=f"^VarIntCoder takes numbers of 64 bits, got {2**63}$"):
        coder.encode(2**63)
