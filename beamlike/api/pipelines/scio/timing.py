"""Verbs about windows, event times and panes.

Source: Scio ``SCollection``, the group ``window``.
"""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import attrs

from beamlike.api.pipelines.scio.dofns import (
    WithPaneInfo,
    WithTimestamp,
    WithTimestampedValue,
    WithWindow,
)
from beamlike.api.pipelines.scio.steps import (
    K,
    Keyed,
    T,
    T_co,
    V,
    Verbs,
    checked,
    done,
    full_name,
    here,
    made,
    stepped,
)
from beamlike.api.pipelines.scio.windowed import WindowedSCollection
from beamlike.api.pipelines.times import WithTimestamps
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.errors import PipelineError, UnwiseStrategyWarning
from beamlike.model.calendar import CalendarDays, CalendarMonths, CalendarWeeks, CalendarYears
from beamlike.model.options import (
    AccumulationMode,
    AccumulationModeLike,
    ClosingBehaviorLike,
    OnTimeBehaviorLike,
    TimestampCombinerLike,
)
from beamlike.model.panes import PaneInfo
from beamlike.model.sessions import Sessions
from beamlike.model.time import DurationLike, InstantLike
from beamlike.model.triggers import Trigger
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from beamlike.model.windows import Window

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


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


class TimingVerbs(Verbs[T_co]):
    """What one can do with the windows, times and panes of elements.

    Every ``with_..._windows`` puts elements into windows by their timestamps. ``options`` say
    the rest; what they leave out is as in the collection before. All raise `PipelineError` if there
    would be no windows, or if the parts do not go together.
    """

    def with_window_fn(
        self, fn: WindowFn, options: WindowOptions | None = None
    ) -> "SCollection[T_co]":
        """Windows of a function."""
        return _windowed(self, "with_window_fn", lambda: fn, options)

    def with_fixed_windows(
        self,
        duration: DurationLike,
        offset: DurationLike = 0,
        options: WindowOptions | None = None,
    ) -> "SCollection[T_co]":
        """Windows of one size, end to end."""
        _check_durations(self, "with_fixed_windows", duration, offset)
        make = "with_fixed_windows", lambda: FixedWindows(duration, offset)
        return _windowed(self, *make, options)

    def with_sliding_windows(
        self,
        size: DurationLike,
        period: DurationLike | None = None,
        offset: DurationLike = 0,
        options: WindowOptions | None = None,
    ) -> "SCollection[T_co]":
        """Windows of one size that overlap. Source: Scio ``withSlidingWindows``.

        Args:
            size: Of each window.
            period: From one start to the next. Default: an hour, a minute, a second or a
                millisecond, the largest that is shorter than the size. If it is longer than the
                size, elements in between are in no window and vanish.
            offset: Where windows start, less than the period.
            options: The rest.
        """
        _check_durations(self, "with_sliding_windows", size, period, offset)
        make = "with_sliding_windows", lambda: SlidingWindows(size, period, offset)
        return _windowed(self, *make, options)

    def with_session_windows(
        self, gap_duration: DurationLike, options: WindowOptions | None = None
    ) -> "SCollection[T_co]":
        """Windows that end after a gap without elements."""
        _check_durations(self, "with_session_windows", gap_duration)
        return _windowed(self, "with_session_windows", lambda: Sessions(gap_duration), options)

    def with_global_window(self, options: WindowOptions | None = None) -> "SCollection[T_co]":
        """One window for everything."""
        return _windowed(self, "with_global_window", GlobalWindows, options)

    def window_by_days(
        self, number: int = 1, options: WindowOptions | None = None
    ) -> "SCollection[T_co]":
        """Windows of whole days, UTC. Source: Scio ``windowByDays``.

        For another time zone or another first day, ``with_window_fn(CalendarDays(...))``.
        """
        return _windowed(self, "window_by_days", lambda: CalendarDays(number), options)

    def window_by_weeks(
        self,
        number: int = 1,
        start_day_of_week: int = 1,
        options: WindowOptions | None = None,
    ) -> "SCollection[T_co]":
        """Windows of whole weeks, UTC. Source: Scio ``windowByWeeks``.

        Args:
            number: Weeks in a window.
            start_day_of_week: 1, Monday, to 7, Sunday.
            options: The rest.
        """

        def make() -> WindowFn:
            return CalendarWeeks(number, start_day_of_week=start_day_of_week)

        return _windowed(self, "window_by_weeks", make, options)

    def window_by_months(
        self, number: int = 1, options: WindowOptions | None = None
    ) -> "SCollection[T_co]":
        """Windows of whole months, UTC."""
        return _windowed(self, "window_by_months", lambda: CalendarMonths(number), options)

    def window_by_years(
        self, number: int = 1, options: WindowOptions | None = None
    ) -> "SCollection[T_co]":
        """Windows of whole years, UTC."""
        return _windowed(self, "window_by_years", lambda: CalendarYears(number), options)

    def with_timestamp(self) -> "Pairs[T_co, int]":
        """Each element with its event time (ms)."""
        return done(self, "with_timestamp", WithTimestamp())

    def with_pane_info(self) -> "Pairs[T_co, PaneInfo]":
        """Each element with the pane that it came in."""
        return done(self, "with_pane_info", WithPaneInfo())

    def with_window(self) -> "Pairs[T_co, Window]":
        """Each element with its window, once for each of them."""
        return done(self, "with_window", WithWindow())

    def with_timestamped_values(self: Keyed[K, V]) -> "Pairs[K, tuple[V, int]]":
        """Pairs, each value with its event time (ms)."""
        return done(self, "with_timestamped_values", WithTimestampedValue())

    def timestamp_by(
        self, fn: Callable[[T_co], InstantLike], allowed_timestamp_skew: DurationLike = 0
    ) -> "SCollection[T_co]":
        """Elements at event times that a function says. Their windows stay as they are.

        Args:
            fn: From an element to an instant.
            allowed_timestamp_skew: How far back an element may move. Moved back, it may come out
                late, and be dropped.

        Raises:
            PipelineError: In the run: an element moves back further.
        """
        verb, skew = "timestamp_by", allowed_timestamp_skew
        stamping = made(self, verb, lambda: WithTimestamps(checked(self, verb, fn), skew))
        return cast("SCollection[T_co]", stepped(self, verb, stamping, fn))

    def to_windowed(self) -> "WindowedSCollection[T_co]":
        """The same elements, for functions of element, time, window and pane together."""
        return WindowedSCollection(here(self))


