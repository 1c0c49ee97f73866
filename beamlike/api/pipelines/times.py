"""Transforms that give elements their event time, and those that show it.

Source: Beam Java ``WithTimestamps`` and ``Reify``, Beam Python ``util.Reify``.
"""

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from beamlike.api.pipelines.collection import PCollection
from beamlike.api.pipelines.dofn import DoFn, TimestampedValue
from beamlike.api.pipelines.elements import ParDo
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.variables import K, T
from beamlike.errors import PipelineError
from beamlike.model.bundle import Windowed
from beamlike.model.panes import PaneInfo
from beamlike.model.time import DurationLike, InstantLike, duration_ms
from beamlike.model.windows import Window

__all__ = ["Reify", "WithTimestamps"]


class WithTimestamps(PTransform[Any, Any]):
    """Each element at the event time that a function says. It stays in its windows.

    Args:
        fn: From an element to an instant.
        allowed_timestamp_skew: How far before the time that it has now an element may be moved.
            The watermark may have passed there, and then the element is late.

    Raises:
        PipelineError: It is no function; at run: an element is moved too far back.
        TimeError: The skew cannot be read.

    Source: Beam Java ``WithTimestamps``.
    """

    def __init__(
        self, fn: Callable[[Any], InstantLike], allowed_timestamp_skew: DurationLike = 0
    ) -> None:
        if not callable(fn):
            raise PipelineError(f"WithTimestamps needs a function, got {fn!r}")
        self.fn = fn
        self.skew = duration_ms(allowed_timestamp_skew, "WithTimestamps allowed_timestamp_skew")

    def default_label(self) -> str:
        return f"WithTimestamps({function_label(self.fn)})"

    def expand(self, given: PCollection[T]) -> PCollection[T]:
        return given | "AddTimestamps" >> ParDo(_AddTimestamps(self.fn, self.skew))


class _AddTimestamps(DoFn[Any, Any]):
    def __init__(self, fn: Callable[[Any], InstantLike], skew: int) -> None:
        self.fn, self.allowed_timestamp_skew = fn, skew

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        yield TimestampedValue(element, self.fn(element))


class Reify:
    """Transforms that make event time and windows a part of the elements. Source: Beam ``Reify``.

    Windows are those that the elements are in: an element of several comes out once for each.
    """

    class Timestamp(PTransform[Any, Any]):
        """Each element as a `TimestampedValue`. Source: Beam Java ``Reify.timestamps``."""

        def expand(self, given: PCollection[T]) -> PCollection[TimestampedValue[T]]:
            return given | "AddTimestampInfo" >> ParDo(_Shown(_with_timestamp))

    class TimestampInValue(PTransform[Any, Any]):
        """Each pair of key and value with a `TimestampedValue` in place of the value.

        Source: Beam Java ``Reify.timestampsInValue``.
        """

        def expand(
            self, given: PCollection[tuple[K, T]]
        ) -> PCollection[tuple[K, TimestampedValue[T]]]:
            return given | "AddTimestampInfo" >> ParDo(_Shown(_with_timestamp_inside))

    class Window(PTransform[Any, Any]):
        """Each element with its event time (ms), its window and its pane.

        Source: Beam Java ``Reify.windows``; Beam Python leaves out the pane.
        """

        def expand(self, given: PCollection[T]) -> PCollection[tuple[T, int, Window, PaneInfo]]:
            return given | "AddWindowInfo" >> ParDo(_InWindow(_with_window))

    class WindowInValue(PTransform[Any, Any]):
        """Each pair with its value, event time (ms), window and pane in place of the value.

        Source: Beam Java ``Reify.windowsInValue``; Beam Python leaves out the pane.
        """

        def expand(
            self, given: PCollection[tuple[K, T]]
        ) -> PCollection[tuple[K, tuple[T, int, Window, PaneInfo]]]:
            return given | "AddWindowInfo" >> ParDo(_InWindow(_with_window_inside))


class _Shown(DoFn[Any, Any]):
    def __init__(self, fn: Callable[[Windowed], Any]) -> None:
        self.fn = fn

    def process(
        self, element: Any, windowed: Windowed = DoFn.WindowedValueParam
    ) -> Iterable[Windowed]:
        # In its own place: a value with a timestamp would be put at that time and taken out.
        yield attrs.evolve(windowed, value=self.fn(windowed))


class _InWindow(_Shown):
    def process(
        self,
        element: Any,
        windowed: Windowed = DoFn.WindowedValueParam,
        window: Window = DoFn.WindowParam,
    ) -> Iterable[Windowed]:
        return super().process(element, windowed)


def _with_timestamp(it: Windowed) -> TimestampedValue[Any]:
    return TimestampedValue(it.value, it.timestamp)


def _with_timestamp_inside(it: Windowed) -> tuple[Any, TimestampedValue[Any]]:
    key, value = it.value
    return key, TimestampedValue(value, it.timestamp)


def _with_window(it: Windowed) -> tuple[Any, int, Window, PaneInfo]:
    return it.value, it.timestamp, it.windows[0], it.pane


def _with_window_inside(it: Windowed) -> tuple[Any, tuple[Any, int, Window, PaneInfo]]:
    key, value = it.value
    return key, (value, it.timestamp, it.windows[0], it.pane)
