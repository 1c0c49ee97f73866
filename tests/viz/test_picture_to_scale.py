"""The ten scores under every strategy, as pictures: where panes lie, what they overlap, in pixels.

`test_figure_to_scale` is about the stepping page.
"""

import io
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

import beamlike as bl
from beamlike.combine_fns import Count, Sum
from beamlike.machine.events import Pane
from beamlike.model.time import instant_ms
from beamlike.palette.colours import DARK, LIGHT
from beamlike.testing import Results, compare, stream_by_clock
from beamlike.viz.picture import figure, figure_of
from beamlike.viz.scene import Box, Scene
from beamlike.viz.staging import scenes_of
from tests.support.ten_scores import FIGURES, heuristic

pytestmark = pytest.mark.xdist_group("picture to scale")  # each picture is drawn once

SCORED = bl.FixedWindows("2 minutes")
TIMINGS = ("early", "on time", "late", "withdrawn")


class Drawn:
    """The scores under a strategy, drawn and measured."""

    def __init__(self, name: str, width: int = 1280, *, dark: bool = False) -> None:
        self.results = FIGURES[name]()
        self.scene = scene_of(self.results)
        self.made = figure(self.scene, width=width, dark=dark)
        (self.axes,) = self.made.axes
        paper = io.BytesIO()
        self.made.savefig(paper, format="png", dpi=100)
        paper.seek(0)
        self.pixels = imread(paper)[:, :, :3]

    def height(self, row: float) -> float:
        return float(self.axes.transData.transform((0, row))[1])

    def areas(self, label: str) -> list[Any]:
        return [patch for patch in self.axes.patches if patch.get_label() == f"{label} pane"]

    def box(self, window: str, name: str) -> Box:
        (found,) = [
            box for box in self.scene.boxes if str(box.window) == window and box.name == name
        ]
        return found

    def pixel(self, at: str, clock: float) -> Any:
        """The colour at an instant and a height."""
        across = self.scene.event.position(instant_ms(at, "at"))
        x, y = self.axes.transData.transform((across, clock))
        return self.pixels[len(self.pixels) - int(y), int(x)]

    def texts(self) -> list[Any]:
        renderer = self.made.canvas.get_renderer()
        ticks = [*self.axes.get_xticklabels(), *self.axes.get_yticklabels()]
        names = [self.axes.xaxis.label, self.axes.yaxis.label, *self.made.legends[0].get_texts()]
        written = [*self.axes.texts, *ticks, *names, *self.made.texts]
        return [it.get_window_extent(renderer) for it in written if it.get_text()]


@cache
def drawn_as(name: str, width: int = 1280, *, dark: bool = False) -> Drawn:
    """Drawn once for all that look at it."""
    return Drawn(name, width, dark=dark)


def scene_of(results: Results) -> Scene:
    (scene,) = scenes_of(results.run, results.strategy, ["team"], results.recording)
    return scene


