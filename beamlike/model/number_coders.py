"""Coders of numbers, by Beam's names.

Source: Beam Python ``apache_beam.coders.coders``.
"""

import struct
from decimal import Decimal
from typing import ClassVar

import attrs

from beamlike.errors import CoderError
from beamlike.model.coders import Coder, registry


class _OfNumbers(Coder):
    def is_deterministic(self) -> bool:
        return True


class _VarInt(_OfNumbers):
    """A whole number in two's complement, seven bits a byte, the lowest first."""

    bits: ClassVar[int]

    def encode(self, value: int) -> bytes:
        _check_bits(self, value, self.bits)
        rest, encoded = value & (1 << self.bits) - 1, bytearray()
        while rest > 0x7F:
            encoded.append(rest & 0x7F | 0x80)
            rest >>= 7
        encoded.append(rest)
        return bytes(encoded)

    def decode(self, encoded: bytes) -> int:
        number = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(encoded))
        return number - (1 << self.bits) if number >> self.bits - 1 else number


def _check_bits(coder: Coder, value: int, bits: int) -> None:
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise CoderError(f"{type(coder).__name__} takes numbers of {bits} bits, got {value}")


@attrs.frozen
class VarIntCoder(_VarInt):
    """A whole number of 64 bits, small ones in few bytes. Source: Beam ``VarIntCoder``."""

    bits = 64


@attrs.frozen
class VarInt32Coder(_VarInt):
    """A whole number of 32 bits, small ones in few bytes. Source: Beam ``VarInt32Coder``."""

    bits = 32


@attrs.frozen
class BigEndianShortCoder(_OfNumbers):
    """A whole number as two bytes. Source: Beam ``BigEndianShortCoder``."""

    def encode(self, value: int) -> bytes:
        _check_bits(self, value, 16)
        return struct.pack(">h", value)

    def decode(self, encoded: bytes) -> int:
        number: int = struct.unpack(">h", encoded)[0]
        return number


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
class SinglePrecisionFloatCoder(_OfNumbers):
    """A number as four bytes, rounded to them. Source: Beam ``SinglePrecisionFloatCoder``."""

    def encode(self, value: float) -> bytes:
        try:
            return struct.pack(">f", value)
        except OverflowError:
            raise CoderError(
                f"SinglePrecisionFloatCoder takes numbers of single precision, got {value!r}"
            ) from None

    def decode(self, encoded: bytes) -> float:
        number: float = struct.unpack(">f", encoded)[0]
        return number


@attrs.frozen
class DecimalCoder(_OfNumbers):
    """A decimal number: how many digits follow the point, then all digits as a whole number.

    Source: Beam ``DecimalCoder``.
    """

    def encode(self, value: Decimal) -> bytes:
        sign, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            raise CoderError(f"DecimalCoder takes finite numbers, got {value}")
        unscaled = int("".join(map(str, digits)))
        return VarIntCoder().encode(-exponent) + BigIntegerCoder().encode(
            -unscaled if sign else unscaled
        )

    def decode(self, encoded: bytes) -> Decimal:
        length = next(place for place, byte in enumerate(encoded, 1) if byte < 0x80)
        scale = VarIntCoder().decode(encoded[:length])
        unscaled = BigIntegerCoder().decode(encoded[length:])
        digits = tuple(map(int, str(abs(unscaled))))
        return Decimal((int(unscaled < 0), digits, -scale))


@attrs.frozen
class ByteCoder(_OfNumbers):
    """One byte as it is. Source: Beam ``ByteCoder``."""

    def encode(self, value: bytes) -> bytes:
        if len(value) != 1:
            raise CoderError(f"ByteCoder takes one byte, got {value!r}")
        return value

    def decode(self, encoded: bytes) -> bytes:
        return encoded


@attrs.frozen
class BooleanCoder(_OfNumbers):
    """True or False. Source: Beam ``BooleanCoder``."""

    def encode(self, value: bool) -> bytes:
        return b"\x01" if value else b"\x00"

    def decode(self, encoded: bytes) -> bool:
        return encoded == b"\x01"


registry.add_plain({bool: BooleanCoder(), float: FloatCoder(), int: VarIntCoder()})
