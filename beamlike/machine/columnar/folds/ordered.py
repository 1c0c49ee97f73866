"""Lists of all values or of each value once, and the first and last element by event time."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import (
    NOTHING,
    Ints,
    Lists,
    choose,
    least,
    lengths_of,
    nothing,
    take,
)
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Fold,
    Values,
    array_of,
    filled,
    list_array,
    numbers_of,
    numpy_type,
    present_in,
)


class CollectFold(Fold):
    """All values as lists over an Arrow array."""

    def __init__(self, dtype: pa.DataType, keep_nulls: bool) -> None:
        self.dtype = dtype
        self.keep_nulls = keep_nulls

    def types(self) -> list[pa.DataType]:
        return [pa.list_(self.dtype)]

    def create(self, count: int) -> Accumulators:
        return (Lists.empty(count, pa.nulls(0, self.dtype)),)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        items = elements.values.data
        present = None if self.keep_nulls else present_in(items)
        if present is None:
            return (Lists(elements.counts, items),)
        return (Lists(elements.present_counts(), items.filter(pa.array(present))),)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        held: Lists = earlier[0]
        return (held.followed_by(later[0]) if len(held.items) else later[0],)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        lists: Lists = parts[0]
        return (lists.merged(first),)

    def values_of(self, columns: Sequence[pa.Array]) -> Values:
        return Values(columns[0])

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        return [list_array(accumulators[0], pa.list_(self.dtype))]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        offsets = numbers_of(columns[0].offsets).astype(np.int64)
        return (Lists(np.diff(offsets), columns[0].flatten()),)


class CollectSetFold(CollectFold):
    """The different values as lists over an Arrow array, each list in order."""

    def __init__(self, dtype: pa.DataType) -> None:
        super().__init__(dtype, keep_nulls=False)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return _each_once(*super().of(elements))

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        return _each_once(*super().merge(earlier, later))

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return _each_once(*super().merged(parts, first))


class CountDistinctFold(CollectSetFold):
    """How many different values."""

    def extract(self, accumulators: Accumulators) -> Values:
        return Values(accumulators[0].lengths)


def _each_once(lists: Lists) -> Accumulators:
    if not len(lists.items):
        return (lists,)
    encoded = _one_of_each(lists.items).dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)  # NaN is the last
    places = np.empty(len(order), np.int64)
    places[order.to_numpy()] = np.arange(len(order))
    cells = np.unique(lists.owner * len(order) + places[encoded.indices.to_numpy()])
    owners, places = np.divmod(cells, len(order))
    items = encoded.dictionary.take(order).take(pa.array(places))
    return (Lists(np.bincount(owners, minlength=len(lists)), items),)


def _one_of_each(items: pa.Array) -> pa.Array:
    """The values with one form of zero and of NaN: Arrow's dictionaries tell values apart by their
    bits."""
    if not pa.types.is_floating(items.type):
        return items
    numbers = numbers_of(items) + 0
    numbers[np.isnan(numbers)] = np.nan
    return array_of(numbers, None, items.type)


class StampedFold(Fold):
    """The first or the last element by event time: its value, and the time; `NOTHING`: no element.

    Among elements of equal times it is the first or the last to arrive.
    """

    def __init__(self, dtype: pa.DataType, keep_nulls: bool, last: bool) -> None:
        self.dtype = dtype
        self.keep_nulls = keep_nulls
        self.last = last
        self.number = numpy_type(dtype)

    def types(self) -> list[pa.DataType]:
        return [self.dtype, pa.int64()]

    def create(self, count: int) -> Accumulators:
        if self.number is None:
            return Values(pa.nulls(count, self.dtype)), nothing(count)
        return Values(np.zeros(count, self.number), np.zeros(count, np.bool_)), nothing(count)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        present = None if self.keep_nulls else elements.values.validity
        timestamps = filled(elements.timestamps, present, NOTHING)
        return self._chosen(elements.values, timestamps, elements.first, elements.counts)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        first, second = earlier[1], later[1]
        if self.last:
            takes_first = first > second
        else:
            takes_first = (second == NOTHING) | ((first != NOTHING) & (first <= second))
        if not takes_first.any():
            return later
        return choose(takes_first, earlier, later)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        values, timestamps = parts
        return self._chosen(values, timestamps, first, lengths_of(first, len(timestamps)))

    def extract(self, accumulators: Accumulators) -> Values:
        return accumulators[0]  # type: ignore[no-any-return]

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        values, timestamps = accumulators
        data = values.data
        if self.number is not None:
            data = array_of(data, values.present, self.dtype)
        return [data, array_of(timestamps, timestamps != NOTHING, pa.int64())]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        value, time = columns
        timestamps = filled(numbers_of(time), present_in(time), NOTHING)
        if self.number is None:
            return Values(value), timestamps
        present = present_in(value)
        if present is None:
            present = np.ones(len(value), np.bool_)
        return Values(numbers_of(value), present), timestamps

    def _chosen(self, values: Values, timestamps: Ints, first: Ints, counts: Ints) -> Accumulators:
        rows = np.arange(len(timestamps))
        if self.last:
            best = np.maximum.reduceat(timestamps, first)
            hits = np.where(timestamps == np.repeat(best, counts), rows, -1)
            row = np.maximum.reduceat(hits, first)
        else:
            best = least(timestamps, first)
            hits = np.where(timestamps == np.repeat(best, counts), rows, len(rows))
            row = np.minimum.reduceat(hits, first)
        # Whatever has no time is null.
        if self.number is None:
            return take(values, row), best
        present = np.ones(len(row), np.bool_) if values.present is None else values.present[row]
        return Values(values.data[row], present), best
