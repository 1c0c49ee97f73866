"""Aggregates of a plan as folds of the columnar machine."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.columnar.columns import Arrivals, LiftedArrivals
from beamlike.machine.columnar.folds import Fold, Objects, Values, fold_of
from beamlike.machine.columnar.folds.buffers import one_chunk
from beamlike.model import combine
from beamlike.model.combine import corrected, ranked, sql
from beamlike.runtime.end_events import ends_in
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.store.column_state import whole

_BUILT_IN = frozenset(
    (
        *(combine.Count, combine.CountValues, combine.Sum, combine.Mean, combine.Min, combine.Max),
        *(combine.Collect, combine.CollectByTimestamp, combine.First, combine.Latest),
        *(combine.CountDistinct, combine.CollectSet, sql.SqlSum, sql.DecimalMean),
        *(combine.Top, combine.Sample, ranked.RankedBy, ranked.ExtremeBy),
        *(combine.ApproxQuantiles, combine.ApproxDistinct),
        *(corrected.NetCount, corrected.NetCountValues, corrected.NetSum),
    )
)


def fold_of_part(part: Part, values: Mapping[str, pa.DataType]) -> Fold:
    """The fold of an aggregate over the plan's values, saved in the columns that it has.

    Raises:
        UnsupportedError: Its function evicts elements.
    """
    if part.fn.evicts:
        raise UnsupportedError(
            f"aggregate {part.name!r}: {part.fn} evicts elements from each pane, key by key"
        )
    if part.read is not None:
        return _Reading(part)
    if type(part.fn) not in _BUILT_IN:
        return Objects(part.fn, part.columns)
    kinds = list(values.values())
    fold = fold_of(part.fn, [kinds[at] for at in _positions(part)], part.columns)
    if fold.types() != list(part.columns.types().values()):
        return Objects(part.fn, part.columns)
    return fold


class _Reading(Objects):
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
    return fold.values_of([one_chunk(table.column(columns[at])) for at in _positions(part)])


def arrivals_of(plan: Plan, folds: Sequence[Fold], table: pa.Table, key: Ints) -> Arrivals:
    """Rows, see `beamlike.runtime.arrivals`, for the columnar machine.

    Args:
        folds: Those of its parts.
        table: The rows, in order of arrival.
        key: The number of each row's key.
    """
    start = end = None
    if "start" in table.column_names:
        start, end = (whole(table.column(name)) for name in ("start", "end"))
    values = tuple(
        inputs_of_part(part, fold, table) for part, fold in zip(plan.parts, folds, strict=True)
    )
    is_end = ends_in(plan, table, start)
    return Arrivals(key, table.column("ts").to_numpy(), values, start, end, is_end)


def lifted_arrivals_of(
    plan: Plan, folds: Sequence[Fold], table: pa.Table, key: Ints
) -> LiftedArrivals:
    """Combined elements, see `beamlike.runtime.arrivals`, for the columnar machine.

    Args:
        folds: Those of its parts.
        table: The combined elements, in order of arrival.
        key: The number of each row's key.
    """
    start, end, timestamp, count, judged, merged = (
        table.column(name).to_numpy()
        for name in ("start", "end", "ts", "count", "judged", "merged")
    )
    saved = (one_chunk(table.column(name)) for name in plan.operation.accumulator.types())
    accumulators = tuple(fold.load([next(saved) for _ in fold.types()]) for fold in folds)
    return LiftedArrivals(key, start, end, timestamp, count, judged, merged, accumulators)


def _positions(part: Part) -> tuple[int, ...]:
    at = part.input
    return at if isinstance(at, tuple) else () if at is None else (at,)
