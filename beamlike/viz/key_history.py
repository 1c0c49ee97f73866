"""What happened to one key: its elements' fates, its windows' lives, its panes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.machine.events import Drop, Pane
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP, show_duration
from beamlike.model.windows import IntervalWindow, Window, bounds
from beamlike.viz.moments import Moment
from beamlike.viz.scene import Box, End, Fate, Life, Mark, ValueSoFar
from beamlike.viz.table import lost_elements, shorten

_LABEL: Final = 60


class KeyHistory:
    """One key of a run, by the moments that it saw; with those of a recording it has the values of
    windows so far. `play` gets the positions of the steps later."""

    def __init__(
        self, moments: Sequence[Moment], strategy: WindowingStrategy | None, key: Any
    ) -> None:
        self.moments, self.strategy, self.key = moments, strategy, key
        self.running: list[ValueSoFar] = []
        self.marks: list[Mark] = []
        self.lives: list[Life] = []
        self.boxes: list[Box] = []
        self._open: dict[Window, Life] = {}
        """The windows that are still open."""
        self._since: dict[Window, float] = {}
        """The rows from which on a pane of them holds what came."""

    @property
    def eventful(self) -> set[int]:
        """The steps in which something happened to this key."""
        return {
            moment.step
            for moment in self.moments
            if moment.elements or moment.outputs or moment.trace
        }

    def play(self, row_of_step: Mapping[int, float], firing: float = 0) -> None:
        """Let everything happen; panes fire so far above the rows of their steps."""
        watermark: int = MIN_TIMESTAMP
        row: float = 0
        for moment in self.moments:
            row = row_of_step.get(moment.step, row)
            for number, (value, window) in moment.running(self.key).items():
                event = moment.elements[number].timestamp
                self.running.append(ValueSoFar(event, row, window, value))
            opened = self._arrive(moment, row, watermark)
            watermark = moment.watermark
            self._merge(moment, row, opened)
            self._fire(moment, row + firing)
            for view in moment.windows.get(self.key, ()):
                if view.closed and view.window in self._open:  # without a pane that says so, too
                    self._close(view.window, row + firing)
            self._expire(row + firing, watermark)
        for window in list(self._open):
            self._end(window, row + firing, End.OPEN)
        self.lives.sort(key=lambda life: (life.opened, life.window.start, life.window.end))

    # -- elements ----------------------------------------------------------------------------

    def _arrive(self, moment: Moment, row: float, watermark: int) -> set[Window]:
        """Mark the elements of a step; the windows that took them."""
        opened: set[Window] = set()
        marks: Counter[Mark] = Counter()
        arrivals, unclaimed = moment.arrivals(self.strategy.window_fn if self.strategy else None)
        for arrival in arrivals:
            element, lost = arrival.element, arrival.lost
            opened.update(arrival.taken)
            fate = Fate.LATE if element.timestamp < watermark else Fate.TAKEN
            if lost == "all":
                fate = Fate.DROPPED
            elif not arrival.windows and self.strategy is not None:
                fate = Fate.NOWHERE
            label = " ".join(shorten(element.value, _LABEL).split())
            reason = ": ".join(filter(None, [arrival.refused, _why(arrival.drops)]))
            marks[Mark(element.timestamp, row, label, fate, reason)] += 1
        for drop in unclaimed:  # of elements that were accepted, or combined before
            label = lost_elements(drop, _LABEL)
            # Of elements that were folded into a pane, nothing but the window is left.
            event = drop.timestamp
            if event is None and isinstance(drop.window, IntervalWindow):
                event = drop.window.max_timestamp
            if event is not None:
                mark = Mark(event, row, label, Fate.DROPPED, _why([drop]))
                marks[mark] += drop.count
        self.marks += [attrs.evolve(mark, count=count) for mark, count in marks.items()]
        return opened

    # -- windows -----------------------------------------------------------------------------

    def _merge(self, moment: Moment, row: float, taken: set[Window]) -> None:
        gone: set[Window] = set()
        for merge in moment.merges:
            gone |= {*merge.sources} - {merge.into}
            before = [self._open[source] for source in merge.sources if source in self._open]
            joined = [life for life in before if life.closed is None]  # others take nothing in
            known = self._open.get(merge.into)
            if known is not None and (known.closed is not None or joined == [known]):
                continue
            since = min([row, *(self._since[life.window] for life in joined)])
            for life in joined:
                self._end(life.window, row, End.MERGED, merge.into)
            self._open[merge.into] = Life(merge.into, row, row, sources=merge.sources)
            self._since[merge.into] = since
        for window in sorted(taken - gone, key=bounds):
            self._open_once(window, row)

    def _open_once(self, window: Window, row: float) -> None:
        if window not in self._open:
            self._open[window], self._since[window] = Life(window, row, row), row

    def _close(self, window: Window, row: float) -> None:
        """Its trigger has finished in this row, or in an earlier one."""
        if self._open[window].closed is None:
            self._open[window] = attrs.evolve(self._open[window], closed=row)

    def _end(self, window: Window, row: float, end: End, into: Window | None = None) -> None:
        life = self._open.pop(window)
        self.lives.append(attrs.evolve(life, ended=row, end=end, into=into))

    def _expire(self, row: float, watermark: int) -> None:
        if self.strategy is None:
            return
        for life in list(self._open.values()):
            # What has expired may rest, and merge later. What is closed does not.
            kept = self.strategy.expiry if life.closed is not None else self.strategy.forgotten
            if watermark > kept(life.window):
                self._end(life.window, row, End.EXPIRED)

    # -- panes -------------------------------------------------------------------------------

    def _fire(self, moment: Moment, row: float) -> None:
        reasons = moment.reasons
        for pane in moment.panes:
            if pane.retraction:
                self._withdraw(pane, row)
            else:
                self._emit(pane, row, moment.watermark, reasons.get((pane.window, pane.info), ""))

    def _emit(self, pane: Pane, row: float, watermark: int, by: str) -> None:
        self._open_once(pane.window, row)
        since = self._since[pane.window]
        label, info = " ".join(shorten(pane.value, _LABEL).split()), pane.info
        timing, last = info.timing.value, info.is_last
        self.boxes.append(Box(pane.window, timing, info.index, label, since, row, last, by=by))
        if self.strategy is None or not self.strategy.accumulates:
            self._since[pane.window] = row
        expired = self.strategy and watermark > self.strategy.expiry(pane.window)
        if last and not expired:
            self._close(pane.window, row)

    def _withdraw(self, pane: Pane, row: float) -> None:
        """Mark the pane that has exactly these fields."""
        wanted = (pane.window, pane.info.timing.value, pane.info.index, None)
        for position, box in reversed([*enumerate(self.boxes)]):
            if (box.window, box.timing, box.index, box.withdrawn) == wanted:
                self.boxes[position] = attrs.evolve(box, withdrawn=row)
                return


def _why(drops: Sequence[Drop]) -> str:
    """Why windows refused an element, each reason once; and by how little it was missed."""
    reasons = []
    for reason in dict.fromkeys(drop.reason for drop in drops):
        missed = [
            drop.missed_by for drop in drops if drop.reason is reason and drop.missed_by is not None
        ]
        by = f", missed by {show_duration(min(missed))}" if missed else ""
        reasons.append(f"{reason.value}{by}")
    return "; ".join(reasons)
