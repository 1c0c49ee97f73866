"""Which objects are keys, as in Beam Python: by their fields, by a coder, or by an option."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import beamlike.beam as beam
from beamlike.beam.options.pipeline_options import PipelineOptions, TypeOptions
from beamlike.errors import PipelineError
from beamlike.model.coders import Coder, StrUtf8Coder, registry


class Named:
    """Has no fields that say when two are equal."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class StableCoder(Coder):
    def encode(self, value: Named) -> bytes:
        return value.name.encode()

    def decode(self, encoded: bytes) -> Named:
        return Named(encoded.decode())

    def is_deterministic(self) -> bool:
        return True


class RandomCoder(Coder):
    """Equal names have different bytes; keys have another coder."""

    def encode(self, value: Named) -> bytes:
        return f"{random.random()} {value.name}".encode()

    def decode(self, encoded: bytes) -> Named:
        return Named(encoded.decode().partition(" ")[2])

    def as_deterministic_coder(self, step_label: str, error_message: str | None = None) -> Coder:
        return StableCoder()


def grouped(keys: list[Any], options: PipelineOptions | None = None) -> list[tuple[Any, list[int]]]:
    """The numbers of equal keys together, on the host local."""
    with beam.Pipeline(options=options) as pipeline:
        pairs = [(key, index) for index, key in enumerate(keys)]
        made = pipeline | beam.Create(pairs) | beam.GroupByKey()
    assert pipeline.result is not None
    return [output.element.value for output in pipeline.result.out_of(made.edge)]


@pytest.fixture
def clean_registry() -> Iterator[None]:
    yield
    registry.unregister_coder(Named)
    registry._fallback = None


def test_keys_of_classes_that_only_this_process_has_are_grouped_in_it() -> None:
    class Player(NamedTuple):
        name: str

    @dataclass(frozen=True)
    class Team:
        name: str

    assert grouped([Player("a"), Team("a"), Player("a")]) == [
        (Player("a"), [0, 2]),
        (Team("a"), [1]),
    ]


def test_two_such_classes_of_one_name_are_two() -> None:
    def made() -> Any:
        @dataclass(frozen=True)
        class Team:
            name: str

        return Team

    one, other = made(), made()
    assert grouped([one("a"), other("a"), one("a")]) == [(one("a"), [0, 2]), (other("a"), [1])]


@pytest.mark.usefixtures("clean_registry")
def test_keys_have_the_deterministic_coder_that_their_coder_names() -> None:
    registry.register_coder(Named, RandomCoder)
    assert grouped([Named("a"), Named("b"), Named("a")]) == [
        (Named("a"), [0, 2]),
        (Named("b"), [1]),
    ]


def test_a_coder_is_its_own_deterministic_coder_or_has_none() -> None:
    assert StrUtf8Coder().as_deterministic_coder("keys") == StrUtf8Coder()
    with pytest.raises(PipelineError, match="cannot be made deterministic for 'keys'"):
        beam.coders.PickleCoder().as_deterministic_coder("keys")
    with pytest.raises(ValueError, match="take a text"):
        beam.coders.PickleCoder().as_deterministic_coder("keys", "take a text")


def test_an_option_allows_keys_whose_equality_is_not_known() -> None:
    with pytest.raises(PipelineError, match="no deterministic coder"):
        grouped([Named("a")])
    options = PipelineOptions()
    options.view_as(TypeOptions).allow_non_deterministic_key_coders = True
    assert grouped([Named("a"), Named("b"), Named("a")], options) == [
        (Named("a"), [0, 2]),
        (Named("b"), [1]),
    ]
    with pytest.raises(PipelineError, match="no deterministic coder"):
        grouped([Named("a")])


class DeterministicPickles(beam.coders.PickleCoder):
    """Pickles of keys that have one pickle each."""

    def is_deterministic(self) -> bool:
        return True


@pytest.mark.usefixtures("clean_registry")
def test_a_fallback_coder_is_that_of_keys_without_another() -> None:
    with pytest.raises(PipelineError, match="cannot be made deterministic"):
        registry.register_fallback_coder(beam.coders.PickleCoder())
    with pytest.raises(PipelineError, match="must be a Coder, got 3"):
        registry.register_fallback_coder(3)  # type: ignore[arg-type]
    registry.register_fallback_coder(DeterministicPickles())
    assert grouped([Named("a"), Named("a")]) == [(Named("a"), [0, 1])]
