"""Triggers without children, over columns: the rules of the reference machine's `leaves`.

The rules are the same as there, once for all windows.
"""

import numpy as np

from beamlike.machine.columnar.arrays import NOTHING, Bools, Ints, least
from beamlike.machine.columnar.nodes import Nodes, Now, Parts, Trigger
from beamlike.model import triggers as spec


class _AtEnd(Trigger):
    """Ready from the end of the window on."""

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: Now) -> Nodes:
        return state

    def ready(self, state: Nodes, now: Now) -> Bools:
        return now.end_reached

    def needs_end_of_window_timer(self, state: Nodes) -> Bools:
        return np.ones(len(state), np.bool_)


class Default(_AtEnd):
    """Never finishes, so every bundle after the end fires again."""

    def fired(self, state: Nodes, now: Now) -> Nodes:
        return state

    def on_merge(self, own: Nodes, parts: Parts, now: Now) -> Nodes:
        return own


class AfterEndOfWindow(_AtEnd):
    """`AfterWatermark` without early and late firings."""

    def fired(self, state: Nodes, now: Now) -> Nodes:
        return state.finish()

    def on_merge(self, own: Nodes, parts: Parts, now: Now) -> Nodes:
        # A part that has not fired has data that was in no on-time pane yet.
        return own.with_finished(parts.all_finished() & now.end_reached, ())


class AfterTime(Trigger):
    """`AfterProcessingTime` and `AfterSynchronizedProcessingTime`."""

    keeps_value = True
    is_timed = True

    def __init__(
        self, trigger: spec.AfterProcessingTime | spec.AfterSynchronizedProcessingTime
    ) -> None:
        super().__init__()
        self.trigger = trigger

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: Now) -> Nodes:
        # Only the pane's first element sets the target.
        value = _value(state)
        first = on & (value == NOTHING)
        return Nodes(state.finished, np.where(first, self.trigger.target(now.clock), value))

    def ready(self, state: Nodes, now: Now) -> Bools:
        value = _value(state)
        ready: Bools = (value != NOTHING) & (now.clock > value)
        return ready

    def fired(self, state: Nodes, now: Now) -> Nodes:
        return state.finish()

    def on_merge(self, own: Nodes, parts: Parts, now: Now) -> Nodes:
        earliest = least(_value(parts.nodes), parts.first)
        return Nodes(own.finished, np.where(own.finished, NOTHING, earliest))


class AfterCount(Trigger):
    keeps_value = True

    def __init__(self, trigger: spec.AfterCount) -> None:
        super().__init__()
        self.count = trigger.count

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: Now) -> Nodes:
        value = _value(state)
        return Nodes(state.finished, np.where(on, _or_zero(value) + counts, value))

    def ready(self, state: Nodes, now: Now) -> Bools:
        ready: Bools = _or_zero(_value(state)) >= self.count
        return ready

    def fired(self, state: Nodes, now: Now) -> Nodes:
        return state.finish()

    def on_merge(self, own: Nodes, parts: Parts, now: Now) -> Nodes:
        finished = parts.any_finished()
        total = np.add.reduceat(_or_zero(_value(parts.nodes)), parts.first)
        return Nodes(finished, np.where(finished, NOTHING, total))


class Constant(Trigger):
    """`Never` and `Always`: nothing to remember."""

    def __init__(self, answer: bool) -> None:
        super().__init__()
        self.answer = answer

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: Now) -> Nodes:
        return state

    def ready(self, state: Nodes, now: Now) -> Bools:
        return np.full(len(state), self.answer)

    def fired(self, state: Nodes, now: Now) -> Nodes:
        return state

    def on_merge(self, own: Nodes, parts: Parts, now: Now) -> Nodes:
        return own


def _value(state: Nodes) -> Ints:
    assert state.value is not None, "a node that keeps values has a column of them"
    return state.value


def _or_zero(value: Ints) -> Ints:
    return np.where(value == NOTHING, 0, value)
