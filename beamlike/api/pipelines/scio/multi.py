"""Several collections of pairs joined by key in one grouping.

Source: Scio ``MultiJoin``.
"""

import itertools
from typing import Any, TypeVar

from beamlike.api.pipelines.scio.call import Call
from beamlike.api.pipelines.scio.collection import SCollection
from beamlike.api.pipelines.scio.joins import combinations, or_none

K = TypeVar("K")
Joined = SCollection[tuple[K, tuple[Any, ...]]]


class MultiJoin:
    """Joins of two collections or more: ``MultiJoin.left(one, other, third)``.

    Elements become ``(key, (value of one, value of other, value of third))``.
    """

    @staticmethod
    def cogroup(
        first: SCollection[tuple[K, Any]], *others: SCollection[tuple[K, Any]]
    ) -> SCollection[tuple[K, tuple[list[Any], ...]]]:
        """Each key with the values that each collection has."""
        return first.cogroup(*others)

    @staticmethod
    def join(first: SCollection[tuple[K, Any]], *others: SCollection[tuple[K, Any]]) -> Joined[K]:
        """The values of all for a key, one of each. Source: Scio ``MultiJoin.apply``."""
        call = Call(first, "MultiJoin")
        return combinations(call, others, lambda sides: itertools.product(*sides))

    @staticmethod
    def left(first: SCollection[tuple[K, Any]], *others: SCollection[tuple[K, Any]]) -> Joined[K]:
        """Values as of `join`; what the others lack for a value of the first is None."""
        call = Call(first, "MultiJoin.left")
        return combinations(
            call, others, lambda sides: itertools.product(sides[0], *or_none(sides[1:]))
        )

    @staticmethod
    def outer(first: SCollection[tuple[K, Any]], *others: SCollection[tuple[K, Any]]) -> Joined[K]:
        """Values as of `join`; what any of them lacks is None."""
        call = Call(first, "MultiJoin.outer")
        return combinations(call, others, lambda sides: itertools.product(*or_none(sides)))
