"""Pickles of plain values, read without running anything that they name.

A class that is not among a few of Python's own is replaced by one that stands for it: nothing of it
is imported or called, and its objects only say its name.
"""

import io
import pickle
from typing import Any, Final

from beamlike.errors import StateError

_KNOWN: Final = {
    *(("builtins", name) for name in ("set", "frozenset", "bytearray", "complex", "range")),
    *(("datetime", name) for name in ("datetime", "date", "time", "timedelta", "timezone")),
    ("decimal", "Decimal"),
    ("uuid", "UUID"),
}
"""Classes that only hold plain values."""


class Opaque:
    """Stands for an object of a class. Its parts are not shown."""

    name = ""

    def __new__(cls, *_parts: Any, **_named: Any) -> "Opaque":
        return object.__new__(cls)

    def __init__(self, *_parts: Any, **_named: Any) -> None:
        pass

    def __setstate__(self, _state: Any) -> None:
        pass

    def __setitem__(self, _key: Any, _value: Any) -> None:
        pass

    def append(self, _item: Any) -> None:
        """A pickle adds to what it takes for a list."""

    def extend(self, _items: Any) -> None:
        """Likewise."""

    def add(self, _item: Any) -> None:
        """A pickle adds to what it takes for a set."""

    def __repr__(self) -> str:
        return f"<{type(self).name}>"


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _KNOWN:
            return super().find_class(module, name)
        return type("Opaque", (Opaque,), {"name": f"{module}.{name}"})

    def persistent_load(self, _id: Any) -> Any:
        return Opaque()


def read_plain(blob: bytes) -> Any:
    """The value of a pickle, with an `Opaque` for each object of a class that is not plain."""
    try:
        return _Reader(io.BytesIO(blob)).load()
    except Exception as error:
        raise StateError(
            f"{len(blob):,} bytes are no pickle that can be read: {type(error).__name__}: {error}; "
            "the checkpoint is damaged: open a copy of it"
        ) from error
