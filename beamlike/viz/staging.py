"""How a run becomes scenes: rows for its steps, and what happened to each key in them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median_low
from typing import Any, Final

import attrs

from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP, show_duration
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.script import Arrive, Run
from beamlike.viz.axis import FoldedTime
from beamlike.viz.key_history import LEVEL, Happened
from beamlike.viz.scene import Fold, Life, Scene, Tick
from beamlike.viz.table import shorten, show_clock

__all__ = ["scenes_of"]

_FARTHEST: Final = 3.0
"""No two steps are farther apart than so many rows."""
_QUIET: Final = 3
"""From so many steps on in which nothing happens, all but the last are left out."""
_MANY_GAPS: Final = 10
"""Where windows have no length, so many times the usual gap between elements is a long one."""
_MARGIN: Final = 0.7
_TITLE: Final = 60


def scenes_of(
    run: Run, strategy: WindowingStrategy | None, keys: Sequence[Any]
) -> tuple[Scene, ...]:
    """A scene for each of these keys, with the same rows and the same event time.

    Args:
        run: A run of any host. Where it has no trace, merges are worked out from the strategy.
        strategy: How it was windowed; without it windows show from their first pane on, and without
            their expiry.
        keys: The keys.
    """
    parts = [Happened(run, strategy, key) for key in keys]
    rows = _Rows.of(run, parts)
    for part in parts:
        part.play(rows.at)
    event, span = _event_time(rows, parts)
    top = max([rows.top, *(box.at for part in parts for box in part.boxes)])
    return tuple(
        Scene(
            title="one stream, no keys" if part.key is None else f"key {_name(part.key)}",
            note="" if strategy is None else str(strategy),
            marks=tuple(part.marks),
            lives=_in_lanes(part.lives),
            boxes=tuple(part.boxes),
            watermark=rows.watermark,
            rows=(-_MARGIN, top + _MARGIN),
            span=span,
            event=event,
            ticks=rows.ticks,
            folds=rows.folds,
            arrival_axis=rows.name,
        )
        for part in parts
    )


def _name(key: Any) -> str:
    return " ".join(shorten(key, _TITLE).split())


# -- rows ----------------------------------------------------------------------------------


@attrs.frozen
class _Rows:
    """Where each step of a script lies. ``at`` has all steps, ``ticks`` those that are shown."""

    name: str
    at: dict[int, float]
    ticks: tuple[Tick, ...]
    folds: tuple[Fold, ...]
    watermark: tuple[tuple[float, int], ...]
    top: float

    @classmethod
    def of(cls, run: Run, parts: Sequence[Happened]) -> "_Rows":
        readings = run.clocks()
        clocks = [0, *(clock for _, clock in readings)]
        moves = [after - before for before, after in pairwise(clocks) if after > before]
        # The first move may come from the beginning of time.
        usual = median_low(moves[1:] or moves or [1])
        at: dict[int, float] = {}
        ticks: list[Tick] = []
        folds: list[Fold] = []
        watermarks: list[tuple[float, int]] = []
        here = extra = 0.0
        clock: int | None = None
        for number, left_out in _shown(run, parts):
            watermark, now = readings[number]
            moved = 0 if clock is None else now - clock
            if clock is not None:
                distance = min(max(moved / usual, 1.0), _FARTHEST) + extra
                if moved > _FARTHEST * usual:
                    rest = show_duration(moved - int(_FARTHEST * usual))
                    folds.append(Fold(here + extra + (distance - extra) / 2, f"{rest} left out"))
                here += distance
            if left_out:
                folds.append(Fold(here - 0.5, f"{left_out} steps without news left out"))
            for step in range(number, -1, -1):  # those left out happen with the next one
                if step in at:
                    break
                at[step] = here
            tells_time = bool(moves) and (moved > 0 or clock is None)
            label = f"{show_clock(now)}  step {number}" if tells_time else f"step {number}"
            ticks.append(Tick(here, label, tells_time))
            if watermark > MIN_TIMESTAMP and (not watermarks or watermarks[-1][1] != watermark):
                watermarks.append((here, watermark))
            clock = now
            extra = (max((part.levels(number) for part in parts), default=1) - 1) * LEVEL
        name = "processing time" if moves else "order of arrival"
        return cls(name, at, tuple(ticks), tuple(folds), tuple(watermarks), here + extra)


def _shown(run: Run, parts: Sequence[Happened]) -> Iterator[tuple[int, int]]:
    """The steps to show, each with the number of those left out before it."""
    loud = {number for part in parts for number in part.loud}
    moves = {number for number, step in enumerate(run.script) if not isinstance(step, Arrive)}
    last = max(loud | moves, default=0)
    quiet: list[int] = []
    for number in sorted(loud | moves):
        if number not in loud and number != last:
            quiet.append(number)
            continue
        left_out = len(quiet) - 1 if len(quiet) >= _QUIET else 0
        for position, step in enumerate(quiet[left_out:]):
            yield step, left_out if position == 0 else 0
        yield number, 0
        quiet = []


# -- event time ----------------------------------------------------------------------------


def _event_time(rows: _Rows, parts: Sequence[Happened]) -> tuple[FoldedTime, tuple[int, int]]:
    """The event time in the picture, and what of it is folded."""
    bounded = [
        life.window
        for part in parts
        for life in part.lives
        if isinstance(life.window, IntervalWindow)
    ]
    instants = [mark.event for part in parts for mark in part.marks]
    spans: list[int | tuple[int, int]] = [*instants, *((w.start, w.end) for w in bounded)]
    instants += [edge for w in bounded for edge in (w.start, w.end)]
    if not instants:
        instants = [watermark for _, watermark in rows.watermark][:1] or [0]
    start, end = min(instants), max(instants)
    # Marks of the watermark that lie near what happened are worth some room.
    around = max((end - start) // 4, 1)
    near = [to for _, to in rows.watermark if start - around <= to <= end + around]
    start, end = min([start, *near]), max([end, *near])
    spans += near
    if bounded:
        lengths = sorted(window.end - window.start for window in bounded)
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
