"""Triggers made of triggers, over columns: the rules of the reference machine's `composites`.

Below them, from a trigger to its running form: one entry for each of `beamlike.model.triggers`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar import leaves
from beamlike.machine.columnar.arrays import Bools, Ints, choose
from beamlike.machine.columnar.leaves import ColumnsNow, Nodes, Parts, TriggerColumns
from beamlike.model import triggers as spec
from beamlike.model.custom_trigger import CustomTrigger


class AfterWatermarkColumns(TriggerColumns):
    """`AfterWatermark` with early or late firings.

    The finished bit of the early child means: the end of the window was processed.
    """

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: ColumnsNow) -> Nodes:
        # Windows that merge may fall back into the early phase, so both children get elements.
        late = state.subs[0].finished
        phases = (~late, late)
        subs = tuple(
            sub.on_elements(sub_state, counts, on if self.merging else on & phase, now)
            for sub, sub_state, phase in zip(self.subs, state.subs, phases, strict=False)
        )
        return Nodes(state.finished, None, subs)

    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        early, *late = (sub.ready(old, now) for sub, old in self.pairs(state))
        in_late_phase = late[0] if late else np.zeros(len(state), np.bool_)
        return np.where(state.subs[0].finished, in_late_phase, early | now.end_reached)

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        early, *late = state.subs
        in_late_phase = early.finished
        passes_end = ~in_late_phase & now.end_reached
        # The late trigger counts from here; what it got meanwhile has just been emitted.
        again = tuple(choose(in_late_phase | passes_end, sub.restarted(), sub) for sub in late)
        over = early.restarted()
        past_end = Nodes(in_late_phase | passes_end, over.value, over.subs)
        finished = state.finished | passes_end if not late else state.finished
        return Nodes(finished, None, (choose(in_late_phase, early, past_end), *again))

    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        past_end = parts.sub(0).all_finished() & now.end_reached
        merged = self._merge_child(0, nodes, parts, now)
        over = merged.restarted()
        early = choose(
            past_end,
            Nodes(past_end, over.value, over.subs),
            Nodes(np.zeros(len(merged), np.bool_), merged.value, merged.subs),
        )
        if len(self.subs) == 1:
            return Nodes(past_end, None, (early,))
        late = choose(past_end, self._merge_child(1, nodes, parts, now), nodes.subs[1].restarted())
        return Nodes(np.zeros(len(nodes), np.bool_), None, (early, late))

    def _merge_child(self, index: int, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        merged = self.subs[index].on_merge(nodes.subs[index], parts.sub(index), now)
        # Early and late triggers repeat: one that is finished by the merge starts over.
        return choose(merged.finished, merged.restarted(), merged)

    def needs_end_of_window_timer(self, state: Nodes) -> Bools:
        return np.ones(len(state), np.bool_)


class RepeatedlyColumns(TriggerColumns):
    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: ColumnsNow) -> Nodes:
        sub = self.subs[0].on_elements(state.subs[0], counts, on, now)
        return Nodes(state.finished, None, (sub,))

    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        return self.subs[0].ready(state.subs[0], now)

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        sub = self.subs[0].fired(state.subs[0], now)
        return Nodes(state.finished, None, (choose(sub.finished, sub.restarted(), sub),))

    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        sub = self.subs[0].on_merge(nodes.subs[0], parts.sub(0), now)
        return Nodes(np.zeros(len(nodes), np.bool_), None, (sub,))

    def needs_end_of_window_timer(self, state: Nodes) -> Bools:
        return self.subs[0].needs_end_of_window_timer(state.subs[0])


class _ChildrenColumns(TriggerColumns):
    """What triggers with several children share: each child is called with its own state."""

    def _is_notified(self, state: Nodes, index: int) -> Bools:
        """Where child ``index`` sees the elements that come now."""
        return np.ones(len(state), np.bool_)

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: ColumnsNow) -> Nodes:
        subs = tuple(
            sub.on_elements(sub_state, counts, on & self._is_notified(state, index), now)
            for index, (sub, sub_state) in enumerate(self.pairs(state))
        )
        return Nodes(state.finished, state.value, subs)

    def needs_end_of_window_timer(self, state: Nodes) -> Bools:
        return _any(
            [
                self._is_notified(state, index) & sub.needs_end_of_window_timer(state.subs[index])
                for index, sub in enumerate(self.subs)
            ]
        )

    def _ready(self, state: Nodes, now: ColumnsNow) -> list[Bools]:
        return [sub.ready(old, now) for sub, old in self.pairs(state)]

    def _ready_or_finished(self, state: Nodes, now: ColumnsNow) -> list[Bools]:
        ready = self._ready(state, now)
        return [sub.finished | is_ready for sub, is_ready in zip(state.subs, ready, strict=True)]

    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        pairs = enumerate(self.pairs(nodes))
        subs = tuple(sub.on_merge(old, parts.sub(index), now) for index, (sub, old) in pairs)
        return Nodes(self._finished_by([sub.finished for sub in subs]), None, subs)

    def _finished_by(self, finished: Sequence[Bools]) -> Bools:
        """Which triggers of merged windows have finished, if these of their children have."""
        return _any(finished)


class AfterFirstColumns(_ChildrenColumns):
    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        return _any(self._ready_or_finished(state, now))

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        # What a child that is not ready was waiting for has left with this pane.
        subs = tuple(
            choose(sub.ready(old, now), sub.fired(old, now), old.cleared())
            for sub, old in self.pairs(state)
        )
        return Nodes(np.ones(len(state), np.bool_), None, subs)


class AfterAllColumns(_ChildrenColumns):
    def _is_notified(self, state: Nodes, index: int) -> Bools:
        return ~state.subs[index].finished

    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        return _all(self._ready_or_finished(state, now))

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        subs = tuple(sub.fired(old, now) for sub, old in self.pairs(state))
        return Nodes(np.ones(len(state), np.bool_), None, subs)

    def _finished_by(self, finished: Sequence[Bools]) -> Bools:
        return _all(finished)


class AfterEachColumns(_ChildrenColumns):
    def _is_current(self, state: Nodes, index: int) -> Bools:
        """Where child ``index`` is the first unfinished one, or the first of all if none is."""
        finished = [sub.finished for sub in state.subs]
        before = _all(finished[:index]) if index else np.ones(len(state), np.bool_)
        if index:
            return before & ~finished[index]
        return ~finished[0] | _all(finished)

    def _is_notified(self, state: Nodes, index: int) -> Bools:
        # Windows that merge may go back to an earlier child, so all of them get elements.
        return np.ones(len(state), np.bool_) if self.merging else self._is_current(state, index)

    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        return _any(
            [
                self._is_current(state, index) & ready
                for index, ready in enumerate(self._ready(state, now))
            ]
        )

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        subs = tuple(
            choose(
                self._is_current(state, index), sub.fired(state.subs[index], now), state.subs[index]
            )
            for index, sub in enumerate(self.subs)
        )
        if self.merging:
            # The others got elements too; what they waited for was emitted with this pane.
            subs = tuple(sub.cleared() for sub in subs)
        return Nodes(_all([sub.finished for sub in subs]), None, subs)

    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        subs: list[Nodes] = []
        before = np.ones(len(nodes), np.bool_)
        for index, sub in enumerate(self.subs):
            merged = sub.on_merge(nodes.subs[index], parts.sub(index), now)
            subs.append(choose(before, merged, nodes.subs[index].cleared()))
            before = before & subs[-1].finished
        return Nodes(before, None, tuple(subs))


class OrFinallyColumns(_ChildrenColumns):
    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        return _any(self._ready(state, now))

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        main, until = state.subs
        ends = self.subs[1].ready(until, now)
        # `until` is not cleared: it judges all that the window received since it started.
        subs = (
            choose(ends, main.cleared(), self.subs[0].fired(main, now)),
            choose(ends, self.subs[1].fired(until, now), until),
        )
        return Nodes(subs[0].finished | subs[1].finished, None, subs)


def _any(columns: Sequence[Bools]) -> Bools:
    """Where any of them is set."""
    result: Bools = np.logical_or.reduce(columns)
    return result


def _all(columns: Sequence[Bools]) -> Bools:
    """Where all of them are set."""
    result: Bools = np.logical_and.reduce(columns)
    return result


_LEAVES: Final[Mapping[type[spec.Trigger], Callable[[Any], TriggerColumns]]] = {
    spec.DefaultTrigger: lambda trigger: leaves.DefaultColumns(),
    spec.AfterProcessingTime: leaves.AfterTimeColumns,
    spec.AfterSynchronizedProcessingTime: leaves.AfterTimeColumns,
    spec.AfterCount: leaves.AfterCountColumns,
    spec.Never: lambda trigger: leaves.ConstantColumns(False),
    spec.Always: lambda trigger: leaves.ConstantColumns(True),
}
_COMPOSITES: Final[Mapping[type[spec.Trigger], type[TriggerColumns]]] = {
    spec.Repeatedly: RepeatedlyColumns,
    spec.AfterFirst: AfterFirstColumns,
    spec.AfterAll: AfterAllColumns,
    spec.AfterEach: AfterEachColumns,
    spec.OrFinally: OrFinallyColumns,
}


def columns_of_trigger(trigger: spec.Trigger, merging: bool) -> TriggerColumns:
    """The running form of a trigger over columns.

    Raises:
        UnsupportedError: It has none.
    """
    parts = trigger.children
    form: type[TriggerColumns] | None
    if isinstance(trigger, spec.AfterWatermark):
        if not parts:
            return leaves.AfterEndOfWindowColumns()
        early, late = trigger.early or spec.Never(), trigger.late
        parts = (early,) if late is None else (early, late)
        form = AfterWatermarkColumns
    else:
        for cls, leaf in _LEAVES.items():
            if isinstance(trigger, cls):
                return leaf(trigger)
        form = _COMPOSITES.get(type(trigger))
    if isinstance(trigger, CustomTrigger):
        whose = "" if trigger.arguments else ", a trigger of yours,"
        raise UnsupportedError(f"{trigger}{whose} runs key by key, and not over columns")
    if form is None:
        raise UnsupportedError(
            f"{trigger} is a trigger of yours, and only beamlike's run over columns"
        )
    return form([columns_of_trigger(part, merging) for part in parts], merging)
