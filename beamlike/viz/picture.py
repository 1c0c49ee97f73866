"""One window's story as a picture: event time across, arrival up, the watermark between.

The figure of the article "Streaming 102", for one key and one window of a real run. Dots are
elements, crosses are elements that were dropped; each pane is a band from the firing before
it up to its own, as wide as the window; the dashed line is the watermark. Stretches in which
nothing happened are folded, so that a straggler twelve hours later is still in the picture.

The picture is made of plain values, and any run can supply them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import attrs

from beamlike.errors import EnvironmentProblem
from beamlike.model.time import show_duration

__all__ = ["Dot", "PaneBand", "Story", "draw_story"]

# The palette of Okabe and Ito: its colours differ for every kind of colour vision. Nothing is
# said by colour alone: bands carry their timing in words, dropped elements another shape.
_COLOURS: Final = {"EARLY": "#56B4E9", "ON_TIME": "#009E73", "LATE": "#E69F00"}
_OTHER: Final = "#999999"
_DROPPED: Final = "#D55E00"
_INK: Final = "#222222"
_FAINT: Final = "#8A8A8A"

_HOUR_MS: Final = 3_600_000
_WIDTH, _HEIGHT = 11.0, 7.5
_LABEL_GAP: Final = 0.052
"""Least distance of two labels, as a part of the height of the axes."""


@attrs.frozen
class Dot:
    """An element: event time and arrival (epoch ms). ``label`` is drawn beside it."""

    event_ms: int
    arrival_ms: int
    dropped: bool = False
    label: str = ""


@attrs.frozen
class PaneBand:
    """A pane: its timing, when it fired on the arrival axis (epoch ms), and its value."""

    timing: str
    fired_ms: int
    label: str


@attrs.frozen
class Story:
    """Everything in the picture.

    Attributes:
        title: What key and window it is.
        note: A second line, smaller.
        window_ms: Start and end of the window.
        dots: All elements of the window, dropped ones too.
        panes: All panes, in order.
        watermark: Pairs of arrival and watermark (epoch ms), ascending: from that arrival on
            the watermark stood there.
        expired_ms: When, on the arrival axis, the window stopped taking elements; None if not
            in the story.
        event_axis: What event time is.
        arrival_axis: What arrival is.
        zone: The time zone of the labels.
    """

    title: str
    note: str
    window_ms: tuple[int, int]
    dots: Sequence[Dot]
    panes: Sequence[PaneBand]
    watermark: Sequence[tuple[int, int]]
    expired_ms: int | None = None
    event_axis: str = "event time"
    arrival_axis: str = "arrival"
    zone: tzinfo = UTC


def draw_story(story: Story, path: Path) -> None:
    """Write the picture; the ending of ``path`` decides the format (png, svg, pdf).

    Raises:
        EnvironmentProblem: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise EnvironmentProblem(
            'pictures need the package matplotlib; run: pip install "beamlike[demo]"'
        ) from error
    # A figure of its own: pyplot would keep it alive and may look for a display.
    figure = Figure(figsize=(_WIDTH, _HEIGHT))
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    _Drawing(story, figure.add_subplot()).draw()
    figure.savefig(path, dpi=150)


