"""All coders by Beam's names, and where they are declared.

A coder is declared for a class with ``coders.registry.register_coder(MyType, MyCoder)``. Pipelines
need none for plain values, which travel as they are. States of functions have them.

Source: Beam Python ``apache_beam.coders``.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from beamlike.api.pickle_coder import PickleCoder
from beamlike.model.coders import (
    BytesCoder,
    Coder,
    CoderRegistry,
    JsonCoder,
    StrUtf8Coder,
    registry,
)
from beamlike.model.number_coders import BigIntegerCoder, BooleanCoder, FloatCoder, VarIntCoder

__all__ = [
    "BigIntegerCoder",
    "BooleanCoder",
    "BytesCoder",
    "Coder",
    "CoderRegistry",
    "FloatCoder",
    "IterableCoder",
    "JsonCoder",
    "PickleCoder",
    "StrUtf8Coder",
    "VarIntCoder",
    "registry",
]


@attrs.frozen
class IterableCoder(Coder):
    """What lists values of one type, as a list."""

    elem_coder: Coder

    def encode(self, value: Iterable[Any]) -> bytes:
        length = VarIntCoder()
        parts = map(self.elem_coder.encode, value)
        return b"".join(length.encode(len(part)) + part for part in parts)

    def decode(self, encoded: bytes) -> list[Any]:
        length, values, start = VarIntCoder(), [], 0
        while start < len(encoded):
            end = start
            while encoded[end] & 0x80:
                end += 1
            end += 1
            size = length.decode(encoded[start:end])
            values.append(self.elem_coder.decode(encoded[end : end + size]))
            start = end + size
        return values

    def is_deterministic(self) -> bool:
        return self.elem_coder.is_deterministic()
