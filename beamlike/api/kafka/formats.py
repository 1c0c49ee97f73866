"""How keys and values of records of Kafka are written: bytes, text, JSON or Avro."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from beamlike.errors import ColumnError, EnvironmentProblem, UnsupportedError
from beamlike.extras import lazily
from beamlike.model.readable import ReadableABC
from beamlike.safe_text import short_repr

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType
else:
    F = lazily("pyspark.sql.functions")

_UNREADABLE: Final = "__beamlike_unreadable"
"""The field in which Spark keeps a text that is not JSON of its schema."""
_NO_JSON: Final = ("geometry", "geography")


@attrs.frozen
class Format(ABC, metaclass=ReadableABC):
    """How a key or a value of a record is written as bytes."""

    is_record: ClassVar[bool] = False
    """Whether what is read has fields, which become columns."""

    @abstractmethod
    def read(self, spark: Any, raw: "Column", argument: str) -> "tuple[Column, Column]":
        """What the bytes of a record say, and whether they cannot be read.

        Args:
            spark: The session.
            raw: The bytes; null where the record has none.
            argument: Whose format this is, for errors.

        Raises:
            ColumnError: The schema cannot be read.
            EnvironmentProblem: Spark lacks a module.
        """

    def write(self, record: "Column", fields: "StructType") -> "Column":
        """The bytes of a record.

        Args:
            record: A struct.
            fields: Its columns.

        Raises:
            UnsupportedError: A record with several fields cannot be written so.
            ColumnError: A column has a type that cannot be written.
            EnvironmentProblem: Spark lacks a module.
        """
        raise UnsupportedError(
            f"beamlike.kafka.write: value={self} has no fields, and a pane has several; give "
            "value=Json() or value=Avro()"
        )

    def shown(self, raw: "Column") -> "Column":
        """The bytes of a record as a person reads them."""
        return raw


@attrs.frozen
class Bytes(Format):
    """Bytes as they are.

    >>> Bytes()
    Bytes()
    """

    def read(self, spark: Any, raw: "Column", argument: str) -> "tuple[Column, Column]":
        """See `Format.read`."""
        return raw, F.lit(False)


@attrs.frozen
class Text(Format):
    """Text in UTF-8.

    >>> Text()
    Text()
    """

    def read(self, spark: Any, raw: "Column", argument: str) -> "tuple[Column, Column]":
        """See `Format.read`."""
        return self.shown(raw), ~F.is_valid_utf8(raw.cast("string"))

    def shown(self, raw: "Column") -> "Column":
        """See `Format.shown`."""
        return F.make_valid_utf8(raw.cast("string"))


@attrs.frozen
class Json(Text):
    """JSON, an object whose fields become columns.

    Args:
        schema: The columns, as text such as ``"user string, amount double"`` or as a
            ``StructType``. Reading needs it; what is written has its columns by itself.

    Fields that the schema has not are left out, those that the object has not are null. A record
    that is not such an object cannot be read, nor one with a field of another type.

    >>> Json("user string, amount double").schema
    'user string, amount double'
    """

    schema: "str | StructType | None" = None

    is_record: ClassVar[bool] = True

    def read(self, spark: Any, raw: "Column", argument: str) -> "tuple[Column, Column]":
        """See `Format.read`."""
        from pyspark.sql import types as T

        fields = list(_fields(self.schema, argument).fields)
        kept = T.StructType([*fields, T.StructField(_UNREADABLE, T.StringType())])
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _UNREADABLE}
        parsed = F.from_json(raw.cast("string"), kept, options)
        record = F.struct(*(parsed.getField(field.name).alias(field.name) for field in fields))
        broken = parsed.isNull() | parsed.getField(_UNREADABLE).isNotNull()
        return F.when(raw.isNotNull(), record), broken

    def write(self, record: "Column", fields: "StructType") -> "Column":
        """See `Format.write`."""
        for field in fields.fields:
            for name in _NO_JSON:
                if name in field.dataType.simpleString():
                    raise ColumnError(
                        f"beamlike.kafka.write: column {field.name!r} is "
                        f"{field.dataType.simpleString()}, which JSON has no form for; make a text "
                        "or bytes of it before, such as F.st_asbinary"
                    )
        return json_bytes(record)


@attrs.frozen
class Avro(Format):
    """Avro, a record whose fields become columns. Spark needs its module ``spark-avro``.

    Args:
        schema: The schema in Avro's JSON. Reading needs it; what is written has that of its
            columns.
        skip: How many bytes before the record are left out: 5 where a registry of schemas puts the
            number of the schema there.

    Spark reads bytes that are not such a record as one whose fields are all null. So a record of
    which all fields are null counts as one that cannot be read.

    >>> Avro('{"type": "record", "name": "Click", "fields": []}', skip=5).skip
    5
    """

    schema: str | None = None
    skip: int = 0

    is_record: ClassVar[bool] = True

    def read(self, spark: Any, raw: "Column", argument: str) -> "tuple[Column, Column]":
        """See `Format.read`."""
        if self.schema is None:
            raise ColumnError(f"{argument}=Avro() reads nothing without a schema; give it one")
        inner = F.substring(raw, self.skip + 1, 2**31 - 1) if self.skip else raw
        mode = F.create_map(F.lit("mode"), F.lit("PERMISSIVE"))
        parsed = F.call_function("from_avro", inner, F.lit(self.schema), mode)
        known = (parsed.getField(name).isNotNull() for name in _avro_fields(self.schema, argument))
        return F.when(raw.isNotNull(), parsed), ~reduce(or_, known)

    def write(self, record: "Column", fields: "StructType") -> "Column":
        """See `Format.write`."""
        if self.schema is not None or self.skip:
            raise UnsupportedError(
                "beamlike.kafka.write: what is written has the schema of its columns; write Avro()"
            )
        return F.call_function("to_avro", record)


def json_bytes(record: "Column") -> "Column":
    """A struct as JSON in UTF-8, with times in UTC."""
    from beamlike.runtime.json_rows import TO_JSON

    return F.to_json(record, dict(TO_JSON)).cast("binary")


BYTES: Final = Bytes()
TEXT: Final = Text()
JSON: Final = Json()


def analysed(make: "Callable[[], DataFrame]") -> "DataFrame":
    """Rows whose columns Spark has looked at, so that it says here what it lacks."""
    import pyspark
    from pyspark.errors import PySparkException

    try:
        rows = make()
        _ = rows.schema
    except PySparkException as error:
        message = str(error)
        if "AVRO_NOT_LOADED" in message:
            raise EnvironmentProblem(
                "Avro needs Spark's module spark-avro, which is not on its class path; start Spark "
                f"with --packages org.apache.spark:spark-avro_2.13:{pyspark.__version__}, or set "
                "spark.jars.packages to that"
            ) from error
        if "avro" in message.lower():
            raise ColumnError(
                f"Spark cannot use this with Avro: {message.splitlines()[0]}"
            ) from error
        raise
    return rows


def _avro_fields(schema: str, argument: str) -> list[str]:
    """The names of a record's fields."""
    try:
        names = [field["name"] for field in json.loads(schema)["fields"]]
    except (TypeError, ValueError, LookupError):
        names = []
    if not names:
        raise ColumnError(
            f"{argument}=Avro(...) needs the schema of a record with fields in Avro's JSON, got "
            f"{short_repr(schema)}"
        )
    return names


def _fields(schema: "str | StructType | None", argument: str) -> "StructType":
    """The columns of a schema."""
    from pyspark.errors import PySparkException
    from pyspark.sql import types as T

    if schema is None:
        raise ColumnError(
            f"{argument}=Json() reads nothing without a schema; write "
            'Json("user string, amount double")'
        )
    try:
        fields = T.DataType.fromDDL(schema) if isinstance(schema, str) else schema
    except PySparkException as error:
        raise ColumnError(f"{argument}: {schema!r} are no columns that Spark can read") from error
    if not isinstance(fields, T.StructType) or not fields.fields:
        raise ColumnError(
            f'{argument}: a schema has columns, such as "user string, amount double", got '
            f"{short_repr(schema)}"
        )
    return fields
