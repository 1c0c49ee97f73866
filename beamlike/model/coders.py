"""Coders: Python values as bytes and back, and which values have one.

Source: Beam Python ``apache_beam.coders`` and ``apache_beam.coders.typecoders``.
"""

import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Final, TypeVar

import attrs

from beamlike.errors import CoderError, PipelineError
from beamlike.model.fingerprint import stable_repr

T = TypeVar("T")


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

    def is_deterministic(self) -> bool:
        """Whether equal values always have equal bytes: only then they can be keys."""
        return False

    def as_deterministic_coder(self, step_label: str, error_message: str | None = None) -> "Coder":
        """The coder of keys: this one, or one that subclasses have in its place.

        Args:
            step_label: Where they are keys.
            error_message: What is raised says this.

        Raises:
            PipelineError: There is none.

        Source: Beam Python ``Coder.as_deterministic_coder``.
        """
        if self.is_deterministic():
            return self
        raise PipelineError(
            error_message or f"{self} cannot be made deterministic for {step_label!r}"
        )

    @classmethod
    def from_type_hint(cls, kind: type, registry: "CoderRegistry") -> "Coder":
        """The coder of a class for which this class of coders is declared.

        Args:
            kind: The class.
            registry: Where it is declared.

        Source: Beam Python ``Coder.from_type_hint``.
        """
        return cls()

    def __str__(self) -> str:
        return stable_repr(self)


class _OfPlainValues(Coder):
    def is_deterministic(self) -> bool:
        return True


@attrs.frozen
class BytesCoder(_OfPlainValues):
    """Bytes as they are. Source: Beam ``BytesCoder``."""

    def encode(self, value: bytes) -> bytes:
        return value

    def decode(self, encoded: bytes) -> bytes:
        return encoded


@attrs.frozen
class StrUtf8Coder(_OfPlainValues):
    """Text as UTF-8. Source: Beam ``StrUtf8Coder``."""

    def encode(self, value: str) -> bytes:
        return value.encode()

    def decode(self, encoded: bytes) -> str:
        return encoded.decode()


_BITS: Final = 64


@attrs.frozen
class VarIntCoder(_OfPlainValues):
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
class BigIntegerCoder(_OfPlainValues):
    """A whole number of any size. Source: Beam ``BigIntegerCoder``."""

    def encode(self, value: int) -> bytes:
        return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)

    def decode(self, encoded: bytes) -> int:
        return int.from_bytes(encoded, "big", signed=True)


@attrs.frozen
class FloatCoder(_OfPlainValues):
    """A number as eight bytes. Source: Beam ``FloatCoder``."""

    def encode(self, value: float) -> bytes:
        return struct.pack(">d", value)

    def decode(self, encoded: bytes) -> float:
        number: float = struct.unpack(">d", encoded)[0]
        return number


@attrs.frozen
class BooleanCoder(_OfPlainValues):
    """True or False. Source: Beam ``BooleanCoder``."""

    def encode(self, value: bool) -> bytes:
        return b"\x01" if value else b"\x00"

    def decode(self, encoded: bytes) -> bool:
        return encoded == b"\x01"


@attrs.frozen
class JsonCoder(Coder):
    """What JSON can hold: None, numbers, texts, lists, and mappings with texts as keys."""

    def encode(self, value: Any) -> bytes:
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()

    def decode(self, encoded: bytes) -> Any:
        return json.loads(encoded)


@attrs.frozen(slots=False)
class Coders:
    """The coders of some types, and of no others.

    Args:
        by_type: A value has the coder of its own class, and not that of a class above it.
        fallback: The coder of keys that nothing else says the equality of; None: they are refused.
        local_classes: The classes of keys that only this process has, by name, where keys stay in
            it; None: keys go to other processes.
    """

    by_type: Mapping[type, Coder] = attrs.field(factory=dict)
    fallback: Coder | None = None
    local_classes: dict[str, type] | None = attrs.field(default=None, eq=False, repr=False)

    def __bool__(self) -> bool:
        return bool(self.by_type)

    @cached_property
    def by_name(self) -> Mapping[str, Coder]:
        """The same by the names that are written beside the bytes."""
        return {type_name(cls): coder for cls, coder in self.by_type.items()}

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind, and classes that no other process has.
        return {"by_type": self.by_type, "fallback": self.fallback, "local_classes": None}


