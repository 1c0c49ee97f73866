"""Several collections of pairs joined by key in one grouping.

Source: Scio ``MultiJoin``.
"""

import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

from beamlike.api.pipelines.scio.call import Call
from beamlike.api.pipelines.scio.collection import SCollection

K = TypeVar("K")
Joined = SCollection[tuple[K, tuple[Any, ...]]]


class MultiJoin:
    """Joins of two collections or more: ``MultiJoin.left(one, other, third)``.

    Elements become ``(key, (value of one, value of other, value of third))``.
    """

    @staticmethod
    def cogroup(
        first: SCollection[tuple[K, Any]], *rights: SCollection[tuple[K, Any]]
    ) -> SCollection[tuple[K, tuple[list[Any], ...]]]:
        """Each key with the values that each collection has."""
        return first.cogroup(*rights)

    @staticmethod
    def join(first: SCollection[tuple[K, Any]], *rights: SCollection[tuple[K, Any]]) -> Joined[K]:
        """The values of all for a key, one of each. Source: Scio ``MultiJoin.apply``."""
        return _joined("MultiJoin", first, rights, needed=1 + len(rights))

    @staticmethod
    def left(first: SCollection[tuple[K, Any]], *rights: SCollection[tuple[K, Any]]) -> Joined[K]:
        """Values as of `join`; what the others lack for a value of the first is None."""
        return _joined("MultiJoin.left", first, rights, needed=1)

    @staticmethod
    def outer(first: SCollection[tuple[K, Any]], *rights: SCollection[tuple[K, Any]]) -> Joined[K]:
        """Values as of `join`; what any of them lacks is None."""
        return _joined("MultiJoin.outer", first, rights, needed=0)


def _joined(
    name: str, first: SCollection[tuple[K, Any]], rights: Sequence[Any], needed: int
) -> Joined[K]:
    """The values of a key, one of each collection; so many of the first ones must have some."""

    def pairs(group: tuple[Any, tuple[list[Any], ...]]) -> list[Any]:
        key, sides = group
        filled = [values or [None] for values in sides[needed:]]
        return [(key, values) for values in itertools.product(*sides[:needed], *filled)]

    call = Call(first, name)
    joined: Joined[K] = call.composed(
        lambda pairs_of_first: pairs_of_first.cogroup(*rights).flat_map(pairs)
    )
    return joined
