"""Triggers without children: the end of the window, the clock, a count, never and always.

Source: Beam Java, ``runners/core-java/.../triggers/*StateMachine``.
"""

from collections.abc import Iterator

from beamlike.machine.reference.running import FINISHED, Now, States, TriggerNode
from beamlike.machine.reference.state import TriggerState
from beamlike.model import triggers as spec
from beamlike.model.time import END_OF_GLOBAL_WINDOW, show_instant
from beamlike.model.windows import Window


def end_of(window: Window) -> str:
    """The watermark that passes the end of a window, in words."""
    if window.end > END_OF_GLOBAL_WINDOW:
        return "the watermark to reach the end of time"
    return f"the watermark to reach {show_instant(window.end)}"


class _ForgetfulNode(TriggerNode):
    """A node that has nothing to remember."""

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        return state

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return state

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        return state


class DefaultNode(_ForgetfulNode):
    """Ready from the end of the window on. It never finishes, so every bundle after the end fires
    again."""

    def ready(self, state: TriggerState, now: Now) -> bool:
        return now.end_reached

    def needs_end_of_window_timer(self, state: TriggerState) -> bool:
        return True

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        return end_of(now.window)


class AfterEndOfWindowNode(DefaultNode):
    """`AfterWatermark` without early and late firings."""

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return FINISHED

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        # A part that has not fired has data that was in no on-time pane yet.
        finished = all(part.finished for part in parts) and now.end_reached
        return TriggerState(finished=finished)


class AfterTimeNode(TriggerNode):
    """`AfterProcessingTime` and `AfterSynchronizedProcessingTime`: ready once the clock is strictly
    past the value. Fires once."""

    keeps_value = True

    def __init__(
        self, trigger: spec.AfterProcessingTime | spec.AfterSynchronizedProcessingTime
    ) -> None:
        super().__init__(str(trigger))
        self.trigger = trigger

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        # Only the pane's first element sets the target.
        if state.value is not None:
            return state
        return TriggerState(state.finished, self.trigger.target(now.clock))

    def ready(self, state: TriggerState, now: Now) -> bool:
        return state.value is not None and now.clock > state.value

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return FINISHED

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        if state.finished:
            return state.cleared()
        targets = (part.value for part in parts if part.value is not None)
        return TriggerState(value=min(targets, default=None))

    def targets(self, state: TriggerState) -> Iterator[int]:
        if state.value is not None:
            yield state.value

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        if state.value is None:
            return "an element to count the time from"
        return f"the clock to pass {show_instant(state.value)}"

    def reason(self) -> str:
        return "the clock has passed {time}"


class AfterCountNode(TriggerNode):
    """`AfterCount`: fires once. ``value`` counts elements since it fired, was restarted or cleared.
    On a merge counts are added up; finished if a part was. See `TriggerState`."""

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

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        if any(part.finished for part in parts):
            return FINISHED
        return TriggerState(value=sum(part.value or 0 for part in parts))

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        came = state.value or 0
        missing = self.count - came
        return f"{missing} more element{'s' * (missing != 1)} ({came} of {self.count})"

    def reason(self) -> str:
        return "an element came" if self.count == 1 else f"at least {self.count} elements have come"


class ConstantNode(_ForgetfulNode):
    """`Never` and `Always`."""

    def __init__(self, name: str, answer: bool) -> None:
        super().__init__(name)
        self.answer = answer

    def ready(self, state: TriggerState, now: Now) -> bool:
        return self.answer

    def reason(self) -> str | None:
        return "it fires whenever it is evaluated" if self.answer else None
