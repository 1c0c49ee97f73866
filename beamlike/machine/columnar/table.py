"""What the columnar machine remembers: a row for each window of each key, in columns.

The columns are the fields of the reference machine's `WindowState` and `KeyState`, whose cards
say what each holds, what happens to it when windows merge, and when it is cleared. ``alarms``
are not kept: they are the targets in the trigger's columns that the clock has not passed.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import attrs
import numpy as np

from beamlike.machine.columnar.folds import Accumulators, Array, Fold
from beamlike.machine.columnar.nodes import Bools, Ints, Nodes, Trigger, nothing

__all__ = ["NO_PANE", "TIMINGS", "Table"]

NO_PANE = -1
"""In ``timing``: no pane was emitted yet. Else the position in `TIMINGS`."""

TIMINGS = ("EARLY", "ON_TIME", "LATE")


@attrs.frozen(eq=False)
class Table:
    """Windows in rows. ``key`` is the number of a key; whoever calls knows which is which."""

    key: Ints
    start: Ints
    end: Ints
    trigger: Nodes
    accumulators: tuple[Accumulators, ...]
    fresh: Ints
    hold: Ints
    awaits_end: Bools
    timing: Ints
    index: Ints
    nonspeculative: Ints

    def __len__(self) -> int:
        return len(self.key)

    @classmethod
    def of_new_windows(
        cls, key: Ints, start: Ints, end: Ints, trigger: Trigger, folds: Sequence[Fold]
    ) -> Self:
        """Windows without elements, as on their first day."""
        count = len(key)
        return cls(
            key,
            start,
            end,
            trigger.start(count),
            tuple(fold.create(count) for fold in folds),
            fresh=np.zeros(count, np.int64),
            hold=nothing(count),
            awaits_end=np.zeros(count, np.bool_),
            timing=np.full(count, NO_PANE, np.int64),
            index=nothing(count),
            nonspeculative=nothing(count),
        )

    @property
    def closed(self) -> Bools:
        """The trigger finished: the window only waits for its expiry and accepts nothing."""
        return self.trigger.finished

    @property
    def last(self) -> Ints:
        """The last instant of each window (ms)."""
        return self.end - 1

    def take(self, rows: Ints) -> Self:
        """These rows, in this order."""
        return self._each(lambda column: column[rows])

    def keep(self, mask: Bools) -> Self:
        """The rows where the mask is set."""
        return self if mask.all() else self.take(np.nonzero(mask)[0])

    def put(self, rows: Ints, changed: Self) -> Self:
        """The same table with these rows replaced."""

        def put(column: Array, new: Array) -> Array:
            copy = column.copy()
            copy[rows] = new
            return copy

        return self._each(put, changed)

    def plus(self, more: Self) -> Self:
        """Both, one below the other."""
        return self._each(lambda column, other: np.concatenate([column, other]), more)

    def _each(self, change: Callable[..., Array], *others: Self) -> Self:
        """A table of what becomes of every column, beside the same column of the others."""
        columns: Any = (
            _changed(change, *(getattr(table, field.name) for table in (self, *others)))
            for field in attrs.fields(type(self))
        )
        return type(self)(*columns)


def _changed(change: Callable[..., Array], *columns: Any) -> Any:
    """The same of a column that is made of columns."""
    first = columns[0]
    if first is None:
        return None
    if isinstance(first, Nodes):
        return Nodes(
            _changed(change, *(nodes.finished for nodes in columns)),
            _changed(change, *(nodes.value for nodes in columns)),
            _changed(change, *(nodes.subs for nodes in columns)),
        )
    if isinstance(first, tuple):
        return tuple(_changed(change, *parts) for parts in zip(*columns, strict=True))
    return change(*columns)
