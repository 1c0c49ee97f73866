"""Types of columns from their text in SQL, as ``"user string, at timestamp"``."""

import re
from typing import Final

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
        self._text = text
        self._tokens = [(hit.start(hit.lastindex or 0), hit) for hit in _TOKEN.finditer(text)]
        self._at = 0

    def field(self) -> pa.Field:
        name = self._name()
        self.takes(":")
        dtype = self.type()
        nullable = not self.takes("not")
        if not nullable:
            self._needs("null")
        if self.takes("comment"):
            self._at += 1
        return pa.field(name, dtype, nullable)

    def type(self) -> pa.DataType:
        word = self._name().lower()
        match word:
            case "array":
                self._needs("<")
                item = self.type()
                self._needs(">")
                return pa.list_(pa.field("element", item))
            case "map":
                self._needs("<")
                key = self.type()
                self._needs(",")
                value = self.type()
                self._needs(">")
                return pa.map_(pa.field("key", key, nullable=False), pa.field("value", value))
            case "struct":
                self._needs("<")
                fields = [self.field()]
                while self.takes(","):
                    fields.append(self.field())
                self._needs(">")
                return pa.struct(fields)
            case "decimal" | "dec" | "numeric":
                return self._decimal()
            case "interval":
                for part in ("day", "to", "second"):
                    self._needs(part)
                return pa.duration("us")
        if word not in _PLAIN:
            self._at -= 1
            raise self._refusal("a type")
        return _PLAIN[word]

    def _decimal(self) -> pa.DataType:
        if not self.takes("("):
            return pa.decimal128(10, 0)
        start, precision, scale = self._at, self._number(), 0
        if self.takes(","):
            scale = self._number()
        if not 1 <= precision <= 38 or scale > precision:
            self._at = start
            raise self._refusal("a precision from 1 to 38 and a scale that is not above it")
        self._needs(")")
        return pa.decimal128(precision, scale)

    def takes(self, word: str) -> bool:
        """Whether this comes next; it is passed if it does."""
        next_word = self._word()
        if next_word is None or next_word.lower() != word:
            return False
        self._at += 1
        return True

    def ends(self) -> None:
        if self._at < len(self._tokens):
            raise self._refusal("a comma or the end")

    def _needs(self, word: str) -> None:
        if not self.takes(word):
            raise self._refusal(repr(word))

    def _word(self) -> str | None:
        if self._at >= len(self._tokens):
            return None
        quoted, _, word, sign = self._tokens[self._at][1].groups()
        return word or sign or (None if quoted is None else f"`{quoted}`")

    def _name(self) -> str:
        if self._at < len(self._tokens):
            quoted, _, word, _ = self._tokens[self._at][1].groups()
            if quoted or word:
                self._at += 1
                return word or str(quoted).replace("``", "`")
        raise self._refusal("a name")

    def _number(self) -> int:
        word = self._word()
        if word is None or not word.isdecimal():
            raise self._refusal("a number")
        self._at += 1
        return int(word)

    def _refusal(self, wanted: str) -> ColumnError:
        rest = self._text[self._tokens[self._at][0] :] if self._at < len(self._tokens) else ""
        place = f"at {rest!r}" if rest else "at its end"
        return ColumnError(
            f"schema {self._text!r} cannot be read {place}, where {wanted} should be; write "
            'columns as "user string, at timestamp, amount bigint", or give a StructType of pyspark'
        )
