"""Several collections of pairs joined by key in one grouping.

Source: Scio ``MultiJoin``.
"""

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

from beamlike.api.pipelines.scio.collection import SCollection
from beamlike.api.pipelines.scio.steps import composed

K = TypeVar("K")

Sides = tuple[list[Any], ...]


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
    def join(
        first: SCollection[tuple[K, Any]], *others: SCollection[tuple[K, Any]]
    ) -> SCollection[tuple[K, tuple[Any, ...]]]:
        """The values of all for a key, one of each. Source: Scio ``MultiJoin.apply``."""
        return _joined("MultiJoin", first, others, lambda sides: sides)

    @staticmethod
    def left(
        first: SCollection[tuple[K, Any]], *others: SCollection[tuple[K, Any]]
    ) -> SCollection[tuple[K, tuple[Any, ...]]]:
        """As `join`; what the others lack for a value of the first is None."""
        return _joined(
            "MultiJoin.left", first, others, lambda sides: (sides[0], *_or_none(sides[1:]))
        )

    @staticmethod
    def outer(
        first: SCollection[tuple[K, Any]], *others: SCollection[tuple[K, Any]]
    ) -> SCollection[tuple[K, tuple[Any, ...]]]:
        """As `join`; what any of them lacks is None."""
        return _joined("MultiJoin.outer", first, others, _or_none)


def _or_none(sides: Sides) -> Sides:
    return tuple(values or [None] for values in sides)


def _joined(
    name: str, first: SCollection[Any], others: tuple[Any, ...], change: Callable[[Sides], Sides]
) -> SCollection[Any]:
    def pairs(found: tuple[Any, Sides]) -> list[tuple[Any, tuple[Any, ...]]]:
        key, sides = found
        return [(key, values) for values in itertools.product(*change(sides))]

    return composed(first, name, lambda given: given.cogroup(*others).flat_map(pairs))
