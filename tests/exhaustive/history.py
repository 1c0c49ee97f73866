"""The history of a window, and what follows from it: content, hold, panes. The model, part one.

Nothing is carried along. A history is a tuple of what happened to a window; one that windows merged
into begins with their histories. Every question is answered by reading it from its beginning.
"""

from typing import NamedTuple

from beamlike.model.strategy import TimestampCombiner
from tests.exhaustive.events import Row


class Now(NamedTuple):
    """Where the clocks stood when something happened to a window that ends with ``last``."""

    watermark: int
    clock: int
    output_watermark: int
    last: int
    merging: bool

    @property
    def is_over(self) -> bool:
        """Whether the watermark is past the end of the window."""
        return self.watermark > self.last


class PaneOut(NamedTuple):
    """A pane that was emitted."""

    start: int
    end: int
    content: int
    timestamp: int
    timing: str
    number: int
    nonspeculative: int
    is_first: bool
    is_last: bool

    def row(self, step: int, kind: str = "pane") -> Row:
        return (step, kind, *self)


class Came(NamedTuple):
    """An element was accepted."""

    number: int
    at: int
    now: Now


class Fired(NamedTuple):
    """The trigger fired, and a pane came of it, or none that was wanted."""

    now: Now
    pane: PaneOut | None


class Cleared(NamedTuple):
    """A trigger lost its state and keeps whether it is finished. Of parts of a tree only."""

    what: str = "cleared"  # tuples without it would be equal to `Ended`


class Ended(NamedTuple):
    """The end of the window was processed: an early trigger counts as finished, without state."""

    what: str = "ended"


class Grew(NamedTuple):
    """Live windows merged into this one; ``same`` is the place of the one with its bounds."""

    parts: tuple["History", ...]
    same: int | None
    now: Now


Happened = Came | Fired | Cleared | Ended | Grew
History = tuple[Happened, ...]


def everything(history: History) -> list[int]:
    """The numbers of all elements, those of merged windows included."""
    found = []
    for entry in history:
        if isinstance(entry, Came):
            found.append(entry.number)
        elif isinstance(entry, Grew):
            found += [number for part in entry.parts for number in everything(part)]
    return found


def new_since_pane(history: History) -> list[int]:
    """The numbers of the elements since the trigger fired last."""
    found: list[int] = []
    for entry in history:
        if isinstance(entry, Fired):
            found = []
        elif isinstance(entry, Came):
            found.append(entry.number)
        elif isinstance(entry, Grew):
            found += [number for part in entry.parts for number in new_since_pane(part)]
    return found


def hold_of(combiner: TimestampCombiner, history: History) -> int | None:
    """What holds the output watermark back (ms), and stamps the next pane. Section 8."""
    times: list[int] = []
    for entry in history:
        if isinstance(entry, Fired):
            times = []
        elif isinstance(entry, Came):
            at_end = combiner is TimestampCombiner.END_OF_WINDOW
            times += _held(entry.now.last if at_end else entry.at, entry.now)
        elif isinstance(entry, Grew):
            if combiner is TimestampCombiner.END_OF_WINDOW:
                times += _held(entry.now.last, entry.now)
            else:
                held = [hold_of(combiner, part) for part in entry.parts]
                times += [time for time in held if time is not None]
    if not times:
        return None
    return min(times) if combiner is TimestampCombiner.EARLIEST else max(times)


def _held(time: int, now: Now) -> list[int]:
    return [] if time < now.output_watermark or now.is_over else [time]


def previous_pane(history: History) -> PaneOut | None:
    """The last pane of this window, by its bounds: what is merged away has no say."""
    found: PaneOut | None = None
    for entry in history:
        if isinstance(entry, Fired):
            found = entry.pane or found
        elif isinstance(entry, Grew):
            found = None if entry.same is None else previous_pane(entry.parts[entry.same])
    return found


def unretracted_panes(history: History) -> list[PaneOut]:
    """The panes that stand: the last one of each window that this one was made of. Section 13."""
    found: list[PaneOut] = []
    for entry in history:
        if isinstance(entry, Fired) and entry.pane is not None:
            found = [entry.pane]
        elif isinstance(entry, Grew):
            found = [pane for part in entry.parts for pane in unretracted_panes(part)]
    return found
