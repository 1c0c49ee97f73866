"""Combine functions out of plain functions, as Scio makes them."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import attrs

from beamlike.api.pipelines.dofn import DoFn, TaggedOutput
from beamlike.errors import CombineError, TransformError
from beamlike.model.bundle import Windowed
from beamlike.model.combine import ApproxDistinct, CombineFn
from beamlike.model.combine.base import Listing
from beamlike.model.copies import own_copy
from beamlike.model.panes import PaneInfo
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window


@attrs.frozen
class Combined(CombineFn):
    """The elements of a pane made into one value, starting with the first of them.

    The result is a tuple of that value; of an empty pane it is the empty tuple.

    Args:
        first: From the first element to a combined value.
        more: A combined value and another element.
        both: Two combined values.

    Source: Scio ``combineByKey``, ``reduceByKey``.
    """

    calls_users = True

    first: Callable[[Any], Any]
    more: Callable[[Any, Any], Any]
    both: Callable[[Any, Any], Any]

    def create(self) -> tuple[Any, ...]:
        return ()

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        values = list(values)
        if not values:
            return accumulator
        combined = accumulator[0] if accumulator else self.first(values.pop(0))
        for value in values:
            combined = self.more(combined, value)
        return (combined,)

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        if not first or not second:
            return first or second
        return (self.both(first[0], second[0]),)


@attrs.frozen
class Aggregated(CombineFn):
    """The elements of a pane made into one value, starting with a zero. Empty pane: the zero.

    Args:
        zero: A value that changes nothing when it is combined with another.
        more: An aggregate and another element.
        both: Two aggregates.

    Source: Scio ``aggregateByKey``, ``foldByKey``.
    """

    calls_users = True

    zero: Any
    more: Callable[[Any, Any], Any]
    both: Callable[[Any, Any], Any]

    def create(self) -> Any:
        return own_copy(self.zero)

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        for value in values:
            accumulator = self.more(accumulator, value)
        return accumulator

    def merge(self, first: Any, second: Any) -> Any:
        return self.both(first, second)


@attrs.frozen
class FirstOf(Listing):
    """The first ``n`` elements to arrive, as a list. Empty pane: the empty list.

    Source: Beam ``Sample.any``, which takes any.
    """

    n: int

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        return (*accumulator, *values)[: self.n]

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return (first + second)[: self.n]


def distinct_within(error: float) -> ApproxDistinct:
    """What counts different values so well that 95 of 100 estimates are not further off.

    Args:
        error: The error; or a whole number, the size of a sample that is as good in Beam.

    Raises:
        CombineError: It is neither.

    Source: Beam ``ApproximateUnique``, whose estimates from ``n`` are off by ``2 / sqrt(n)``.
    """
    is_number = isinstance(error, int | float) and not isinstance(error, bool)
    of_sample = isinstance(error, int)
    if not is_number or not (error >= 16 if of_sample else 0.01 <= error <= 0.5):
        raise CombineError(
            "the error must be a number from 0.01 to 0.5, or a whole number of 16 or more for a "
            f"sample of that size, got {error!r}"
        )
    # The standard error of the sketch is 1.04 / sqrt(2 ** precision), and two of them are meant.
    needed = 1.04**2 * error if of_sample else (2 * 1.04 / error) ** 2
    return ApproxDistinct(min(max(math.ceil(math.log2(needed)), 7), 21))


T = TypeVar("T")


def fail_on_empty(label: str, instead: str, *, keyed: bool) -> Callable[..., Any]:
    """A function of the tuple that a combine function makes of each pane, or of each key and pane:
    the one value in it. An error names the verb, and those that have a value for nothing."""

    def present(
        element: Any, window: Window = DoFn.WindowParam, pane: PaneInfo = DoFn.PaneInfoParam
    ) -> Any:
        key, values = element if keyed else (None, element)
        if not values:
            of_key = f"key {key!r} in " if keyed else ""
            raise TransformError(
                label,
                "AssertionError: Empty output in combine*/sum*: the pane has no elements, and "
                f"nothing can be made of them without a zero; use {instead}, or "
                'WindowOptions(on_time_behavior="fire_if_non_empty"),',
                f"{of_key}window {window}, pane {pane.index} ({pane.timing.value})",
            )
        return (key, values[0]) if keyed else values[0]

    return present


FAILED: Final = "failed"
"""The tag of the elements for which a function raised."""


def catching(fn: Callable[[Any], Iterable[Any] | None]) -> Callable[[Any], list[Any]]:
    """A function that lists what another one does, and under a tag the elements for which that
    raised an exception."""

    def caught(element: Any) -> list[Any]:
        try:
            # All of it: a generator raises while it is gone through.
            return list(fn(element) or ())
        except Exception as error:
            return [TaggedOutput(FAILED, (element, error))]

    return caught


class Batching(DoFn[T, list[T]]):
    """Elements in lists of one size, in their windows, within each bundle. With more than
    ``max_live_windows`` windows, the fullest list comes out early."""

    # No watermark moves within a bundle, so whatever window a list is in, it is not late by it.
    allowed_timestamp_skew = MAX_TIMESTAMP - MIN_TIMESTAMP

    def __init__(self, weight: int, cost: Callable[[T], int], max_live_windows: int) -> None:
        self.weight, self.cost, self.max_live_windows = weight, cost, max_live_windows
        self.kept: dict[Window, tuple[int, list[T]]] = {}

    def start_bundle(self) -> None:
        self.kept = {}

    def process(self, element: T, window: Window = DoFn.WindowParam) -> Any:
        weight, elements = self.kept.pop(window, (0, []))
        weight += self.cost(element)
        elements.append(element)
        self.kept[window] = weight, elements
        if weight >= self.weight:
            yield self._batch(window)
        elif len(self.kept) > self.max_live_windows:
            yield self._batch(max(self.kept, key=lambda window: self.kept[window][0]))

    def finish_bundle(self) -> list[Windowed]:
        return [self._batch(window) for window in list(self.kept)]

    def _batch(self, window: Window) -> Windowed:
        _, elements = self.kept.pop(window)
        return Windowed(elements, window.max_timestamp, (window,))
