"""Each value once: which are different, and how many."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import Ints, Lists
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Values,
    array_of,
    numbers_of,
)
from beamlike.machine.columnar.folds.ordered import CollectFold


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
    """The same with every zero 0.0 and every NaN the same: to Arrow's dictionaries values are
    different whose bits are."""
    if not pa.types.is_floating(items.type):
        return items
    numbers = numbers_of(items) + 0
    numbers[np.isnan(numbers)] = np.nan
    return array_of(numbers, None, items.type)
