"""Windowing strategies of Beam as those of the graph: window functions, triggers, pane rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import attrs
from apache_beam.transforms import window as beam_windows
from apache_beam.utils.timestamp import Duration

from beamlike.errors import UnsupportedError
from beamlike.model import sessions, triggers, windowfns
from beamlike.model.delays import AlignTo, Delay
from beamlike.model.options import AccumulationMode, TimestampCombiner
from beamlike.model.resolution import Span as Ticks
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import IntervalWindow, Window, window_of
from beamlike.runners.beam.sdk import Windowing, proto
from beamlike.runners.beam.windows import UNIT, Span, Windows, timestamp_of, windows_of

_COMBINERS: Final = {
    proto.OutputTime.END_OF_WINDOW: TimestampCombiner.END_OF_WINDOW,
    proto.OutputTime.EARLIEST_IN_PANE: TimestampCombiner.EARLIEST,
    proto.OutputTime.LATEST_IN_PANE: TimestampCombiner.LATEST,
}


class _OfUsers:
    """A window function of a user's own."""

    resolution = UNIT
    fn: Any
    windows: Windows

    def _assigned(self, timestamp: int, value: Any) -> Iterable[Span]:
        """The bounds of the windows of an element, each once."""
        context = beam_windows.WindowFn.AssignContext(timestamp_of(timestamp), value)
        return dict.fromkeys(map(self.windows.span, self.fn.assign(context)))

    def __str__(self) -> str:
        return type(self.fn).__name__


@attrs.frozen
class Assigned(_OfUsers, windowfns.WindowFn):
    """Stands for a window function that has assigned the windows before: elements come in them."""

    fn: Any
    windows: Windows

    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        return tuple(window_of(*span) for span in self._assigned(timestamp, value))


@attrs.frozen
class Merging(_OfUsers, windowfns.MergingWindowFn):
    """A merging window function of a user's own."""

    fn: Any
    windows: Windows

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        return tuple(IntervalWindow(*span) for span in self._assigned(timestamp, value))

    def merge(self, windows: Iterable[IntervalWindow]) -> tuple[windowfns.Merge, ...]:
        merged: dict[Any, tuple[Any, ...]] = {}

        class Context(beam_windows.WindowFn.MergeContext):  # type: ignore[misc]
            def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
                sources: dict[Any, None] = {}
                for window in to_be_merged:
                    # A window that an earlier merge made stands for what went into it.
                    sources.update(dict.fromkeys(merged.pop(window, (window,))))
                merged[merge_result] = (*merged.pop(merge_result, ()), *sources)

        before, after = self.windows.of_merged, self.windows.merged
        self.fn.merge(Context([*map(before, windows)]))
        return tuple(
            windowfns.Merge(tuple(map(after, sources)), after(into))
            for into, sources in merged.items()
            if sources != (into,)
        )


def _span(duration: Any) -> Ticks:
    """A length of time of Beam's. What is longer than all of time is as long."""
    return Ticks(min(int(Duration.of(duration).micros), UNIT.end_of_time), UNIT)


def window_fn_of(fn: Any) -> windowfns.WindowFn:
    """A window function of Beam's as one of the graph."""
    cls = type(fn)
    if cls is beam_windows.GlobalWindows:
        return windowfns.GlobalWindows()
    if cls is beam_windows.FixedWindows:
        return windowfns.FixedWindows(_span(fn.size), _span(fn.offset))
    if cls is beam_windows.SlidingWindows:
        return windowfns.SlidingWindows(_span(fn.size), _span(fn.period), _span(fn.offset))
    if cls is beam_windows.Sessions:
        return sessions.Sessions(_span(fn.gap_size))
    windows = windows_of(fn)
    return Merging(fn, windows) if fn.is_merging() else Assigned(fn, windows)


_TRIGGERS: Final[Mapping[str, tuple[Callable[..., triggers.Trigger], tuple[str, ...]]]] = {
    "default": (triggers.DefaultTrigger, ()),
    "after_end_of_window": (triggers.AfterWatermark, ("early_firings", "late_firings")),
    "after_synchronized_processing_time": (triggers.AfterSynchronizedProcessingTime, ()),
    "repeat": (triggers.Repeatedly, ("subtrigger",)),
    "or_finally": (triggers.OrFinally, ("main", "finally")),
    "after_any": (triggers.AfterFirst, ("subtriggers",)),
    "after_all": (triggers.AfterAll, ("subtriggers",)),
    "after_each": (triggers.AfterEach, ("subtriggers",)),
    "always": (triggers.Always, ()),
    "never": (triggers.Never, ()),
}
"""What makes a trigger of those that are in it, and the fields of Beam's proto that have these."""


