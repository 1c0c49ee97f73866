"""What the verbs do that plain functions cannot: functions of time, window and pane."""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from beamlike.api.pipelines.dofn import DoFn, TaggedOutput
from beamlike.errors import TransformError
from beamlike.model.bundle import Windowed
from beamlike.model.panes import PaneInfo
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window

T = TypeVar("T")


class FailOnEmpty(DoFn[Any, Any]):
    """The one value of each pane, which a combine function put into a tuple.

    Args:
        label: The full name of the verb.
        instead: The verbs that have a value for nothing.
        keyed: Whether elements are pairs of a key and that tuple, or the tuple alone.
    """

    def __init__(self, label: str, instead: str, *, keyed: bool) -> None:
        self.label, self.instead, self.keyed = label, instead, keyed

    def process(
        self,
        element: Any,
        window: Window = DoFn.WindowParam,
        pane: PaneInfo = DoFn.PaneInfoParam,
    ) -> Iterable[Any]:
        key, found = element if self.keyed else (None, element)
        if not found:
            of_key = f"key {key!r} in " if self.keyed else ""
            raise TransformError(
                self.label,
                "AssertionError: Empty output in combine*/sum*: the pane has no elements, and "
                f"nothing can be made of them without a zero; use {self.instead}, or "
                'WindowOptions(on_time_behavior="fire_if_non_empty"),',
                f"{of_key}window {window}, pane {pane.index} ({pane.timing.value})",
            )
        return [(key, found[0]) if self.keyed else found[0]]


class Catching(DoFn[Any, Any]):
    """What a function lists, and under a tag the elements for which it raised an exception."""

    FAILED: Final = "failed"

    def __init__(self, fn: Callable[[Any], Iterable[Any] | None]) -> None:
        self.fn = fn

    def process(self, element: Any) -> list[Any]:
        try:
            # All of it: a generator raises while it is gone through.
            return list(self.fn(element) or ())
        except Exception as error:
            return [TaggedOutput(self.FAILED, (element, error))]


class Batching(DoFn[T, list[T]]):
    """Elements in lists of one size, in their windows, within each bundle.

    Args:
        weight: How much is enough for a list.
        cost: How much an element counts.
        max_live_windows: With more windows than that, the fullest list comes out early.
    """

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