def rgb(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def row_of(scene: Scene, clock: str) -> float:
    """The row of an instant, by the labels beside the picture."""
    known = {instant_ms(tick.label, "tick"): tick.at for tick in scene.ticks}
    (first, low), *_, (last, high) = sorted(known.items())
    return low + (instant_ms(clock, "clock") - first) * (high - low) / (last - first)


@pytest.mark.parametrize("name", FIGURES)
def test_everything_is_as_high_as_the_clock_says(name: str) -> None:
    drawn = drawn_as(name)
    clocks = [clock for _, clock in drawn.results.run.clocks()]
    emitted = [output for output in drawn.results.run.outputs if isinstance(output.effect, Pane)]
    fired = [clocks[it.step] for it in emitted if not it.effect.retraction]
    tops = [drawn.height(box.at) for box in drawn.scene.boxes]
    pairs = sorted(zip(fired, tops, strict=True))
    (low, bottom), (high, top) = pairs[0], pairs[-1]
    per_ms = (top - bottom) / (high - low) if high > low else 0.0
    assert tops == pytest.approx([bottom + (at - low) * per_ms for at in fired], abs=0.5)
    shown = [area for label in TIMINGS for area in drawn.areas(label)]
    edges = [drawn.height(area.get_y() + area.get_height()) for area in shown]
    assert sorted(edges) == pytest.approx(sorted(tops))


@pytest.mark.parametrize("name", ["accumulating", "retracting", "discarding"])
def test_panes_lie_where_the_article_has_them(name: str) -> None:
    drawn = drawn_as(name)
    first, second = "[12:00:00, 12:02:00)", "[12:02:00, 12:04:00)"
    if name == "discarding":
        begins = ("12:05:19", "12:06:00", "12:05:39", "12:07:06")
    else:
        begins = ("12:05:19", "12:05:19", "12:05:39", "12:05:39")
    fires = ("12:06:00", "12:08:19", "12:07:06", "12:07:30")
    panes = [
        *(drawn.box(first, "on time #0"), drawn.box(first, "late #1")),
        *(drawn.box(second, "early #0"), drawn.box(second, "on time #1")),
    ]
    for shown, wanted in (
        ([pane.below for pane in panes], begins),
        ([pane.at for pane in panes], fires),
    ):
        assert shown == pytest.approx([row_of(drawn.scene, at) for at in wanted], abs=0.02)


def test_a_pane_that_accumulates_covers_the_one_before_it_and_a_discarded_one_does_not() -> None:
    both, after, ground = {}, {}, {}
    for name in ("accumulating", "discarding"):
        drawn = drawn_as(name)
        early, late = row_of(drawn.scene, "12:05:50"), row_of(drawn.scene, "12:07:45")
        both[name] = drawn.pixel("12:01:50", early)
        after[name] = drawn.pixel("12:01:50", late)
        ground[name] = drawn.pixel("12:04:30", early)
    for name in both:
        assert ground[name] == pytest.approx(rgb(LIGHT.paper), abs=0.06)
        assert np.abs(after[name] - ground[name]).max() > 0.08  # the late pane
    # Where the late pane holds the 5 too, its colour lies over that of the pane on time.
    assert both["accumulating"].sum() < both["discarding"].sum() - 0.1


def test_withdrawn_panes_are_struck_out_and_others_are_not() -> None:
    drawn = drawn_as("retracting")
    struck = [line for line in drawn.axes.lines if line.get_gid() == "struck"]
    heights = {round(float(line.get_ydata()[0]), 3) for line in struck}
    names = {text.get_text(): text for text in drawn.axes.texts if text.get_gid() == "pane"}
    crossed = {
        words for words, name in names.items() if round(name.get_position()[1], 3) in heights
    }
    assert crossed == {"on time #0: 5", "early #0: 14", "early #0: 3"} | {
        it for it in crossed if it == "on time #1: 3"
    }
    assert "late #1: 14" not in crossed
    assert len(drawn.areas("withdrawn")) == len(struck) == 4
    lines = [line for line in drawn.axes.lines if line.get_label() == "withdrawal"]
    gone = [box.withdrawn for box in drawn.scene.boxes if box.withdrawn is not None]
    assert [line.get_ydata()[0] for line in lines] == gone


@pytest.mark.samples
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", FIGURES)
def test_labels_stay_in_their_windows_and_nothing_is_cut(name: str, width: int) -> None:
    drawn = drawn_as(name, width)
    high = drawn.made.bbox.height
    for text in drawn.texts():
        assert text.x0 >= 0
        assert text.x1 <= width
        assert text.y0 >= 0
        assert text.y1 <= high
    renderer = drawn.made.canvas.get_renderer()
    ends = {
        tuple(
            drawn.axes.transData.transform((edge, 0))[0] for edge in drawn.scene.edges(box.window)
        )
        for box in drawn.scene.boxes
    }
    labels = [
        text.get_window_extent(renderer) for text in drawn.axes.texts if text.get_gid() == "pane"
    ]
    for label in labels:
        assert any(left - 1 <= label.x0 and label.x1 <= right + 1 for left, right in ends)
    for one, other in combinations(labels, 2):
        across = min(one.x1, other.x1) - max(one.x0, other.x0)
        up = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(across, up) <= 1


@pytest.mark.parametrize("width", [390, 1280])
def test_dates_beside_the_picture_are_not_cut(width: int) -> None:
    arrivals = [
        (("team", 5), "2024-05-01 22:00:26", "2024-05-01 22:05:19"),
        (("team", 9), "2024-05-01 23:01:26", "2024-05-02 00:08:19"),
        (("team", 3), "2024-05-02 01:12:26", "2024-05-02 01:15:39"),
    ]
    results = stream_by_clock(arrivals).run(window=bl.FixedWindows("1 hour"), aggregate=Sum())
    made: Any = figure(scene_of(results), width=width)
    made.canvas.draw()
    labels = made.axes[0].get_yticklabels()
    assert [label.get_text() for label in labels if "2024" in label.get_text()] != []
    assert [label.get_text() for label in labels if label.get_window_extent().x0 < 0] == []


def test_where_there_is_no_room_for_the_name_of_a_pane_its_value_stands_alone() -> None:
    texts = drawn_as("accumulating", 390).axes.texts
    names = [text.get_text() for text in texts if text.get_gid() == "pane"]
    assert names == ["5", "14", "22", "3", "3", "14", "3", "12"]


def test_both_times_are_one_on_the_dotted_line() -> None:
    drawn = drawn_as("accumulating")
    (line,) = [
        line for line in drawn.axes.lines if line.get_label() == "event time = processing time"
    ]
    for across, row in zip(*line.get_data(), strict=True):
        at = drawn.scene.event.instant(int(across))
        ticks = {instant_ms(tick.label, "tick"): tick.at for tick in drawn.scene.ticks}
        (first, low), *_, (last, high) = sorted(ticks.items())
        assert low + (at - first) * (high - low) / (last - first) == pytest.approx(row, abs=0.02)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_skew_reaches_from_the_ideal_line_to_the_watermark(width: int) -> None:
    drawn = drawn_as("accumulating", width)
    (line,) = [line for line in drawn.axes.lines if line.get_label() == "skew"]
    # The watermark gets to 12:06 at 12:08, two minutes after it would ideally.
    wanted = [row_of(drawn.scene, at) for at in ("12:06:00", "12:08:00")]
    assert list(line.get_ydata()) == pytest.approx(wanted, abs=0.02)
    renderer = drawn.made.canvas.get_renderer()
    (words,) = [text for text in drawn.axes.texts if text.get_gid() == "skew"]
    assert words.get_text() == "skew 2m"
    box = words.get_window_extent(renderer)
    others = [text.get_window_extent(renderer) for text in drawn.axes.texts if text is not words]
    assert not [it for it in others if it.overlaps(box)]
    assert drawn.scene.until(row_of(drawn.scene, "12:07:45")).skew is None
    assert drawn_as("batch").scene.skew is None


SO_FAR = ["5", "7", "10", "14", "3", "22", "3", "11", "12"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("batch", ["5", "12", "15", "19", "22", "30", "33", "42", "50", "51"]),
        ("fixed windows in batch", ["5", "7", "10", "14", "3", "22", "3", "14", "11", "12"]),
        ("accumulating", SO_FAR),  # the 9 comes out at once, and leaves nothing new
        ("retracting", SO_FAR),
        ("discarding", ["5", "7", "10", "14", "3", "8", "3", "8", "9"]),
        ("sliding", []),  # each element is in two windows
    ],
)
def test_the_value_of_the_window_so_far_is_beside_each_element(name: str, values: list[str]):
    drawn = drawn_as(name)
    running = [text for text in drawn.axes.texts if text.get_gid() == "running"]
    assert [it.get_text() for it in running] == [f"= {value}" for value in values]
    renderer = drawn.made.canvas.get_renderer()
    others = [text.get_window_extent(renderer) for text in drawn.axes.texts if text not in running]
    for text, it in zip(running, drawn.scene.running, strict=True):
        box = text.get_window_extent(renderer)
        left, right = (
            drawn.axes.transData.transform((edge, 0))[0] for edge in drawn.scene.edges(it.window)
        )
        assert left - 1 <= box.x0 <= box.x1 <= right + 1
        assert [other for other in others if other.overlaps(box)] == []
    legend = [it.get_text() for it in drawn.made.legends[0].get_texts()]
    assert ("value of the window so far" in legend) is bool(values)


