"""Verbs about windows, event times and panes.

Every ``with_..._windows`` puts elements into windows by their timestamps. ``options`` say the rest;
what they leave out is as in the collection before. All raise `PipelineError` if there would be no
windows, or if the parts do not go together.

Source: Scio ``SCollection``, the group ``window``.
"""

from collections.abc import Callable
from typing import Any, Final

import attrs

from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import WithTimestamps
from beamlike.api.pipelines.scio.call import Call
from beamlike.api.pipelines.scio.windowed import WindowedSCollection
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.errors import UnwiseStrategyWarning
from beamlike.model.calendar import CalendarDays, CalendarMonths, CalendarWeeks, CalendarYears
from beamlike.model.options import (
    AccumulationMode,
    AccumulationModeLike,
    ClosingBehaviorLike,
    OnTimeBehaviorLike,
    TimestampCombinerLike,
)
from beamlike.model.sessions import Sessions
from beamlike.model.time import DurationLike
from beamlike.model.triggers import Trigger
from beamlike.model.warn import warn_user
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn

VERBS: Final = """
of SCollection[T]
with_window_fn(fn: WindowFn, options: WindowOptions | None = None) -> SCollection[T]
    Windows of a function.
with_fixed_windows(duration: DurationLike, offset: DurationLike = 0,
        options: WindowOptions | None = None) -> SCollection[T]
    Windows of one size, end to end.
with_sliding_windows(size: DurationLike, period: DurationLike | None = None,
        offset: DurationLike = 0, options: WindowOptions | None = None) -> SCollection[T]
    Windows of one size that overlap. Source: Scio ``withSlidingWindows``.

    Args:
        size: Of each window.
        period: From one start to the next. Default: an hour, a minute, a second or a millisecond,
            the largest that is shorter than the size. If it is longer than the size, elements in
            between are in no window and vanish.
        offset: Where windows start, less than the period.
        options: The rest.
with_session_windows(gap_duration: DurationLike, options: WindowOptions | None = None)
        -> SCollection[T]
    Windows that end after a gap without elements.
with_global_window(options: WindowOptions | None = None) -> SCollection[T]
    One window for everything.
window_by_days(number: int = 1, options: WindowOptions | None = None) -> SCollection[T]
    Windows of whole days, UTC. Source: Scio ``windowByDays``.

    For another time zone or another first day, ``with_window_fn(CalendarDays(...))``.
window_by_weeks(number: int = 1, start_day_of_week: int = 1, options: WindowOptions | None = None)
        -> SCollection[T]
    Windows of whole weeks, UTC. Source: Scio ``windowByWeeks``.

    Args:
        number: Weeks in a window.
        start_day_of_week: 1, Monday, to 7, Sunday.
        options: The rest.
window_by_months(number: int = 1, options: WindowOptions | None = None) -> SCollection[T]
    Windows of whole months, UTC.
window_by_years(number: int = 1, options: WindowOptions | None = None) -> SCollection[T]
    Windows of whole years, UTC.
with_timestamp() -> Pairs[T, int]
    Each element with its event time (ms).
with_pane_info() -> Pairs[T, PaneInfo]
    Each element with the pane that it came in.
with_window() -> Pairs[T, Window]
    Each element with its window, once for each of them.
timestamp_by(fn: Callable[[T], InstantLike], allowed_timestamp_skew: DurationLike = 0)
        -> SCollection[T]
    Elements at event times that a function says. Their windows stay as they are.

    Args:
        fn: From an element to an instant.
        allowed_timestamp_skew: How far back an element may move. Moved back, it may come out late,
            and be dropped.

    Raises:
        PipelineError: In the run: an element moves back further.
to_windowed() -> WindowedSCollection[T]
    The same elements, for functions of element, time, window and pane together.
of Pairs[K, V]
with_timestamped_values() -> Pairs[K, tuple[V, int]]
    Pairs, each value with its event time (ms).
"""


