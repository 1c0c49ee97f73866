"""From the aggregates of a call to the parts of a plan: inputs, function, state and result."""

from collections.abc import Callable, Sequence

import attrs
import pyarrow as pa

from beamlike.errors import ColumnError, CombineError
from beamlike.model.aggregates import Aggregate
from beamlike.model.combine import CombineFn
from beamlike.model.combine.sql import DecimalMean
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
from beamlike.runtime.frame_columns import FrameColumns, Input
from beamlike.runtime.key_types import has_map, is_comparable, is_number, without_collation
from beamlike.runtime.plan import Part
from beamlike.runtime.sql_types import (
    arrow_type,
    collation_in,
    has_arrow_type,
    sql_text,
    type_text,
)

ReadType = Callable[[str], pa.Field]
"""Reads the text of a type as a host does; a `ColumnError` says that there is no such type."""

_NUMBERS = "a number"
_ORDERED = "a number, a string or a time"
_NO_MAP = "values without maps, whose entries have no order"


@attrs.frozen
class _Shape:
    """How an aggregate lies among columns.

    ``inputs`` are the types that its columns are cast to.
    """

    fn: CombineFn
    inputs: Sequence[pa.DataType]
    state: AccumulatorColumns
    result: pa.DataType


def part_of(
    columns: FrameColumns,
    name: str,
    wanted: Aggregate,
    inputs: dict[str, Input],
    read_type: ReadType,
) -> Part:
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
    fields = [columns.field(column, f"aggregate {name!r}") for column in wanted.columns]
    shape = _shape(name, wanted, fields, read_type)
    positions = tuple(
        _position(_input(field, target), inputs)
        for field, target in zip(fields, shape.inputs, strict=True)
    )
    source = positions[0] if len(positions) == 1 else positions or None
    return Part(name, shape.fn, source, shape.state, shape.result)


def _input(field: pa.Field, target: pa.DataType) -> Input:
    return Input(field.name, target, cast=target != field.type or not has_arrow_type(field))


def _position(needed: Input, inputs: dict[str, Input]) -> int:
    label = needed.source
    if inputs.get(label, needed) != needed:  # two aggregates need it as different types
        label = f"{needed.source} as {sql_text(needed.dtype)}"
    if inputs.setdefault(label, needed) != needed:
        raise ColumnError(f"aggregate: rename the column {label!r}, the name is needed here")
    return list(inputs).index(label)


