"""Retractions as changes of a table: rows that appear, change and disappear.

In retracting mode a firing withdraws the panes that it replaces, one by one, and puts the new
pane in their place. A consumer that keeps a table of results needs these as changes of its rows.
The two functions here differ in what identifies a row: its window, or the
session (`Pane.session`), which keeps its name while it grows.

Applying the changes in order, each by ``(key, identity)``, gives the panes that are in force.
"""

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Literal

import attrs

from beamlike.errors import UnsupportedError
from beamlike.machine.events import Effect, Pane
from beamlike.model.windows import Window


@attrs.frozen
class Change:
    """A change of one row of a key: ``pane`` is put there; None: the row is deleted."""

    op: Literal["upsert", "delete"]
    identity: Window
    pane: Pane | None = None


def changelog(effects: Iterable[Effect]) -> Iterator[Change]:
    """The changes of a table whose rows are identified by their windows.

    A pane of the window that it replaces is one change, other panes that it withdraws are
    deleted before. Windows must identify the panes in force: those of sessions with a bound do
    not, see `upserts`.

    Args:
        effects: All panes of one key in order, in retracting mode; other effects are skipped.

    >>> from beamlike.model.panes import PaneInfo, Timing
    >>> from beamlike.model.windows import IntervalWindow
    >>> short, long = IntervalWindow(0, 10), IntervalWindow(0, 15)
    >>> info = PaneInfo(Timing.EARLY, 0, -1, True, False)
    >>> first, second = Pane(short, 5, 9, info), Pane(long, 8, 14, info)
    >>> withdrawn = attrs.evolve(first, retraction=True)
    >>> [(change.op, str(change.identity)) for change in changelog([first, withdrawn, second])]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('upsert', '[00:00:00, 00:00:00.010)'),
     ('delete', '[00:00:00, 00:00:00.010)'),
     ('upsert', '[00:00:00, 00:00:00.015)')]
    """
    return _changes(effects, attrgetter("window"))


def upserts(effects: Iterable[Effect]) -> Iterator[Change]:
    """The changes of a table whose rows are identified by their sessions.

    A session keeps its row as it grows. When sessions merge, the earliest keeps its row, and the
    others are deleted. Right for every window function.

    Raises:
        UnsupportedError: A pane is of another mode, and has no session.
    """
    return _changes(effects, _session)


def _firings(effects: Iterable[Effect]) -> Iterator[tuple[list[Pane], Pane | None]]:
    """Each pane with the panes that it replaces, which are withdrawn just before it.

    Withdrawn panes may have none in their place, if all elements of a window were withdrawn. If a
    pane of another window follows them, it counts as their replacement.
    """
    withdrawn: list[Pane] = []
    for effect in effects:
        if not isinstance(effect, Pane):
            continue
        if effect.retraction:
            withdrawn.append(effect)
        else:
            yield withdrawn, effect
            withdrawn = []
    if withdrawn:
        yield withdrawn, None


def _changes(effects: Iterable[Effect], identity_of: Callable[[Pane], Window]) -> Iterator[Change]:
    for withdrawn, pane in _firings(effects):
        identity = None if pane is None else identity_of(pane)
        for old in map(identity_of, withdrawn):
            if old != identity:
                yield Change("delete", old)
        if identity is not None:
            yield Change("upsert", identity, pane)


def _session(pane: Pane) -> Window:
    if pane.session is None:
        raise UnsupportedError(
            f"the pane of {pane.window} has no session, because its grouping withdraws nothing; "
            'group with accumulation="retracting"'
        )
    return pane.session
