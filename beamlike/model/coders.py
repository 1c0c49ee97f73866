"""Coders: Python values as bytes and back, for what has no Spark type.

Source: Beam Python ``apache_beam.coders``.
"""

import json
from abc import ABC, abstractmethod
from typing import Any

import attrs

__all__ = ["BytesCoder", "Coder", "JsonCoder", "StrUtf8Coder"]


class Coder(ABC):
    """How values of one kind become bytes. What was encoded comes back equal.

    Source: Beam ``Coder``.
    """

    @abstractmethod
    def encode(self, value: Any) -> bytes:
        """The bytes of a value."""

    @abstractmethod
    def decode(self, encoded: bytes) -> Any:
        """The value that has these bytes."""


@attrs.frozen
class BytesCoder(Coder):
    """Bytes as they are. Source: Beam ``BytesCoder``."""

    def encode(self, value: bytes) -> bytes:
        return value

    def decode(self, encoded: bytes) -> bytes:
        return encoded


@attrs.frozen
class StrUtf8Coder(Coder):
    """Text as UTF-8. Source: Beam ``StrUtf8Coder``."""

    def encode(self, value: str) -> bytes:
        return value.encode()

    def decode(self, encoded: bytes) -> str:
        return encoded.decode()


@attrs.frozen
class JsonCoder(Coder):
    """What JSON can hold: None, numbers, texts, lists, and mappings with texts as keys."""

    def encode(self, value: Any) -> bytes:
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()

    def decode(self, encoded: bytes) -> Any:
        return json.loads(encoded)
