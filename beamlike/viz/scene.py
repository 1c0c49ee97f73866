"""Everything that a picture of one key's run shows, as plain values.

Event time goes across, in milliseconds. What happened goes upwards in *rows*: to scale where the
stream has a clock, so that all of one instant lies in one row; else one row for each step. A
drawing only has to put these values on paper, and a test can read them.
"""

from collections import Counter
from datetime import UTC, tzinfo
from enum import Enum
from operator import attrgetter
from typing import Final

import attrs

from beamlike.model.fingerprint import how_many
from beamlike.model.time import show_instant
from beamlike.model.windows import GlobalWindow, Window
from beamlike.viz.axis import FoldedTime

_MOST_OF_A_KIND: Final = 12
"""So many panes and drops are named one by one in the text of a picture."""


class Fate(Enum):
    """What became of an element."""

    TAKEN = "element"
    LATE = "element behind the watermark"
    DROPPED = "dropped element"
    NOWHERE = "element in no window"


class End(Enum):
    """How a window's life ended."""

    OPEN = "still open"
    MERGED = "merged"
    EXPIRED = "expired"


@attrs.frozen
class Mark:
    """An element, or several that came together and cannot be distinguished.

    ``event`` is its event time (ms), ``row`` its row, ``label`` its value in words, ``reason``
    why and by how much it was dropped, or from which of its windows.
    """

    event: int
    row: float
    label: str = ""
    fate: Fate = Fate.TAKEN
    reason: str = ""
    count: int = 1

    @property
    def refused(self) -> bool:
        """Whether it was dropped, from all of its windows or from some."""
        return self.fate is Fate.DROPPED or bool(self.reason)


@attrs.frozen
class Life:
    """A window from the row where it opened to the row where it ended.

    ``sources`` are the windows that merged into it, ``into`` the one that it merged into. Lives
    that overlap in event time and in rows lie in different lanes. ``closed`` is the row where
    its trigger finished, from which on it takes nothing more; None if it did not.
    """

    window: Window
    opened: float
    ended: float
    end: End = End.OPEN
    sources: tuple[Window, ...] = ()
    into: Window | None = None
    lane: int = 0
    closed: float | None = None


@attrs.frozen
class Box:
    """A pane: what it holds, from ``below``, the row since which that came, to ``row``, the firing.

    ``withdrawn`` is the row where a retraction withdrew it, None if it stands.
    """

    window: Window
    timing: str
    index: int | None
    label: str
    below: float
    row: float
    is_last: bool = False
    withdrawn: float | None = None
    by: str = ""

    @property
    def name(self) -> str:
        """Its timing and index in words, as ``on time #1``."""
        timing = self.timing.lower().replace("_", " ")
        name = timing if self.index is None else f"{timing} #{self.index}"
        return name + ", last" * self.is_last


@attrs.frozen
class RowLabel:
    """A label of a row, or of what is left out there. ``strong`` ones are kept where not all find
    room."""

    row: float
    label: str
    strong: bool = False


@attrs.frozen
class ValueSoFar:
    """The value, in words, that a window would bring out when the element at a place has come."""

    event: int
    row: float
    window: Window
    value: str


@attrs.frozen
class Skew:
    """How far, in processing time, the watermark is from the ideal line where it gets to ``event``:
    in its row, by ``late`` (ms) after the row ``ideal``."""

    event: int
    ideal: float
    row: float
    late: int


