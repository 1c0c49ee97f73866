"""Verbs that the application has beside Scio's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

from beamlike import AfterCount, Repeatedly
from beamlike.scio import ScioContext, SCollection, SideOutput, SideOutputContext, WindowOptions

L = TypeVar("L")
R = TypeVar("R")
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Left(Generic[L]):
    value: L


@dataclass(frozen=True)
class Right(Generic[R]):
    value: R


Either = Left[L] | Right[R]


class SumByKey(Protocol):
    """Values that know which of them belong together, and what their sum is."""

    @property
    def key(self) -> str: ...

    def __add__(self, other: Self) -> Self: ...


S = TypeVar("S", bound=SumByKey)

GLOBAL_WINDOW_OPTIONS = WindowOptions(
    trigger=Repeatedly(AfterCount(1)), accumulation_mode="discarding"
)


def union_in_global_window(first: SCollection[T], *scollection: SCollection[T]) -> SCollection[T]:
    each, *rest = [it.with_global_window(GLOBAL_WINDOW_OPTIONS) for it in (first, *scollection)]
    return each.union(*rest)


def context_union_in_global_window(
    sc: ScioContext, name: str, first: SCollection[T], *scollection: SCollection[T]
) -> SCollection[T]:
    each = [it.with_global_window(GLOBAL_WINDOW_OPTIONS) for it in (first, *scollection)]
    return each[0].with_name(name).union(*each[1:])


def map_with_timestamp(collection: SCollection[T], fn: Callable[[T, int], U]) -> SCollection[U]:
    return collection.with_timestamp().map(lambda stamped: fn(*stamped))


def partition(either: SCollection[Any]) -> tuple[SCollection[Any], SCollection[Any]]:
    """What is right and what is left."""
    left_output = SideOutput[Any]("left")

    def rights(it: Any, context: SideOutputContext) -> list[Any]:
        if isinstance(it, Right):
            return [it.value]
        context.output(left_output, it.value)
        return []

    right, sides = either.with_side_outputs(left_output).flat_map(rights)
    return right, sides(left_output)


def sum_by_key_in_fixed_window(
    collection: SCollection[S], window_duration: str, window_options: WindowOptions | None = None
) -> SCollection[S]:
    return (
        collection.with_fixed_windows(window_duration, options=window_options)
        .key_by(lambda it: it.key)
        .sum_by_key()
        .values()
    )
