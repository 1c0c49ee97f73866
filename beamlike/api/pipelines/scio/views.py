"""What can be looked into that Beam has no view for."""

from typing import Any, TypeVar

from beamlike.api.pipelines.views import AsSideInput

__all__ = ["AsSet"]

T = TypeVar("T")


class AsSet(AsSideInput[T]):
    """The elements of a collection in a window as a set.

    Source: Scio ``asSetSingletonSideInput``.
    """

    def seen(self, items: list[Any], label: str) -> frozenset[Any]:
        return frozenset(items)
