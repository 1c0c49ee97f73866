"""Keys of a pipeline as bytes: equal keys have equal bytes, on every host and in every process.

What is equal for a key is what Beam's coders say, and not ``==``: ``1``, ``1.0`` and ``True`` are
three keys. NaN is one key, and so are the two zeros.

Source: Beam Python ``FastPrimitivesCoder`` and its deterministic form.
"""

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from importlib import import_module
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from types import NoneType
from typing import Any, Final
from uuid import UUID

import attrs

from beamlike.errors import BeamlikeError, PipelineError, StateError
from beamlike.model.coders import Coder, Coders, type_name
from beamlike.runtime.graph.wire import decoded, encoded
from beamlike.safe_text import USER_RAISED, problem_of

_NO_CODERS: Final = Coders()
_TEXT: Final = b'"s'
"""How the bytes of a text begin."""

_AS_TEXT: Final[Mapping[type, Callable[[str], Any]]] = {
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    time: time.fromisoformat,
    Decimal: Decimal,
    UUID: UUID,
}


class UnfitKeyError(PipelineError):
    """Something cannot be a key for other processes."""


class UncertainKeyError(UnfitKeyError):
    """A key has a coder, which may give equal keys different bytes."""


def key_bytes(key: Any, coders: Coders = _NO_CODERS) -> bytes:
    """The bytes of a key.

    A key is None, a number, a text, bytes, a time, a UUID, an enum; a tuple, list, set, frozenset
    or mapping of keys; an object of a named tuple, a data class or an attrs class whose fields are
    keys, or of a class with ``__getstate__`` and ``__setstate__`` of its own, if the class can be
    imported; or anything that has a deterministic coder.

    Args:
        key: The key.
        coders: The declared coders.

    Raises:
        UnfitKeyError: It is something else, whose equality is not known.
        UncertainKeyError: Its coder, or that of something in it, is not deterministic.
        CoderError: Its coder raised, or what it brings back is another value.

    Source: Beam ``Coder.verifyDeterministic``, which ``GroupByKey`` calls.
    """
    if type(key) is str:  # most are
        return encode_basestring_ascii("s" + key).encode()
    return json.dumps(_plain(key, coders)).encode()


def key_of(blob: bytes, coders: Coders = _NO_CODERS) -> Any:
    """The key that has these bytes.

    Raises:
        StateError: Its class is missing or has other fields, or the coder is missing.
    """
    if blob.startswith(_TEXT) and b"\\" not in blob:
        return blob[len(_TEXT) : -1].decode()
    try:
        return _built(json.loads(blob), partial(_object, coders))
    except BeamlikeError:
        raise
    except USER_RAISED as cause:
        shown = blob.decode(errors="backslashreplace")
        raise StateError(
            f"the key {shown} was kept by an earlier run, and cannot be made again here: "
            f"{problem_of(cause)}; bring back the class as it was, or start the query "
            "with a new checkpoint"
        ) from cause


class _Readable(str):
    """An object in a key that is only shown."""

    __repr__ = str.__str__


def readable_key(blob: bytes) -> Any:
    """The key that has these bytes, for people to read: no class is imported, no coder called.

    An object is a text, as ``orders.Place('Rome', 3)``. What cannot be a key is its bytes as text.
    """
    try:
        return _built(json.loads(blob), _shown)
    except Exception:  # whatever it is, there is something to see
        return _Readable(blob.decode(errors="backslashreplace"))


_WRITTEN: Final[Mapping[type, Callable[[Any], str]]] = {
    NoneType: lambda _: "n",
    bool: lambda key: f"b{int(key)}",
    # Every NaN is one key, and so are the two zeros.
    float: lambda key: "f" + struct.pack(">d", float("nan") if key != key else key + 0.0).hex(),
    bytes: lambda key: f"x{key.hex()}",
}
_IN_ORDER: Final[Mapping[type, str]] = {tuple: "(", list: "["}
_IN_NO_ORDER: Final[Mapping[type, str]] = {frozenset: "{", set: "s"}
_CONTAINERS: Final[Mapping[str, Callable[[tuple[Any, ...]], Any]]] = {
    "(": tuple,
    "{": frozenset,
    "[": list,
    "s": set,
    "m": lambda parts: dict(zip(parts[::2], parts[1::2], strict=True)),
}


def _built(plain: Any, make: Callable[[str, tuple[Any, ...]], Any]) -> Any:
    """What a tree of texts was made of; ``make`` makes an object of its head and its parts."""
    if isinstance(plain, str):
        return _LEAVES[plain[0]](plain[1:])
    head, *rest = plain
    parts = tuple(_built(part, make) for part in rest)
    return _CONTAINERS[head[0]](parts) if head[0] in _CONTAINERS else make(head, parts)


def _shown(head: str, parts: tuple[Any, ...]) -> _Readable:
    name = head[1:].partition(" ")[0].replace(":", ".")
    is_enum = head[0] == "e"
    return _Readable(f"{name}.{parts[0]}" if is_enum else f"{name}({', '.join(map(repr, parts))})")


def _plain(key: Any, coders: Coders) -> Any:
    """The key as a tree of texts. Pickles would not do: equal objects may have different ones."""
    cls = type(key)
    if cls is str:  # most parts are
        return f"s{key}"
    if cls is int:
        return f"i{key}"
    write = _WRITTEN.get(cls)
    if write is not None:
        return write(key)
    coder = coders.by_type.get(cls)
    if coder is not None:
        return _coded(key, coder, coders)
    if cls is timedelta:
        return f"d{key // timedelta(microseconds=1)}"
    if cls in _AS_TEXT:
        return f"t{cls.__name__} {key}"
    return _tree(key, coders)


