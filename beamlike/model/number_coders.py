"""Coders of numbers, by Beam's names.

Source: Beam Python ``apache_beam.coders.coders``.
"""

import struct
from typing import Final

import attrs

from beamlike.errors import CoderError
from beamlike.model.coders import Coder, registry


class _OfNumbers(Coder):
    def is_deterministic(self) -> bool:
        return True


_BITS: Final = 64


@attrs.frozen
class VarIntCoder(_OfNumbers):
    """A whole number of 64 bits, small ones in few bytes: in two's complement, seven bits a byte,
    the lowest first. Source: Beam ``VarIntCoder``."""

    def encode(self, value: int) -> bytes:
        if not -(1 << _BITS - 1) <= value < 1 << _BITS - 1:
            raise CoderError(f"VarIntCoder takes numbers of {_BITS} bits, got {value}")
        rest, encoded = value & (1 << _BITS) - 1, bytearray()
        while rest > 0x7F:
            encoded.append(rest & 0x7F | 0x80)
            rest >>= 7
        encoded.append(rest)
        return bytes(encoded)

    def decode(self, encoded: bytes) -> int:
        number = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(encoded))
        return number - (1 << _BITS) if number >> _BITS - 1 else number


@attrs.frozen
class BigIntegerCoder(_OfNumbers):
    """A whole number of any size. Source: Beam ``BigIntegerCoder``."""

    def encode(self, value: int) -> bytes:
        return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)

    def decode(self, encoded: bytes) -> int:
        return int.from_bytes(encoded, "big", signed=True)


@attrs.frozen
class FloatCoder(_OfNumbers):
    """A number as eight bytes. Source: Beam ``FloatCoder``."""

    def encode(self, value: float) -> bytes:
        return struct.pack(">d", value)

    def decode(self, encoded: bytes) -> float:
        number: float = struct.unpack(">d", encoded)[0]
        return number


@attrs.frozen
class BooleanCoder(_OfNumbers):
    """True or False. Source: Beam ``BooleanCoder``."""

    def encode(self, value: bool) -> bytes:
        return b"\x01" if value else b"\x00"

    def decode(self, encoded: bytes) -> bool:
        return encoded == b"\x01"


registry.add_plain({bool: BooleanCoder(), float: FloatCoder(), int: VarIntCoder()})
