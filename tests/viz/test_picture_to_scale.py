"""The ten scores under every strategy, as pictures: where panes and labels lie.

`test_figure_to_scale` is about the stepping page.
"""

from functools import cache

import attrs
import pytest

import beamlike as bl
from beamlike.combine_fns import Count, Sum
from beamlike.machine.events import Pane
from beamlike.model.time import instant_ms, show_instant
from beamlike.palette.colours import DARK, LIGHT
from beamlike.testing import Results, compare, stream_by_clock
from beamlike.viz.picture import Picture, figure_of
from beamlike.viz.scene import Box, Scene
from beamlike.viz.staging import scenes_of
from tests.support.drawn_pictures import AREAS, LABELS, DrawnPicture, frames_of, overlapping
from tests.support.ten_scores import FIGURES, heuristic

pytestmark = pytest.mark.xdist_group("picture to scale")  # each picture is drawn once

SCORED = bl.FixedWindows("2 minutes")


class Drawn(DrawnPicture):
    """The scores under a strategy, drawn and measured."""

    def __init__(self, name: str, width: int = 1280, *, dark: bool = False) -> None:
        self.results = FIGURES[name]()
        self.scene = scene_of(self.results)
        self.picture = Picture([self.scene], width=width, palette=DARK if dark else LIGHT)
        super().__init__(self.picture)
        (self.panel,), (self.frame,) = self.panels, frames_of(self.picture)

    def box(self, window: str, name: str) -> Box:
        (found,) = [
            box for box in self.scene.boxes if str(box.window) == window and box.name == name
        ]
        return found


@cache
def drawn_as(name: str, width: int = 1280, *, dark: bool = False) -> Drawn:
    """Drawn once for all that look at it."""
    return Drawn(name, width, dark=dark)


def scene_of(results: Results) -> Scene:
    (scene,) = scenes_of(results.run, results.strategy, ["team"], results.recording)
    return scene


def row_of(scene: Scene, clock: str) -> float:
    """The row of an instant, by the labels beside the picture."""
    known = {instant_ms(tick.label, "tick"): tick.row for tick in scene.ticks}
    (first, low), *_, (last, high) = sorted(known.items())
    return low + (instant_ms(clock, "clock") - first) * (high - low) / (last - first)


@pytest.mark.parametrize("name", FIGURES)
def test_everything_is_as_high_as_the_clock_says(name: str) -> None:
    drawn = drawn_as(name)
    clocks = [clock for _, clock in drawn.results.run.clocks()]
    emitted = [output for output in drawn.results.run.outputs if isinstance(output.effect, Pane)]
    fired = [clocks[it.step] for it in emitted if not it.effect.retraction]
    tops = [drawn.frame.y(box.row) for box in drawn.scene.boxes]
    pairs = sorted(zip(fired, tops, strict=True))
    (low, bottom), (high, top) = pairs[0], pairs[-1]
    per_ms = (top - bottom) / (high - low) if high > low else 0.0
    assert tops == pytest.approx([bottom + (at - low) * per_ms for at in fired], abs=0.5)
    assert [area.top for area in drawn.panel.of(*AREAS)] == pytest.approx(tops, abs=0.01)


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
        ([pane.row for pane in panes], fires),
    ):
        assert shown == pytest.approx([row_of(drawn.scene, at) for at in wanted], abs=0.02)


def check_names(picture: Picture) -> None:
    """Nothing is cut, and the names of panes are each in a window, and over no other one."""
    drawn = DrawnPicture(picture)
    assert drawn.cut == []
    for panel, frame in zip(drawn.panels, frames_of(picture), strict=True):
        ends = {frame.ends(box.window) for box in frame.scene.boxes}
        names = panel.of("pane")
        for name in names:
            assert any(left - 1 <= name.left and name.right <= right + 1 for left, right in ends)
        assert overlapping(names) == []