def test_a_picture_up_to_an_instant_has_the_values_until_then():
    until = drawn_as("accumulating").scene.until
    scene = drawn_as("accumulating").scene
    assert [it.value for it in until(row_of(scene, "12:06:20")).running] == ["5", "7", "10"]


def test_results_and_comparisons_draw_the_values_and_the_run_alone_has_none():
    results = FIGURES["accumulating"]()
    both = compare(heuristic(), {"one": {}, "other": {}}, aggregate=Sum(), window=SCORED)
    for made, panels in ((results.figure(), 1), (both.figure(), 2), (figure_of(results.run), 0)):
        counts = [sum(text.get_gid() == "running" for text in axes.texts) for axes in made.axes]
        assert [count > 5 for count in counts if count] == [True] * panels


def test_a_run_that_does_not_happen_again_is_drawn_without_values():
    results = FIGURES["accumulating"]()
    made = figure_of(results.run, results.strategy, aggregate=Count())
    assert [text for text in made.axes[0].texts if text.get_gid() == "running"] == []


@pytest.mark.parametrize("name", FIGURES)
def test_in_the_dark_it_is_light_on_a_dark_ground(name: str) -> None:
    drawn = drawn_as(name, dark=True)
    assert drawn.pixels[2, 2] == pytest.approx(rgb(DARK.paper), abs=0.01)
    (title, *_) = drawn.made.texts
    assert title.get_color() == DARK.ink
    light = (drawn.pixels > 0.8).all(axis=2).mean()
    assert 0.0 < light < 0.1
