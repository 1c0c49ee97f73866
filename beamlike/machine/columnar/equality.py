"""Whether values of panes are equal, as in `beamlike.machine.equality`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import Bools, Lists
from beamlike.machine.columnar.folds import Values
from beamlike.machine.equality import is_same


def same_values(one: Sequence[Values], other: Sequence[Values], count: int) -> Bools:
    """Row by row, whether all columns have the same value. Null is the same as null."""
    same = np.ones(count, np.bool_)
    for here, there in zip(one, other, strict=True):
        equal = _equal(here.data, there.data)
        if here.present is not None and there.present is not None:
            equal = (equal | ~here.present) & (here.present == there.present)
        same &= equal
    return same


def _equal(one: Any, other: Any) -> Bools:
    if isinstance(one, Lists):
        return _equal_lists(one, other)
    if isinstance(one, pa.Array):
        if pa.types.is_nested(one.type):
            return _one_by_one(one.to_pylist(), other.to_pylist())
        both_null = pc.and_(one.is_null(), other.is_null())
        equal = pc.if_else(both_null, True, pc.fill_null(pc.equal(one, other), False))
        if pa.types.is_floating(one.type):
            both_nan = pc.and_(pc.is_nan(one), pc.is_nan(other))
            equal = pc.or_(equal, pc.fill_null(both_nan, False))
        return np.asarray(equal)
    if one.dtype == object:
        return _one_by_one(one, other)
    equal_numbers: Bools = (one == other) | ((one != one) & (other != other))
    return equal_numbers


def _equal_lists(one: Lists, other: Lists) -> Bools:
    same: Bools = one.lengths == other.lengths
    rows = np.nonzero(same & (one.lengths > 0))[0]
    if len(rows):
        here, there = one.take(rows), other.take(rows)
        same[rows] = np.logical_and.reduceat(_equal(here.items, there.items), here.first)
    return same


def _one_by_one(one: Sequence[Any], other: Sequence[Any]) -> Bools:
    pairs = zip(one, other, strict=True)
    return np.fromiter((is_same(a, b) for a, b in pairs), np.bool_, len(one))
