"""What happened to one key: its elements' fates, its windows' lives, its panes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.machine.events import Drop, Element, Fired, Merged, Pane
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP, show_duration
from beamlike.model.windowfns import MergingWindowFn
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.script import Arrive, Run
from beamlike.viz.recording import Recording
from beamlike.viz.run_index import by_step, identity, own_windows, take_drops
from beamlike.viz.scene import Box, End, Fate, Life, Mark, ValueSoFar
from beamlike.viz.table import lost_elements, shorten

_LABEL: Final = 60


@attrs.define
class _OpenWindow:
    """A window that is still open."""

    window: Window
    opened: float
    sources: tuple[Window, ...] = ()
    size: int = 0
    """What its elements count for in a plan of merges."""
    since: float = attrs.field(default=attrs.Factory(lambda self: self.opened, takes_self=True))
    """The row from which on a pane holds what came."""
    closed: float | None = None
    """The row of the pane with which its trigger finished."""


class KeyHistory:
    """One key of a run. `play` gets the positions of the steps later.

    Args:
        run: The run.
        strategy: How it was windowed, if that is known.
        recording: The run step by step, which has the values of windows so far.
    """

    def __init__(
        self,
        run: Run,
        strategy: WindowingStrategy | None,
        key: Any,
        recording: Recording | None = None,
    ) -> None:
        self.run, self.strategy, self.key = run, strategy, key
        self.running: list[ValueSoFar] = []
        self._moments = () if recording is None else recording.of_key(key).moments
        self.marks: list[Mark] = []
        self.lives: list[Life] = []
        self.boxes: list[Box] = []
        self._open: dict[Window, _OpenWindow] = {}
        self._arrived = {
            number: mine
            for number, step in enumerate(run.script)
            if isinstance(step, Arrive) and (mine := _of_key(step, key))
        }
        self._effects, self._traced = by_step(run, key)
        self.eventful = {*self._arrived, *self._effects, *self._traced}
        """The steps in which something happened to this key."""

    def play(self, at: Mapping[int, float], firing: float = 0.0) -> None:
        """Let everything happen."""
        watermark = MIN_TIMESTAMP
        row = 0.0
        for number, (reading, _) in enumerate(self.run.clocks()):
            row = at.get(number, row)
            self._value(number, row)
            drops = [effect for effect in self._effects.get(number, ()) if isinstance(effect, Drop)]
            opened = self._arrive(number, row, watermark, drops)
            watermark = reading
            self._merge(number, row, opened)
            self._fire(number, row + firing, watermark)
            self._expire(row + firing, watermark)
        for it in list(self._open.values()):
            self._end(it, row + firing, End.OPEN)
        self.lives.sort(key=lambda life: (life.opened, life.window.start, life.window.end))

    # -- elements ----------------------------------------------------------------------------

    def _arrive(
        self, number: int, row: float, watermark: int, drops: list[Drop]
    ) -> Counter[Window]:
        """Mark the elements of a step; the windows that took them, each with their number."""
        opened: Counter[Window] = Counter()
        marks: Counter[Mark] = Counter()
        for element in self._arrived.get(number, ()):
            windows = self._assigned(element)
            refused = take_drops(element, drops, max(len(windows), 1))
            taken = [w for w in windows if w not in {drop.window for drop in refused}]
            if len(refused) >= len(windows):
                taken = []
            opened.update(taken)
            late = element.timestamp < watermark
            fate, reason = Fate.LATE if late else Fate.TAKEN, ""
            if refused:
                reason = _why(refused)
                if taken:
                    reason = f"dropped from {len(refused)} of {len(windows)} windows: {reason}"
                else:
                    fate = Fate.DROPPED
            elif not windows and self.strategy is not None:
                fate = Fate.NOWHERE
            label = " ".join(shorten(element.value, _LABEL).split())
            marks[Mark(element.timestamp, row, label, fate, reason)] += 1
        for drop in drops:  # of elements that were accepted, or combined before
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

    def _value(self, number: int, row: float) -> None:
        """Note what windows would bring out after a step."""
        if number in self._arrived and self._moments:
            moment = self._moments[number]
            for at, (value, window) in moment.running(self.key).items():
                self.running.append(ValueSoFar(moment.elements[at].timestamp, row, window, value))

    def _assigned(self, element: Element) -> tuple[Window, ...]:
        if element.window is not None:
            return (element.window,)
        if self.strategy is None:
            return ()
        return own_windows(self.strategy.window_fn, element)

    # -- windows -----------------------------------------------------------------------------

    def _merge(self, number: int, row: float, taken: Counter[Window]) -> None:
        trace = self._traced.get(number, ())
        merges = [(it.sources, it.into) for it in trace if isinstance(it, Merged)]
        if not self.run.trace:
            merges = list(self._planned(taken))
        gone: set[Window] = set()
        for sources, into in merges:
            gone |= {*sources} - {into}
            ours = [self._open.pop(source) for source in sources if source in self._open]
            there = next((our for our in ours if our.window == into), None)
            size = sum(our.size for our in ours) + sum(
                self._size(source, taken[source]) for source in sources
            )
            if there is not None and len(ours) == 1:
                self._open[into] = there
                there.size = size
                continue
            for it in ours:
                self._end(it, row, End.MERGED, into)
            since = min([row, *(our.since for our in ours)])
            self._open[into] = _OpenWindow(into, row, tuple(sources), size, since)
        for window, count in sorted(taken.items(), key=lambda item: (item[0].start, item[0].end)):
            if window in gone:
                continue
            if window not in self._open:
                self._open[window] = _OpenWindow(window, row)
            if not any(window in sources for sources, _ in merges):  # else they are counted
                self._open[window].size += self._size(window, count)

    def _size(self, window: Window, count: int) -> int:
        """What so many elements that come in a window count for in a plan of merges."""
        window_fn = self.strategy.window_fn if self.strategy else None
        if isinstance(window_fn, MergingWindowFn) and isinstance(window, IntervalWindow):
            return count * window_fn.size_of(window)
        return count

    def _planned(
        self, taken: Counter[Window]
    ) -> Iterable[tuple[tuple[IntervalWindow, ...], IntervalWindow]]:
        """The merges of a step that is not in the trace."""
        if self.strategy is None or not self.strategy.is_merging or not taken:
            return
        window_fn = self.strategy.window_fn
        assert isinstance(window_fn, MergingWindowFn)
        sizes = {
            window: it.size
            for window, it in self._open.items()
            if it.closed is None and isinstance(window, IntervalWindow)
        }
        for window, count in taken.items():
            if isinstance(window, IntervalWindow):
                sizes[window] = sizes.get(window, 0) + self._size(window, count)
        plan = window_fn.merge_sized(sizes) if window_fn.needs_sizes else window_fn.merge(sizes)
        for merge in plan:
            yield merge.sources, merge.into

    def _end(
        self, open_window: _OpenWindow, row: float, end: End, into: Window | None = None
    ) -> None:
        self._open.pop(open_window.window, None)
        self.lives.append(
            Life(
                open_window.window,
                open_window.opened,
                row,
                end,
                open_window.sources,
                into,
                closed=open_window.closed,
            )
        )

    def _expire(self, row: float, watermark: int) -> None:
        if self.strategy is None:
            return
        for it in list(self._open.values()):
            # What has expired may rest, and merge later. What is closed does not.
            kept = self.strategy.expiry if it.closed is not None else self.strategy.forgotten
            if watermark > kept(it.window):
                self._end(it, row, End.EXPIRED)

    # -- panes -------------------------------------------------------------------------------

    def _fire(self, number: int, row: float, watermark: int) -> None:
        panes = [effect for effect in self._effects.get(number, ()) if isinstance(effect, Pane)]
        reasons = iter([it.by for it in self._traced.get(number, ()) if isinstance(it, Fired)])
        for pane in panes:
            if pane.retraction:
                self._withdraw(pane, row)
        for pane in panes:
            if not pane.retraction:
                self._emit(pane, row, watermark, next(reasons, ""))

    def _emit(self, pane: Pane, row: float, watermark: int, by: str) -> None:
        life = self._open.setdefault(pane.window, _OpenWindow(pane.window, row))
        label, info = " ".join(shorten(pane.value, _LABEL).split()), pane.info
        timing, last = info.timing.value, info.is_last
        self.boxes.append(Box(pane.window, timing, info.index, label, life.since, row, last, by=by))
        if self.strategy is None or not self.strategy.accumulates:
            life.since = row
        expired = self.strategy and watermark > self.strategy.expiry(pane.window)
        if last and not expired:
            life.closed = row

    def _withdraw(self, pane: Pane, row: float) -> None:
        """Mark the pane that has exactly these fields."""
        for position in range(len(self.boxes) - 1, -1, -1):
            box = self.boxes[position]
            wanted = (pane.window, pane.info.timing.value, pane.info.index)
            if box.withdrawn is None and (box.window, box.timing, box.index) == wanted:
                self.boxes[position] = attrs.evolve(box, withdrawn=row)
                return


def _of_key(step: Arrive, key: Any) -> list[Element]:
    wanted = identity(key)
    return [element for its, element in step.elements if identity(its) == wanted]


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
