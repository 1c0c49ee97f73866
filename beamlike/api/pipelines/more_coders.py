"""Coders of plain values and of what holds others, by Beam's names.

Pipelines need none of them, because plain values travel as they are. Programs use them by
themselves, and as parts of coders of their own.

Source: Beam Python ``apache_beam.coders.coders``.
"""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from beamlike.api.pipelines.coders import PickleCoder
from beamlike.model.coders import Coder
from beamlike.model.number_coders import (
    BigEndianShortCoder,
    BigIntegerCoder,
    BooleanCoder,
    ByteCoder,
    DecimalCoder,
    FloatCoder,
    SinglePrecisionFloatCoder,
    VarInt32Coder,
    VarIntCoder,
)

__all__ = [
    "BigEndianShortCoder",
    "BigIntegerCoder",
    "BooleanCoder",
    "ByteCoder",
    "CloudpickleCoder",
    "DecimalCoder",
    "DillCoder",
    "FakeDeterministicFastPrimitivesCoder",
    "FastPrimitivesCoder",
    "FloatCoder",
    "IterableCoder",
    "ListCoder",
    "MapCoder",
    "NullableCoder",
    "SinglePrecisionFloatCoder",
    "SingletonCoder",
    "ToBytesCoder",
    "TupleCoder",
    "TupleSequenceCoder",
    "VarInt32Coder",
    "VarIntCoder",
]


class _Deterministic(Coder):
    def is_deterministic(self) -> bool:
        return True


@attrs.frozen
class ToBytesCoder(_Deterministic):
    """The text of a value, for what is written and not read. Source: Beam ``ToBytesCoder``."""

    def encode(self, value: Any) -> bytes:
        return value if isinstance(value, bytes) else str(value).encode()

    def decode(self, encoded: bytes) -> Any:
        raise NotImplementedError("ToBytesCoder cannot read what it wrote; take StrUtf8Coder")


@attrs.frozen
class SingletonCoder(_Deterministic):
    """The only value there is, in no bytes. Source: Beam ``SingletonCoder``."""

    value: Any

    def encode(self, value: Any) -> bytes:
        return b""

    def decode(self, encoded: bytes) -> Any:
        return self.value


@attrs.frozen
class FastPrimitivesCoder(Coder):
    """Anything, as a pickle; plain values have one pickle. Source: Beam ``FastPrimitivesCoder``."""

    fallback_coder: Coder = attrs.field(factory=PickleCoder)

    def encode(self, value: Any) -> bytes:
        if type(value) in (int, float, str, bytes, bool, type(None)):
            return b"\x00" + pickle.dumps(value)
        return b"\x01" + self.fallback_coder.encode(value)

    def decode(self, encoded: bytes) -> Any:
        rest = encoded[1:]
        return self.fallback_coder.decode(rest) if encoded[:1] == b"\x01" else pickle.loads(rest)

    def is_deterministic(self) -> bool:
        return self.fallback_coder.is_deterministic()


class FakeDeterministicFastPrimitivesCoder(FastPrimitivesCoder):
    """The same, for keys whose pickles are equal when they are.

    Source: Beam ``FakeDeterministicFastPrimitivesCoder``.
    """

    def is_deterministic(self) -> bool:
        return True


CloudpickleCoder = PickleCoder
DillCoder = PickleCoder


def _joined(parts: Iterable[bytes]) -> bytes:
    """Bytes one after the other, each after its length."""
    length = VarIntCoder()
    return b"".join(length.encode(len(part)) + part for part in parts)


def _apart(encoded: bytes) -> list[bytes]:
    length, parts, at = VarIntCoder(), [], 0
    while at < len(encoded):
        end = at
        while encoded[end] & 0x80:
            end += 1
        end += 1
        size = length.decode(encoded[at:end])
        parts.append(encoded[end : end + size])
        at = end + size
    return parts


@attrs.frozen
class TupleCoder(Coder):
    """A tuple, each place by a coder of its own. Source: Beam ``TupleCoder``."""

    components: Sequence[Coder]

    def coders(self) -> Sequence[Coder]:
        """The coder of each place."""
        return self.components

    def encode(self, value: Sequence[Any]) -> bytes:
        places = zip(self.components, value, strict=True)
        return _joined(coder.encode(it) for coder, it in places)

    def decode(self, encoded: bytes) -> tuple[Any, ...]:
        places = zip(self.components, _apart(encoded), strict=True)
        return tuple(coder.decode(it) for coder, it in places)

    def is_deterministic(self) -> bool:
        return all(coder.is_deterministic() for coder in self.components)


@attrs.frozen
class ListCoder(Coder):
    """A list of values of one kind. Source: Beam ``ListCoder``."""

    elem_coder: Coder

    def value_coder(self) -> Coder:
        """The coder of a value in it."""
        return self.elem_coder

    def encode(self, value: Iterable[Any]) -> bytes:
        return _joined(map(self.elem_coder.encode, value))

    def decode(self, encoded: bytes) -> Any:
        return [self.elem_coder.decode(it) for it in _apart(encoded)]

    def is_deterministic(self) -> bool:
        return self.elem_coder.is_deterministic()


class IterableCoder(ListCoder):
    """What lists values of one kind, as a list. Source: Beam ``IterableCoder``."""


class TupleSequenceCoder(ListCoder):
    """A tuple of values of one kind. Source: Beam ``TupleSequenceCoder``."""

    def decode(self, encoded: bytes) -> tuple[Any, ...]:
        return tuple(super().decode(encoded))


@attrs.frozen
class MapCoder(Coder):
    """A mapping. Source: Beam ``MapCoder``."""

    key_coder: Coder
    value_coder: Coder

    def encode(self, value: Mapping[Any, Any]) -> bytes:
        pair = TupleCoder((self.key_coder, self.value_coder))
        return _joined(map(pair.encode, value.items()))

    def decode(self, encoded: bytes) -> dict[Any, Any]:
        pair = TupleCoder((self.key_coder, self.value_coder))
        return dict(map(pair.decode, _apart(encoded)))


@attrs.frozen
class NullableCoder(Coder):
    """A value, or None. Source: Beam ``NullableCoder``."""

    value_coder: Coder

    def encode(self, value: Any) -> bytes:
        return b"\x00" if value is None else b"\x01" + self.value_coder.encode(value)

    def decode(self, encoded: bytes) -> Any:
        return None if encoded == b"\x00" else self.value_coder.decode(encoded[1:])

    def is_deterministic(self) -> bool:
        return self.value_coder.is_deterministic()
