"""Triggers without children: the end of the window, the clock, a count, never and always.

Source: Beam Java, ``runners/core-java/.../triggers/*StateMachine``.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from beamlike.machine.reference.running import FINISHED, Now, TriggerNode
from beamlike.machine.reference.state import TriggerState
from beamlike.model import triggers as spec
from beamlike.model.time import END_OF_GLOBAL_WINDOW, show_instant
from beamlike.model.windows import Window


def end_of(window: Window) -> str:
    """The watermark that passes the end of a window, in words."""
    if window.end > END_OF_GLOBAL_WINDOW:
        return "the watermark to reach the end of time"
    return f"the watermark to reach {show_instant(window.end)}"


class _EndOfWindowNode(TriggerNode):
    """Ready from the end of the window on."""

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        return state

    def ready(self, state: TriggerState, now: Now) -> bool:
        return now.end_reached

    def needs_end_of_window_timer(self, state: TriggerState) -> bool:
        return True

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        return end_of(now.window)


class DefaultNode(_EndOfWindowNode):
    """Never finishes, so every bundle after the end fires again."""

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return state

    def on_merge(
        self, state: TriggerState, parts: Sequence[TriggerState], now: Now
    ) -> TriggerState:
        return state


class AfterEndOfWindowNode(_EndOfWindowNode):
    """`AfterWatermark` without early and late firings."""

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return FINISHED

    def on_merge(
        self, state: TriggerState, parts: Sequence[TriggerState], now: Now
    ) -> TriggerState:
        # A part that has not fired has data that was in no on-time pane yet.
        done = all(part.finished for part in parts) and now.end_reached
        return TriggerState(finished=done)


class PastClock(TriggerNode):
    """Ready once the clock is strictly past the value. Fires once."""

    keeps_value = True

    @abstractmethod
    def merged(self, targets: Iterable[int]) -> int | None:
        """The value of merged windows, from those that the parts have."""

    def ready(self, state: TriggerState, now: Now) -> bool:
        return state.value is not None and now.clock > state.value

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return FINISHED

    def on_merge(
        self, state: TriggerState, parts: Sequence[TriggerState], now: Now
    ) -> TriggerState:
        if state.finished:
            return state.cleared()
        return TriggerState(
            value=self.merged(part.value for part in parts if part.value is not None)
        )

    def targets(self, state: TriggerState) -> Iterator[int]:
        if state.value is not None:
            yield state.value

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        if state.value is None:
            return "an element to count the time from"
        return f"the clock to pass {show_instant(state.value)}"


class AfterTimeNode(PastClock):
    """`AfterProcessingTime` and `AfterSynchronizedProcessingTime`."""

    def __init__(
        self, trigger: spec.AfterProcessingTime | spec.AfterSynchronizedProcessingTime
    ) -> None:
        super().__init__(str(trigger))
        self.trigger = trigger

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        # Only the pane's first element sets the target.
        return (
            state
            if state.value is not None
            else TriggerState(state.finished, self.trigger.target(now.clock))
        )

    def merged(self, targets: Iterable[int]) -> int | None:
        return min(targets, default=None)


class AfterCountNode(TriggerNode):
    keeps_value = True

    def __init__(self, trigger: spec.AfterCount) -> None:
        super().__init__(str(trigger))
        self.count = trigger.count

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        return TriggerState(state.finished, (state.value or 0) + count)

    def ready(self, state: TriggerState, now: Now) -> bool:
        return (state.value or 0) >= self.count

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return FINISHED

    def on_merge(
        self, state: TriggerState, parts: Sequence[TriggerState], now: Now
    ) -> TriggerState:
        if any(part.finished for part in parts):
            return FINISHED
        return TriggerState(value=sum(part.value or 0 for part in parts))

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        came = state.value or 0
        more = self.count - came
        return f"{more} more element{'s' * (more != 1)} ({came} of {self.count})"


class ConstantNode(TriggerNode):
    """`Never` and `Always`: nothing to remember."""

    def __init__(self, name: str, answer: bool) -> None:
        super().__init__(name)
        self.answer = answer

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        return state

    def ready(self, state: TriggerState, now: Now) -> bool:
        return self.answer

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return state

    def on_merge(
        self, state: TriggerState, parts: Sequence[TriggerState], now: Now
    ) -> TriggerState:
        return state
