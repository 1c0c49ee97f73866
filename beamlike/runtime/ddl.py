"""Types of columns from their text in SQL, as ``"user string, at timestamp"``."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from beamlike.errors import ColumnError
from beamlike.runtime.sql_types import PLAIN

_TOKEN: Final = re.compile(r"\s*(?:`((?:[^`]|``)+)`|('[^']*')|(\w+)|(\S))")

_PLAIN: Final[dict[str, pa.DataType]] = {
    **{name: dtype for dtype, name in PLAIN.items() if name.replace("_", "").isalpha()},
    **{"byte": pa.int8(), "short": pa.int16(), "integer": pa.int32(), "long": pa.int64()},
    **{"real": pa.float32(), "timestamp_ltz": pa.timestamp("us", "UTC")},
}


def read_columns(text: str) -> pa.Schema:
    """The columns of a frame.

    Raises:
        ColumnError: The text cannot be read, with the place; or two columns have one name.

    >>> read_columns("user string, at timestamp").names
    ['user', 'at']
    """
    reader = _SchemaReader(text)
    fields = [reader.field()]
    while reader.takes(","):
        fields.append(reader.field())
    reader.ends()
    names = [field.name.lower() for field in fields]
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if twice is not None:
        raise ColumnError(f"schema {text!r} has two columns called {twice!r}")
    return pa.schema(fields)


def read_type(text: str) -> pa.DataType:
    """A type, such as ``"array<string>"``.

    Raises:
        ColumnError: The text cannot be read, with the place.
    """
    reader = _SchemaReader(text)
    dtype = reader.type()
    reader.ends()
    return dtype


class _SchemaReader:
    """Reads a text from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text, self._tokens, self._next = text, [*_TOKEN.finditer(text)], 0

    def field(self) -> pa.Field:
        name = self._name()
        self.takes(":")
        dtype, nullable = self.type(), not self.takes("not")
        if not nullable:
            self._needs("null")
        if self.takes("comment"):
            self._next += 1
        return pa.field(name, dtype, nullable)

    def type(self) -> pa.DataType:
        word = self._name().lower()
        match word:
            case "array":
                (item,) = self._parts(self.type, 1)
                return pa.list_(pa.field("element", item))
            case "map":
                key, value = self._parts(self.type, 2)
                return pa.map_(pa.field("key", key, nullable=False), pa.field("value", value))
            case "struct":
                return pa.struct(self._parts(self.field))
            case "decimal" | "dec" | "numeric":
                return self._decimal()
            case "interval":
                for part in ("day", "to", "second"):
                    self._needs(part)
                return pa.duration("us")
        if word not in _PLAIN:
            self._next -= 1
            raise self._refusal("a type")
        return _PLAIN[word]

    def _parts(self, read: Callable[[], Any], count: int | None = None) -> list[Any]:
        """So many parts of a type, between brackets; None: as many as there are."""
        self._needs("<")
        parts = [read()]
        while self.takes(",") if count is None else len(parts) < count:
            if count is not None:
                self._needs(",")
            parts.append(read())
        self._needs(">")
        return parts

    def _decimal(self) -> pa.DataType:
        if not self.takes("("):
            return pa.decimal128(10, 0)
        start, precision, scale = self._next, self._number(), 0
        if self.takes(","):
            scale = self._number()
        if not 1 <= precision <= 38 or scale > precision:
            self._next = start
            raise self._refusal("a precision from 1 to 38 and a scale that is not above it")
        self._needs(")")
        return pa.decimal128(precision, scale)

    def takes(self, word: str) -> bool:
        """Whether this comes next; it is passed if it does."""
        quoted, _, name, sign = self._groups
        is_next = quoted is None and (name or sign or "").lower() == word
        self._next += is_next
        return is_next

    def ends(self) -> None:
        if self._next < len(self._tokens):
            raise self._refusal("a comma or the end")

    @property
    def _groups(self) -> Sequence[str | None]:
        """What comes next, as `_TOKEN` has it."""
        is_over = self._next >= len(self._tokens)
        return (None,) * 4 if is_over else self._tokens[self._next].groups()

    def _needs(self, word: str) -> None:
        if not self.takes(word):
            raise self._refusal(repr(word))

    def _name(self) -> str:
        quoted, _, word, _ = self._groups
        if not (quoted or word):
            raise self._refusal("a name")
        self._next += 1
        return word or str(quoted).replace("``", "`")

    def _number(self) -> int:
        word = self._groups[2]
        if word is None or not word.isdecimal():
            raise self._refusal("a number")
        self._next += 1
        return int(word)

    def _refusal(self, wanted: str) -> ColumnError:
        place = "at its end"
        if self._next < len(self._tokens):
            hit = self._tokens[self._next]
            place = f"at {self._text[hit.start(hit.lastindex or 0) :]!r}"
        return ColumnError(
            f"schema {self._text!r} cannot be read {place}, where {wanted} should be; write "
            'columns as "user string, at timestamp, amount bigint", or give a StructType of pyspark'
        )
