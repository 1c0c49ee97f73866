"""Runs a user's own trigger: calls its pure methods, and keeps their state in a node.

Beamlike's own triggers that Beam does not have run here too.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, ParamSpec, TypeVar

import attrs

from beamlike.errors import TriggerError
from beamlike.machine.events import Element
from beamlike.machine.reference.running import Blamed, Now, States, TriggerFailed, TriggerNode
from beamlike.machine.reference.state import TriggerState
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.rescaled import coarse
from beamlike.safe_text import USER_RAISED, UserRaised

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

_LARGEST: Final = 2**63 - 1


class CustomTriggerNode(TriggerNode):
    """A node without children. While its state is empty, the trigger's state is its initial one."""

    def __init__(self, trigger: CustomTrigger[Any]) -> None:
        self.trigger = trigger
        self._per_ms = trigger.per_ms
        self.keeps_value = trigger.keeps != "value"
        self.keeps_element = trigger.keeps != "number"
        self.observes_all_elements = trigger.observes_all_elements
        self.waits_for_watermark = trigger.needs_watermark
        super().__init__(str(trigger))

    # -- what it keeps -----------------------------------------------------------------------

    def kept(self, state: TriggerState) -> Any:
        """The state as the trigger's methods take it."""
        match self.trigger.keeps:
            case "number":
                return self._ask(self.trigger.start) if state.value is None else state.value
            case "both" if state.value is not None or state.kept:
                return state.value, state.kept
            case "value" if state.kept:
                return state.kept[0]
        return self._ask(self.trigger.start)

    def saved(self, kept: Any, *, finished: bool = False) -> TriggerState:
        """The state that a method of the trigger returned, as the state of a node.

        Raises:
            TriggerFailed: It is not of the kind that the trigger's class declares.
        """
        match self.trigger.keeps:
            case "number":
                return TriggerState(finished, self._number(kept))
            case "both":
                if not _is_pair(kept):
                    raise self._wrong(
                        f"{self.trigger} must keep a pair of a whole number or None and a tuple of "
                        f'one value or none, as its class says with keeps = "both", got {kept!r}'
                    )
                return TriggerState(finished, self._number(kept[0]), kept=kept[1])
        return TriggerState(finished, kept=(kept,))

    def _number(self, kept: Any) -> int | None:
        if kept is None:
            return None
        if type(kept) is not int or not -_LARGEST - 1 <= kept <= _LARGEST:
            raise self._wrong(
                f"{self.trigger} must keep None or a whole number of 64 bits, as its class says "
                f'with keeps = "{self.trigger.keeps}", got {kept!r}; write keeps = "value"'
            )
        return kept

    def _wrong(self, problem: str) -> TriggerFailed:
        return TriggerFailed(self.name, TriggerError(problem))

    def _ask(
        self, method: Callable[Given, Answer], *args: Given.args, **kwargs: Given.kwargs
    ) -> Answer:
        try:
            return method(*args, **kwargs)
        except USER_RAISED as cause:
            raise TriggerFailed(f"{self.name}.{method.__name__}", cause) from cause

    # -- its milliseconds --------------------------------------------------------------------

    def _coarse(self, instant: int) -> int:
        """The millisecond in which an instant lies, for a trigger that knows no other unit."""
        return instant // self._per_ms

    def _last_tick(self, millisecond: int) -> int:
        """The last tick of a millisecond. Once a clock is past it, the trigger sees it past
        that."""
        return millisecond * self._per_ms + self._per_ms - 1

    def _seen(self, now: Now) -> Now:
        """The moment in the unit that the trigger knows."""
        return now if self._per_ms == 1 else _NowInMilliseconds.of(now, self._per_ms)

    # -- events ------------------------------------------------------------------------------

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        kept, now = self.kept(state), self._seen(now)
        try:
            kept = self._grown(kept, count, now.elements, now)
        except USER_RAISED as cause:
            kept = self._one_by_one(kept, count, now, cause)
        return self.saved(kept, finished=state.finished)

    def _grown(self, kept: Any, count: int, elements: Iterable[Element], now: Now) -> Any:
        of_elements = ((self._coarse(element.timestamp), element.value) for element in elements)
        return self.trigger.on_elements(kept, self.trigger.arrived(count, of_elements), now)

    def _one_by_one(self, kept: Any, count: int, now: Now, together: UserRaised) -> Any:
        """Give the trigger the elements one by one, to find the one that it fails for.

        Raises:
            Blamed: For the first such element.
            TriggerFailed: Some elements came combined, so none can be named.
        """
        elements = list(now.elements)
        if len(elements) != count:
            raise TriggerFailed(f"{self.name}.{self.trigger.asked}", together) from together
        for element in elements:
            try:
                kept = self._grown(kept, 1, (element,), now)
            except USER_RAISED as cause:
                raise Blamed(f"{self.name}.{self.trigger.asked}", element, cause) from cause
        return kept

    def ready(self, state: TriggerState, now: Now) -> bool:
        return bool(self._ask(self.trigger.is_ready, self.kept(state), self._seen(now)))

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        kept, last, now = self.kept(state), self.trigger.fires_once, self._seen(now)
        if self.trigger.may_finish and not last:
            last = bool(self._ask(self.trigger.finishes, kept, now))
        return self.saved(self._ask(self.trigger.on_fire, kept, now), finished=last)

    def cleared(self, state: TriggerState, now: Now) -> TriggerState:
        kept = self._ask(self.trigger.on_pane, self.kept(state), self._seen(now))
        return self.saved(kept, finished=state.finished)

    def restarted(self, state: TriggerState, now: Now) -> TriggerState:
        return self.saved(self._ask(self.trigger.on_fire, self.kept(state), self._seen(now)))

    def ended(self, state: TriggerState) -> TriggerState:
        return self.saved(self._ask(self.trigger.on_end, self.kept(state)))

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        now = self._seen(now)
        merged = self._ask(self.trigger.merge, [self.kept(part) for part in parts], now)
        if self.trigger.may_finish:
            finished = [part.finished for part in parts]
            if self._ask(self.trigger.merges_finished, state.finished, finished):
                return self.saved(self._ask(self.trigger.on_fire, merged, now), finished=True)
        return self.saved(merged)

    # -- what it waits for -------------------------------------------------------------------

    def needs_end_of_window_timer(self, state: TriggerState) -> bool:
        return self.trigger.waits_for_end

    def targets(self, state: TriggerState) -> Iterator[int]:
        yield from self._timers(self.trigger.processing_time_timers, state)

    def event_time_timers(self, state: TriggerState) -> Iterator[int]:
        yield from self._timers(self.trigger.event_time_timers, state)

    def _timers(self, method: Callable[[Any], Iterable[int]], state: TriggerState) -> Sequence[int]:
        timers = self._ask(method, self.kept(state))
        try:
            return [self._last_tick(operator.index(instant)) for instant in timers]
        except USER_RAISED as cause:
            raise TriggerFailed(f"{self.name}.{method.__name__}", cause) from cause

    def fires_when_empty(self, state: TriggerState, now: Now) -> bool:
        return self.trigger.fires_unchanged

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        return self._ask(self.trigger.waits_for, self.kept(state), self._seen(now))

    def reason(self) -> str | None:
        return self.trigger.reason()


@attrs.frozen
class _NowInMilliseconds(Now):
    """A moment in milliseconds; ``is_over`` says whether the end of the window is reached."""

    is_over: bool = False

    @classmethod
    def of(cls, now: Now, per_ms: int) -> Now:
        if isinstance(now, cls):
            return now
        window = coarse(now.window, per_ms)
        watermark, clock = now.watermark // per_ms, now.clock // per_ms
        return cls(window, watermark, clock, now.items, is_over=now.end_reached)

    @property
    def end_reached(self) -> bool:
        return self.is_over


def _is_pair(kept: Any) -> bool:
    return (
        isinstance(kept, tuple)
        and len(kept) == 2
        and isinstance(kept[1], tuple)
        and len(kept[1]) <= 1
    )
