"""Time axes, folded in pictures and on the columns of a terminal, and their labels."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain, pairwise
from typing import Final

import attrs

from beamlike.machine.events import AdvanceWatermark
from beamlike.model.time import show_duration, show_instant
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import IntervalWindow, Window
from beamlike.viz.moments import Moment
from beamlike.viz.run_index import own_windows

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
DISTANCES: Final = (
    *(n * 10**power for power in range(3) for n in (1, 2, 5)),
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * 10**power * DAY for power in range(9) for n in (1, 2, 5)),
)
"""Distances of labels that people find round (ms), ascending."""
_FOLDED_FROM: Final = 1.2
"""A stretch is folded if it is so many times as long as the others together."""
_KEPT: Final = 0.03
"""So much of what is shown is kept on each side of a fold."""
_SECONDS: Final = re.compile(r"(?<=^.{5}):00$", re.MULTILINE)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class FoldedTime:
    """A time axis with its empty stretches folded away.

    A stretch between two happenings that is longer than ``limit_ms`` takes only
    ``limit_ms`` on the axis. Positions are milliseconds on the folded axis.

    Args:
        happenings: Instants (ms), or spans of them, that must be seen.
        limit_ms: How long a stretch without any may be; twice as long, and it is folded.
    """

    def __init__(self, happenings: Iterable[int | tuple[int, int]], limit_ms: int) -> None:
        spans = sorted({(span, span) if isinstance(span, int) else span for span in happenings})
        self.folds: list[tuple[int, int]] = []
        reached = spans[0][1] if spans else 0
        for start, end in spans:
            if start - reached > 2 * limit_ms:
                self.folds.append((reached + limit_ms // 2, start - limit_ms // 2))
            reached = max(reached, end)

    @classmethod
    def sparing(cls, instants: Iterable[int]) -> "FoldedTime":
        """An axis that folds each stretch longer than all that is shown beside it."""
        times = sorted(set(instants))
        axis = cls((), 1)
        shown = times[-1] - times[0] if times else 0
        folded = []
        for start, end in sorted(pairwise(times), key=lambda gap: gap[0] - gap[1]):
            rest = shown - (end - start)
            if end - start < rest * _FOLDED_FROM:
                break
            folded.append((start, end))
            shown = rest
        kept = int(shown * _KEPT)  # what lies beside a fold has a little air
        axis.folds = sorted((start + kept, end - kept) for start, end in folded if shown)
        return axis

    def position(self, instant: int) -> int:
        """Where an instant lies on the folded axis; inside a fold, at its near edge."""
        return instant - sum(
            min(instant, end) - start for start, end in self.folds if instant > start
        )

    def shows(self, instant: int) -> bool:
        """False inside a fold."""
        return not any(start < instant < end for start, end in self.folds)


def round_instants(
    axis: FoldedTime, start: int, end: int, most: int, zone: tzinfo = UTC
) -> list[tuple[int, str]]:
    """So many round instants (ms) at most that an axis shows from ``start`` to ``end`` (ms).

    They ascend, each with its text in that zone; the date stands only where it is new.
    """
    length = axis.position(end) - axis.position(start)
    distance = next((d for d in DISTANCES if length // d < most), DISTANCES[-1])
    edges = [start, *chain.from_iterable(axis.folds), end]
    instants: list[int] = []
    for first, last in list(pairwise(edges))[::2]:  # between two folds
        first, last = max(first, start), min(last, end)
        instants += range(-(-first // distance) * distance, last + 1, distance)
    instants = instants[:most]
    texts = list(_texts(instants, distance, "{time}\n{date}", zone))
    whole_minutes = distance % MINUTE == 0 and all(instant % MINUTE == 0 for instant in instants)
    if whole_minutes and distance < DAY:
        texts = [_SECONDS.sub("", text) for text in texts]
    return list(zip(instants, texts, strict=True))


def show_roughly(length: int) -> str:
    """A duration (ms) without what is too small to matter.

    >>> show_roughly(86_399_999)
    '23h 59m'
    """
    unit = next((unit for unit in (MINUTE, SECOND) if length >= 60 * unit), 1)
    return show_duration(length // unit * unit)


def _texts(instants: Iterable[int], distance: int, dated: str, zone: tzinfo = UTC) -> Iterator[str]:
    """A text for each instant: its time, as ``dated`` with its date where that is a new one, or
    the date alone where instants are days apart."""
    shown_date = ""
    for instant in instants:
        text = show_instant(instant) if zone is UTC else _in_zone(instant, zone)
        # Instants that no calendar has are written in other words, which have spaces too.
        date, _, time = text.partition(" ") if ":" in text else (text, "", "")
        if time and distance >= DAY:
            yield date
        elif time:
            yield time if date == shown_date else dated.format(date=date, time=time)
        else:
            yield text
        shown_date = date


def _in_zone(instant: int, zone: tzinfo) -> str:
    try:
        moment = (_EPOCH + timedelta(milliseconds=instant)).astimezone(zone)
    except OverflowError:  # beyond the calendar, which has zones
        return show_instant(instant)
    return moment.replace(tzinfo=None).isoformat(" ", "seconds")


@attrs.frozen
class TextAxis:
    """Event time from ``start`` to ``end`` (ms) on ``columns`` characters."""

    start: int
    end: int
    columns: int

    @classmethod
    def of(cls, moments: Iterable[Moment], columns: int, window_fn: WindowFn | None) -> "TextAxis":
        """The span of all elements and windows, and of the watermarks not far from them."""
        times, windows, marks = list[int](), set[Window | None](), list[int]()
        for moment in moments:
            for element in moment.elements:
                times.append(element.timestamp)
                windows.update(own_windows(window_fn, element))
            windows.update(effect.window for effect in moment.effects)
            windows.update(source for merge in moment.merges for source in merge.sources)
            if isinstance(moment.event, AdvanceWatermark):
                marks.append(moment.watermark)
        for window in windows:
            if isinstance(window, IntervalWindow):
                times += (window.start, window.end)
        if not times:
            return cls(0, 1, columns)
        start, end = min(times), max(times)
        around = (end - start) // 2 or SECOND
        watermarks = [mark for mark in marks if start - around <= mark <= end + around]
        return cls(min(start, *watermarks, start), max(end, *watermarks, start + 1), columns)

    def column(self, instant: int) -> int:
        """Where an instant lies; what lies beyond the axis lies at its rim."""
        column = (instant - self.start) * (self.columns - 1) // (self.end - self.start)
        return min(max(column, 0), self.columns - 1)

    def span(self, window: Window) -> tuple[int, int]:
        """First and last column of a window, two at least. The last one ends before its end."""
        first, last = self.column(window.start), self.column(window.end) - 1
        if window.end > self.end:
            last = self.columns - 1
        first = min(first, self.columns - 2)
        return first, max(last, first + 1)

    def ruler(self) -> tuple[str, str]:
        """Labels, and the line under them."""
        labels, line = [" "] * self.columns, ["-"] * self.columns
        for column, text in self._ticks():
            line[column] = "+"
            if column + len(text) <= self.columns:
                labels[column : column + len(text)] = text
        return "".join(labels), "".join(line)

    def _ticks(self) -> list[tuple[int, str]]:
        ticks: list[tuple[int, str]] = []
        for distance in DISTANCES:
            if (self.end - self.start) // distance > self.columns // 6:
                continue
            first = -(-self.start // distance) * distance
            instants = range(first, self.end + 1, distance)
            texts = _texts(instants, distance, "{date} {time}")
            ticks = list(zip(map(self.column, instants), texts, strict=True))
            if all(left + len(text) + 2 <= right for (left, text), (right, _) in pairwise(ticks)):
                break
        return ticks
