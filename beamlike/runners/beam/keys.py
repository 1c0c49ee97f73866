"""Keys of Beam as those of the graph, and the coders of Beam."""

from collections.abc import Sequence
from enum import Enum
from operator import index
from typing import Any

import attrs

from beamlike.model.coders import Coder
from beamlike.runners.beam.sdk import coders, pickles


class BeamCoder(Coder):
    """A coder of Beam's."""

    def __init__(self, coder: Any) -> None:
        self.coder = coder

    def encode(self, value: Any) -> bytes:
        encoded: bytes = self.coder.encode(value)
        return encoded

    def decode(self, encoded: bytes) -> Any:
        return self.coder.decode(encoded)

    def is_deterministic(self) -> bool:
        return bool(self.coder.is_deterministic())

    def __str__(self) -> str:
        return str(self.coder)


class Values(Enum):
    """What a grouping takes of the values of pairs."""

    ANY = "any"
    """The values, as they are or by their coder."""
    WHOLE = "whole"
    """Whole numbers, as Beam's coder of integers takes them."""
    COUNTED = "counted"
    """Nothing but that they are there."""


@attrs.frozen
class Keys:
    """Keys by their coder: texts and whole numbers as they are, all others as its bytes.

    Two keys are one if their coder gives them the same bytes, as Beam has it.

    Args:
        coder: That of the keys.
        values: That of the values, where a user's own coder has to bring them to another process;
            None: they are pickled.
        takes: What is taken of the values.
    """

    coder: Any
    values: Any = None
    takes: Values = Values.ANY

    @classmethod
    def of(cls, coder: Any) -> "Keys":
        """The keys of a collection of pairs.

        Beam has made sure that equal keys have equal bytes, unless its options let it.
        """
        if not coder.is_kv_coder():
            return cls(coders.FastPrimitivesCoder())
        values = coder.value_coder()
        return cls(coder.key_coder(), None if pickles(values) else values)

    def paired(self, pairs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Pairs as a grouping takes them."""
        encode = self.encode
        if self.takes is Values.COUNTED:
            return [(encode(key), 0) for key, _ in pairs]
        if self.takes is Values.WHOLE:
            return [(encode(key), n if type(n) is int else index(n)) for key, n in pairs]
        if self.values is None:
            return [(encode(key), value) for key, value in pairs]
        encode_value = self.values.encode
        return [(encode(key), encode_value(value)) for key, value in pairs]

    def grouped(self, pairs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """What a grouping brings out as it was before."""
        return [(self.decode(key), self.listed(values)) for key, values in pairs]

    def listed(self, values: Any) -> Any:
        """The values of a pane as they were before it."""
        return values if self.values is None else [*map(self.values.decode, values)]

    def encode(self, key: Any) -> Any:
        """A key as the graph has it."""
        cls = type(key)
        return key if cls is str or cls is int else self.coder.encode(key)

    def decode(self, key: Any) -> Any:
        """A key of the graph as it was."""
        return self.coder.decode(key) if type(key) is bytes else key
