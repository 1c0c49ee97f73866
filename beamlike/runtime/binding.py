"""Binds a call to the columns of a frame: the plan, and the columns that its values come from.

How a host makes the packer's columns of its rows: see `beamlike.hosts.frames`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, assert_never

import attrs
import pyarrow as pa

from beamlike.errors import ColumnError, CombineError
from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import InputClock
from beamlike.model.aggregates import Aggregate
from beamlike.model.combine import CombineFn
from beamlike.model.combine.sql import DecimalMean, IntervalMean
from beamlike.model.stateful import StatefulFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.accumulator_columns import (
    AccumulatorColumns,
    CheckedColumn,
    ListColumn,
    MeanColumns,
    PickledColumn,
    PlainColumn,
    TuplesColumn,
    columns_of,
)
from beamlike.runtime.checked_combine_fns import UserMade
from beamlike.runtime.corrections import corrected, withdrawn_input, without_retractions
from beamlike.runtime.frame_columns import (
    FrameColumns,
    Input,
    check_key,
    has_map,
    is_comparable,
    is_number,
    without_collation,
)
from beamlike.runtime.look_up import SIDE, LookUp
from beamlike.runtime.output import OutputTable
from beamlike.runtime.per_key import PerKeyOperation, Returned
from beamlike.runtime.plan import Part, Plan, PlanOptions
from beamlike.runtime.row_metadata import MARKS
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
    """The types of an aggregate's columns.

    ``inputs`` are the types to which its input columns are cast.
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
    """The part of a plan for an aggregate. The columns that it needs are added to ``inputs``.

    Raises:
        ColumnError: It is not an aggregate, a column is missing, or has a type that cannot be used.
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

    def shape(state: AccumulatorColumns, result: pa.DataType) -> _Shape:
        return _Shape(wanted.fn, dtypes, state, result)

    if wanted.kind in ("min", "max", "top", "bottom", "min_by", "max_by"):
        check_ordered(fields[-1])
    if wanted.kind in ("approx_distinct", "collect_set", "count_distinct"):
        check_plain(fields[0])
    match wanted.kind:
        case "collect_set" | "count_distinct" if has_map(dtypes[0]):
            raise refuse(_NO_MAP, fields[0])
        case "collect" | "first" | "last" | "min" | "max" | "collect_set" | "count_distinct":
            known = columns_of(wanted.fn, dtypes[0])
            assert known is not None, "these functions take any type"
            return shape(*known)
        case "sample":
            drawn = TuplesColumn({"place": pa.int64(), "value": dtypes[0]})
            return shape(drawn, pa.list_(dtypes[0]))
        case "top" | "bottom":
            state = ListColumn(dtypes[0]) if len(dtypes) == 1 else _ranked_columns(dtypes)
            return shape(state, pa.list_(dtypes[0]))
        case "min_by" | "max_by":
            return shape(_ranked_columns(dtypes), dtypes[0])
        case "mean" if pa.types.is_duration(dtypes[0]):
            return _Shape(IntervalMean(), dtypes, MeanColumns(dtypes[0]), dtypes[0])
        case "sum" if pa.types.is_duration(dtypes[0]):
            return shape(PlainColumn(dtypes[0]), dtypes[0])
        case "approx_distinct":
            return shape(PlainColumn(pa.binary()), pa.int64())
        case "combine":
            return _user_made(name, wanted, dtypes, read_type)
    if not is_number(dtypes[0]) and not pa.types.is_string(dtypes[0]):
        raise refuse(_NUMBERS, fields[0])
    match wanted.kind:
        case "mean" if pa.types.is_decimal128(dtypes[0]):  # the type that Spark's ``avg`` has
            total, result = _total_type(dtypes[0]), _wider(dtypes[0], 4, 4)
            return _Shape(DecimalMean(result.scale), [total], MeanColumns(total), result)
        case "mean":
            return _Shape(wanted.fn, [pa.float64()], MeanColumns(), pa.float64())
        case "approx_quantiles":
            sketch, estimates = PlainColumn(pa.binary()), pa.list_(pa.float64())
            return _Shape(wanted.fn, [pa.float64()], sketch, estimates)
        case "sum":
            total = result = _total_type(dtypes[0])
            if pa.types.is_decimal128(total):
                result = _wider(dtypes[0], 10, 0)
            return _Shape(wanted.fn, [total], PlainColumn(total), result)
        case _:
            assert_never(wanted.kind)


def _ranked_columns(dtypes: Sequence[pa.DataType]) -> TuplesColumn:
    return TuplesColumn({"value": dtypes[0], "by": dtypes[1], "timestamp": pa.int64()})


def _wider(dtype: pa.DataType, precision: int, scale: int) -> pa.DataType:
    """A type of decimals with more digits, but no more than SQL allows.

    Source: Spark ``DecimalType.bounded``.
    """
    return pa.decimal128(min(dtype.precision + precision, 38), min(dtype.scale + scale, 38))


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


def bind(
    columns: FrameColumns,
    strategy: WindowingStrategy,
    key: Sequence[str],
    aggregate: Mapping[str, Aggregate],
    window_input: Sequence[str],
    carry: Sequence[str],
    options: PlanOptions,
    *,
    read_type: ReadType,
    corrects: bool = False,
) -> tuple[Plan, dict[str, Input]]:
    """The plan of a grouping of rows, and the inputs of its aggregates by value name.

    Columns in ``window_input`` and ``carry`` become inputs that no aggregate reads. A window
    function gets its columns as they are, also if an aggregate casts them; these inputs have the
    names of their columns. The plan ``corrects`` if some rows withdraw others.

    Raises:
        ColumnError: A column is missing, has an unusable type, or a name is taken twice.
        UnsupportedError: Rows withdraw others, and an aggregate cannot take a value back.
    """
    keys = key_types(columns, key)
    inputs = {name: Input(name, columns.dtype(name, "window_input")) for name in window_input}
    parts = [
        part_of(columns, name, wanted, inputs, read_type) for name, wanted in aggregate.items()
    ]
    for name in carry:
        inputs.setdefault(name, Input(name, columns.dtype(name, "carry")))
    withdrawn = withdrawn_input(inputs) if corrects else 0
    values = {name: needed.dtype for name, needed in inputs.items()}
    if corrects:
        dtypes = list(values.values())
        parts = [
            corrected(part, wanted, withdrawn, dtypes)
            for part, wanted in zip(parts, aggregate.values(), strict=True)
        ]
        parts.append(without_retractions(withdrawn))
    plan = Plan(strategy, keys, values, tuple(parts), **options)
    check_names(columns, plan, "rename the key column with withColumnRenamed, or the aggregate")
    return plan, inputs


def bind_look_up(
    columns: FrameColumns,
    strategy: WindowingStrategy,
    side: WindowingStrategy,
    key: Sequence[str],
    shown: Sequence[str],
    hidden: Sequence[str],
    how: Literal["left", "inner"],
    options: PlanOptions,
) -> tuple[Plan, dict[str, Input]]:
    """The plan of a look-up, and its inputs by value name.

    Args:
        columns: The columns of the main input, with the column for side rows.
        strategy: The strategy of the main input.
        side: The strategy of the side input.
        shown: The columns of the main input that are in the result.
        hidden: Columns of the main input that only its window function needs.
        how: See `LookUp`.

    Raises:
        ColumnError: A column is missing, has an unusable type, or a name is taken twice.
        WindowingError: The windows do not go together.
    """
    keys = key_types(columns, key)
    unit = max(strategy.resolution, side.resolution, key=lambda part: part.per_ms)
    strategy, side = strategy.in_resolution(unit), side.in_resolution(unit)
    values = {name: columns.dtype(name, "main") for name in (*shown, *hidden, SIDE)}
    operation = LookUp(
        strategy.window_fn,
        side.window_fn,
        strategy.allowed_lateness,
        how,
        {name: values[name] for name in (*shown, *hidden)},
        {field.name: field.type for field in values[SIDE].value_type},
        frozenset(hidden),
        options.get("on_error", "drop"),
        side.trigger,
        side.allowed_lateness,
    )
    plan = Plan(strategy, keys, values, (), custom_operation=operation, **options)
    check_names(columns, plan, "rename it with select() or with_columns() before")
    return plan, {name: Input(name, dtype) for name, dtype in values.items()}


MakeFn = Callable[[Returned], StatefulFn]
"""Makes the function, once the columns of its results are known."""


def bind_per_key(
    columns: FrameColumns,
    strategy: WindowingStrategy,
    key: Sequence[str],
    seen: Sequence[str],
    fn: MakeFn,
    returns: pa.Schema,
    pane: str | None,
    options: PlanOptions,
) -> tuple[Plan, dict[str, Input]]:
    """The plan of a function with states and timers, and its inputs by value name.

    Args:
        columns: The columns of the rows.
        strategy: The windows of the rows.
        key: The columns of the key.
        seen: The columns that the function sees, with those of the key.
        fn: Makes the function.
        returns: The columns of its results.
        pane: The column with the pane of an earlier grouping, if there is one.

    Raises:
        ColumnError: A column is missing, has an unusable type, or a name is taken twice.
        WindowingError: The windows merge.
    """
    keys = key_types(columns, key)
    columns.check_free(returns.names, "returns")
    values = {name: columns.dtype(name, "columns") for name in seen}
    results = {field.name: arrow_type(field, "returns") for field in returns}
    returned = Returned(
        results,
        {field.name: type_text(field) for field in returns},
        frozenset(field.name for field in returns if not field.nullable),
        tuple(key),
    )
    on_error = options.get("on_error", "drop")
    operation = PerKeyOperation(fn(returned), strategy, values, results, pane, on_error)
    plan = Plan(strategy, keys, values, (), custom_operation=operation, **options)
    check_names(columns, plan, "give the column of returns another name")
    return plan, {name: Input(name, dtype) for name, dtype in values.items()}


def check_names(columns: FrameColumns, plan: Plan, advice: str) -> None:
    """Refuse a result with two columns of one name.

    Raises:
        ColumnError: With what to change.
    """
    names = [*OutputTable(plan).schema.names, "dropped"]
    for name in names:
        if columns.duplicate(name, names):
            shown = ", ".join(other for other in names if other != MARKS or name == MARKS)
            raise ColumnError(
                f"the result would have two columns called {name!r} (it has {shown}); {advice}"
            )


def key_types(columns: FrameColumns, names: Sequence[str]) -> dict[str, pa.DataType]:
    """The types of a key's columns.

    Raises:
        ColumnError: A column is missing, named twice, or cannot be a key.
    """
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if twice is not None:
        raise ColumnError(f"key: column {twice!r} is named twice; leave one out")
    return {name: check_key(columns, name, "key") for name in names}


def clocks_of(clocks: Iterable[InputClock | None]) -> Clocks | None:
    """The clocks of several inputs; None if the only one uses Spark's."""
    input_clocks = tuple(clock for clock in clocks if clock is not None)
    return Clocks(input_clocks) if input_clocks else None


def clocks_beside(side: Clocks | None, main: Clocks | None) -> Clocks | None:
    """The clocks of a side input followed by those of a main input; None in bounded data."""
    if side is None or main is None:
        return main or side
    return Clocks((*side.inputs, *main.inputs), frozenset(range(len(side.inputs))))
