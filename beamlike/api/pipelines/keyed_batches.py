"""Values of a key in lists that go on from bundle to bundle.

Source: Beam Java ``GroupIntoBatches``, which Scio's ``batchByKey`` applies too.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import FlatMap
from beamlike.api.pipelines.groups import CombinePerKey, GroupByKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, rewindowed
from beamlike.api.pipelines.stateful import ApplyPerKey
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.windowing import Flatten, WindowInto
from beamlike.errors import PipelineError
from beamlike.model.bundle import Windowed
from beamlike.model.combine import Count
from beamlike.model.options import ClosingBehaviorLike
from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.triggers import AfterCount, Never, Repeatedly


class BatchByKey(PTransform[Any, Any]):
    """Pairs as lists: a key and so many of its values in a window.

    A list comes out with the pair that makes it full, and keeps that pair's pane. What is left
    comes out when the window expires: its end and the allowed lateness are over. Each list is at
    the earliest event time in it.

    Until a window expires, the watermark behind waits at its earliest pair; in Beam Java, at the
    first pair of its latest list. That makes a difference only to later windows that are shorter.

    Args:
        enough: How many values, or how much they cost, make a list full.
        cost: What a value costs; None to count them. A value that would make a list cost too much
            begins the next one.
        make_pairs: What the caller's users make pairs with, for the message.

    Raises:
        PipelineError: When it is applied: the windows merge.
    """

    def __init__(
        self,
        enough: int,
        cost: Callable[[Any], int] | None = None,
        *,
        make_pairs: str = "key_by(...)",
    ) -> None:
        self._cutting = _Cutting(enough, cost)
        self._make_pairs = make_pairs

    def expand(self, given: PCollection[Any]) -> PCollection[Any]:
        windowing = given.windowing
        if windowing.is_merging:
            raise PipelineError(
                f"{given.pipeline.label!r}: lists that go on cannot be kept in windows that merge, "
                f"and {windowing.window_fn} merges them; use FixedWindows, SlidingWindows, "
                "calendar windows or GlobalWindows"
            )

        def fired(trigger: Any, closing_behavior: ClosingBehaviorLike) -> WindowInto:
            return WindowInto(
                trigger=trigger,
                accumulation_mode="discarding",
                allowed_lateness=windowing.allowed_lateness,
                closing_behavior=closing_behavior,
                timestamp_combiner="earliest",
                on_time_behavior="fire_if_non_empty",
            )

        def as_given(collection: PCollection[Any]) -> PCollection[Any]:
            return rewindowed(collection, windowing)

        timed = given | "Timed" >> ParDo(_Timed(self._make_pairs))
        # A pane for each bundle, and an empty one when the window expires.
        each = timed | "EachBundle" >> fired(Repeatedly(AfterCount(1)), "fire_always")
        panes = each | "Group" >> GroupByKey() | "Last" >> ParDo(_WithLast())
        lists = panes | "Cut" >> ApplyPerKey(self._cutting) | "Place" >> ParDo(_Placed())
        # Nothing comes of this but that the watermark waits. What is dropped is dropped before.
        waiting = panes | "Hold" >> fired(Never(), "fire_if_non_empty")
        nothing = waiting | "Held" >> CombinePerKey(Count()) | "Nothing" >> FlatMap(_nothing)
        return (as_given(lists), as_given(nothing)) | "Flatten" >> Flatten()


class _Timed(DoFn[Any, Any]):
    def __init__(self, make_pairs: str) -> None:
        self._make_pairs = make_pairs

    def process(
        self,
        element: tuple[Any, Any],
        timestamp: int = DoFn.TimestampParam,
        pane: PaneInfo = DoFn.PaneInfoParam,
    ) -> Iterable[Any]:
        if not isinstance(element, tuple) or len(element) != 2:
            raise PipelineError(
                f"batches by key need pairs of key and value, and got {element!r}; make pairs "
                f"before it with {self._make_pairs}"
            )
        key, value = element
        yield key, (value, timestamp, pane)


class _WithLast(DoFn[Any, Any]):
    def process(
        self, element: tuple[Any, Any], pane: PaneInfo = DoFn.PaneInfoParam
    ) -> Iterable[Any]:
        key, arrived = element
        yield key, (arrived, pane.is_last)


@attrs.frozen
class _Cutting:
    """Keeps what does not fill a list: values with their times."""

    enough: int
    cost: Callable[[Any], int] | None

    def __call__(
        self, kept: Any, pane: tuple[Any, tuple[list[Any], bool]], timestamp: int
    ) -> tuple[Any, list[Any]]:
        key, (arrived, is_last) = pane
        costs, timed = (kept[0], [*kept[1]]) if kept else (0, [])
        lists = []
        for value, at, info in arrived:
            cost = 1 if self.cost is None else self.cost(value)
            if timed and costs + cost > self.enough:
                # In Beam the time of the value that no longer fits counts too.
                lists.append((key, timed, min(at, _earliest(timed)), info))
                costs, timed = 0, []
            costs += cost
            timed.append((value, at))
            if costs >= self.enough:
                lists.append((key, timed, _earliest(timed), info))
                costs, timed = 0, []
        if is_last and timed:
            lists.append((key, timed, _earliest(timed), NO_FIRING))
            timed = []
        return ((costs, tuple(timed)) if timed else None), lists


def _earliest(timed: Sequence[tuple[Any, int]]) -> int:
    return min(at for _, at in timed)


class _Placed(DoFn[Any, Any]):
    # The watermark waits for the earliest pair.
    allowed_timestamp_skew = MAX_TIMESTAMP - MIN_TIMESTAMP

    def process(self, element: Any, it: Windowed = DoFn.WindowedValueParam) -> Iterable[Windowed]:
        key, timed, at, info = element
        yield Windowed((key, [value for value, _ in timed]), at, it.windows, info)


def _nothing(element: Any) -> tuple[Any, ...]:
    return ()