@pytest.mark.samples
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", FIGURES)
def test_labels_stay_in_their_windows_and_nothing_is_cut(name: str, width: int) -> None:
    check_names(drawn_as(name, width).picture)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("window", "times", "label"),
    [
        ("1 hour", ("2024-05-01 22:00:26", "2024-05-02 00:08:19", "2024-05-02 01:15:39"), "2024"),
        ("100 ms", ("00:00:00.319", "00:00:00.350", "00:00:00.420"), "00:00:00.420"),
    ],
)
def test_dates_and_milliseconds_beside_the_picture_are_not_cut(
    width: int, window: str, times: tuple[str, ...], label: str
) -> None:
    arrivals = [(("team", 5), time, time) for time in times]
    results = stream_by_clock(arrivals).run(window=bl.FixedWindows(window), aggregate=Sum())
    drawn = DrawnPicture(Picture([scene_of(results)], width=width))
    assert [text for text in drawn.panels[0].texts("row") if label in text] != []
    assert drawn.cut == []


def test_where_there_is_no_room_for_the_name_of_a_pane_its_value_stands_alone() -> None:
    names = drawn_as("accumulating", 390).panel.texts("pane")
    assert names == ["5", "14", "22", "early #0: 3", "3", "14", "early #0: 3", "12"]


def test_both_times_are_one_on_the_dotted_line() -> None:
    drawn = drawn_as("accumulating")
    (line,) = drawn.panel.of("event-time-=-processing-time")
    instants = [instant for _, instant in drawn.scene.ideal]
    rows = [row_of(drawn.scene, show_instant(instant)) for instant in instants]
    assert [row for row, _ in drawn.scene.ideal] == pytest.approx(rows, abs=0.02)
    for point, instant, row in zip(line.points, instants, rows, strict=True):
        assert point == pytest.approx(drawn.frame.point(instant, row), abs=1)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_skew_reaches_from_the_ideal_line_to_the_watermark(width: int) -> None:
    drawn = drawn_as("accumulating", width)
    line, text = drawn.panel.of("skew")
    # The watermark gets to 12:06 at 12:08, two minutes after it would ideally.
    wanted = [drawn.frame.y(row_of(drawn.scene, at)) for at in ("12:08:00", "12:06:00")]
    assert [line.top, line.bottom] == pytest.approx(wanted, abs=1)
    assert text.text == "skew 2m"
    assert overlapping(drawn.panel.of(*LABELS)) == []
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
    running = drawn.panel.of("running")
    assert [it.text for it in running] == [f"= {value}" for value in values]
    assert overlapping(drawn.panel.of(*LABELS)) == []
    for text, it in zip(running, drawn.scene.running, strict=True):
        left, right = drawn.frame.ends(it.window)
        assert left - 1 <= text.left <= text.right <= right + 1
    assert ("value of the window so far" in drawn.around.texts("entry")) is bool(values)


def test_a_picture_up_to_an_instant_has_the_values_until_then():
    until = drawn_as("accumulating").scene.until
    scene = drawn_as("accumulating").scene
    assert [it.value for it in until(row_of(scene, "12:06:20")).running] == ["5", "7", "10"]


def test_results_and_comparisons_draw_the_values_and_the_run_alone_has_none():
    results = FIGURES["accumulating"]()
    both = compare(heuristic(), {"one": {}, "other": {}}, aggregate=Sum(), window=SCORED)
    for picture, panels in ((results.figure(), 1), (both.figure(), 2), (figure_of(results.run), 0)):
        counts = [len(panel.of("running")) for panel in DrawnPicture(picture).panels]
        assert [count > 5 for count in counts if count] == [True] * panels


def test_a_run_that_does_not_happen_again_is_drawn_without_values():
    results = FIGURES["accumulating"]()
    picture = figure_of(results.run, results.strategy, aggregate=Count())
    assert DrawnPicture(picture).panels[0].of("running") == []


@pytest.mark.parametrize("name", FIGURES)
def test_in_the_dark_it_is_light_on_a_dark_ground(name: str) -> None:
    nodes = list(drawn_as(name, dark=True).root.iter())
    (ground,) = [node for node in nodes if node.get("width") == "100%"]
    assert ground.get("fill") == DARK.paper
    written = {node.get(part, "none") for node in nodes for part in ("fill", "stroke")}
    colours = {colour for colour in written if not colour.startswith("url(")} - {"none"}
    assert colours <= {colour[:7] for colour in attrs.astuple(DARK)}
    assert {DARK.ink, DARK.muted, DARK.faint, DARK.ontime} <= colours
