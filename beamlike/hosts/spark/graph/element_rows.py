"""Elements as rows of a schema, column by column. A value that a column would change is refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from struct import pack
from typing import Any, Final, NoReturn, Self

import attrs
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Row
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from beamlike.errors import PipelineError
from beamlike.hosts.pyspark_types import IN_UTC
from beamlike.model.coders import Coder
from beamlike.model.fingerprint import how_many
from beamlike.model.time import show_instant

ENCODED: Final = "value binary"
"""The Spark schema of encoded elements."""
_MOST_ROWS: Final = 10_000
_MOST_BYTES: Final = 8 * 1024 * 1024
"""As many rows, and bytes, a list has at most."""
_WHOLE: Final = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_INSTANTS: Final = (T.TimestampType, T.TimestampNTZType)
_DAY_MS: Final = 86_400_000
_FIRST_MS: Final = -62_135_596_800_000  # the year 1
_AFTER_LAST_MS: Final = 253_402_300_800_000  # the year 10000


class _Unfit(Exception):
    """A value cannot be in a column. The text says what to do."""


@attrs.frozen
class ElementColumns:
    """Makes a table of elements.

    A column of times takes ``datetime`` and Beam's ``Timestamp``, a column of durations
    ``timedelta`` and Beam's ``Duration``. A number is refused there, because it may count seconds
    or milliseconds.
    """

    schema: T.StructType
    arrow: pa.Schema
    owner: str

    @classmethod
    def of(cls, ddl: Any, owner: str) -> Self:
        """The columns of a schema that is written as DDL."""
        return cls.typed(_read_schema(ddl, owner), owner)

    @classmethod
    def typed(cls, schema: T.StructType, owner: str) -> Self:
        """The columns of a schema. Instants are in UTC, whatever the zone of the session."""
        return cls(schema, to_arrow_schema(schema, **IN_UTC), owner)

    def table(self, elements: Sequence[Any]) -> pa.Table:
        """Elements as rows."""
        names = self.schema.fieldNames()
        rows = elements
        if set(map(type, elements)) != {tuple} or set(map(len, elements)) != {len(names)}:
            rows = [self._parts(element, names) for element in elements]
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        arrays = [self._column(index, column, elements) for index, column in enumerate(columns)]
        return pa.Table.from_arrays(arrays, names=names)

    def _parts(self, element: Any, names: Sequence[str]) -> Sequence[Any]:
        """The values of a row, in the order of the columns."""
        value = _opened(element)
        if isinstance(value, Mapping):
            missing = [name for name in names if name not in value]
            if missing:
                raise PipelineError(
                    f"{self.owner}: the element {element!r} has no column {missing[0]!r}; its "
                    f"columns are {', '.join(map(repr, value))}"
                )
            return [value[name] for name in names]
        if isinstance(value, tuple):
            if len(value) != len(names):
                raise PipelineError(
                    f"{self.owner}: the element {element!r} has {how_many(len(value), 'part')}, "
                    f"and the schema has {how_many(len(names), 'column')}: {', '.join(names)}"
                )
            return value
        if len(names) != 1:
            raise PipelineError(
                f"{self.owner}: the element {element!r} is no row, and the schema has "
                f"{len(names)} columns: {', '.join(names)}"
            )
        return [value]

    def _column(self, index: int, values: Sequence[Any], elements: Sequence[Any]) -> pa.Array:
        field, arrow = self.schema.fields[index], self.arrow.field(index).type
        fit = _fitting(field.dataType, set(map(type, values)))
        try:
            if not field.nullable and any(value is None for value in values):
                raise _Unfit("leave out NOT NULL, or give it a value")
            fitted = values if fit is None else [fit(value) for value in values]
            return pa.array(fitted, arrow)
        except (_Unfit, pa.ArrowException, ArithmeticError, TypeError, ValueError) as error:
            if len(values) == 1:
                advice = f"declare another type, or convert it before ({error})"
                advice = str(error) if isinstance(error, _Unfit) else advice
                self._refuse(field, values[0], elements[0], advice)
            for value, element in zip(values, elements, strict=True):
                self._column(index, [value], [element])
            raise

    def _refuse(self, field: T.StructField, value: Any, element: Any, advice: str) -> NoReturn:
        raise PipelineError(
            f"{self.owner}: the element {element!r} has {value!r} for the column "
            f"{field.name!r}, which is declared {field.dataType.simpleString()}; {advice}"
        )


@attrs.frozen
class Shown:
    """What makes lists of rows of the elements of an edge.

    Args:
        columns: The columns of the rows.
        coder: How the elements are encoded, where the rows hold their bytes.
        dtype: The type of the lists in Spark.
        lists: That in Arrow.
    """

    columns: ElementColumns
    coder: Coder | None
    dtype: T.ArrayType
    lists: pa.ListType

    @classmethod
    def of(cls, schema: str | Coder, owner: str) -> Self:
        """The rows of a schema, or of encoded elements."""
        coder = schema if isinstance(schema, Coder) else None
        columns = ElementColumns.of(ENCODED if coder else schema, owner)
        dtype = T.ArrayType(columns.schema, containsNull=False)
        lists = to_arrow_schema(T.StructType([T.StructField("rows", dtype)]), **IN_UTC)
        return cls(columns, coder, dtype, lists.field(0).type)

    def listed(self, elements: Sequence[Any]) -> pa.Array:
        """Elements as lists of rows, which Spark takes apart faster than another worker does."""
        if self.coder is not None:
            elements = [(self.coder.encode(element),) for element in elements]
        table = self.columns.table(elements)
        columns = [column.combine_chunks() for column in table.columns]
        rows = pa.StructArray.from_arrays(columns, fields=[*self.lists.value_type])
        size = max(1, min(_MOST_ROWS, _MOST_BYTES * len(rows) // max(1, table.nbytes)))
        offsets = [*range(0, len(rows), size), len(rows)]
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), rows, type=self.lists)


def _read_schema(ddl: Any, owner: str) -> T.StructType:
    example = 'write it as "user string, n long"'
    if not isinstance(ddl, str):
        raise PipelineError(f"{owner}: a schema is a text, got {ddl!r}; {example}")
    try:
        dtype = T.DataType.fromDDL(ddl)
    except PySparkException as error:
        first = next(iter(str(error).strip().splitlines()), "")
        raise PipelineError(
            f"{owner}: Spark cannot read the schema {ddl!r}; {example}; it says: {first}"
        ) from error
    if not isinstance(dtype, T.StructType):
        raise PipelineError(f"{owner}: a schema names its columns, got {ddl!r}; {example}")
    return dtype


def _fitting(dtype: T.DataType, classes: set[type]) -> Callable[[Any], Any] | None:
    """The function that makes values of these classes fit a column; None if they need none."""
    if classes <= _AS_THEY_ARE.get(type(dtype), _NONE):
        return None
    return lambda value: _fit(value, dtype)


_NONE: Final[frozenset[type]] = frozenset({type(None)})
_AS_THEY_ARE: Final[Mapping[type[T.DataType], frozenset[type]]] = {
    **dict.fromkeys(_WHOLE, _NONE | {int}),
    T.TimestampType: _NONE | {datetime},
    T.StringType: _NONE | {str},
    T.DoubleType: _NONE | {float, int},
    T.FloatType: _NONE | {int},
    T.BooleanType: _NONE | {bool},
}


def _fit(value: Any, dtype: T.DataType) -> Any:
    """A value in the form that a column takes."""
    if value is None:
        return None
    match dtype:
        case T.ArrayType() if isinstance(value, list | tuple | set | frozenset):
            return [_fit(item, dtype.elementType) for item in value]
        case T.MapType() if isinstance(value, Mapping):
            return [
                (_fit(key, dtype.keyType), _fit(item, dtype.valueType))
                for key, item in value.items()
            ]
        case T.StructType():
            return _fit_struct(value, dtype)
    if _is_of(value, bool, "numpy.bool"):
        if isinstance(dtype, T.BooleanType):
            return value
        raise _Unfit("declare boolean, or write int(...)")
    if isinstance(dtype, (*_INSTANTS, T.DateType, T.DayTimeIntervalType)):
        return _fit_time(value, dtype)
    if _is_float(value) and isinstance(dtype, _WHOLE):
        raise _Unfit("declare double, or write round(...)")
    if _is_float(value) and isinstance(dtype, T.FloatType):
        try:
            pack("<f", value)  # which, unlike Arrow, says so
        except OverflowError:
            raise _Unfit("declare double: it would be infinite") from None
    if isinstance(dtype, T.BinaryType) and isinstance(value, str):
        raise _Unfit("declare string, or write encode()")
    if isinstance(dtype, T.StringType) and not isinstance(value, str):
        raise _Unfit("write str(...), or declare the type that it has")
    return value


def _opened(value: Any) -> Any:
    """A value with named parts as a mapping of them; any other value as it is."""
    cls = type(value)
    if cls is tuple or cls is dict:
        return value  # most are
    if isinstance(value, Row):
        return value.asDict()
    if hasattr(value, "_asdict"):
        return value._asdict()
    if attrs.has(cls):
        return attrs.asdict(value, recurse=False)
    if is_dataclass(cls):
        return {field.name: getattr(value, field.name) for field in fields(cls)}
    return value


def _fit_struct(value: Any, struct: T.StructType) -> Any:
    value = _opened(value)
    if isinstance(value, tuple) and len(value) == len(struct.fields):
        value = dict(zip(struct.fieldNames(), value, strict=True))
    if not isinstance(value, Mapping):
        raise _Unfit(f"a struct is a mapping or a tuple of {', '.join(struct.fieldNames())}")
    missing = [name for name in struct.fieldNames() if name not in value]
    if missing:
        raise _Unfit(f"it has no {missing[0]!r}")
    return {field.name: _fit(value[field.name], field.dataType) for field in struct.fields}


def _fit_time(value: Any, dtype: T.DataType) -> Any:
    """An instant, a day or a length of time."""
    if _is_float(value) or hasattr(value, "__index__"):
        raise _Unfit(
            "a number may be seconds or milliseconds: write Timestamp(...) or Duration(...) of "
            "beamlike.beam for seconds, Timestamp.of_millis(...) for milliseconds, or declare long"
        )
    if isinstance(value, datetime):
        if isinstance(dtype, T.DateType):
            raise _Unfit("declare timestamp, or write date()")
        if isinstance(dtype, T.TimestampNTZType) and value.tzinfo is not None:
            raise _Unfit("declare timestamp, or write replace(tzinfo=None)")
    if isinstance(dtype, T.DayTimeIntervalType):
        return value.micros if hasattr(value, "duration_ms") else value
    if not hasattr(value, "instant_ms"):
        return value
    if not _FIRST_MS <= value.instant_ms < _AFTER_LAST_MS:
        raise _Unfit(
            f"that is {show_instant(value.instant_ms)}, in no year from 1 to 9999; give None "
            "there, or declare long and give the milliseconds"
        )
    return value.instant_ms // _DAY_MS if isinstance(dtype, T.DateType) else value.micros


def _is_float(value: Any) -> bool:
    return _is_of(value, float, "numpy.float")


def _is_of(value: Any, ours: type, numpys: str) -> bool:
    """Whether a value is of a class of Python, or of a class of NumPy whose name begins so."""
    cls = type(value)
    return isinstance(value, ours) or f"{cls.__module__}.{cls.__name__}".startswith(numpys)
