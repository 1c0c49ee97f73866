"""Keys of a pipeline as bytes: equal keys have equal bytes, on every host and in every process.

What is equal for a key is what Beam's coders say, and not ``==``: ``1``, ``1.0`` and ``True`` are
three keys. NaN is one key, and so are the two zeros.

Source: Beam Python ``FastPrimitivesCoder`` and its deterministic form.
"""

import json
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from importlib import import_module
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import attrs

from beamlike.errors import PipelineError

__all__ = ["key_bytes", "key_of"]

_AS_TEXT: Final[Mapping[type, Callable[[str], Any]]] = {
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    time: time.fromisoformat,
    Decimal: Decimal,
    UUID: UUID,
}


def key_bytes(key: Any) -> bytes:
    """The bytes of a key.

    A key is None, a number, a text, bytes, a time, a UUID, an enum, a tuple or frozenset of keys,
    or an object of a named tuple, a data class or an attrs class whose fields are keys, and whose
    class can be imported.

    Raises:
        PipelineError: It is something else, of which nobody knows when two are equal.
    """
    return json.dumps(_plain(key)).encode()


def key_of(encoded: bytes) -> Any:
    """The key that has these bytes."""
    return _whole(json.loads(encoded))


def _plain(key: Any) -> Any:
    """The key as a tree of texts. Pickles would not do: equal objects may have different ones."""
    if key is None:
        return "n"
    kind = type(key)
    if kind is bool:
        return f"b{int(key)}"
    if kind is int:
        return f"i{key}"
    if kind is float:
        return "f" + struct.pack(">d", _one_of_equal(key)).hex()
    if kind is str:
        return f"s{key}"
    if kind is bytes:
        return f"x{key.hex()}"
    if kind is timedelta:
        return f"d{key // timedelta(microseconds=1)}"
    if kind in _AS_TEXT:
        return f"t{kind.__name__} {key}"
    return _tree(key)


def _one_of_equal(number: float) -> float:
    return float("nan") if number != number else number + 0.0


def _tree(key: Any) -> tuple[Any, ...]:
    kind = type(key)
    if isinstance(key, Enum):
        return ("e" + _name(kind), f"s{key.name}")
    if kind is tuple:
        return ("(", *map(_plain, key))
    if kind is frozenset:
        return ("{", *sorted(map(_plain, key), key=repr))
    if isinstance(key, tuple) and hasattr(kind, "_fields"):
        return ("o" + _name(kind), *map(_plain, key))
    names = _fields_of(key)
    if names is None:
        raise PipelineError(
            f"the key {key!r} is a {kind.__qualname__}, and nobody knows when two of them are "
            "equal; use a text, a number, a tuple, or a frozen data class"
        )
    return ("o" + _name(kind), *(_plain(getattr(key, name)) for name in names))


def _fields_of(key: Any) -> Iterable[str] | None:
    if attrs.has(type(key)):
        return [field.name for field in attrs.fields(type(key)) if field.init]
    if is_dataclass(key):
        return [field.name for field in fields(key) if field.init]
    return None


def _name(kind: type) -> str:
    """The name by which any process finds the class.

    Raises:
        PipelineError: None does.
    """
    name = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__module__ == "__main__" or "<" in name:
        raise PipelineError(
            f"a key is a {kind.__qualname__}, and another process cannot import that class from "
            f"{kind.__module__}; define it at the top of a module, or use a tuple as key"
        )
    return name


def _class(name: str) -> Any:
    module, _, path = name.partition(":")
    return attrgetter(path)(import_module(module))


def _whole(plain: Any) -> Any:
    if isinstance(plain, str):
        return _LEAVES[plain[0]](plain[1:])
    head, *rest = plain
    parts = tuple(map(_whole, rest))
    match head[0]:
        case "(":
            return parts
        case "{":
            return frozenset(parts)
    kind = _class(head[1:])
    if head[0] == "e":
        return kind[parts[0]]
    return kind(*parts)


def _timed(text: str) -> Any:
    name, _, rest = text.partition(" ")
    kind = next(kind for kind in _AS_TEXT if kind.__name__ == name)
    return _AS_TEXT[kind](rest)


_LEAVES: Final[Mapping[str, Callable[[str], Any]]] = {
    "n": lambda _: None,
    "b": lambda text: text == "1",
    "i": int,
    "f": lambda text: struct.unpack(">d", bytes.fromhex(text))[0],
    "s": str,
    "x": bytes.fromhex,
    "d": lambda text: timedelta(microseconds=int(text)),
    "t": _timed,
}