def _shape(name: str, wanted: Aggregate, fields: Sequence[pa.Field], read_type: ReadType) -> _Shape:
    if wanted.kind == "count":
        # Only whether there is a value matters, and a text says so of any.
        counted = [field.type if has_arrow_type(field) else pa.string() for field in fields]
        return _Shape(wanted.fn, counted, PlainColumn(pa.int64()), pa.int64())
    dtypes = [arrow_type(field, f"aggregate {name!r}") for field in fields]

    def refuse(needs: str, field: pa.Field) -> ColumnError:
        return ColumnError(
            f"aggregate {name!r}: {wanted.kind} needs {needs}, and column {field.name!r} "
            f"is {type_text(field)}; cast it first"
        )

    def check_plain(field: pa.Field) -> None:
        if collation_in(field) is not None:
            raise ColumnError(
                f"aggregate {name!r}: {wanted.kind} compares strings by their characters, and "
                f"column {field.name!r} is {type_text(field)}; {without_collation(field)}"
            )

    def check_ordered(field: pa.Field) -> None:
        if pa.types.is_string(field.type):
            check_plain(field)
        elif not is_comparable(field) and not pa.types.is_null(field.type):
            raise refuse(_ORDERED, field)

    def plain(result: pa.DataType) -> _Shape:
        return _Shape(wanted.fn, dtypes, PlainColumn(result), result)

    match wanted.kind:
        case "collect":
            return _Shape(wanted.fn, dtypes, ListColumn(dtypes[0]), pa.list_(dtypes[0]))
        case "first" | "last":
            return _Shape(wanted.fn, dtypes, StampedColumns(dtypes[0]), dtypes[0])
        case "sample":
            drawn = TuplesColumn({"place": pa.int64(), "value": dtypes[0]})
            return _Shape(wanted.fn, dtypes, drawn, pa.list_(dtypes[0]))
        case "min" | "max":
            check_ordered(fields[0])
            return plain(dtypes[0])
        case "top" | "bottom":
            check_ordered(fields[-1])
            state: AccumulatorColumns = ListColumn(dtypes[0])
            if len(dtypes) > 1:
                state = _ranked_columns(dtypes)
            return _Shape(wanted.fn, dtypes, state, pa.list_(dtypes[0]))
        case "min_by" | "max_by":
            check_ordered(fields[-1])
            return _Shape(wanted.fn, dtypes, _ranked_columns(dtypes), dtypes[0])
        case "mean" | "approx_quantiles":
            if not _can_be_number(dtypes[0]):
                raise refuse(_NUMBERS, fields[0])
            if wanted.kind == "mean" and pa.types.is_decimal128(dtypes[0]):
                return _mean_of_decimals(dtypes[0])
            if wanted.kind == "mean":
                return _Shape(wanted.fn, [pa.float64()], MeanColumns(), pa.float64())
            sketch, estimates = PlainColumn(pa.binary()), pa.list_(pa.float64())
            return _Shape(wanted.fn, [pa.float64()], sketch, estimates)
        case "approx_distinct":
            check_plain(fields[0])
            return _Shape(wanted.fn, dtypes, PlainColumn(pa.binary()), pa.int64())
        case "collect_set" | "count_distinct":
            check_plain(fields[0])
            if has_map(dtypes[0]):
                raise refuse(_NO_MAP, fields[0])
            held = ListColumn(dtypes[0])
            result = held.types()[""] if wanted.kind == "collect_set" else pa.int64()
            return _Shape(wanted.fn, dtypes, held, result)
        case "combine":
            return _user_made(name, wanted, dtypes, read_type)
    if not _can_be_number(dtypes[0]):
        raise refuse(_NUMBERS, fields[0])
    total = _total_type(dtypes[0])
    result = total
    if pa.types.is_decimal128(total):
        result = _decimal(dtypes[0].precision + 10, total.scale)
    return _Shape(wanted.fn, [total], PlainColumn(total), result)


def _can_be_number(dtype: pa.DataType) -> bool:
    return is_number(dtype) or pa.types.is_string(dtype)


def _ranked_columns(dtypes: Sequence[pa.DataType]) -> TuplesColumn:
    return TuplesColumn({"value": dtypes[0], "by": dtypes[1], "timestamp": pa.int64()})


def _mean_of_decimals(dtype: pa.DataType) -> _Shape:
    """The mean in the type that Spark's ``avg`` has."""
    total, result = _total_type(dtype), _decimal(dtype.precision + 4, dtype.scale + 4)
    return _Shape(DecimalMean(result.scale), [total], MeanColumns(total), result)


def _decimal(precision: int, scale: int) -> pa.DataType:
    """A type of decimals, no larger than SQL has them.

    Source: Spark ``DecimalType.bounded``.
    """
    return pa.decimal128(min(precision, 38), min(scale, 38))


def _total_type(dtype: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal128(dtype):
        return pa.decimal128(38, dtype.scale)
    return pa.int64() if pa.types.is_integer(dtype) else pa.float64()


def _user_made(
    name: str, wanted: Aggregate, dtypes: Sequence[pa.DataType], read_type: ReadType
) -> _Shape:
    returns = wanted.returns or "double"
    result = _declared(name, "returns", returns, read_type)
    fn = UserMade(name, wanted.fn, result, returns, wanted.accumulator)
    state: AccumulatorColumns = PickledColumn()
    # Raise what is wrong with the empty pane before the query runs.
    fresh = fn.create()
    if wanted.accumulator is not None:
        dtype = _declared(name, "accumulator", wanted.accumulator, read_type)
        state = CheckedColumn(name, dtype, wanted.accumulator)
        state.check(fresh)
    fn.extract(fresh)
    return _Shape(fn, dtypes, state, result)


def _declared(name: str, argument: str, text: str, read_type: ReadType) -> pa.DataType:
    try:
        field = read_type(text)
    except ColumnError as error:
        raise CombineError(
            f"aggregate {name!r}: {argument}={text!r} is no type that Spark can read; write one "
            'such as "double", "array<string>" or "struct<low: int, high: int>"'
        ) from error
    return arrow_type(field, f"aggregate {name!r}: {argument}")