def _coded(key: Any, coder: Coder, coders: Coders) -> tuple[str, str]:
    name = type_name(type(key))
    if not coder.is_deterministic() and coders.fallback is None:
        try:
            stable = coder.as_deterministic_coder(name)
        except ValueError as cause:
            raise UncertainKeyError(
                f"the key {key!r} has the coder {coder}, which is not deterministic: equal keys "
                "may have different bytes, and be grouped apart; if they never have, let its "
                "is_deterministic() return True, or make the key a text, a number or a tuple"
            ) from cause
        return f"C{name}", f"x{encoded(key, stable).hex()}"
    return f"c{name}", f"x{encoded(key, coder).hex()}"


def _stably_decoded(name: str, blob: bytes, coders: Coders) -> Any:
    by_type = {
        cls: coder.as_deterministic_coder(name)
        for cls, coder in coders.by_type.items()
        if type_name(cls) == name
    }
    return decoded(name, blob, Coders(by_type))


def _tree(key: Any, coders: Coders) -> tuple[Any, ...]:
    def plain(part: Any) -> Any:
        return _plain(part, coders)

    cls = type(key)
    if isinstance(key, Enum):
        return ("e" + _name(cls, coders), f"s{key.name}")
    if cls in _IN_ORDER:
        return (_IN_ORDER[cls], *map(plain, key))
    if cls in _IN_NO_ORDER:
        return (_IN_NO_ORDER[cls], *sorted(map(plain, key), key=repr))
    if cls is dict:  # in whatever order it was made
        pairs = sorted(((plain(name), plain(value)) for name, value in key.items()), key=repr)
        return ("m", *(part for pair in pairs for part in pair))
    if _restores_itself(cls):
        return ("g" + _name(cls, coders), plain(key.__getstate__()))
    names = _fields_of(cls)
    if names is None:
        if coders.fallback is not None:
            return (f"p{type_name(cls)}", f"x{coders.fallback.encode(key).hex()}")
        raise UnfitKeyError(
            f"the key {key!r} is a {cls.__qualname__}, which has no deterministic coder: "
            "nothing says when two of them are equal; use a text, a number, a tuple, or a frozen "
            "data class"
        )
    head = " ".join(("o" + _name(cls, coders), *names))
    return (head, *(plain(getattr(key, name)) for name in names))


def _restores_itself(cls: type) -> bool:
    """Whether a class says what its objects are made of, in both directions."""
    getstate: object = cls.__getstate__
    return (
        getstate is not object.__getstate__
        and hasattr(cls, "__setstate__")
        and not attrs.has(cls)
        and not is_dataclass(cls)
    )


def _fields_of(cls: Any) -> Mapping[str, str] | None:
    """The fields that an object is made of, each with the argument that it is given as.

    None: they are not known.
    """
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return {name: name for name in cls._fields}
    if attrs.has(cls):
        return {field.name: field.alias for field in attrs.fields(cls) if field.init}
    if is_dataclass(cls):
        return {field.name: field.name for field in fields(cls) if field.init}
    return None


def _name(cls: type, coders: Coders) -> str:
    """The name by which any process finds the class, or this one if keys stay in it."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    if cls.__module__ == "__main__" or "<" in name:
        if coders.local_classes is not None:
            return _local_name(name, cls, coders.local_classes)
        raise UnfitKeyError(
            f"a key is a {cls.__qualname__}, and another process cannot import that class from "
            f"{cls.__module__}; define it at the top of a module, declare a deterministic coder "
            "for it, or use a tuple as key"
        )
    return name


def _local_name(name: str, cls: type, classes: dict[str, type]) -> str:
    number, known = 1, name
    while classes.setdefault(known, cls) is not cls:  # two classes of a function called twice
        number += 1
        known = f"{name}#{number}"
    return known


def _class(name: str, coders: Coders) -> Any:
    if coders.local_classes and name in coders.local_classes:
        return coders.local_classes[name]
    module, _, path = name.partition(":")
    return attrgetter(path)(import_module(module))


def _object(coders: Coders, head: str, parts: tuple[Any, ...]) -> Any:
    match head[0]:
        case "g":
            thing = object.__new__(_class(head[1:], coders))
            thing.__setstate__(parts[0])
            return thing
        case "c":
            return decoded(head[1:], parts[0], coders)
        case "C":
            return _stably_decoded(head[1:], parts[0], coders)
        case "p":
            assert coders.fallback is not None, "it made these bytes"
            return coders.fallback.decode(parts[0])
    name, *had = head[1:].split(" ")
    cls = _class(name, coders)
    if head[0] == "e":
        return cls[parts[0]]
    has = _fields_of(cls) or {}
    # In another order they would be, too: then a new key that is equal would have other bytes.
    if [*has] != had:
        raise TypeError(f"its fields were ({', '.join(had)}) and are ({', '.join(has)})")
    return cls(**dict(zip(has.values(), parts, strict=True)))


def _timed(text: str) -> Any:
    name, _, rest = text.partition(" ")
    cls = next(cls for cls in _AS_TEXT if cls.__name__ == name)
    return _AS_TEXT[cls](rest)


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
