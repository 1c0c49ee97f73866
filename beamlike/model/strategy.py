"""The windowing strategy: window function, trigger, lateness and pane rules, checked together.

A strategy belongs to a collection. `WindowingStrategy.configured` is what a window transform
makes of it, `WindowingStrategy.after_grouping` what a grouping leaves of it.

Source: Beam Java, ``WindowingStrategy``, the checks in ``Window.applicableTo`` and
``GroupByKey.applicableTo``, and ``GroupByKey.updateWindowingStrategy``.
"""

from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import Any, Self, Unpack

import attrs

from beamlike.errors import UnsafeTriggerError, WindowingError
from beamlike.model.fingerprint import SPELLING, Spelling
from beamlike.model.options import (
    USUAL,
    AccumulationMode,
    AccumulationModeLike,
    ClosingBehavior,
    ClosingBehaviorLike,
    LateCheck,
    LateCheckLike,
    OnTimeBehavior,
    OnTimeBehaviorLike,
    TimestampCombiner,
    TimestampCombinerLike,
    Unchanged,
    UnchangedLike,
    by_name,
    option,
)
from beamlike.model.readable import Readable
from beamlike.model.rescaled import resolution_needed, window_fn_in
from beamlike.model.resolution import MILLISECONDS, Resolution, Span, converted, finest, finest_of
from beamlike.model.strategy_parts import (
    StrategyParts,
    check_comes_out,
    check_retained,
    check_unchanged,
    check_without_accumulation,
    check_without_lateness,
)
from beamlike.model.time import DurationLike, duration_us, without_unit
from beamlike.model.trigger_base import continuation
from beamlike.model.triggers import DefaultTrigger, Trigger
from beamlike.model.windowfns import GlobalWindows, MergingWindowFn, WindowFn, check_deterministic
from beamlike.model.windows import Window

_WINDOWS = 'windows such as FixedWindows("1 hour")'
_PARTS = frozenset(("window_fn", *StrategyParts.__annotations__))


