"""Triggers without children that Beam does not have: intervals, a silence, a change of value.

An interval trigger never waits for an instant that has passed: what it is armed with lies ahead
of the clock in question, or at it, and is due once that clock is past it.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import attrs

from beamlike.machine.reference.leaves import PastClock
from beamlike.machine.reference.running import Blamed, Now, Running
from beamlike.machine.reference.state import TriggerState
from beamlike.model import extra_triggers as spec
from beamlike.model.time import MAX_TIMESTAMP, show_instant

__all__ = ["AfterDelta", "AfterSilence", "EveryCount", "EveryEventTime", "EveryProcessingTime"]


class _Every(Running):
    """What the interval triggers share. The value is the next instant; None: not armed."""

    keeps_value = True

    def __init__(self, trigger: spec.EveryProcessingTime | spec.EveryEventTime) -> None:
        super().__init__(str(trigger))
        self.fires_unchanged = trigger.fire_unchanged

    @abstractmethod
    def _next(self, before: int | None, now: Now) -> int | None:
        """The first instant ahead; ``before`` was the one in question until now, if any was."""

    @abstractmethod
    def _armed(self, now: Now) -> int | None:
        """The first instant for the elements that come now."""

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        if state.value is not None:
            return state
        return TriggerState(state.finished, self._armed(now))

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        # If nothing new is needed the rhythm goes on by itself, else with the next element.
        return TriggerState(value=self._next(state.value, now) if self.fires_unchanged else None)

    def cleared(self, state: TriggerState, now: Now) -> TriggerState:
        if state.value is None:
            return state
        after = self.fired(state, now)
        return attrs.evolve(after, finished=state.finished)

    def restarted(self, state: TriggerState, now: Now) -> TriggerState:
        return self.fired(state, now)

    def on_merge(self, own: TriggerState, parts: Sequence[TriggerState], now: Now) -> TriggerState:
        first = min((part.value for part in parts if part.value is not None), default=None)
        return TriggerState(value=first)

    def fires_when_empty(self, state: TriggerState, now: Now) -> bool:
        return self.fires_unchanged


class EveryProcessingTime(_Every):
    def __init__(self, trigger: spec.EveryProcessingTime) -> None:
        super().__init__(trigger)
        self.trigger = trigger

    def _armed(self, now: Now) -> int | None:
        if self.trigger.since_firing:
            return self.trigger.before_firing(now.clock)
        return self.trigger.first(now.clock)

    def _next(self, before: int | None, now: Now) -> int | None:
        if self.trigger.since_firing:
            return self.trigger.after_firing(now.clock)
        return self.trigger.first(now.clock)

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        # Where it fired last has to be remembered, also until something new comes.
        if self.trigger.since_firing:
            return TriggerState(value=self._next(state.value, now))
        return super().fired(state, now)

    def ready(self, state: TriggerState, now: Now) -> bool:
        return state.value is not None and now.clock > state.value

    def targets(self, state: TriggerState) -> Iterator[int]:
        if state.value is not None:
            yield state.value

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        if state.value is None:
            return "an element to begin the interval with"
        return f"the clock to pass {show_instant(state.value)}"


class EveryEventTime(_Every):
    waits_for_watermark = True

    def __init__(self, trigger: spec.EveryEventTime) -> None:
        super().__init__(trigger)
        self.trigger = trigger

    def _armed(self, now: Now) -> int | None:
        at = now.items[0].timestamp + 1
        return self._no_later_than_end(self.trigger.first(max(at, now.watermark)), now)

    def _next(self, before: int | None, now: Now) -> int | None:
        return self._ahead(self.trigger.first(now.watermark) if before is None else before, now)

    def _ahead(self, first: int, now: Now) -> int | None:
        # A whole number of intervals on: where the window would have ended it may have left
        # the multiples.
        behind = now.watermark - first
        ahead = first + -(-behind // self.trigger.interval) * self.trigger.interval
        return self._no_later_than_end(ahead if behind > 0 else first, now)

    def _no_later_than_end(self, at: int, now: Now) -> int | None:
        last = now.window.max_timestamp if self.trigger.to_end else MAX_TIMESTAMP
        # Nothing is past the end of time.
        return min(at, last) if now.watermark <= last and min(at, last) < MAX_TIMESTAMP else None

    def on_merge(self, own: TriggerState, parts: Sequence[TriggerState], now: Now) -> TriggerState:
        merged = super().on_merge(own, parts, now)
        if merged.value is None or not self.trigger.to_end:
            return merged
        return TriggerState(value=self._ahead(merged.value, now))

    def ended(self, state: TriggerState) -> TriggerState:
        # It counts on from here if the window grows.
        return TriggerState(value=state.value if self.trigger.to_end else None)

    def ready(self, state: TriggerState, now: Now) -> bool:
        return state.value is not None and now.watermark > state.value

    def marks(self, state: TriggerState) -> Iterator[int]:
        if state.value is not None:
            yield state.value

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        if state.value is None:
            over = self.trigger.to_end and now.end_reached
            return None if over else "an element to begin the interval with"
        return f"the watermark to pass {show_instant(state.value)}"


class EveryCount(Running):
    """The value is how many elements came since the last multiple that somebody was told of."""

    keeps_value = True
    observes_all_elements = True

    def __init__(self, trigger: spec.EveryCount) -> None:
        super().__init__(str(trigger))
        self.count = trigger.count

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        return TriggerState(state.finished, (state.value or 0) + count)

    def ready(self, state: TriggerState, now: Now) -> bool:
        return (state.value or 0) >= self.count

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return self.ended(state)

    def cleared(self, state: TriggerState, now: Now) -> TriggerState:
        return attrs.evolve(self.ended(state), finished=state.finished)

    def restarted(self, state: TriggerState, now: Now) -> TriggerState:
        return self.ended(state)

    def ended(self, state: TriggerState) -> TriggerState:
        return TriggerState(value=None if state.value is None else state.value % self.count)

    def on_merge(self, own: TriggerState, parts: Sequence[TriggerState], now: Now) -> TriggerState:
        return TriggerState(value=sum(part.value or 0 for part in parts))

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        more = self.count - (state.value or 0)
        return f"{more} more element{'s' * (more != 1)} of {self.count}"


class AfterSilence(PastClock):
    def __init__(self, trigger: spec.AfterSilence) -> None:
        super().__init__(str(trigger))
        self.silence = trigger.silence

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        return TriggerState(state.finished, now.clock + self.silence)

    def merged(self, targets: Iterable[int]) -> int | None:
        return max(targets, default=None)

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        waits = super().waits_for(state, now)
        return waits if state.value is None else f"{waits} without another element"


class AfterDelta(Running):
    """The value is 1 once an element was far enough away; ``kept`` is what to measure from."""

    keeps_value = True
    keeps_element = True
    observes_all_elements = True

    def __init__(self, trigger: spec.AfterDelta) -> None:
        super().__init__(str(trigger))
        self.trigger = trigger

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        kept, value = state.kept, state.value
        for element in now.elements:
            try:
                measured = self.trigger.measured(element.value)
                far = bool(kept) and self.trigger.is_far(kept[0], measured)
            except Exception as cause:
                raise Blamed(f"{self.name}.delta", element, cause) from cause
            if far:
                value = 1
            if far or not kept:
                kept = (measured,)
        return TriggerState(state.finished, value, kept=kept)

    def ready(self, state: TriggerState, now: Now) -> bool:
        return state.value is not None

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return TriggerState(True, kept=state.kept)

    def cleared(self, state: TriggerState, now: Now) -> TriggerState:
        return TriggerState(state.finished, kept=state.kept)

    def restarted(self, state: TriggerState, now: Now) -> TriggerState:
        return TriggerState(kept=state.kept)

    def ended(self, state: TriggerState) -> TriggerState:
        return TriggerState(kept=state.kept)

    def on_merge(self, own: TriggerState, parts: Sequence[TriggerState], now: Now) -> TriggerState:
        kept = next((part.kept for part in parts if part.kept), ())
        if any(part.finished for part in parts):
            return TriggerState(True, kept=kept)
        far = max((part.value for part in parts if part.value is not None), default=None)
        return TriggerState(value=far, kept=kept)

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        if not state.kept:
            return "an element to measure from"
        return f"an element more than {self.trigger.threshold!r} away from {state.kept[0]!r}"
