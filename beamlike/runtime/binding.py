"""Binds a call to the columns of a frame: the plan, and the columns that its values come from.

How a host makes the packer's columns of its rows is its own, see `beamlike.hosts.frames`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import pyarrow as pa

from beamlike.errors import ColumnError
from beamlike.machine.clocks import Clocks, InputClock
from beamlike.model.aggregates import Aggregate
from beamlike.model.stateful import StatefulFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.aggregate_parts import ReadType, part_of
from beamlike.runtime.corrections import corrected, rows_that_stand, withdrawn_input
from beamlike.runtime.frame_columns import FrameColumns, Input
from beamlike.runtime.key_types import check_key
from beamlike.runtime.look_up import SIDE, LookUp
from beamlike.runtime.output import OutputTable
from beamlike.runtime.per_key import PerKey, Returned
from beamlike.runtime.plan import Plan, PlanOptions
from beamlike.runtime.row_metadata import MARKS
from beamlike.runtime.sql_types import arrow_type, type_text


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

    Columns in ``window_input`` and ``carry`` are passed on as inputs that no aggregate reads. A
    window function is given its columns as they are, whatever an aggregate makes of them; those
    inputs are called as their columns are. The plan ``corrects`` if some rows withdraw others.

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
        parts.append(rows_that_stand(withdrawn))
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
        columns: Those of the main input, with the one for side rows.
        strategy: The main input's.
        side: The side input's.
        shown: The columns of the main input that the result has.
        hidden: Those that only its window function needs.
        how: See `LookUp`.

    Raises:
        ColumnError: A column is missing, has an unusable type, or a name is taken twice.
        WindowingError: The windows do not go together.
    """
    keys = key_types(columns, key)
    unit = max(strategy.resolution, side.resolution, key=lambda each: each.per_ms)
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
    plan = Plan(strategy, keys, values, (), does=operation, **options)
    check_names(columns, plan, "rename it with select() or with_columns() before")
    return plan, {name: Input(name, dtype) for name, dtype in values.items()}


MakeFn = Callable[[Returned], StatefulFn]
"""The function, once it is known what its results have to be."""


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
        columns: Those of the rows.
        strategy: Their windows.
        key: The columns of the key.
        seen: The columns that the function sees, those of the key among them.
        fn: Makes the function.
        returns: The columns of its results.
        pane: The column with the pane of a grouping before, if it is there.

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
    operation = PerKey(fn(returned), strategy, values, results, pane, on_error)
    plan = Plan(strategy, keys, values, (), does=operation, **options)
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
    own = tuple(clock for clock in clocks if clock is not None)
    return Clocks(own) if own else None


def clocks_beside(side: Clocks | None, main: Clocks | None) -> Clocks | None:
    """The clocks of a side input and after them those of a main input; None in bounded data."""
    if side is None or main is None:
        return main or side
    return Clocks((*side.inputs, *main.inputs), frozenset(range(len(side.inputs))))