@attrs.frozen
class WindowOptions:
    """What a windowing verb says beside the windows. None: as in the collection before.

    Args:
        trigger: When panes are emitted. One that is not the default needs an allowed lateness,
            outside the global window.
        accumulation_mode: Whether a pane holds what is new (``"discarding"``) or everything so
            far (``"accumulating"``). Required where a window may emit several panes.
        allowed_lateness: How far the watermark may pass the end of a window before data for it
            is dropped. It never shrinks.
        closing_behavior: Whether an empty last pane is emitted. It counts only together with
            an allowed lateness, as in Scio; without one a warning says so.
        timestamp_combiner: Which event time a pane is stamped with.
        on_time_behavior: Whether an empty on-time pane is emitted.
    """

    trigger: Trigger | None = None
    accumulation_mode: AccumulationModeLike | None = None
    allowed_lateness: DurationLike | None = None
    closing_behavior: ClosingBehaviorLike | None = None
    timestamp_combiner: TimestampCombinerLike | None = None
    on_time_behavior: OnTimeBehaviorLike | None = None


_OF_DURATIONS: Final = (FixedWindows, SlidingWindows, Sessions)


def _windows(make: Callable[..., WindowFn]) -> Callable[..., Any]:
    """What a verb does whose arguments are those of a window function, and options."""

    def transform(call: Call, *arguments: Any) -> Any:
        *parts, options = arguments
        if make in _OF_DURATIONS:
            _check_durations(call, parts)
        return call.apply(_window_into(call, lambda: make(*parts), options))

    return transform


def _check_durations(call: Call, durations: list[Any]) -> None:
    """Refuse what belongs elsewhere, with where it belongs."""
    for duration in durations:
        instead = None
        if isinstance(duration, WindowOptions):
            instead = f'options by their name, {call.verb}("1 minute", options=WindowOptions(...))'
        elif isinstance(duration, WindowFn):
            instead = "with_window_fn(...) for a window function"
        if instead:
            raise call.error(f" needs a duration and got {duration}; write {instead}")


def _window_into(call: Call, make: Callable[[], WindowFn], options: Any) -> WindowInto:
    if options is not None and not isinstance(options, WindowOptions):
        raise call.error(
            f" takes WindowOptions, got {options!r}; write "
            f"{call.verb}(..., options=WindowOptions(...))"
        )
    chosen = attrs.asdict(options or WindowOptions(), recurse=False)
    mode, closing = chosen["accumulation_mode"], chosen["closing_behavior"]
    if mode in (AccumulationMode.RETRACTING, AccumulationMode.RETRACTING.value):
        raise call.error(
            f': Unsupported accumulation mode {mode!r}; use "discarding" or "accumulating"'
        )
    if closing is not None and chosen["allowed_lateness"] is None:
        warn_user(
            f"{call.name!r}: the closing behavior {closing!r} is ignored, because it counts only "
            "together with an allowed lateness; add allowed_lateness, or leave closing_behavior "
            "out",
            UnwiseStrategyWarning,
        )
        chosen["closing_behavior"] = None
    return WindowInto(call.naming_the_verb(make), **chosen)


def _timestamp_by(call: Call, fn: Callable[[Any], Any], skew: DurationLike) -> Any:
    return call.apply(call.naming_the_verb(lambda: WithTimestamps(fn, skew)))


TRANSFORMS: Final = {
    "with_window_fn": _windows(lambda fn: fn),
    "with_fixed_windows": _windows(FixedWindows),
    "with_sliding_windows": _windows(SlidingWindows),
    "with_session_windows": _windows(Sessions),
    "with_global_window": _windows(GlobalWindows),
    "window_by_days": _windows(CalendarDays),
    "window_by_weeks": _windows(lambda number, day: CalendarWeeks(number, start_day_of_week=day)),
    "window_by_months": _windows(CalendarMonths),
    "window_by_years": _windows(CalendarYears),
    "with_timestamp": lambda call: call.map(
        lambda element, timestamp=DoFn.TimestampParam: (element, timestamp)
    ),
    "with_pane_info": lambda call: call.map(
        lambda element, pane=DoFn.PaneInfoParam: (element, pane)
    ),
    "with_window": lambda call: call.map(
        lambda element, window=DoFn.WindowParam: (element, window)
    ),
    "to_windowed": lambda call: WindowedSCollection(call.collection),
    "with_timestamped_values": lambda call: call.map(
        lambda pair, timestamp=DoFn.TimestampParam: (pair[0], (pair[1], timestamp))
    ),
}
"""What the verbs do."""
