"""Several collections of pairs joined by key in one grouping.

Source: Scio ``MultiJoin``.
"""

from collections.abc import Container, Sequence
from typing import Any, TypeVar

from beamlike.api.pipelines.scio.call import Call
from beamlike.api.pipelines.scio.collection import SCollection
from beamlike.api.pipelines.scio.joins import joining

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
        return _joined("MultiJoin", first, rights, optional=())

    @staticmethod
    def left(first: SCollection[tuple[K, Any]], *rights: SCollection[tuple[K, Any]]) -> Joined[K]:
        """Values as of `join`; what the others lack for a value of the first is None."""
        return _joined("MultiJoin.left", first, rights, range(1, 1 + len(rights)))

    @staticmethod
    def outer(first: SCollection[tuple[K, Any]], *rights: SCollection[tuple[K, Any]]) -> Joined[K]:
        """Values as of `join`; what any of them lacks is None."""
        return _joined("MultiJoin.outer", first, rights, range(1 + len(rights)))


def _joined(
    name: str, first: SCollection[tuple[K, Any]], rights: Sequence[Any], optional: Container[int]
) -> Joined[K]:
    joined: Joined[K] = joining(Call(first, name), rights, optional, in_turn=True)
    return joined
