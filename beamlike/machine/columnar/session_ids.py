"""Names of sessions that stay as sessions grow and merge; see the reference's `emission`."""

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import Bools, Ints, WindowRows, among, order_of_windows
from beamlike.machine.columnar.columns import Table, UnretractedPanes
from beamlike.machine.columnar.rules import ColumnRules

_Name = tuple[int, int]


@attrs.frozen(eq=False)
class FiringOrder:
    """The windows that may fire in a step (``rows``), and all other windows (``remaining``).

    The windows of a key fire in ascending order of ``when``. ``forgotten`` says which rows are
    removed after they fired; None: none.
    """

    rows: Table
    when: Ints
    forgotten: Bools | None
    remaining: Table


def sessions_of(rules: ColumnRules, firing_order: FiringOrder, places: Ints) -> tuple[Ints, Ints]:
    """The names of sessions that emit a pane now, as starts and ends; ``places`` are their places
    among the rows of ``firing_order``."""
    rows = firing_order.rows
    assert rows.unretracted_panes is not None, "only panes that can be withdrawn have a session"
    start, end = rows.start[places], rows.end[places]
    kept = rows.unretracted_panes.take(places)
    named = np.nonzero(kept.lengths)[0]
    if len(named):
        earliest = kept.first[named]
        many = np.nonzero(kept.lengths > 1)[0]
        if len(many):
            several = kept.take(many)
            order = order_of_windows(several.owner, *several.items.columns("start", "end"))
            beyond = order[several.first] - several.first
            earliest[np.searchsorted(named, many)] += beyond
        panes = kept.items.take(earliest)
        start[named], end[named] = panes.columns("session_start", "session_end")
    unnamed = np.nonzero(kept.lengths == 0)[0]
    if len(unnamed) and _may_be_taken(rules, firing_order):
        for key in _keys_with_taken_names(firing_order, places[unnamed]):
            for place, name in _in_turn(firing_order, places, int(key)).items():
                start[place], end[place] = name
    return start, end


def _may_be_taken(rules: ColumnRules, firing_order: FiringOrder) -> bool:
    """Whether a session may have the bounds that another had at its first pane.

    A session without bounds takes in all that touches it, and so has no other within it, until it
    is closed.
    """
    if rules.sweep is None:
        return False
    return bool(
        rules.sweep.is_bounded
        or firing_order.rows.closed.any()
        or firing_order.remaining.closed.any()
    )


def _names(table: Table) -> tuple[Ints, Ints, Ints]:
    """The names that sessions have now: key, start and end of each."""
    assert table.unretracted_panes is not None, "as above"
    start, end = table.unretracted_panes.items.columns("session_start", "session_end")
    return table.key[table.unretracted_panes.owner], start, end


def _keys_with_taken_names(firing_order: FiringOrder, places: Ints) -> Ints:
    """The keys where the bounds of one of these windows are already the name of a session."""
    pairs = zip(_names(firing_order.rows), _names(firing_order.remaining), strict=True)
    taken = WindowRows(*(np.concatenate(pair) for pair in pairs))
    rows = firing_order.rows
    windows = WindowRows(rows.key[places], rows.start[places], rows.end[places])
    return np.unique(windows.key[among(windows, taken) >= 0])


def _in_turn(firing_order: FiringOrder, places: Ints, key: int) -> dict[int, _Name]:
    """The names of one key's sessions, by their place in ``places``, chosen one after the other.

    Needed only where bounded sessions overlap, or where a new session has the bounds that a closed
    one had first. A name that is taken is changed: its start is moved back until it is free.
    """
    rows = firing_order.rows
    names = {row: _names_of(rows, row) for row in np.nonzero(rows.key == key)[0].tolist()}
    other_rows = np.nonzero(firing_order.remaining.key == key)[0].tolist()
    fixed = {name for row in other_rows for name in _names_of(firing_order.remaining, row)}
    place_of = {row: place for place, row in enumerate(places.tolist()) if row in names}
    assigned: dict[int, _Name] = {}
    for row in sorted(names, key=lambda row: int(firing_order.when[row])):
        if row in place_of:
            if names[row]:
                name = _earliest(rows, row)
            else:
                name = int(rows.start[row]), int(rows.end[row])
                taken = fixed.union(*names.values())
                while name in taken:
                    name = name[0] - 1, name[1]
            assigned[place_of[row]] = name
            names[row] = [name]
        if firing_order.forgotten is not None and firing_order.forgotten[row]:
            names[row] = []
    return assigned


def _panes_of(table: Table, row: int) -> UnretractedPanes:
    assert table.unretracted_panes is not None, "as above"
    panes: UnretractedPanes = table.unretracted_panes.take(np.array([row])).items.read()
    return panes


def _names_of(table: Table, row: int) -> list[_Name]:
    panes = _panes_of(table, row)
    return list(zip(panes.session_start.tolist(), panes.session_end.tolist(), strict=True))


def _earliest(table: Table, row: int) -> _Name:
    panes = _panes_of(table, row)
    first = np.lexsort((panes.end, panes.start))[0]
    return int(panes.session_start[first]), int(panes.session_end[first])
