"""Triggers made of triggers: early and late, repetition, sequence, first, all, finally.

Below them a table gives the running form of each trigger of `beamlike.model.triggers`, and of a
user's own.

Source: Beam Java, ``runners/core-java/.../triggers/*StateMachine``, without two of its quirks:
an early or late trigger starts over completely after each pane, and when windows merge only live
windows are evaluated.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.errors import UnsupportedError
from beamlike.machine.reference import leaves
from beamlike.machine.reference.custom import CustomTriggerNode
from beamlike.machine.reference.leaves import end_of
from beamlike.machine.reference.running import Now, States, TriggerNode
from beamlike.machine.reference.state import TriggerState
from beamlike.model import triggers as spec
from beamlike.model.custom_trigger import CustomTrigger


class _CompositeNode(TriggerNode):
    def _merge_child(
        self, index: int, state: TriggerState, parts: States, now: Now
    ) -> TriggerState:
        """What becomes of a child as windows merge."""
        return self.subs[index].on_merge(
            state.subs[index], [part.subs[index] for part in parts], now
        )


class _InTurnNode(TriggerNode):
    """The base of triggers with one child whose turn it is: that child decides."""

    def _current(self, state: TriggerState) -> int:
        """The child whose turn it is."""
        return 0

    def ready(self, state: TriggerState, now: Now) -> bool:
        index = self._current(state)
        return self.subs[index].ready(state.subs[index], now)

    def because(self, state: TriggerState, now: Now) -> str:
        index = self._current(state)
        return f"{self.name}[{self.subs[index].because(state.subs[index], now)}]"

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        index = self._current(state)
        return self.subs[index].waits_for(state.subs[index], now)

    def _is_active(self, state: TriggerState, index: int) -> bool:
        return index == self._current(state)


class AfterWatermarkNode(_CompositeNode):
    """`AfterWatermark` with early or late firings.

    The finished bit of the early child means: the end of the window was processed.
    """

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        # Windows that merge may fall back into the early phase, so both children get elements.
        notified = [self.merging or index == self._phase(state) for index in range(len(self.subs))]
        return TriggerState(
            state.finished,
            state.value,
            tuple(
                sub.on_elements(sub_state, count, now)
                if is_notified
                else sub.on_skipped_elements(sub_state, count, now)
                for sub, sub_state, is_notified in zip(self.subs, state.subs, notified, strict=True)
            ),
        )

    def _phase(self, state: TriggerState) -> int:
        return 1 if state.subs[0].finished else 0

    def _current(self, state: TriggerState) -> tuple[TriggerNode, TriggerState] | None:
        phase = self._phase(state)
        return (self.subs[phase], state.subs[phase]) if phase < len(self.subs) else None

    def ready(self, state: TriggerState, now: Now) -> bool:
        if self._phase(state) == 0 and now.end_reached:
            return True
        current = self._current(state)
        return current is not None and current[0].ready(current[1], now)

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        early, *late = state.subs
        if early.finished:  # in the late phase; start the late trigger over
            return TriggerState(state.finished, state.value, (early, *self._late(late, now)))
        if not now.end_reached:
            early = self.subs[0].restarted(early, now)
            return TriggerState(state.finished, state.value, (early, *late))
        past_end = attrs.evolve(self.subs[0].ended(early), finished=True)
        # The late trigger counts from here; what it got meanwhile has just been emitted.
        return TriggerState(not late, None, (past_end, *self._late(late, now)))

    def _late(self, states: Sequence[TriggerState], now: Now) -> list[TriggerState]:
        """The states of the late trigger, restarted; none if there is no late trigger."""
        return [self.subs[1].restarted(state, now) for state in states]

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        past_end = all(part.subs[0].finished for part in parts) and now.end_reached
        early = self._merge_anew(0, state, parts, now)
        early = attrs.evolve(self.subs[0].ended(early) if past_end else early, finished=past_end)
        late = [
            self._merge_anew(1, state, parts, now)
            if past_end or self.subs[1].observes_all
            else sub.forgotten()
            for sub in state.subs[1:]
        ]
        return TriggerState(past_end and not late, None, (early, *late))

    def _merge_anew(self, index: int, state: TriggerState, parts: States, now: Now) -> TriggerState:
        merged = self._merge_child(index, state, parts, now)
        # Early and late triggers repeat: one that is finished by the merge starts over.
        return self.subs[index].restarted(merged, now) if merged.finished else merged

    def needs_end_of_window_timer(self, state: TriggerState) -> bool:
        return True

    def because(self, state: TriggerState, now: Now) -> str:
        if self._phase(state) == 0 and now.end_reached:
            return f"{self.name}[end of window]"
        current = self._current(state)
        assert current is not None, "a reason was requested although it is not ready"
        phase = self._role(self._phase(state))
        return f"{self.name}.{phase}[{current[0].because(current[1], now)}]"

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        current = self._current(state)
        of_child = current and current[0].waits_for(current[1], now)
        return of_child if self._phase(state) else _joined(" or ", [end_of(now.window), of_child])

    def _is_active(self, state: TriggerState, index: int) -> bool:
        return index == self._phase(state)

    def _role(self, index: int) -> str:
        return ("early", "late")[index]


class RepeatedlyNode(_InTurnNode, _CompositeNode):
    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        # As an early trigger it carries a bit that is not its own, see `AfterWatermark`.
        sub = self.subs[0].on_elements(state.subs[0], count, now)
        return TriggerState(state.finished, None, (sub,))

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        sub = self.subs[0].fired(state.subs[0], now)
        return TriggerState(subs=(self.subs[0].restarted(sub, now) if sub.finished else sub,))

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        return TriggerState(subs=(self._merge_child(0, state, parts, now),))

    def needs_end_of_window_timer(self, state: TriggerState) -> bool:
        return self.subs[0].needs_end_of_window_timer(state.subs[0])

    def _role(self, index: int) -> str:
        return "repeated"


class _ChildrenNode(_CompositeNode):
    """The base of triggers with several children: each child is called with its own state."""

    def _is_notified(self, state: TriggerState, index: int) -> bool:
        """Whether child ``index`` sees the elements that arrive now."""
        return True

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        subs = tuple(
            sub.on_elements(sub_state, count, now)
            if self._is_notified(state, index)
            else sub.on_skipped_elements(sub_state, count, now)
            for index, (sub, sub_state) in enumerate(zip(self.subs, state.subs, strict=True))
        )
        return attrs.evolve(state, subs=subs)

    def needs_end_of_window_timer(self, state: TriggerState) -> bool:
        return any(
            self._is_notified(state, index) and sub.needs_end_of_window_timer(state.subs[index])
            for index, sub in enumerate(self.subs)
        )

    def _ready_or_finished(self, state: TriggerState, now: Now) -> list[bool]:
        return [old.finished or sub.ready(old, now) for sub, old in self.pairs(state)]

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        indexes = range(len(self.subs))
        subs = tuple(self._merge_child(index, state, parts, now) for index in indexes)
        return TriggerState(self._finished_by([sub.finished for sub in subs]), None, subs)

    def _finished_by(self, finished: Iterable[bool]) -> bool:
        """Whether the trigger of a merged window has finished, from whether each child has."""
        return any(finished)

    def because(self, state: TriggerState, now: Now) -> str:
        reasons = [
            sub.because(old, now) if sub.ready(old, now) else f"{sub.name} finished"
            for sub, old in self.pairs(state)
            if old.finished or sub.ready(old, now)
        ]
        return f"{self.name}[{', '.join(reasons)}]"

    def _waits(self, state: TriggerState, now: Now) -> list[str | None]:
        """What each child that is neither ready nor finished waits for."""
        return [
            sub.waits_for(old, now)
            for sub, old in self.pairs(state)
            if not old.finished and not sub.ready(old, now)
        ]

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        return _joined(" or ", self._waits(state, now))


class AfterFirstNode(_ChildrenNode):
    def ready(self, state: TriggerState, now: Now) -> bool:
        return any(self._ready_or_finished(state, now))

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        # What a child that is not ready was waiting for has left with this pane.
        subs = tuple(
            sub.fired(old, now) if sub.ready(old, now) else sub.cleared(old, now)
            for sub, old in self.pairs(state)
        )
        return TriggerState(True, None, subs)


class AfterAllNode(_ChildrenNode):
    def _is_notified(self, state: TriggerState, index: int) -> bool:
        return not state.subs[index].finished

    def ready(self, state: TriggerState, now: Now) -> bool:
        return all(self._ready_or_finished(state, now))

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        subs = tuple(sub.fired(old, now) for sub, old in self.pairs(state))
        return TriggerState(True, None, subs)

    def _finished_by(self, finished: Iterable[bool]) -> bool:
        return all(finished)

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        waits = self._waits(state, now)
        return None if None in waits else _joined(" and ", waits)


class AfterEachNode(_InTurnNode, _ChildrenNode):
    def _current(self, state: TriggerState) -> int:
        return next((index for index, sub in enumerate(state.subs) if not sub.finished), 0)

    def _is_notified(self, state: TriggerState, index: int) -> bool:
        # Windows that merge may go back to an earlier child, so all of them get elements.
        return self.merging or index == self._current(state)

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        index = self._current(state)
        subs = list(state.subs)
        subs[index] = self.subs[index].fired(subs[index], now)
        if self.merging:
            # The others got elements too; what they waited for was emitted with this pane.
            subs = [sub.cleared(state, now) for sub, state in zip(self.subs, subs, strict=True)]
        return TriggerState(all(sub.finished for sub in subs), None, tuple(subs))

    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        subs: list[TriggerState] = []
        for index, sub in enumerate(self.subs):
            if all(before.finished for before in subs):
                subs.append(self._merge_child(index, state, parts, now))
            elif sub.observes_all:
                subs.append(sub.cleared(self._merge_child(index, state, parts, now), now))
            else:
                subs.append(state.subs[index].cleared())
        return TriggerState(all(sub.finished for sub in subs), None, tuple(subs))


class OrFinallyNode(_ChildrenNode):
    def ready(self, state: TriggerState, now: Now) -> bool:
        return any(sub.ready(old, now) for sub, old in self.pairs(state))

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        main, until = state.subs
        if self.subs[1].ready(until, now):
            subs = (self.subs[0].cleared(main, now), self.subs[1].fired(until, now))
        else:
            # `until` is not cleared: it judges all that the window received since it started.
            subs = (self.subs[0].fired(main, now), until)
        return TriggerState(any(sub.finished for sub in subs), None, subs)

    def because(self, state: TriggerState, now: Now) -> str:
        main, until = state.subs
        if self.subs[1].ready(until, now):
            return f"{self.name}.until[{self.subs[1].because(until, now)}]"
        return f"{self.name}.main[{self.subs[0].because(main, now)}]"

    def _role(self, index: int) -> str:
        return ("main", "until")[index]


def _joined(word: str, waits: Sequence[str | None]) -> str | None:
    """Some of these, or all; those that nothing can bring about are left out."""
    hopes = list(dict.fromkeys(wait for wait in waits if wait is not None))
    other = " or " if word == " and " else " and "
    return (
        word.join(f"({hope})" if len(hopes) > 1 and other in hope else hope for hope in hopes)
        or None
    )


_LEAVES: Final[Mapping[type[spec.Trigger], Callable[[Any], TriggerNode]]] = {
    spec.DefaultTrigger: lambda trigger: leaves.DefaultNode("DefaultTrigger"),
    spec.AfterProcessingTime: leaves.AfterTimeNode,
    spec.AfterSynchronizedProcessingTime: leaves.AfterTimeNode,
    spec.AfterCount: leaves.AfterCountNode,
    spec.Never: lambda trigger: leaves.ConstantNode("Never", False),
    spec.Always: lambda trigger: leaves.ConstantNode("Always", True),
    CustomTrigger: CustomTriggerNode,
}
_COMPOSITES: Final[Mapping[type[spec.Trigger], type[TriggerNode]]] = {
    spec.Repeatedly: RepeatedlyNode,
    spec.AfterFirst: AfterFirstNode,
    spec.AfterAll: AfterAllNode,
    spec.AfterEach: AfterEachNode,
    spec.OrFinally: OrFinallyNode,
}


def node_of(trigger: spec.Trigger, merging: bool) -> TriggerNode:
    """The running form of a trigger."""
    if isinstance(trigger, spec.AfterWatermark):
        if not trigger.children:
            return leaves.AfterEndOfWindowNode("AfterWatermark")
        parts = [trigger.early or spec.Never(), *([trigger.late] if trigger.late else [])]
        subs = [node_of(part, merging) for part in parts]
        return AfterWatermarkNode("AfterWatermark", subs, merging)
    for cls, leaf in _LEAVES.items():
        if isinstance(trigger, cls):
            return leaf(trigger)
    composite = _COMPOSITES.get(type(trigger))
    if composite is None:
        raise UnsupportedError(f"the reference machine does not know the trigger {trigger!r}")
    subs = [node_of(child, merging) for child in trigger.children]
    return composite(type(trigger).__name__, subs, merging)
