"""What window functions and aggregates read of the rows of a plan.

A plan carries a row as a tuple of columns, which is not a value of the user: the user names the
columns that the window function is given. The columnar machine does not look at values itself:
which rows end their session is decided before, and aggregates are folds over columns.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import attrs
import numpy as np
import pyarrow as pa

from beamlike.errors import UnsupportedError, UserFunctionError, WindowError
from beamlike.machine.columnar.arrays import NOTHING, Bools, Ints
from beamlike.machine.columnar.assign import Arrivals, ArrivingBundle, LiftedArrivals
from beamlike.machine.columnar.folds.base import Fold, Values, one_chunk
from beamlike.machine.columnar.folds.choice import fold_of
from beamlike.machine.columnar.folds.objects import Objects
from beamlike.model.rescaled import Wrapped
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.envelope import is_lifted
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.store.column_state import integers
from beamlike.safe_text import USER_RAISED, safe_repr

Read = Callable[[Any], Any]


def no_value(columns: Any) -> None:
    """A row of a DataFrame has columns and no value."""


@attrs.frozen
class Picked:
    """Some columns of a row: one as it is, several as a tuple."""

    positions: tuple[int, ...]

    def __call__(self, columns: tuple[Any, ...]) -> Any:
        if len(self.positions) == 1:
            return columns[self.positions[0]]
        return tuple(columns[index] for index in self.positions)


def read_by(window_fn: WindowFn) -> tuple[WindowFn, Read | None]:
    """The window function that `reading` was given, and how it reads; None: it is given values."""
    if isinstance(window_fn, Wrapped) and window_fn.read is not None:
        return window_fn.window_fn, window_fn.read
    return window_fn, None


def strategy_for_columns(strategy: WindowingStrategy) -> WindowingStrategy:
    """The strategy with sessions as their author wrote them, where it is known beside the machine
    which elements end them."""
    window_fn, read = read_by(strategy.window_fn)
    if read is None or not _ends(window_fn):
        return strategy
    return strategy.configured(window_fn)


def ends_in(plan: Plan, table: pa.Table, start: Ints | None) -> Bools | None:
    """Which rows end their session; None if none can.

    Args:
        plan: Whose rows they are.
        table: The rows, see `beamlike.runtime.envelope`.
        start: Where the window of each row begins (ticks), `NOTHING` for a row that arrives without
            a window: only those are looked at. None: all arrive without a window.

    Raises:
        WindowError: A function of the user's raised, or said neither True nor False.
    """
    window_fn, read = read_by(plan.strategy.window_fn)
    if not _ends(window_fn) or plan.strategy.already_merged:
        return None
    asked = np.ones(table.num_rows, np.bool_) if start is None else start == NOTHING
    is_end = np.zeros(table.num_rows, np.bool_)
    if not asked.any():
        return is_end
    columns = [table.column(name).filter(pa.array(asked)) for name in plan.value_columns]
    if isinstance(read, Picked) and len(read.positions) == 1:
        is_end[asked] = _of_column(window_fn, columns[read.positions[0]])
        return is_end
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    values = plan.operation.elements(rows)
    is_end[asked] = [_is_end(window_fn, value if read is None else read(value)) for value in values]
    return is_end


def _ends(window_fn: WindowFn) -> TypeGuard[Sessions]:
    return type(window_fn) is Sessions and window_fn.ends_with is not None


def _of_column(window_fn: Sessions, column: pa.ChunkedArray) -> Bools:
    """Each different value is asked for once, where Arrow can compare values of its type."""
    try:
        coded = one_chunk(column).dictionary_encode()
    except pa.ArrowNotImplementedError:
        return np.array([_is_end(window_fn, value) for value in column.to_pylist()], np.bool_)
    known = coded.dictionary.to_pylist()
    if coded.null_count:  # it has no code, and is asked for as None, last
        known.append(None)
    of_each = np.array([_is_end(window_fn, value) for value in known], np.bool_)
    codes = coded.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
    ends: Bools = of_each[codes]
    return ends


def _is_end(window_fn: Sessions, value: object) -> bool:
    try:
        return window_fn.is_end(value)
    except (WindowError, UserFunctionError):
        raise
    except USER_RAISED as cause:
        # The reference machine then finds for which elements it raises.
        raise WindowError(f"{window_fn} raised {safe_repr(cause)}") from cause


def fold_of_part(part: Part, values: Mapping[str, pa.DataType]) -> Fold:
    """The fold of an aggregate over the plan's values, saved in the columns that it has.

    A fold whose columns are not those in which the plan saves the aggregate is not used: the
    combine function is then called window by window.

    Raises:
        UnsupportedError: Its function evicts elements.
    """
    if part.fn.evicts:
        raise UnsupportedError(
            f"aggregate {part.name!r}: {part.fn} evicts elements from each pane, key by key"
        )
    if part.read is not None:
        return _ReadObjects(part)
    dtypes = list(values.values())
    fold = fold_of(part.fn, [dtypes[position] for position in _positions(part)], part.columns)
    if fold.types() != list(part.columns.types().values()):
        return Objects(part.fn, part.columns)
    return fold


class _ReadObjects(Objects):
    """Any combine function over values without an Arrow type."""

    def __init__(self, part: Part) -> None:
        super().__init__(part.fn, part.columns)
        self._part = part

    def values_of(self, columns: Sequence[pa.Array]) -> Values:
        assert self._part.read is not None, "else they are read as they are"
        (column,) = columns
        return Values.of_objects([*self._part.read(column.to_pylist())])


def inputs_of_part(part: Part, fold: Fold, table: pa.Table) -> Values | None:
    """What the fold is given of rows that have the plan's values as ``value_<name>``, in order."""
    columns = [name for name in table.column_names if name.startswith("value_")]
    return fold.values_of(
        [one_chunk(table.column(columns[position])) for position in _positions(part)]
    )


def arrivals_of(plan: Plan, folds: Sequence[Fold], table: pa.Table, key: Ints) -> ArrivingBundle:
    """What arrives, see `beamlike.runtime.envelope`, for the columnar machine.

    Args:
        folds: Those of its parts.
        table: Rows, or elements that were combined before, in order of arrival.
        key: The number of each row's key.
    """
    if is_lifted(table):
        return _lifted_arrivals_of(plan, folds, table, key)
    start = end = None
    if "start" in table.column_names:
        start, end = (integers(table.column(name)) for name in ("start", "end"))
    values = tuple(
        inputs_of_part(part, fold, table) for part, fold in zip(plan.parts, folds, strict=True)
    )
    is_end = ends_in(plan, table, start)
    return Arrivals(key, table.column("ts").to_numpy(), values, start, end, is_end)


def _lifted_arrivals_of(
    plan: Plan, folds: Sequence[Fold], table: pa.Table, key: Ints
) -> LiftedArrivals:
    start, end, timestamp, count, judged, merged = (
        table.column(name).to_numpy()
        for name in ("start", "end", "ts", "count", "judged", "merged")
    )
    saved = (one_chunk(table.column(name)) for name in plan.operation.accumulator.types())
    accumulators = tuple(fold.load([next(saved) for _ in fold.types()]) for fold in folds)
    return LiftedArrivals(key, start, end, timestamp, count, judged, merged, accumulators)


def _positions(part: Part) -> tuple[int, ...]:
    path = part.input
    return path if isinstance(path, tuple) else () if path is None else (path,)
