"""`WindowInto` and what it is given besides windows, with Beam Python's arguments and defaults.

Source: Beam Python ``transforms.core.WindowInto``, ``transforms.trigger``.
"""

from typing import Any

from beamlike.api.pipelines.python.panes import OfTheCore
from beamlike.api.pipelines.python.reading import Length, in_millis
from beamlike.api.pipelines.windowing import WindowInto as AnyWindowInto
from beamlike.errors import PipelineError, UnwiseStrategyWarning
from beamlike.model import triggers, windowfns
from beamlike.model.options import (
    AccumulationMode,
    AccumulationModeLike,
    ClosingBehaviorLike,
    OnTimeBehaviorLike,
    TimestampCombinerLike,
    by_name,
)
from beamlike.model.options import TimestampCombiner as Combiner
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_parts import StrategyParts
from beamlike.model.warn import warn_user

__all__ = ["AfterProcessingTime", "TimestampCombiner", "WindowInto"]


class AfterProcessingTime(triggers.AfterProcessingTime, metaclass=OfTheCore):
    """So long after the first element of a pane, see `beamlike.AfterProcessingTime`.

    Args:
        delay: A number of seconds, `Duration`, a ``timedelta`` or text such as ``"1 minute"``.

    Raises:
        TimeError: It is negative or no duration.
    """

    def __new__(cls, delay: Length = 0) -> Any:
        return triggers.AfterProcessingTime(in_millis(delay, "AfterProcessingTime delay"))


class TimestampCombiner:
    """Which event time a pane is stamped with, in Beam Python's words."""

    OUTPUT_AT_EOW = Combiner.END_OF_WINDOW
    OUTPUT_AT_EARLIEST = Combiner.EARLIEST
    OUTPUT_AT_LATEST = Combiner.LATEST


class WindowInto(AnyWindowInto):
    """Elements put into windows by their timestamps, and what a grouping of them does.

    With windows, what is not given is as in Beam Python: the default trigger, which discards, the
    end of the window as event time, no allowed lateness. Where Beam Java asks for an accumulation
    mode or an allowed lateness, there is a warning. Without windows, as in Beam Java, what is not
    given is as in the collection before. The allowed lateness never shrinks, as in Beam Java: that
    of the collection before is the least.

    Args:
        windowfn: The windows; None keeps those that the elements are in.
        trigger: When panes are emitted.
        accumulation_mode: Whether a pane holds what is new or everything so far. Required with
            a trigger.
        timestamp_combiner: Which event time a pane is stamped with.
        allowed_lateness: How far the watermark may pass the end of a window before data for it
            is dropped: a number of seconds, `Duration`, a ``timedelta`` or text.
        closing_behavior: Whether an empty last pane is emitted.
        on_time_behavior: Whether an empty on-time pane is emitted.
        strategy: All parts in one value, in place of any of them.

    Raises:
        PipelineError: There is no argument of that name; when it is applied: a part is of the
            wrong kind, or the parts do not go together.
        TimeError: The lateness is negative or no duration.

    Source: Beam Python ``WindowInto``; ``closing_behavior`` and ``on_time_behavior`` are Java's.
    """

    @by_name("WindowInto", PipelineError)
    def __init__(
        self,
        windowfn: windowfns.WindowFn | None = None,
        trigger: triggers.Trigger | None = None,
        accumulation_mode: AccumulationModeLike | None = None,
        timestamp_combiner: TimestampCombinerLike | None = None,
        allowed_lateness: Length | None = None,
        *,
        closing_behavior: ClosingBehaviorLike | None = None,
        on_time_behavior: OnTimeBehaviorLike | None = None,
        strategy: WindowingStrategy | None = None,
    ) -> None:
        lateness = None
        if allowed_lateness is not None:
            lateness = in_millis(allowed_lateness, "WindowInto allowed_lateness")
        super().__init__(
            windowfn,
            trigger=trigger,
            accumulation_mode=accumulation_mode,
            timestamp_combiner=timestamp_combiner,
            allowed_lateness=lateness,
            closing_behavior=closing_behavior,
            on_time_behavior=on_time_behavior,
            strategy=strategy,
        )

    def starting_from(
        self, before: WindowingStrategy, label: str
    ) -> tuple[WindowingStrategy, StrategyParts]:
        if self.window_fn is None:
            return super().starting_from(before, label)
        # The windows before have no say, as in Beam Python; their lateness has, as in Beam Java.
        lateness = before.allowed_lateness
        unwindowed = WindowingStrategy.unwindowed().configured(allowed_lateness=lateness)
        return unwindowed, self._with_defaults(label, lateness)

    def _with_defaults(self, label: str, lateness_before: int) -> StrategyParts:
        """The parts with what Beam Python has by default; warns where Beam Java asks."""
        parts = self.parts.copy()
        trigger, lateness = parts.get("trigger"), parts.get("allowed_lateness")
        parts["allowed_lateness"] = lateness or 0
        usual = trigger is None or isinstance(trigger, triggers.DefaultTrigger)
        if isinstance(self.window_fn, windowfns.GlobalWindows):
            return parts
        if not usual and lateness is None and not lateness_before:
            warn_user(
                f"{label!r}: no allowed lateness is given, so elements after the end of their "
                "window are dropped; add allowed_lateness=0, or the seconds late data may take",
                UnwiseStrategyWarning,
            )
        if usual and parts.get("accumulation") is None:
            if lateness:
                warn_user(
                    f"{label!r}: a late pane holds what came since the pane before, as no "
                    "accumulation mode is given; add AccumulationMode.DISCARDING or ACCUMULATING",
                    UnwiseStrategyWarning,
                )
            parts["accumulation"] = AccumulationMode.DISCARDING
        return parts
