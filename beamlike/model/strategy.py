"""The windowing strategy: window function, trigger, lateness and pane rules, checked together.

Source: Beam Java, ``WindowingStrategy``, and the checks in ``Window.applicableTo`` and
``GroupByKey.applicableTo``.
"""

from enum import Enum
from functools import cached_property
from typing import Self, TypeVar

import attrs

from beamlike.errors import UnsafeTriggerError, WindowingError
from beamlike.model.time import DurationLike, duration_ms, show_duration
from beamlike.model.triggers import AfterWatermark, DefaultTrigger, Never, Trigger
from beamlike.model.windowfns import GlobalWindows, WindowFn
from beamlike.model.windows import Window, expiry

__all__ = [
    "AccumulationMode",
    "ClosingBehavior",
    "OnTimeBehavior",
    "TimestampCombiner",
    "WindowingStrategy",
]


class AccumulationMode(Enum):
    """What happens to a pane's elements once it has fired."""

    DISCARDING = "discarding"
    """They are forgotten: each pane holds what came since the pane before."""
    ACCUMULATING = "accumulating"
    """They are kept: each pane holds everything the window received."""
    RETRACTING = "retracting"
    """As accumulating, and each new pane first withdraws the panes that still stand."""


class TimestampCombiner(Enum):
    """The event time that a pane is stamped with."""

    END_OF_WINDOW = "end_of_window"
    EARLIEST = "earliest"
    LATEST = "latest"


class ClosingBehavior(Enum):
    """Whether a window's last pane is emitted when nothing came since the pane before."""

    FIRE_IF_NON_EMPTY = "fire_if_non_empty"
    FIRE_ALWAYS = "fire_always"


class OnTimeBehavior(Enum):
    """Whether the on-time pane is emitted when nothing came since the pane before."""

    FIRE_ALWAYS = "fire_always"
    FIRE_IF_NON_EMPTY = "fire_if_non_empty"


Option = TypeVar("Option", bound=Enum)


def _option(kind: type[Option], value: Option | str, argument: str) -> Option:
    if isinstance(value, kind):
        return value
    try:
        return kind(str(value).lower())
    except ValueError:
        known = ", ".join(repr(member.value) for member in kind)
        raise WindowingError(f"{argument} must be one of {known}, got {value!r}") from None


