"""The elements of a bundle, each with each of its windows."""

from typing import Protocol

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import NOTHING, Bools, Ints, concat, lengths_of, take
from beamlike.machine.columnar.assign import Assigned, assign
from beamlike.machine.columnar.columns import Arrivals, LiftedArrivals
from beamlike.machine.columnar.folds import Accumulators, Fold
from beamlike.machine.columnar.order import order_of
from beamlike.model.windowfns import WindowFn


@attrs.frozen(eq=False)
class Incoming:
    """A row for each element with each of its windows, in order of arrival.

    ``row`` is the element's place in the bundle. ``count`` says how many elements it stands for,
    ``judged`` whether it was judged for lateness before, and ``merged`` whether it came in other
    windows before; None: one each, and none of them.
    """

    row: Ints
    key: Ints
    start: Ints
    end: Ints
    at: Ints
    count: Ints | None = None
    judged: Bools | None = None
    merged: Bools | None = None

    def __len__(self) -> int:
        return len(self.row)


class Bundle(Protocol):
    """What a bundle brings."""

    def incoming(self, window_fn: WindowFn) -> Incoming: ...

    def added(
        self, folds: tuple[Fold, ...], held: tuple[Accumulators, ...], row: Ints, first: Ints
    ) -> tuple[Accumulators, ...]:
        """The accumulators of windows with the elements of these rows, which lie window by
        window; ``first`` is where those of each begin."""
        ...


@attrs.frozen(eq=False)
class PlainBundle:
    """Elements one by one."""

    arrivals: Arrivals

    def incoming(self, window_fn: WindowFn) -> Incoming:
        key, at = self.arrivals.key, self.arrivals.at
        assigned = self._assigned(window_fn)
        row = assigned.row
        return Incoming(row, key[row], assigned.start, assigned.end, at[row])

    def _assigned(self, window_fn: WindowFn) -> Assigned:
        at, start, end = self.arrivals.at, self.arrivals.start, self.arrivals.end
        if start is None or end is None:
            return assign(window_fn, at, self.arrivals.is_end)
        given = start != NOTHING
        if given.all():
            return Assigned(np.arange(len(at)), start, end)
        rows, others = np.nonzero(given)[0], np.nonzero(~given)[0]
        is_end = self.arrivals.is_end
        is_end = None if is_end is None else is_end[others]
        assigned = assign(window_fn, at[others], is_end)
        both = concat(
            [
                attrs.evolve(assigned, row=others[assigned.row]),
                Assigned(rows, start[rows], end[rows]),
            ]
        )
        return take(both, order_of(both.row))

    def added(
        self, folds: tuple[Fold, ...], held: tuple[Accumulators, ...], row: Ints, first: Ints
    ) -> tuple[Accumulators, ...]:
        counts, at = lengths_of(first, len(row)), self.arrivals.at[row]
        values = (None if one is None else take(one, row) for one in self.arrivals.values)
        return tuple(
            fold.add(before, column, at, first, counts)
            for fold, before, column in zip(folds, held, values, strict=True)
        )


@attrs.frozen(eq=False)
class LiftedBundle:
    """Elements that were combined before they arrived."""

    lifted: LiftedArrivals

    def incoming(self, window_fn: WindowFn) -> Incoming:
        it = self.lifted
        row = np.arange(len(it.key), dtype=np.int64)
        return Incoming(row, it.key, it.start, it.end, it.at, it.count, it.judged, it.merged)

    def added(
        self, folds: tuple[Fold, ...], held: tuple[Accumulators, ...], row: Ints, first: Ints
    ) -> tuple[Accumulators, ...]:
        return tuple(
            fold.grown(before, take(parts, row), first)
            for fold, before, parts in zip(folds, held, self.lifted.accumulators, strict=True)
        )