class FoldedTime:
    """The arrival axis with its empty stretches folded away.

    A stretch between two happenings that is longer than ``limit_ms`` takes only
    ``limit_ms`` on the axis. Positions are milliseconds on the folded axis.
    """

    def __init__(self, happenings: Sequence[int], limit_ms: int) -> None:
        marks = sorted(set(happenings))
        self.folds: list[tuple[int, int]] = [
            (before + limit_ms // 2, after - limit_ms // 2)
            for before, after in pairwise(marks)
            if after - before > 2 * limit_ms
        ]

    def position(self, at: int) -> int:
        """Where an instant lies on the folded axis; inside a fold, at its near edge."""
        return at - sum(min(at, end) - start for start, end in self.folds if at > start)

    def shows(self, at: int) -> bool:
        """False inside a fold."""
        return not any(start < at < end for start, end in self.folds)


class _Drawing:
    def __init__(self, story: Story, axes: Any) -> None:
        self.story, self.axes = story, axes
        start, end = story.window_ms
        self.size = end - start
        self.left, self.right = start - self.size * 0.3, end + self.size * 0.3
        happenings = [dot.arrival_ms for dot in story.dots]
        happenings += [pane.fired_ms for pane in story.panes]
        if story.expired_ms is not None:
            happenings.append(story.expired_ms)
        self.time = FoldedTime(happenings or [start, end], limit_ms=self.size)
        spread = self.time.position(max(happenings, default=end)) - min(happenings, default=start)
        margin = max(spread, self.size) // 12
        self.bottom = min(happenings, default=start) - margin
        self.top = self.time.position(max(happenings, default=end)) + margin

        labelled = [pane.fired_ms for pane in story.panes]
        if story.expired_ms is not None:
            labelled.append(story.expired_ms)
        self.places = self._spread([self.time.position(at) for at in labelled])

    def draw(self) -> None:
        self._axes()
        self._bands()
        self._watermark()
        self._elements()
        self._expiry()
        self._legend()

    def _axes(self) -> None:
        axes, story, (start, end) = self.axes, self.story, self.story.window_ms
        axes.set_xlim(self.left, self.right)
        axes.set_ylim(self.bottom, self.top)
        axes.set_title(story.title, loc="left", fontsize=15, fontweight="bold", pad=26)
        axes.text(0, 1.02, story.note, transform=axes.transAxes, fontsize=10, color="#555555")
        axes.set_xlabel(story.event_axis, fontsize=11)
        axes.set_ylabel(story.arrival_axis, fontsize=11)
        ticks = [start + self.size * part // 4 for part in range(-1, 8)]
        ticks = [tick for tick in ticks if self.left <= tick <= self.right]
        axes.set_xticks(ticks, [self._clock(tick) for tick in ticks])
        hours = [
            hour
            for hour in range(-(-self.bottom // _HOUR_MS) * _HOUR_MS, self._last_shown(), _HOUR_MS)
            if self.time.shows(hour)
        ]
        axes.set_yticks(
            [self.time.position(hour) for hour in hours], [self._clock(hour) for hour in hours]
        )
        axes.grid(axis="y", color="#EEEEEE", zorder=0)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for edge in (start, end):
            axes.axvline(edge, color=_FAINT, linewidth=1, zorder=1)
        for fold_start, fold_end in self.time.folds:
            self._fold(self.time.position(fold_start), fold_end - fold_start)

    def _fold(self, at: int, length: int) -> None:
        self.axes.axhline(at, color=_FAINT, linewidth=1.2, linestyle=(0, (1, 3)), zorder=1)
        self.axes.text(
            self.left + self.size * 0.02,
            at,
            f" {show_duration(length // 60_000 * 60_000)} left out ",
            fontsize=8.5,
            color="#555555",
            va="center",
            style="italic",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            zorder=6,
        )

    def _bands(self) -> None:
        start, end = self.story.window_ms
        lower = float(self.bottom)
        for pane, label_at in zip(self.story.panes, self.places, strict=False):
            fired = self.time.position(pane.fired_ms)
            colour = _COLOURS.get(pane.timing, _OTHER)
            self.axes.fill_between([start, end], lower, fired, color=colour, alpha=0.22, lw=0)
            self.axes.plot([start, end], [fired, fired], color=colour, lw=3, zorder=3)
            self.axes.plot([end, self.right], [fired, fired], color=colour, lw=1, zorder=2)
            words = pane.timing.lower().replace("_", " ")
            self._margin(f"{words}: {pane.label}", fired, label_at, colour)
            lower = float(fired)

    def _spread(self, wanted: Sequence[int]) -> list[float]:
        """Label heights near the wanted ones, in the same order and apart from each other."""
        gap = (self.top - self.bottom) * _LABEL_GAP
        places: list[float] = []
        for at in wanted:
            places.append(max(float(at), places[-1] + gap) if places else float(at))
        return places

    def _watermark(self) -> None:
        xs: list[float] = []
        ys: list[float] = []
        for arrival, watermark in self.story.watermark:
            height = self.time.position(arrival)
            if xs:
                xs.append(xs[-1])
                ys.append(height)
            xs.append(watermark)
            ys.append(height)
        self.axes.plot(
            xs, ys, color=_INK, lw=1.8, linestyle=(0, (5, 2)), zorder=4, label="watermark"
        )
        on_schedule = [self.left, self.right]
        self.axes.plot(
            on_schedule,
            on_schedule,
            color=_FAINT,
            lw=1,
            linestyle=":",
            zorder=2,
            label="no delay at all",
        )

    def _elements(self) -> None:
        for dropped, style in (
            (False, {"marker": "o", "s": 42, "color": _INK, "edgecolor": "white", "lw": 0.8}),
            (True, {"marker": "X", "s": 110, "color": _DROPPED, "edgecolor": "white", "lw": 0.8}),
        ):
            dots = [dot for dot in self.story.dots if dot.dropped is dropped]
            if dots:
                self.axes.scatter(
                    [dot.event_ms for dot in dots],
                    [self.time.position(dot.arrival_ms) for dot in dots],
                    zorder=8,
                    label="dropped element" if dropped else "element",
                    **style,
                )
        for dot in self.story.dots:
            if dot.label:
                self.axes.annotate(
                    dot.label,
                    (dot.event_ms, self.time.position(dot.arrival_ms)),
                    xytext=(10, 0),
                    textcoords="offset points",
                    fontsize=9.5,
                    va="center",
                    color=_INK,
                    zorder=9,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85},
                )

    def _expiry(self) -> None:
        if self.story.expired_ms is None:
            return
        at = self.time.position(self.story.expired_ms)
        edges = [self.story.window_ms[0], self.right]
        self.axes.plot(edges, [at, at], color=_DROPPED, lw=1.5, zorder=3)
        self._margin("the window expires", at, self.places[-1], _DROPPED)

    def _margin(self, words: str, at: float, label_at: float, colour: str) -> None:
        """A label to the right of the axes, with a leader from its height."""
        self.axes.annotate(
            words,
            (self.right, at),
            xytext=(self.right + self.size * 0.05, label_at),
            fontsize=9.5,
            color=_INK,
            va="center",
            annotation_clip=False,
            zorder=7,
            bbox={"facecolor": "white", "edgecolor": colour, "boxstyle": "round,pad=0.25"},
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 1, "relpos": (0, 0.5)},
        )

    def _legend(self) -> None:
        self.axes.figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=10)

    def _last_shown(self) -> int:
        return self.top + sum(end - start for start, end in self.time.folds)

    def _clock(self, milliseconds: int) -> str:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(self.story.zone)
        return moment.strftime("%H:%M")
