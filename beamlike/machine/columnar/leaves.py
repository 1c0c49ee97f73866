"""Triggers over columns: the state of a trigger's node for many windows at once, and the leaves.

A `Nodes` is to a column what `TriggerState` is to one window. Every operation covers all of its
windows; where only some are concerned, a mask says which. Leaves are triggers without children;
their rules are those of the reference machine's `leaves`, once for all windows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import NOTHING, Bools, Ints, least, nothing
from beamlike.model import triggers as spec
from beamlike.model.trigger_base import Tree


@attrs.frozen(eq=False)
class Nodes(Tree):
    """One node of the trigger tree, a row for each window. ``value`` is None if it keeps none."""

    finished: Bools
    value: Ints | None
    subs: tuple["Nodes", ...] = ()

    def __len__(self) -> int:
        return len(self.finished)

    def finish(self) -> Self:
        """Fired for the last time, with nothing left to remember."""
        return self.with_finished(np.ones(len(self), np.bool_), self.subs)

    def with_finished(self, finished: Bools, subs: tuple["Nodes", ...]) -> Self:
        """These finished bits, these children and no value."""
        value = None if self.value is None else nothing(len(self))
        return type(self)(finished, value, subs)

    def cleared(self) -> Self:
        """Counts and targets forgotten all the way down; what is finished stays finished."""
        return self.with_finished(self.finished, tuple(sub.cleared() for sub in self.subs))

    def restarted(self) -> Self:
        """As at the start, all the way down."""
        subs = tuple(sub.restarted() for sub in self.subs)
        return self.with_finished(np.zeros(len(self), np.bool_), subs)


@attrs.frozen(eq=False)
class ColumnsNow:
    """What a trigger may use in a decision: the windows whose end the watermark has passed,
    and processing time (ticks)."""

    end_reached: Bools
    clock: int


@attrs.frozen(eq=False)
class Parts:
    """The live windows that merge, in rows. The parts of one result are neighbours.

    ``first`` is for each result the row of its first part. Every result has at least one part.
    """

    nodes: Nodes
    first: Ints

    def sub(self, index: int) -> "Parts":
        """The parts of a child."""
        return Parts(self.nodes.subs[index], self.first)

    def all_finished(self) -> Bools:
        """For each result, whether all of its parts are."""
        return np.logical_and.reduceat(self.nodes.finished, self.first)

    def any_finished(self) -> Bools:
        """For each result, whether any of its parts is."""
        return np.logical_or.reduceat(self.nodes.finished, self.first)


class TriggerColumns(Tree, ABC):
    """A trigger in action over columns; the counterpart of the reference's
    ``TriggerNode``."""

    keeps_value: ClassVar[bool] = False
    is_timed: ClassVar[bool] = False
    """Whether its values are processing times that it waits for."""

    def __init__(self, subs: Sequence["TriggerColumns"] = (), merging: bool = False) -> None:
        self.subs: tuple[TriggerColumns, ...] = tuple(subs)
        self.merging = merging

    def pairs(self, state: Nodes) -> Iterator[tuple["TriggerColumns", Nodes]]:
        """Each child with its state."""
        return zip(self.subs, state.subs, strict=True)

    def start(self, count: int) -> Nodes:
        """The state of so many new windows."""
        value = nothing(count) if self.keeps_value else None
        subs = tuple(sub.start(count) for sub in self.subs)
        return Nodes(np.zeros(count, np.bool_), value, subs)

    @abstractmethod
    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: ColumnsNow) -> Nodes:
        """``counts`` elements of one bundle were added to each window where ``on`` is set."""

    @abstractmethod
    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        """Which windows are to fire now. Does not look at the node's own finished bit."""

    @abstractmethod
    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        """The state of each window after its pane was emitted, also of windows that do not fire."""

    @abstractmethod
    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        """The state in the merged windows. ``nodes`` is the state that each result had before, if
        it was one of the parts; else a fresh one."""

    def needs_end_of_window_timer(self, state: Nodes) -> Bools:
        """The windows in which an element that arrives now makes the trigger wait for their end."""
        return np.zeros(len(state), np.bool_)


class _ForgetfulColumns(TriggerColumns):
    """A trigger that has nothing to remember."""

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: ColumnsNow) -> Nodes:
        return state

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        return state

    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        return nodes


class DefaultColumns(_ForgetfulColumns):
    """Ready from the end of the window on. It never finishes, so every bundle after the end fires
    again."""

    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        return now.end_reached

    def needs_end_of_window_timer(self, state: Nodes) -> Bools:
        return np.ones(len(state), np.bool_)


class AfterEndOfWindowColumns(DefaultColumns):
    """`AfterWatermark` without early and late firings."""

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        return state.finish()

    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        # A part that has not fired has data that was in no on-time pane yet.
        return nodes.with_finished(parts.all_finished() & now.end_reached, ())


class AfterTimeColumns(TriggerColumns):
    """`AfterProcessingTime` and `AfterSynchronizedProcessingTime`."""

    keeps_value = True
    is_timed = True

    def __init__(
        self, trigger: spec.AfterProcessingTime | spec.AfterSynchronizedProcessingTime
    ) -> None:
        super().__init__()
        self.trigger = trigger

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: ColumnsNow) -> Nodes:
        # Only the pane's first element sets the target.
        value = _value(state)
        first = on & (value == NOTHING)
        return Nodes(state.finished, np.where(first, self.trigger.target(now.clock), value))

    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        value = _value(state)
        ready: Bools = (value != NOTHING) & (now.clock > value)
        return ready

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        return state.finish()

    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        earliest = least(_value(parts.nodes), parts.first)
        return Nodes(nodes.finished, np.where(nodes.finished, NOTHING, earliest))


class AfterCountColumns(TriggerColumns):
    """`AfterCount`: fires once. ``value`` counts elements since it fired, was restarted or cleared.
    On a merge counts are added up; finished if a part was. See `TriggerState`."""

    keeps_value = True

    def __init__(self, trigger: spec.AfterCount) -> None:
        super().__init__()
        self.count = trigger.count

    def on_elements(self, state: Nodes, counts: Ints, on: Bools, now: ColumnsNow) -> Nodes:
        value = _value(state)
        return Nodes(state.finished, np.where(on, _or_zero(value) + counts, value))

    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        ready: Bools = _or_zero(_value(state)) >= self.count
        return ready

    def fired(self, state: Nodes, now: ColumnsNow) -> Nodes:
        return state.finish()

    def on_merge(self, nodes: Nodes, parts: Parts, now: ColumnsNow) -> Nodes:
        finished = parts.any_finished()
        total = np.add.reduceat(_or_zero(_value(parts.nodes)), parts.first)
        return Nodes(finished, np.where(finished, NOTHING, total))


class ConstantColumns(_ForgetfulColumns):
    """`Never` and `Always`."""

    def __init__(self, answer: bool) -> None:
        super().__init__()
        self.answer = answer

    def ready(self, state: Nodes, now: ColumnsNow) -> Bools:
        return np.full(len(state), self.answer)


def _value(state: Nodes) -> Ints:
    assert state.value is not None, "a node that keeps values has a column of them"
    return state.value


def _or_zero(value: Ints) -> Ints:
    return np.where(value == NOTHING, 0, value)
