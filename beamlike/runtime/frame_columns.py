"""The columns of a frame, on whichever host: found by name, checked, and given a type in Arrow.

Keys and values are compared as Arrow has them, and grouped as SQL groups them where equal values
have equal bytes. A collation makes values equal that differ there
(``a`` and ``A`` under ``UTF8_LCASE``), by rules that Spark has and SQL does not give away. Spark's
own stateful operators refuse such keys too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs
import pyarrow as pa

from beamlike.errors import ColumnError
from beamlike.runtime.row_metadata import MARKS, OF_SOURCES, types_in
from beamlike.runtime.sql_types import arrow_type, collation_in, has_arrow_type, type_text


def no_column(name: str, names: Sequence[str]) -> str:
    """In words: there is no column of a name, and which there are."""
    known = f"the columns are {', '.join(map(repr, names))}" if names else "there are no columns"
    return f"there is no column {name!r}; {known}"


@attrs.frozen
class FrameColumns:
    """The columns of a frame.

    Args:
        schema: Names and types, see `beamlike.runtime.sql_types`; the hidden column may be there.
        case_sensitive: Whether names that differ in upper and lower case are two names.
    """

    schema: pa.Schema
    case_sensitive: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns, without the hidden one."""
        return [name for name in self.schema.names if name != MARKS]

    def field(self, name: str, argument: str) -> pa.Field:
        """A column, which has to be there once.

        Raises:
            ColumnError: It is not a name, or no column has it, or several have.
        """
        if not isinstance(name, str):
            raise ColumnError(f"{argument}: a column is given by its name, a string, got {name!r}")
        if name not in self.schema.names:
            raise ColumnError(f"{argument}: {no_column(name, self.names)}")
        if self.duplicate(name, self.schema.names):
            raise ColumnError(
                f"{argument}: there is more than one column {name!r}; rename or drop the others"
            )
        return self.schema.field(name)

    def dtype(self, name: str, argument: str) -> pa.DataType:
        """The type of a column in Arrow.

        Raises:
            ColumnError: As `field`; or Arrow has no type for it.
        """
        return arrow_type(self.field(name, argument), argument)

    def is_wall_clock(self, name: str) -> bool:
        """Whether a column of event times has wall-clock times, which are in no zone."""
        dtype = self.field(name, "timestamp").type
        return bool(pa.types.is_timestamp(dtype)) and dtype.tz is None

    def duplicate(self, name: str, names: Sequence[str]) -> bool:
        """Whether a name is there twice, as the host reads names."""
        if self.case_sensitive:
            return names.count(name) > 1
        return Counter(other.lower() for other in names)[name.lower()] > 1

    def check_source(self) -> None:
        """Refuse columns of a source that have the names of those on its rows' way.

        Raises:
            ColumnError: There is such a column.
        """
        for name in self._taken(self.schema.names, OF_SOURCES):
            raise ColumnError(f"the name {name!r} is needed here; rename that column of df")

    def check_free(self, names: Iterable[str], argument: str) -> None:
        """Refuse columns that the output of a stream would overwrite.

        Raises:
            ColumnError: A name is needed by the stream itself.
        """
        for name in self._taken(names, (MARKS, "dropped")):
            raise ColumnError(
                f"{argument}: the name {name!r} is needed here; give that column another one"
            )

    def _taken(self, names: Iterable[str], needed: Sequence[str]) -> Iterator[str]:
        for name in names:
            if any(self.duplicate(word, [word, name]) for word in needed):
                yield name


@attrs.frozen
class Input:
    """A value column of a plan.

    Args:
        source: The column of a frame that it comes from.
        dtype: Its type.
        cast: Whether the column has another type, from which it is cast.
    """

    source: str
    dtype: pa.DataType
    cast: bool = False


def check_array(column: object, field: pa.Field) -> None:
    """Refuse to make rows of what is not an array.

    Raises:
        ColumnError: It is of another type.
    """
    if not pa.types.is_list(field.type):
        raise ColumnError(
            f"column: {column} is {type_text(field)} and no array; make one of it, for "
            "example with F.split of a text or F.map_entries of a map"
        )


_OF_PARTS: Final = ("array", "map", "struct", "variant")
_PLACES: Final = ("geometry", "geography")


def is_number(dtype: pa.DataType) -> bool:
    """Whether values of a type can be added."""
    return bool(
        pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal128(dtype)
    )


def is_comparable(field: pa.Field) -> bool:
    """Whether two values of a column can be compared here as SQL compares them."""
    dtype = field.type
    return collation_in(field) is None and (
        is_number(dtype)
        or pa.types.is_boolean(dtype)
        or pa.types.is_string(dtype)
        or pa.types.is_binary(dtype)
        or pa.types.is_date32(dtype)
        or pa.types.is_timestamp(dtype)
        or pa.types.is_time(dtype)
        or pa.types.is_duration(dtype)
    )


def check_key(columns: FrameColumns, name: str, argument: str) -> pa.DataType:
    """The type of a column that is to be a key.

    Raises:
        ColumnError: It is missing, or its type has no equality that holds here.
    """
    field = columns.field(name, argument)
    text = type_text(field)
    dtype = field.type if text.startswith((*_OF_PARTS, *_PLACES)) else arrow_type(field, argument)
    if is_comparable(field):
        return dtype
    shown = f"{argument}: column {name!r} is {text}"
    if pa.types.is_null(dtype) and has_arrow_type(field):
        raise ColumnError(
            f"{shown}: all its values are null, and a row without a key is dropped; give it "
            "values, or leave it out of the key"
        )
    if pa.types.is_string(dtype):
        raise ColumnError(
            f"{shown}, which Spark groups by other rules than its characters; "
            f"{without_collation(field)}"
        )
    if not text.startswith(_OF_PARTS):
        raise ColumnError(
            f"{shown}, which cannot be grouped by; cast it first, to a string or binary for example"
        )
    raise ColumnError(
        f"{shown}, which cannot be grouped by; use its parts as key columns, or to_json of it"
    )


def has_map(dtype: pa.DataType) -> bool:
    """Whether values of a type are maps, or have maps in them."""
    return any(map(pa.types.is_map, types_in(dtype)))


def without_collation(field: pa.Field) -> str:
    """How to make a column of plain strings that are equal where those of a collation are."""
    collation = collation_in(field)
    if collation is None or not pa.types.is_string(field.type):
        return "cast it to a type with plain strings first"
    plain = f'F.collate("{field.name}", "UTF8_BINARY")'
    if collation.endswith("_RTRIM"):
        plain, collation = f"F.rtrim({plain})", collation.removesuffix("_RTRIM")
    if collation.endswith("_LCASE") or "_CI" in collation:
        plain = f"F.lower({plain})"
    return f'make it a plain string first, for example df.withColumn("{field.name}", {plain})'