@attrs.frozen(init=False, slots=False)
class WindowingStrategy(metaclass=Readable):
    """Everything that decides which panes a grouping emits.

    `WindowingStrategy` takes any combination that has a meaning, and takes every part as
    given; a part that is None has its default. `declared` is the door for pipelines and refuses
    what Beam refuses.

    ``allowed_lateness`` is in ticks of ``resolution``, as are all of its durations: milliseconds,
    or microseconds if one of them is finer. ``already_merged`` says that a grouping has merged
    these windows. Elements then come with the windows that came of it, which stay as they are
    until `remerge` or a new window function. ``said`` names the parts that were set; it
    decides which combinations are refused, never which panes come out, and two strategies that
    differ only in it are equal. ``least_lateness`` is that of the window transforms before the last
    one, for messages.

    Raises:
        WindowingError: A part is of the wrong kind; ``late_check`` is ``retain`` without a bound on
            how long; ``unchanged`` is ``omit`` where nothing is withdrawn.
        TimeError: The allowed lateness cannot be read.

    >>> from beamlike import AfterCount, AfterWatermark, FixedWindows
    >>> hours = WindowingStrategy(FixedWindows("1 hour"), AfterWatermark(late=AfterCount(1)))
    >>> print(hours.configured(accumulation="accumulating", allowed_lateness="6 hours"))
    FixedWindows(1h), AfterWatermark(late=AfterCount(1)), accumulating, allowed lateness 6h
    """

    window_fn: WindowFn
    trigger: Trigger
    accumulation: AccumulationMode
    allowed_lateness: int
    timestamp_combiner: TimestampCombiner
    closing_behavior: ClosingBehavior
    on_time_behavior: OnTimeBehavior
    late_check: LateCheck
    unchanged: Unchanged = Unchanged.RE_EMIT
    already_merged: bool = attrs.field(default=False, repr=False)
    said: frozenset[str] = attrs.field(default=_PARTS, eq=False, repr=False)
    least_lateness: int = attrs.field(default=0, eq=False, repr=False)
    resolution: Resolution = attrs.field(default=MILLISECONDS, repr=False)
    without_unit: Mapping[str, int] = attrs.field(factory=dict, eq=False, repr=False)

    @by_name("WindowingStrategy", WindowingError, window_fn=_WINDOWS)
    def __init__(
        self,
        window_fn: WindowFn,
        trigger: Trigger | None = None,
        accumulation: AccumulationModeLike | None = AccumulationMode.DISCARDING,
        allowed_lateness: DurationLike | None = 0,
        timestamp_combiner: TimestampCombinerLike | None = TimestampCombiner.END_OF_WINDOW,
        closing_behavior: ClosingBehaviorLike | None = ClosingBehavior.FIRE_IF_NON_EMPTY,
        on_time_behavior: OnTimeBehaviorLike | None = OnTimeBehavior.FIRE_ALWAYS,
        late_check: LateCheckLike | None = LateCheck.ASSIGNED,
        unchanged: UnchangedLike | None = Unchanged.RE_EMIT,
    ) -> None:
        if not isinstance(window_fn, WindowFn):
            raise WindowingError(
                'window must be a window function such as FixedWindows("1 hour"), '
                f"got {window_fn!r}"
            )
        trigger = DefaultTrigger() if trigger is None else trigger
        if not isinstance(trigger, Trigger):
            call = f"; write {trigger.__name__}()" if isinstance(trigger, type) else ""
            raise WindowingError(
                f"trigger must be a trigger such as AfterWatermark(), got {trigger!r}{call}"
            )
        allowed_lateness = 0 if allowed_lateness is None else allowed_lateness
        lateness = duration_us(allowed_lateness, "allowed_lateness")
        unit = finest_of((finest(lateness), window_fn.resolution, resolution_needed(trigger)))
        self.__attrs_init__(
            window_fn_in(window_fn, unit),
            trigger.in_resolution(unit),
            option(AccumulationMode, accumulation, "accumulation", usual="discarding"),
            lateness // unit.micros,
            option(
                TimestampCombiner, timestamp_combiner, "timestamp_combiner", usual="end_of_window"
            ),
            option(
                ClosingBehavior, closing_behavior, "closing_behavior", usual="fire_if_non_empty"
            ),
            option(OnTimeBehavior, on_time_behavior, "on_time_behavior", usual="fire_always"),
            option(LateCheck, late_check, "late_check", usual="assigned"),
            option(Unchanged, unchanged, "unchanged", usual="re_emit"),
            resolution=unit,
            without_unit=without_unit(allowed_lateness=allowed_lateness),
        )
        if self.late_check is LateCheck.RETAIN and self.is_merging:
            check_retained(self.window_fn)
        check_unchanged(self.unchanged, self.accumulation)

    @classmethod
    def unwindowed(cls) -> Self:
        """The strategy of a collection without a window transform: global, with nothing set.

        Source: Beam Java, ``WindowingStrategy.globalDefault``.
        """
        return cls(GlobalWindows())._with(said=frozenset())

    @classmethod
    @by_name(
        "WindowingStrategy.declared",
        WindowingError,
        keywords=StrategyParts.__annotations__,
        keywords_first=True,
        window_fn=_WINDOWS,
    )
    def declared(
        cls, window_fn: WindowFn, *, unbounded: bool = False, **parts: Unpack[StrategyParts]
    ) -> Self:
        """The strategy of one window transform followed by a grouping.

        Args:
            unbounded: The input is a stream, which has no end of its own.

        Raises:
            WindowingError: As `configured` and `check_groupable`.
            UnsafeTriggerError: The trigger can finish and lose data.
        """
        strategy = cls.unwindowed().configured(window_fn, **parts)
        strategy.check_groupable(unbounded=unbounded)
        return strategy

    @by_name(
        "WindowingStrategy.configured",
        WindowingError,
        keywords=StrategyParts.__annotations__,
        keywords_first=True,
    )
    def configured(
        self,
        window_fn: WindowFn | None = None,
        *,
        spelling: Spelling = SPELLING,
        **parts: Unpack[StrategyParts],
    ) -> Self:
        """The strategy after a window transform with these parts; None keeps the part.

        The allowed lateness never shrinks: the longer of the old and the new is in force. A
        new window function assigns windows anew, so they may merge again.

        Args:
            spelling: How the advice of its messages is spelled.

        Raises:
            WindowingError: A trigger without accumulation mode, or without allowed lateness
                outside the global window; windows that cannot be distinguished; parts that do not
                go together.
            TimeError: The allowed lateness cannot be read.

        Source: Beam Java, ``Window.getOutputStrategyInternal`` and ``Window.applicableTo``.
        """
        changes: dict[str, Any] = {"window_fn": window_fn, **parts}
        changes = {part: value for part, value in changes.items() if value is not None}
        allowed_lateness = parts.get("allowed_lateness")
        kept = {part: getattr(self, part) for part in _PARTS}
        kept["allowed_lateness"] = before = Span(self.allowed_lateness, self.resolution)
        if allowed_lateness is not None:
            lateness = duration_us(allowed_lateness, "allowed_lateness")
            if lateness < self.allowed_lateness * self.resolution.micros:
                changes["allowed_lateness"] = before
        strategy = type(self)(**(kept | changes))
        strategy = strategy._with(
            said=self.said | changes.keys(),
            already_merged=self.already_merged and window_fn is None,
            least_lateness=converted(
                self.allowed_lateness, self.resolution, strategy.resolution, "allowed_lateness"
            ),
            without_unit={**self.without_unit, **without_unit(allowed_lateness=allowed_lateness)},
        )
        if "allowed_lateness" not in strategy.said:
            check_without_lateness(strategy.window_fn, strategy.trigger)
        if "accumulation" not in strategy.said:
            check_without_accumulation(
                strategy.window_fn,
                strategy.trigger,
                strategy.allowed_lateness,
                strategy.resolution,
                allowed_lateness,
                spelling,
            )
        if window_fn is not None:
            check_deterministic(window_fn)
        return strategy

    def remerge(self) -> Self:
        """The same windows, to be merged once more by the next grouping.

        Source: Beam Java, ``Window.remerge``.
        """
        return self._with(already_merged=False)

    def after_grouping(self) -> Self:
        """The strategy of what a grouping with this strategy emits.

        Its trigger is the `continuation` of this one. Windows that merge have merged: a second
        grouping takes them as they are, even where those of different keys overlap.

        Source: Beam Java, ``GroupByKey.updateWindowingStrategy``.
        """
        merged = self.window_fn.is_merging
        return self._with(trigger=continuation(self.trigger), already_merged=merged)

    def check_groupable(self, *, unbounded: bool = False) -> None:
        """Refuse what Beam Java's ``GroupByKey`` refuses.

        Args:
            unbounded: The input is a stream, which has no end of its own.

        Raises:
            WindowingError: A global window on a stream that never fires.
            UnsafeTriggerError: The trigger can finish and lose data.
        """
        if unbounded:
            check_comes_out(self.window_fn, self.trigger)
        if self.may_lose_data is not None:
            raise UnsafeTriggerError(f"Unsafe trigger: {self.may_lose_data}")

    @cached_property
    def may_lose_data(self) -> str | None:
        """How data that comes in time may be dropped, and what to change; None if it cannot.

        Source: Beam Java, ``GroupByKey.triggerIsSafe``.
        """
        return self.trigger.data_loss(self.allowed_lateness, self.least_lateness, self.resolution)

    def __str__(self) -> str:
        """In one line: what is always decided, then what is not the default."""
        parts = [
            self.windows_in_words,
            str(self.trigger),
            self.accumulation.value,
            f"allowed lateness {self.resolution.show_duration(self.allowed_lateness)}",
        ]
        for name, chosen in self.chosen.items():
            parts.append(f"{name} {'omitted' if chosen is Unchanged.OMIT else chosen.value}")
        return ", ".join(parts)

    @property
    def chosen(self) -> Mapping[str, Enum]:
        """The options that are not as usual, see `USUAL`."""
        options = (
            self.timestamp_combiner,
            self.closing_behavior,
            self.on_time_behavior,
            self.late_check,
            self.unchanged,
        )
        pairs = zip(USUAL.items(), options, strict=True)
        return {name: chosen for (name, usual), chosen in pairs if chosen is not usual}

    def in_resolution(self, resolution: Resolution) -> Self:
        """The same strategy, all of it in the ticks of a resolution.

        Raises:
            TimeError: A duration is finer than these.
        """
        if resolution is self.resolution:
            return self
        before = self.resolution
        return self._with(
            window_fn=window_fn_in(self.window_fn, resolution),
            trigger=self.trigger.in_resolution(resolution),
            allowed_lateness=converted(
                self.allowed_lateness, before, resolution, "allowed_lateness"
            ),
            least_lateness=converted(self.least_lateness, before, resolution, "allowed_lateness"),
            resolution=resolution,
        )

    def _with(self, **changes: Any) -> Self:
        parts = {part.name: getattr(self, part.name) for part in attrs.fields(type(self))}
        changed = object.__new__(type(self))
        changed.__attrs_init__(**(parts | changes))
        return changed

    @cached_property
    def windows_in_words(self) -> str:
        """The window function, and whether its windows have merged already."""
        merged = ", merged before" if self.already_merged else ""
        return f"{self.window_fn}{merged}"

    @cached_property
    def is_merging(self) -> bool:
        """Whether a grouping merges windows.

        Source: Beam Java, ``WindowingStrategy.needsMerge``.
        """
        return self.window_fn.is_merging and not self.already_merged

    @cached_property
    def accumulates(self) -> bool:
        """Whether a pane's elements stay for the next pane."""
        return self.accumulation is not AccumulationMode.DISCARDING

    def expiry(self, window: Window) -> int:
        """The last watermark at which data for ``window`` is accepted, as
        `beamlike.model.windows.expiry`."""
        # Written out: it is called several times for each element.
        return min(window.end - 1 + self.allowed_lateness, self.end_of_global_window)

    def forgotten(self, window: Window) -> int:
        """The last watermark at which the state of ``window`` is kept: its expiry, or
        longer if expired sessions are retained.

        An element that comes at a watermark ``w`` has a window that does not end before ``w``
        less the allowed lateness, and so begins less than ``longest_own_window`` before that.
        From one tick after this watermark on it begins at the end of ``window`` or later: it no
        longer overlaps. Where windows merge that only touch, all of this lasts one tick longer.
        """
        until = window.end - 1 + self.allowed_lateness + self.retained_for
        return min(until, self.end_of_global_window)

    @cached_property
    def end_of_global_window(self) -> int:
        """The last instant of the global window, in its ticks."""
        return self.resolution.end_of_global_window

    @property
    def longest_wait(self) -> int | None:
        """How many ticks after its event time an element may be too late at the earliest.

        None if that is not known: in the global window none is ever too late, and a window function
        of the user's does not have to say how long its windows are.
        """
        longest = self.window_fn.longest_own_window
        return None if longest is None else longest + self.allowed_lateness

    @property
    def judges_after_merging(self) -> bool:
        """Whether the merged window decides if an element is late.

        Of retained sessions those do that an event has ended: an element from before it, whose own
        window is in time, joins without making them longer.
        """
        if self.late_check is LateCheck.RETAIN:
            return isinstance(self.window_fn, MergingWindowFn) and self.window_fn.needs_sizes
        return self.late_check is LateCheck.MERGED

    @cached_property
    def retained_for(self) -> int:
        """How much longer than to its expiry a window is kept, in ticks."""
        window_fn = self.window_fn
        if self.late_check is not LateCheck.RETAIN or not self.is_merging:
            return 0
        touching = isinstance(window_fn, MergingWindowFn) and window_fn.merge_touching
        return (window_fn.longest_own_window or 1) - (0 if touching else 1)
