"""How a run becomes scenes: rows for its steps, and what happened to each key in them."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, Final

import attrs

from beamlike.machine.events import AdvanceClock, Merged
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import IntervalWindow, bounds
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run
from beamlike.viz.axis import FoldedTime, round_instants, show_roughly
from beamlike.viz.key_history import KeyHistory
from beamlike.viz.moments import KeyedMoments, Moment, moments_of
from beamlike.viz.recording import Recording
from beamlike.viz.scene import Life, RowLabel, Scene, Skew
from beamlike.viz.table import shorten

_FEWEST: Final = 8
"""A clock is at least so many rows high, however few instants it shows."""
_FIRES: Final = 0.5
"""Without a clock a pane lies so far above its step: what set it off lies below it."""
_QUIET: Final = 3
"""From so many steps on in which nothing happens, all but the last are left out."""
_MANY_GAPS: Final = 10
"""Where windows have no length, so many times the usual gap between elements is a long one."""
_MARGIN: Final = 0.7
_TITLE: Final = 60


def scenes_of(
    run: Run,
    strategy: WindowingStrategy | None,
    keys: Sequence[Any],
    recording: Recording | None = None,
) -> tuple[Scene, ...]:
    """A scene for each of these keys, with the same rows and the same event time.

    Where a run of any host has no trace, its merges are found by a replay. Without a strategy
    windows show from their first pane on, and without their expiry. With a recording of the run the
    values of windows so far are there.
    """
    if recording is None and strategy is not None and strategy.is_merging and not run.trace:
        # They are the same whatever panes hold.
        replayed = run_in_memory(Grouping(strategy, Count(), OnFailure.DROP), run.script)
        merges = (traced for traced in replayed.trace if isinstance(traced.happening, Merged))
        run = attrs.evolve(run, trace=tuple(merges))
    moments = moments_of(run) if recording is None else recording.moments
    by_key = KeyedMoments(moments)
    return scenes_of_histories([KeyHistory(by_key.of(key), strategy, key) for key in keys])


def scenes_of_histories(parts: Sequence[KeyHistory]) -> tuple[Scene, ...]:
    """A scene for each of these histories, of one script, with the same rows and event time."""
    rows = _Rows.of(parts)
    for part in parts:
        part.play(rows.of_step, rows.firing)
    event, span = _event_time(rows, parts)
    fired = (box.row for part in parts for box in part.boxes)
    top = max([*rows.of_step.values(), *fired], default=0.0)
    return tuple(
        Scene(
            title="one stream, no keys"
            if part.key is None
            else f"key {' '.join(shorten(part.key, _TITLE).split())}",
            note="" if part.strategy is None else str(part.strategy),
            marks=tuple(part.marks),
            lives=_in_lanes(part.lives),
            boxes=tuple(part.boxes),
            running=tuple(part.running),
            watermark=rows.watermark,
            rows=(-_MARGIN, top + _MARGIN),
            span=span,
            event=event,
            ticks=rows.ticks,
            folds=rows.folds,
            ideal=() if rows.clock is None else tuple(rows.clock.ideal(event, span)),
            skew=None if rows.clock is None else rows.clock.skew(rows, parts[0].moments, span),
            arrival_axis="order of arrival" if rows.clock is None else "processing time",
        )
        for part in parts
    )


# -- rows ----------------------------------------------------------------------------------


@attrs.frozen
class _Clock:
    """Processing time as an axis: from ``start`` to ``end`` (ms), ``rows`` high."""

    time: FoldedTime
    start: int
    end: int
    rows: float

    @classmethod
    def of(cls, moments: Sequence[Moment]) -> "_Clock | None":
        """None if processing time does not move while something happens."""
        readings = [
            moment.clock for moment in moments if not isinstance(moment.event, AdvanceClock)
        ]
        if len(set(readings)) < 2:
            return None
        last = moments[-1].clock
        time = FoldedTime.sparing([*readings, last])
        return cls(time, readings[0], last, max(len({*readings, last}), _FEWEST))

    def row(self, clock: int) -> float:
        """Where a reading lies; one before the start, there."""
        shown = self.time.position(max(clock, self.start)) - self.time.position(self.start)
        return shown * self.rows / (self.time.position(self.end) - self.time.position(self.start))

    def ticks(self) -> Iterator[RowLabel]:
        """Round instants, about one in each row."""
        for clock, label in round_instants(self.time, self.start, self.end, int(self.rows) + 1):
            yield RowLabel(self.row(clock), label, strong=True)

    def folds(self) -> Iterator[RowLabel]:
        """What is left out."""
        for start, end in self.time.folds:
            yield RowLabel(self.row(start), f"{show_roughly(end - start)} left out")

    def ideal(self, event: FoldedTime, span: tuple[int, int]) -> Iterator[tuple[float, int]]:
        """Where both times are one: the ends of that line, and where a fold bends it."""
        first, last = max(span[0], self.start), min(span[1], self.end)
        bends = {edge for fold in (*event.folds, *self.time.folds) for edge in fold}
        if first < last:
            for instant in sorted({first, last, *(bend for bend in bends if first < bend < last)}):
                yield self.row(instant), instant

    def skew(self, rows: "_Rows", moments: Sequence[Moment], span: tuple[int, int]) -> Skew | None:
        """The longest distance of the watermark from that line; None if there is none."""
        first, last = max(span[0], self.start), min(span[1], self.end)
        clocks = {rows.of_step[moment.step]: moment.clock for moment in moments}
        skews = [
            Skew(to, self.row(to), row, clocks[row] - to)
            for row, to in rows.watermark
            if first <= to <= last and clocks[row] > to
        ]
        return max(skews, key=lambda skew: skew.row - skew.ideal, default=None)


@attrs.frozen
class _Rows:
    """Where each step of a script lies, and what stands in and beside rows."""

    of_step: dict[int, float]
    ticks: tuple[RowLabel, ...]
    folds: tuple[RowLabel, ...]
    watermark: tuple[tuple[float, int], ...]
    firing: float
    clock: _Clock | None

    @classmethod
    def of(cls, parts: Sequence[KeyHistory]) -> "_Rows":
        moments = parts[0].moments
        clock = _Clock.of(moments)
        if clock is not None:
            of_step = {moment.step: clock.row(moment.clock) for moment in moments}
            ticks, folds = list(clock.ticks()), list(clock.folds())
        else:  # a row for each step that is shown; those left out happen with the next one
            of_step, ticks, folds = {}, [], []
            for row, (number, left_out) in enumerate(_shown_steps(moments, parts)):
                if left_out:
                    folds.append(RowLabel(row - 0.5, f"{left_out} steps without news left out"))
                of_step |= dict.fromkeys(range(len(of_step), number + 1), float(row))
                ticks.append(RowLabel(row, f"step {number}"))
        moves = tuple(_moves(moments, of_step))
        firing = _FIRES if clock is None else 0.0
        return cls(of_step, tuple(ticks), tuple(folds), moves, firing, clock)


def _moves(moments: Sequence[Moment], of_step: dict[int, float]) -> Iterator[tuple[float, int]]:
    """Row and watermark of each move; of those in one row only the last."""
    last = {of_step[moment.step]: moment.watermark for moment in moments if moment.step in of_step}
    before = MIN_TIMESTAMP
    for row, watermark in last.items():
        if watermark > before:
            yield row, watermark
        before = watermark


def _shown_steps(
    moments: Sequence[Moment], parts: Sequence[KeyHistory]
) -> Iterator[tuple[int, int]]:
    """The steps to show, each with the number of those left out before it."""
    eventful = {number for part in parts for number in part.eventful}
    moves = {moment.step for moment in moments if not isinstance(moment.event, Arrive)}
    last = max(eventful | moves, default=0)
    steps: list[int] = []  # without news, and the next one that has some
    for number in sorted(eventful | moves):
        steps.append(number)
        if number in eventful or number == last:
            left_out = len(steps) - 2 if len(steps) > _QUIET else 0
            for position, step in enumerate(steps[left_out:]):
                yield step, 0 if position else left_out
            steps = []


# -- event time ----------------------------------------------------------------------------


def _event_time(rows: _Rows, parts: Sequence[KeyHistory]) -> tuple[FoldedTime, tuple[int, int]]:
    """The event time in the picture, and what of it is folded."""
    windows = [life.window for part in parts for life in part.lives]
    bounded = [bounds(window) for window in windows if isinstance(window, IntervalWindow)]
    instants = [mark.event for part in parts for mark in part.marks]
    spans: list[int | tuple[int, int]] = [*instants, *bounded]
    instants += chain.from_iterable(bounded)
    if not instants:
        instants = [watermark for _, watermark in rows.watermark][:1] or [0]
    start, end = min(instants), max(instants)
    # Marks of the watermark that lie near what happened are worth some room.
    around = max((end - start) // 4, 1)
    near = [to for _, to in rows.watermark if start - around <= to <= end + around]
    start, end = min([start, *near]), max([end, *near])
    spans += near
    if bounded:
        lengths = sorted(end - start for start, end in bounded)
        limit = lengths[len(lengths) // 2]
    else:
        times = sorted(set(instants))
        gaps = sorted(after - before for before, after in pairwise(times))
        limit = _MANY_GAPS * gaps[len(gaps) // 2] if gaps else 1
    event = FoldedTime(spans, limit_ms=max(limit, 1))
    shown = event.position(end) - event.position(start)
    rim = max(shown // 25, 1)
    return event, (start - rim, end + rim)


def _in_lanes(lives: Sequence[Life]) -> tuple[Life, ...]:
    """The lives that overlap, in event time and in rows, one above the other."""
    placed: list[Life] = []
    for life in lives:
        taken = {
            other.lane
            for other in placed
            if other.window.start < life.window.end
            and life.window.start < other.window.end
            and other.opened < life.ended
            and life.opened < other.ended
        }
        lane = next(lane for lane in range(len(placed) + 1) if lane not in taken)
        placed.append(attrs.evolve(life, lane=lane))
    return tuple(placed)
