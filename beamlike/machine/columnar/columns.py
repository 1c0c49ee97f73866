"""The inputs and outputs of a columnar machine, in columns."""

import attrs

from beamlike.machine.columnar.arrays import Bools, Ints
from beamlike.machine.columnar.folds import Accumulators, Values
from beamlike.machine.columnar.table import Table


@attrs.frozen(eq=False)
class Merges:
    """Windows that became one, in columns: what they are now, and what they were.

    ``lengths`` says how many each was made of; ``part_start`` and ``part_end`` are those, one
    merge after the other, in order of start and end.
    """

    key: Ints
    start: Ints
    end: Ints
    lengths: Ints
    part_start: Ints
    part_end: Ints

    @property
    def merged_away(self) -> int:
        """How many windows are part of another now."""
        return len(self.part_start) - len(self.key)


@attrs.frozen(eq=False)
class State:
    """All keys of a pass. ``output_watermark`` is each key's output watermark (ms), by its number.

    ``merges`` are the live windows that the event that led here made part of another, None if it
    was none that can.
    """

    watermark: int
    clock: int
    output_watermark: Ints
    table: Table
    merges: Merges | None = None


@attrs.frozen(eq=False)
class Arrivals:
    """Elements of one bundle for each key, in order of arrival.

    ``values`` has a column for each fold, None for one that needs none. ``start`` and ``end``
    are those of the window that an element comes in, `NOTHING` for one that the window function
    assigns to its windows; None if it assigns all of them. ``is_end`` says which elements end their
    session, None if none can.
    """

    key: Ints
    at: Ints
    values: tuple[Values | None, ...]
    start: Ints | None = None
    end: Ints | None = None
    is_end: Bools | None = None


@attrs.frozen(eq=False)
class LiftedArrivals:
    """Elements that were combined before they arrived, in order of arrival; see `Lifted`.

    Each row stands for ``count`` elements of one window, the latest of them at ``at`` (ms).
    ``judged`` says which were judged for lateness where they were combined, and ``merged`` which
    came in other windows, too. ``accumulators`` are those of each fold.
    """

    key: Ints
    start: Ints
    end: Ints
    at: Ints
    count: Ints
    judged: Bools
    merged: Bools
    accumulators: tuple[Accumulators, ...]


@attrs.frozen(eq=False)
class Panes:
    """Panes that came out, in columns; ``values`` has a column for each fold.

    In retracting mode ``retraction`` says which of them withdraw an earlier pane, right before
    the pane that replaces it, and ``session_start`` and ``session_end`` are the session's name;
    else they are None.
    """

    key: Ints
    start: Ints
    end: Ints
    values: tuple[Values, ...]
    timestamp: Ints
    timing: Ints
    index: Ints
    nonspeculative: Ints
    is_last: Bools
    retraction: Bools | None = None
    session_start: Ints | None = None
    session_end: Ints | None = None


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