def trigger_of(trigger: Any, label: str) -> triggers.Trigger:
    """A trigger of Beam's, as its proto has it, as one of the graph."""
    name = trigger.WhichOneof("trigger")
    fields: Any = getattr(trigger, name) if name else None
    if name == "after_processing_time":
        return triggers.AfterProcessingTime(*_moves(fields.timestamp_transforms))
    if name == "element_count":
        return triggers.AfterCount(fields.element_count)
    if name not in _TRIGGERS:
        raise UnsupportedError(f"{label!r}: the trigger {name or trigger!r} is not known")
    make, parts = _TRIGGERS[name]
    if parts == ("subtriggers",):
        return make(*(trigger_of(part, label) for part in fields.subtriggers))
    known = [getattr(fields, part) if fields.HasField(part) else None for part in parts]
    return make(*(None if part is None else trigger_of(part, label) for part in known))


def _moves(transforms: Sequence[Any]) -> list[Delay | AlignTo]:
    """How a trigger moves the processing time that it waits for.

    Beam Python fires at that instant, and the graph after it: so it waits a tick less.
    """
    moves: list[Delay | AlignTo] = []
    for number, transform in enumerate(transforms, 1):
        if transform.WhichOneof("timestamp_transform") == "align_to":
            align = transform.align_to
            moves.append(AlignTo(align.period, align.offset))
        elif transform.delay.delay_millis > 0:
            is_last = number == len(transforms)
            delay = timedelta(milliseconds=transform.delay.delay_millis)
            moves.append(Delay(delay - timedelta(microseconds=1) if is_last else delay))
    return moves


@attrs.frozen(eq=False)
class Strategy:
    """The windowing of a collection.

    Args:
        beam: Beam's ``Windowing``.
        windows: How its windows travel through the graph.
        rules: The strategy of the graph.
    """

    beam: Any
    windows: Windows
    rules: WindowingStrategy

    @property
    def is_merging(self) -> bool:
        """Whether its window function merges windows."""
        return bool(self.beam.windowfn.is_merging())

    def with_parts(self, parts: Mapping[str, Any]) -> "Strategy":
        """This windowing with other parts of the strategy of the graph."""
        return attrs.evolve(self, rules=self.rules._with(**parts)) if parts else self


def strategy_of(strategy: Any, context: Any, label: str) -> Strategy:
    """The windowing that a proto says."""
    beam = Windowing.from_runner_api(strategy, context)
    combiner = _COMBINERS.get(strategy.output_time)
    if combiner is None:
        raise UnsupportedError(f"{label!r}: the output time {strategy.output_time} is not known")
    accumulates = strategy.accumulation_mode == proto.AccumulationMode.ACCUMULATING
    rules = WindowingStrategy(
        window_fn_of(beam.windowfn),
        trigger_of(strategy.trigger, label),
        AccumulationMode.ACCUMULATING if accumulates else AccumulationMode.DISCARDING,
        _span(beam.allowed_lateness),
        combiner,
    )
    return Strategy(beam, windows_of(beam.windowfn), rules.in_resolution(UNIT))


def check_same_windows(label: str, first: Strategy, second: Strategy) -> None:
    """Refuse to put collections together whose windows are of different classes.

    Source: Beam Java, ``Flatten.PCollections``.
    """
    are_objects = first.windows.carries_object or second.windows.carries_object
    if are_objects and first.windows != second.windows:
        names = (type(strategy.beam.windowfn).__name__ for strategy in (first, second))
        raise UnsupportedError(
            f"{label!r} flattens collections in the windows of {' and of '.join(names)}, which "
            "are of different classes; put both into the windows of one function before"
        )


def check_known_by_bounds(label: str, strategy: Strategy) -> None:
    """Refuse rows that are known by the bounds of windows which are more than that."""
    if not strategy.windows.are_bounds:
        raise UnsupportedError(
            f"{label!r} keeps a row for each key and window, and the windows of "
            f"{type(strategy.beam.windowfn).__name__} are of a class of their own, which have no "
            "columns; put what they say into the key, and the elements into windows of Beam's, "
            "such as GlobalWindows, before it"
        )


def last_instant(windows: Windows, span: tuple[int, int], ticks: int) -> int:
    """An instant of an element in a window as Beam's (us), whose global window ends earlier."""
    return windows.last_micros(span) if ticks == span[1] - 1 else ticks