def type_name(cls: type) -> str:
    """The name of a class, with its module."""
    return f"{cls.__module__}.{cls.__qualname__}"


_keys_by: ContextVar[Coder | None] = ContextVar("keys_by", default=None)


@contextmanager
def keys_by(coder: Coder | None) -> Iterator[None]:
    """Inside the block, keys without another coder have this one, deterministic or not.

    Args:
        coder: The coder; None changes nothing.
    """
    before = _keys_by.set(coder or _keys_by.get())
    try:
        yield
    finally:
        _keys_by.reset(before)


_PLAIN: Final = frozenset(
    (bool, int, float, complex, str, bytes, bytearray, type(None), tuple, list, dict, set)
) | {frozenset, type, object}


class CoderRegistry:
    """The coders that were declared in this process.

    A pipeline takes those that are declared when it runs. They are used wherever a value of the
    type goes from one process to another or is saved in state, alone or inside other values, as
    element and as key. In memory such values go to bytes and back too, where they come from a
    source and where they enter or leave what groups or remembers: a broken coder is found there.

    Whatever is sent has to come back equal, which is looked at each time. A class without equality
    is known by its bytes, if its coder is deterministic.

    Source: Beam ``CoderRegistry``.
    """

    def __init__(self) -> None:
        self._by_type: dict[type, Coder] = {}
        self._plain: Mapping[type, Coder] = {
            **{bool: BooleanCoder(), int: VarIntCoder(), float: FloatCoder()},
            **{bytes: BytesCoder(), str: StrUtf8Coder()},
        }
        self._fallback: Coder | None = None

    @property
    def coders(self) -> Coders:
        """The coders that are declared now."""
        return Coders(dict(self._by_type), _keys_by.get() or self._fallback)

    def register_fallback_coder(self, coder: Coder) -> None:
        """Declare the coder of keys of classes that have none, and no fields that are keys.

        Raises:
            PipelineError: It is no coder, or not deterministic.

        Source: Beam ``CoderRegistry.register_fallback_coder``.
        """
        if not isinstance(coder, Coder):
            raise PipelineError(f"a fallback coder must be a Coder, got {coder!r}")
        self._fallback = coder.as_deterministic_coder("register_fallback_coder")

    def register_coder(self, kind: type[T], coder: Coder | type[Coder]) -> None:
        """Declare the coder of a class. The one that it had is replaced.

        Args:
            kind: The class. Classes below it are others.
            coder: The coder, or its class, as in Beam.

        Raises:
            PipelineError: ``kind`` is no class, or one of Python's own plain values or containers,
                which travel as they are; or ``coder`` is no coder.

        Source: Beam ``CoderRegistry.register_coder``.
        """
        if not isinstance(kind, type):
            raise PipelineError(f"a coder is declared for a class, got {kind!r}; give its class")
        if kind in _PLAIN:
            raise PipelineError(
                f"{kind.__name__} needs no coder and takes none: it travels as it is; declare one "
                "for a class of your own"
            )
        is_class = isinstance(coder, type) and issubclass(coder, Coder)
        declared = coder.from_type_hint(kind, self) if is_class else coder
        if not isinstance(declared, Coder):
            raise PipelineError(
                f"the coder of {type_name(kind)} must be a Coder, got {coder!r}; write a class "
                "with encode and decode below coders.Coder"
            )
        self._by_type[kind] = declared

    def get_coder(self, kind: type) -> Coder:
        """The coder of a class: the one that was declared, or that of a plain value.

        Raises:
            PipelineError: It has none, and its values travel as pickles.

        Source: Beam ``CoderRegistry.get_coder``.
        """
        coder = self._by_type.get(kind, self._plain.get(kind))
        if coder is None:
            raise PipelineError(
                f"{kind!r} has no coder of its own, and its values travel as coders.PickleCoder "
                "makes them; declare one with register_coder(...)"
            )
        return coder

    def unregister_coder(self, kind: type) -> None:
        """Values of this class travel again as they would without a coder."""
        self._by_type.pop(kind, None)


registry: Final = CoderRegistry()
"""The declared coders. Source: Beam ``coders.registry``."""
