"""Windows that hold all keys: what Apex asks of a window as a whole, in one group.

An operator of Apex keeps one trigger state for each window, also where elements have keys: it
counts the elements of all keys together, keeps one rhythm for all of them, and a firing is of every
key that the window has. The model keeps such state for each key and window. So where it matters,
all elements are one group here, with the key as a part of the element, and a pane has the value of
each key, to be spread into rows.

The price: all keys of a window are in one accumulator. It is copied for each bundle, added to and
emitted as a whole, and on Spark one shard has it all. Sessions are of one key each, so they never
need it; and `WindowedOperator.holds_all_keys` is true where the result would be another without it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from beamlike.model.combine import CombineFn


@attrs.frozen
class PerKey(CombineFn):
    """A combine function for the elements of each key: a mapping from keys to values, in the order
    in which the keys came first. Empty pane: the empty mapping.

    Elements are pairs of a key, which can be hashed, and a value.

    >>> from beamlike.model.combine import Sum
    >>> sums = PerKey(Sum())
    >>> sums.extract(sums.add(sums.create(), [("a", 1), ("b", 2), ("a", 3)], [0, 0, 0]))
    {'a': 4, 'b': 2}
    """

    of: CombineFn

    def create(self) -> Mapping[Any, Any]:
        return {}

    def add(
        self, accumulator: Mapping[Any, Any], values: Sequence[Any], timestamps: Sequence[int]
    ) -> Mapping[Any, Any]:
        of_key: dict[Any, tuple[list[Any], list[int]]] = {}
        for (key, value), at in zip(values, timestamps, strict=True):
            added = of_key.setdefault(key, ([], []))
            added[0].append(value)
            added[1].append(at)
        grown = dict(accumulator)
        for key, (added_values, added_times) in of_key.items():
            before = grown[key] if key in grown else self.of.create()
            grown[key] = self.of.add(before, added_values, added_times)
        return grown

    def merge(self, first: Mapping[Any, Any], second: Mapping[Any, Any]) -> Mapping[Any, Any]:
        merged = dict(first)
        for key, accumulator in second.items():
            merged[key] = self.of.merge(merged[key], accumulator) if key in merged else accumulator
        return merged

    def compact(self, accumulator: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return {key: self.of.compact(part) for key, part in accumulator.items()}

    def extract(self, accumulator: Mapping[Any, Any]) -> dict[Any, Any]:
        return {key: self.of.extract(part) for key, part in accumulator.items()}
