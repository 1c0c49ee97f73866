"""Coders of plain values and of lists, by Beam's names.

Pipelines need none of them, because plain values travel as they are. States of functions have them.

Source: Beam Python ``apache_beam.coders.coders``.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from beamlike.model.coders import Coder
from beamlike.model.number_coders import BigIntegerCoder, BooleanCoder, FloatCoder, VarIntCoder

__all__ = ["BigIntegerCoder", "BooleanCoder", "FloatCoder", "IterableCoder", "VarIntCoder"]


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
