"""What can be looked into that Beam Python has no view for."""

from typing import Any, TypeVar

from beamlike.api.pipelines.views import AsDict, AsSideInput, AsSingleton

T = TypeVar("T")


class AsSet(AsSideInput[T]):
    """The elements of a collection in a window as a set.

    Source: Scio ``asSetSingletonSideInput``.
    """

    def seen(self, items: list[Any], label: str) -> frozenset[Any]:
        return frozenset(items)


class AsOne(AsSingleton[T]):
    """The one element of a collection in each window, which must be there.

    Source: Beam Java ``View.asSingleton``.
    """

    demands = True


class AsUniqueDict(AsDict[T]):
    """The pairs of a collection in a window as a mapping. A key may come once only.

    Source: Beam Java ``View.asMap``.
    """

    demands = True
