"""What a columnar machine is told and what it answers, in columns."""

import attrs

from beamlike.machine.columnar.arrays import Bools, Ints
from beamlike.machine.columnar.folds import Values
from beamlike.machine.columnar.table import Table

__all__ = ["Arrivals", "Drops", "Panes", "State"]


@attrs.frozen(eq=False)
class State:
    """All keys of a pass. ``promised`` is each key's output watermark (ms), by its number."""

    watermark: int
    clock: int
    promised: Ints
    table: Table


@attrs.frozen(eq=False)
class Arrivals:
    """Elements of one bundle for each key, in order of arrival.

    ``values`` has a column for each fold, None for one that needs none.
    """

    key: Ints
    at: Ints
    values: tuple[Values | None, ...]


@attrs.frozen(eq=False)
class Panes:
    """Panes that came out, in columns; ``values`` has a column for each fold."""

    key: Ints
    start: Ints
    end: Ints
    values: tuple[Values, ...]
    timestamp: Ints
    timing: Ints
    index: Ints
    nonspeculative: Ints
    is_last: Bools


@attrs.frozen(eq=False)
class Drops:
    """Elements that a window did not accept: ``row`` is the element's place in the bundle.

    ``missed_by`` is `NOTHING` where the window was closed, ``nearly_start`` where no live session
    would have taken the element in.
    """

    row: Ints
    start: Ints
    end: Ints
    missed_by: Ints
    nearly_start: Ints
    nearly_end: Ints
