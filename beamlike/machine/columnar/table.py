"""What the columnar machine remembers: a row for each window of each key, in columns.

The columns are the fields of the reference machine's `WindowState` and `KeyState`, whose cards
say what each holds, what happens to it when windows merge, and when it is cleared. ``alarms``
are not kept: they are the targets in the trigger's columns that the clock has not passed.
"""

from collections.abc import Sequence
from typing import Self

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import Bools, Ints, nothing
from beamlike.machine.columnar.folds import Accumulators, Fold
from beamlike.machine.columnar.nodes import Nodes, Trigger

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