@attrs.frozen(init=False, slots=False)
class WindowingStrategy:
    """Everything that decides which panes a grouping emits.

    `WindowingStrategy` takes any combination that has a meaning; `declared` is the door for
    pipelines and refuses what Beam refuses.

    Raises:
        WindowingError: A part is of the wrong kind.
        TimeError: The allowed lateness cannot be read.
    """

    window_fn: WindowFn
    trigger: Trigger
    accumulation: AccumulationMode
    allowed_lateness: int
    timestamp_combiner: TimestampCombiner
    closing_behavior: ClosingBehavior
    on_time_behavior: OnTimeBehavior

    def __init__(
        self,
        window_fn: WindowFn,
        trigger: Trigger | None = None,
        accumulation: AccumulationMode | str = AccumulationMode.DISCARDING,
        allowed_lateness: DurationLike = 0,
        timestamp_combiner: TimestampCombiner | str = TimestampCombiner.END_OF_WINDOW,
        closing_behavior: ClosingBehavior | str = ClosingBehavior.FIRE_IF_NON_EMPTY,
        on_time_behavior: OnTimeBehavior | str = OnTimeBehavior.FIRE_ALWAYS,
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
        self.__attrs_init__(
            window_fn,
            trigger,
            _option(AccumulationMode, accumulation, "accumulation"),
            duration_ms(allowed_lateness, "allowed_lateness"),
            _option(TimestampCombiner, timestamp_combiner, "timestamp_combiner"),
            _option(ClosingBehavior, closing_behavior, "closing_behavior"),
            _option(OnTimeBehavior, on_time_behavior, "on_time_behavior"),
        )

    @classmethod
    def declared(
        cls,
        window_fn: WindowFn,
        *,
        trigger: Trigger | None = None,
        accumulation: AccumulationMode | str | None = None,
        allowed_lateness: DurationLike | None = None,
        timestamp_combiner: TimestampCombiner | str = TimestampCombiner.END_OF_WINDOW,
        closing_behavior: ClosingBehavior | str = ClosingBehavior.FIRE_IF_NON_EMPTY,
        on_time_behavior: OnTimeBehavior | str = OnTimeBehavior.FIRE_ALWAYS,
        unbounded: bool = False,
    ) -> Self:
        """The strategy of a pipeline, refused where Beam Java refuses it; None means unsaid.

        Args:
            unbounded: The input is a stream, which has no end of its own.

        Raises:
            WindowingError: A trigger without accumulation mode, or without allowed lateness
                outside the global window; a global window on a stream that never fires.
            UnsafeTriggerError: The trigger can finish and lose data.
        """
        plain = trigger is None or isinstance(trigger, DefaultTrigger)
        in_global = isinstance(window_fn, GlobalWindows)
        if not plain and not in_global and allowed_lateness is None:
            raise WindowingError(
                f"trigger {trigger} requires that the allowed lateness be specified; "
                'add allowed_lateness="0 s", or as long as late data shall be waited for'
            )
        lateness = 0 if allowed_lateness is None else allowed_lateness
        strategy = cls(
            window_fn,
            trigger,
            AccumulationMode.DISCARDING if accumulation is None else accumulation,
            lateness,
            timestamp_combiner,
            closing_behavior,
            on_time_behavior,
        )
        waits = not in_global and strategy.allowed_lateness > 0
        if accumulation is None and (not plain or waits):
            cause = f"trigger {trigger}" if not plain else f"allowed_lateness={allowed_lateness!r}"
            raise WindowingError(
                f"{cause} requires that the accumulation mode be specified, because a window may "
                'emit several panes; add accumulation="discarding" (each pane holds what is new) '
                'or accumulation="accumulating" (each pane holds everything so far)'
            )
        if unbounded and in_global and plain:
            raise WindowingError(
                "a stream in the global window with the default trigger never emits anything; "
                "use FixedWindows, SlidingWindows or Sessions, or a trigger such as "
                "Repeatedly(AfterCount(100))"
            )
        strategy.check_safe()
        return strategy

    def check_safe(self) -> None:
        """Refuse a trigger that can finish while its window may still receive data.

        Source: Beam Java, ``GroupByKey`` "Unsafe trigger".

        Raises:
            UnsafeTriggerError: With the change that makes it safe.
        """
        trigger = self.trigger
        if not trigger.may_finish or isinstance(trigger, Never):
            return
        if isinstance(trigger, AfterWatermark):
            if self.allowed_lateness == 0:
                return
            late = f"early={trigger.early}, " if trigger.early else ""
            raise UnsafeTriggerError(
                f"Unsafe trigger: {trigger} finishes at the end of the window, and data within the "
                f"allowed lateness of {show_duration(self.allowed_lateness)} would be dropped; "
                f"write AfterWatermark({late}late=AfterCount(1)), or allowed_lateness=0"
            )
        raise UnsafeTriggerError(
            f"Unsafe trigger: {trigger} may finish, and data that arrives afterwards would be "
            f"dropped; write Repeatedly({trigger})"
        )

    @cached_property
    def is_merging(self) -> bool:
        return self.window_fn.is_merging

    @cached_property
    def accumulates(self) -> bool:
        """Whether a pane's elements stay for the next pane."""
        return self.accumulation is not AccumulationMode.DISCARDING

    def expiry(self, window: Window) -> int:
        """The last watermark (ms) at which data for ``window`` is accepted."""
        return expiry(window, self.allowed_lateness)
