"""Triggers as a user would write them; some of them say what Beam's own say."""

from collections.abc import Callable, Iterable, Sequence

import attrs

import beamlike as bl


@attrs.frozen
class AfterSpend(bl.CustomTrigger[int]):
    """Fires once the values of a pane add up to a limit."""

    looks_at = "values"
    keeps = "number"

    limit: int

    def start(self) -> int:
        return 0

    def on_elements(self, state: int, arrived: bl.ArrivedElements, now: bl.TriggerContext) -> int:
        return state + sum(arrived.values)

    def is_ready(self, state: int, now: bl.TriggerContext) -> bool:
        return state >= self.limit

    def merge(self, states: Sequence[int], now: bl.TriggerContext) -> int:
        return sum(states)

    def waits_for(self, state: int, now: bl.TriggerContext) -> str | None:
        return f"{self.limit - state} more"

    def reason(self) -> str:
        return f"at least {self.limit} was spent"


@attrs.frozen
class CountedAgain(bl.CustomTrigger[int]):
    """`AfterCount`, and what it keeps rests as a pickle."""

    count: int

    def start(self) -> int:
        return 0

    def on_elements(self, state: int, arrived: bl.ArrivedElements, now: bl.TriggerContext) -> int:
        return state + arrived.count

    def is_ready(self, state: int, now: bl.TriggerContext) -> bool:
        return state >= self.count

    def merge(self, states: Sequence[int], now: bl.TriggerContext) -> int:
        return sum(states)


@attrs.frozen
class DelayedAgain(bl.CustomTrigger[int | None]):
    """`AfterProcessingTime`."""

    keeps = "number"
    fires_on_arrival = False

    delay: bl.AfterProcessingTime

    def on_elements(
        self, state: int | None, arrived: bl.ArrivedElements, now: bl.TriggerContext
    ) -> int | None:
        return self.delay.target(now.clock) if state is None else state

    def is_ready(self, state: int | None, now: bl.TriggerContext) -> bool:
        return state is not None and now.clock > state

    def merge(self, states: Sequence[int | None], now: bl.TriggerContext) -> int | None:
        return min((state for state in states if state is not None), default=None)

    def merges_finished(self, result: bool, parts: Sequence[bool]) -> bool:
        return result

    def processing_time_timers(self, state: int | None) -> Iterable[int]:
        return () if state is None else (state,)


def written_again(trigger: bl.Trigger) -> bl.Trigger:
    """The same tree, with triggers of a user's own in place of counts and delays."""
    match trigger:
        case bl.AfterCount(count):
            return CountedAgain(count)
        case bl.AfterProcessingTime():
            return DelayedAgain(trigger)
        case bl.AfterWatermark(early=early, late=late):
            return bl.AfterWatermark(early and written_again(early), late and written_again(late))
        case _ if trigger.children:
            make: Callable[..., bl.Trigger] = type(trigger)
            return make(*map(written_again, trigger.children))
        case _:
            return trigger