@attrs.frozen
class Scene:
    """The whole picture of one key.

    Attributes:
        title: What it is about.
        note: A second line, smaller.
        marks: The elements.
        lives: The windows.
        boxes: The panes, in order.
        running: The values of windows so far, beside elements.
        watermark: Pairs of row and watermark (ms), ascending: from that row on it stood there.
        rows: The lowest and the highest row.
        span: First and last event time (ms) in the picture.
        event: Event time, with what is empty folded away.
        ticks: Labels of rows.
        folds: What was left out between rows.
        ideal: Pairs of row and event time (ms) at which both times are one; empty if the two
            axes do not measure the same.
        skew: The distance of the watermark from that line where it is the longest; None if it is
            nowhere in the picture.
        event_axis: What event time is.
        arrival_axis: What goes upwards.
        zone: The time zone of the labels.
        now: The row up to which it is drawn; None for all.
    """

    title: str
    note: str = ""
    marks: tuple[Mark, ...] = ()
    lives: tuple[Life, ...] = ()
    boxes: tuple[Box, ...] = ()
    running: tuple[ValueSoFar, ...] = ()
    watermark: tuple[tuple[float, int], ...] = ()
    rows: tuple[float, float] = (0.0, 1.0)
    span: tuple[int, int] = (0, 1)
    event: FoldedTime = attrs.field(factory=lambda: FoldedTime((), 1), eq=False, repr=False)
    ticks: tuple[RowLabel, ...] = ()
    folds: tuple[RowLabel, ...] = ()
    ideal: tuple[tuple[float, int], ...] = ()
    skew: Skew | None = None
    event_axis: str = "event time"
    arrival_axis: str = "order of arrival"
    zone: tzinfo = UTC
    now: float | None = None

    @property
    def instants(self) -> tuple[float, ...]:
        """The rows in which something happens, ascending."""
        moved = {row for row, _ in self.watermark}
        arrived, fired = {mark.row for mark in self.marks}, {box.row for box in self.boxes}
        return tuple(sorted(moved | arrived | fired))

    def until(self, now: float) -> "Scene":
        """What has happened up to a row."""

        def life_until(life: Life) -> Life:
            return life if life.ended <= now else attrs.evolve(life, ended=now, end=End.OPEN)

        def box_until(box: Box) -> Box:
            return attrs.evolve(box, withdrawn=None) if (box.withdrawn or 0.0) > now else box

        return attrs.evolve(
            self,
            marks=tuple(mark for mark in self.marks if mark.row <= now),
            lives=tuple(life_until(life) for life in self.lives if life.opened <= now),
            boxes=tuple(box_until(box) for box in self.boxes if box.row <= now),
            running=tuple(value for value in self.running if value.row <= now),
            watermark=tuple(move for move in self.watermark if move[0] <= now),
            skew=self.skew if self.skew is not None and self.skew.row <= now else None,
            now=now,
        )

    @property
    def lanes(self) -> int:
        """How many windows lie above each other at most."""
        return 1 + max((life.lane for life in self.lives), default=0)

    def edges(self, window: Window) -> tuple[int, int]:
        """Where a window begins and ends on the folded axis; the global one, at its rims."""
        start, end = (max(window.start, self.span[0]), min(window.end, self.span[1]))
        return self.event.position(start), self.event.position(max(start, end))

    def text(self) -> str:
        """The picture in sentences, for those who cannot see it."""
        fates = Counter(mark.fate for mark in self.marks for _ in range(mark.count))
        late, lost = fates[Fate.LATE], fates[Fate.DROPPED]
        sentences = [
            f"{self.title}.",
            f"{how_many(sum(fates.values()), 'element')}, {late} late and taken, {lost} dropped"
            + (f", {fates[Fate.NOWHERE]} in no window" if fates[Fate.NOWHERE] else "")
            + f"; {how_many(len({life.window for life in self.lives}), 'window')}, "
            f"{how_many(len(self.boxes), 'pane')}.",
        ]
        merges = (life for life in self.lives if len(life.sources) > 1)
        drops, partly = list[str](), list[str]()
        for mark in filter(attrgetter("refused"), self.marks):
            subject = f"{mark.label} at {show_instant(mark.event)}"
            if mark.fate is not Fate.DROPPED:
                partly.append(f"{subject} was {mark.reason}.")
            else:
                drops.append(f"Dropped: {subject}{f', {mark.reason}' if mark.reason else ''}.")
        sentences_by_noun = {
            "pane": list(map(_text, self.boxes)),
            "merge": [
                f"{how_many(len(life.sources), 'window')} merged into {life.window}."
                for life in merges
            ],
            "dropped element": drops,
            "element dropped from a part of its windows": partly,
        }
        for noun, texts in sentences_by_noun.items():
            sentences += texts[:_MOST_OF_A_KIND]
            if len(texts) > _MOST_OF_A_KIND:
                sentences.append(f"And {how_many(len(texts) - _MOST_OF_A_KIND, f'more {noun}')}.")
        return " ".join(sentences)


def _text(box: Box) -> str:
    where = "" if isinstance(box.window, GlobalWindow) else f" of {box.window}"
    withdrawn = "" if box.withdrawn is None else ", withdrawn later"
    return f"Pane {box.name}{where}: {box.label}{withdrawn}."
