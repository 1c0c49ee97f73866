"""Values of Python in typed columns, and the accumulators of combine functions over them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from beamlike.model import combine
from beamlike.model.combine import CombineFn
from beamlike.runtime.columns import (
    AccumulatorColumns,
    ListColumn,
    MeanColumns,
    PlainColumn,
    StampedColumns,
)

ARROW: Final[Mapping[type, pa.DataType]] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
}
"""Types whose values come back from Arrow as they were."""
_NUMBER: Final = ARROW[int]


def as_column(values: Sequence[Any]) -> pa.Array | None:
    """The values as an Arrow array, if they are all of one plain type and fit; else None."""
    kinds = set(map(type, values))
    kind = ARROW.get(kinds.pop()) if len(kinds) == 1 else None
    if kind is None:
        return None
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError, UnicodeError):  # too large, or no Unicode
        return None


def columns_of(fn: CombineFn, kind: pa.DataType) -> tuple[AccumulatorColumns, pa.DataType] | None:
    """How a function's accumulators are saved over values of a type, and the type of its results.

    None if it is a function of a user's own, or is not exact over this type.
    """
    if pa.types.is_boolean(kind):
        return None
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    match fn:
        case combine.Count():
            return PlainColumn(_NUMBER), _NUMBER
        case combine.Collect():
            return ListColumn(kind), pa.list_(kind)
        case combine.CollectSet():
            return ListColumn(kind), pa.list_(kind)
        case combine.CountDistinct():
            return ListColumn(kind), _NUMBER
        case combine.Sum() if is_number:
            return PlainColumn(kind), kind
        case combine.Mean() if is_number:
            return MeanColumns(), pa.float64()
        case combine.Min() | combine.Max():
            return PlainColumn(kind), kind
        case combine.First() | combine.Latest():
            return StampedColumns(kind), kind
    return None
