"""From the aggregates of a call to the parts of a plan: inputs, function, state and result."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import types as T

from beamlike.errors import ColumnError, CombineError
from beamlike.hosts.spark.equality import collation_in, has_map, is_comparable, without_collation
from beamlike.hosts.spark.inputs import Input, arrow_type, has_arrow_type, type_of
from beamlike.model.aggregates import Aggregate
from beamlike.model.combine import CombineFn
from beamlike.runtime.checked import UserMade
from beamlike.runtime.columns import (
    AccumulatorColumns,
    CheckedColumn,
    ListColumn,
    MeanColumns,
    PickledColumn,
    PlainColumn,
    StampedColumns,
    TuplesColumn,
)
from beamlike.runtime.plan import Part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Read = Callable[[str], T.DataType]

_NUMBERS = "a number"
_ORDERED = "a number, a string or a time"
_NO_MAP = "values without maps, whose entries have no order"


@attrs.frozen
class _Shape:
    """How an aggregate lies among columns.

    ``inputs`` are the types that its columns are cast to.
    """

    fn: CombineFn
    inputs: Sequence[T.DataType]
    state: AccumulatorColumns
    result: pa.DataType


def part_of(df: "DataFrame", name: str, wanted: Aggregate, inputs: dict[str, Input]) -> Part:
    """The part of a plan for an aggregate; what it needs is added to ``inputs``.

    Raises:
        ColumnError: It is no aggregate, or a column is missing or has a type that cannot be used.
        CombineError: A declared type cannot be read or does not fit.
    """
    if not isinstance(wanted, Aggregate):
        raise ColumnError(
            f'aggregate: {name!r} must be an aggregate such as bl.count() or bl.sum("x"), '
            f"got {wanted!r}"
        )
    kinds = [type_of(df, column, f"aggregate {name!r}") for column in wanted.columns]
    shape = _shape(name, wanted, kinds, _reader_of(df))
    at = tuple(
        _position(Input(column, target, cast=target != kind), inputs)
        for column, kind, target in zip(wanted.columns, kinds, shape.inputs, strict=True)
    )
    one = len(at) == 1
    return Part(name, shape.fn, at[0] if one else at or None, shape.state, shape.result)


def _position(needed: Input, inputs: dict[str, Input]) -> int:
    label = needed.source
    if inputs.get(label, needed) != needed:  # two aggregates need it as different types
        label = f"{needed.source} as {needed.kind.simpleString()}"
    if inputs.setdefault(label, needed) != needed:
        raise ColumnError(f"aggregate: rename the column {label!r}, the name is needed here")
    return list(inputs).index(label)


def _reader_of(df: "DataFrame") -> Read:
    """What reads a declared type: Spark does, where there is Spark."""
    from beamlike.hosts.local.tables.ddl import read_type
    from beamlike.hosts.local.tables.frame import TableFrame

    return read_type if isinstance(df, TableFrame) else T.DataType.fromDDL


def _shape(name: str, wanted: Aggregate, kinds: Sequence[T.DataType], read: Read) -> _Shape:
    if wanted.kind == "count":
        # Only whether there is a value matters, and a text says so of any.
        counted = [kind if has_arrow_type(kind) else T.StringType() for kind in kinds]
        return _Shape(wanted.fn, counted, PlainColumn(pa.int64()), pa.int64())
    given = [
        arrow_type(kind, str(column), f"aggregate {name!r}")
        for kind, column in zip(kinds, wanted.columns, strict=True)
    ]

    def refuse(needs: str, at: int) -> ColumnError:
        return ColumnError(
            f"aggregate {name!r}: {wanted.kind} needs {needs}, and column {wanted.columns[at]!r} "
            f"is {kinds[at].simpleString()}; cast it first"
        )

    def check_plain(at: int) -> None:
        if collation_in(kinds[at]) is not None:
            raise ColumnError(
                f"aggregate {name!r}: {wanted.kind} compares strings by their characters, and "
                f"column {wanted.columns[at]!r} is {kinds[at].simpleString()}; "
                f"{without_collation(kinds[at], wanted.columns[at])}"
            )

    def check_ordered(at: int) -> None:
        if isinstance(kinds[at], T.StringType):
            check_plain(at)
        elif not is_comparable(kinds[at]) and not isinstance(kinds[at], T.NullType):
            raise refuse(_ORDERED, at)

    def plain(result: pa.DataType) -> _Shape:
        return _Shape(wanted.fn, kinds, PlainColumn(result), result)

    match wanted.kind:
        case "collect":
            return _Shape(wanted.fn, kinds, ListColumn(given[0]), pa.list_(given[0]))
        case "first" | "last":
            return _Shape(wanted.fn, kinds, StampedColumns(given[0]), given[0])
        case "sample":
            drawn = TuplesColumn({"place": pa.int64(), "value": given[0]})
            return _Shape(wanted.fn, kinds, drawn, pa.list_(given[0]))
        case "min" | "max":
            check_ordered(0)
            return plain(given[0])
        case "top" | "bottom":
            check_ordered(-1)
            state: AccumulatorColumns = ListColumn(given[0])
            if len(given) > 1:
                state = TuplesColumn({"value": given[0], "by": given[1]})
            return _Shape(wanted.fn, kinds, state, pa.list_(given[0]))
        case "mean" | "approx_quantiles":
            if not isinstance(kinds[0], T.NumericType | T.StringType):
                raise refuse(_NUMBERS, 0)
            if wanted.kind == "mean":
                return _Shape(wanted.fn, [T.DoubleType()], MeanColumns(), pa.float64())
            sketch, estimates = PlainColumn(pa.binary()), pa.list_(pa.float64())
            return _Shape(wanted.fn, [T.DoubleType()], sketch, estimates)
        case "approx_distinct":
            check_plain(0)
            return _Shape(wanted.fn, kinds, PlainColumn(pa.binary()), pa.int64())
        case "collect_set" | "count_distinct":
            check_plain(0)
            if has_map(kinds[0]):
                raise refuse(_NO_MAP, 0)
            held = ListColumn(given[0])
            result = held.types()[""] if wanted.kind == "collect_set" else pa.int64()
            return _Shape(wanted.fn, kinds, held, result)
        case "combine":
            return _user_made(name, wanted, kinds, read)
    if not isinstance(kinds[0], T.NumericType | T.StringType):
        raise refuse(_NUMBERS, 0)
    target = _total_type(kinds[0])
    total = arrow_type(target, wanted.columns[0], f"aggregate {name!r}")
    return _Shape(wanted.fn, [target], PlainColumn(total), total)


def _total_type(kind: T.DataType) -> T.DataType:
    if isinstance(kind, T.DecimalType):
        return T.DecimalType(38, kind.scale)
    return T.LongType() if isinstance(kind, T.IntegralType) else T.DoubleType()


def _user_made(name: str, wanted: Aggregate, kinds: Sequence[T.DataType], read: Read) -> _Shape:
    returns = wanted.returns or "double"
    result = _declared(name, "returns", returns, read)
    fn = UserMade(name, wanted.fn, result, returns, wanted.accumulator)
    state: AccumulatorColumns = PickledColumn()
    # Raise what is wrong with the empty pane before the query runs.
    fresh = fn.create()
    if wanted.accumulator is not None:
        kind = _declared(name, "accumulator", wanted.accumulator, read)
        state = CheckedColumn(name, kind, wanted.accumulator)
        state.check(fresh)
    fn.extract(fresh)
    return _Shape(fn, kinds, state, result)


def _declared(name: str, argument: str, words: str, read: Read) -> pa.DataType:
    try:
        kind = read(words)
    except (PySparkException, ColumnError) as error:
        raise CombineError(
            f"aggregate {name!r}: {argument}={words!r} is no type that Spark can read; write one "
            'such as "double", "array<string>" or "struct<low: int, high: int>"'
        ) from error
    return arrow_type(kind, words, f"aggregate {name!r}: {argument}")