def _check_durations(given: Verbs[Any], verb: str, *durations: Any) -> None:
    """Refuse what belongs elsewhere, with where it belongs.

    Raises:
        PipelineError: Options or a window function stand where a duration belongs.
    """
    for duration in durations:
        instead = None
        if isinstance(duration, WindowOptions):
            instead = f'options by their name, {verb}("1 minute", options=WindowOptions(...))'
        elif isinstance(duration, WindowFn):
            instead = "with_window_fn(...) for a window function"
        if instead:
            raise PipelineError(
                f"{full_name(given, verb)!r} needs a duration and got {duration}; write {instead}"
            )


def _windowed(
    given: Verbs[T], verb: str, make: Callable[[], WindowFn], options: WindowOptions | None
) -> "SCollection[T]":
    label = full_name(given, verb)
    if options is not None and not isinstance(options, WindowOptions):
        raise PipelineError(
            f"{label!r} takes WindowOptions, got {options!r}; write "
            f"{verb}(..., options=WindowOptions(...))"
        )
    chosen = WindowOptions() if options is None else options
    if chosen.accumulation_mode in (AccumulationMode.RETRACTING, AccumulationMode.RETRACTING.value):
        raise PipelineError(
            f"{label!r}: Unsupported accumulation mode {chosen.accumulation_mode!r}; use "
            '"discarding" or "accumulating"'
        )
    if chosen.closing_behavior is not None and chosen.allowed_lateness is None:
        warnings.warn(
            f"{label!r}: the closing behavior {chosen.closing_behavior!r} is ignored, because it "
            "counts only together with an allowed lateness; add allowed_lateness, or leave "
            "closing_behavior out",
            UnwiseStrategyWarning,
            stacklevel=3,
        )
        chosen = attrs.evolve(chosen, closing_behavior=None)
    into = WindowInto(
        made(given, verb, make),
        trigger=chosen.trigger,
        accumulation_mode=chosen.accumulation_mode,
        timestamp_combiner=chosen.timestamp_combiner,
        allowed_lateness=chosen.allowed_lateness,
        closing_behavior=chosen.closing_behavior,
        on_time_behavior=chosen.on_time_behavior,
    )
    return cast("SCollection[T]", stepped(given, verb, into))
