"""The ten scores under every strategy: where panes lie, what they overlap, whose labels are where.
The stepping page; `test_picture_to_scale` is about the picture.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

import beamlike as bl
from beamlike.combine_fns import Sum
from beamlike.machine.events import Pane
from beamlike.model.time import instant_ms
from beamlike.runtime.script import Arrive
from beamlike.testing import BoundedDelay, stream_by_clock
from beamlike.viz.page import save_page
from beamlike.viz.recording import Recording
from beamlike.viz.run_index import own_windows
from tests.support.ten_scores import FIGURES

pytestmark = pytest.mark.browser


def recorded(name: str) -> Recording:
    results = FIGURES[name]()
    return Recording.of(results.run, results.strategy, results.aggregate)


MEASURED: Final = """() => {
    const box = node => {
        const { x, y, width, height } = node.getBBox();
        return { left: x, right: x + width, top: y, bottom: y + height };
    };
    const middle = node => (box(node).top + box(node).bottom) / 2;
    const every = (selector, pick) => [...document.querySelectorAll(selector)].map(pick);
    const said = text => ({
        ...box(text), text: text.textContent, isStruck: text.classList.contains("struck"),
    });
    const figure = document.querySelector("#figure");
    return {
        panes: every("#figure [data-kind=pane]", group => ({
            title: group.querySelector("title").textContent,
            step: Number(group.dataset.step),
            area: box(group.querySelector("rect.area, line.box")),
            isWithdrawal: !group.querySelector("rect.area"),
            label: group.querySelector("text") && said(group.querySelector("text")),
        })),
        elements: every("#figure [data-kind=element]", group => ({
            step: Number(group.dataset.step),
            middle: middle(group.querySelector("circle, path")),
        })),
        texts: every("#figure text", said),
        ticks: every("#figure text.rowtext", said),
        width: Number(figure.getAttribute("width")),
        height: Number(figure.getAttribute("height")),
        axes: every("#axis text", box),
        running: every("#figure [data-kind=element]:has(.running)", group => ({
            step: Number(group.dataset.step),
            coin: box(group.querySelector("circle")),
            label: said(group.querySelector(".running")),
        })),
        lives: every("#figure rect.life", box),
        skew: every("#figure path.skew", box),
        ideal: every(".figure #figure .ideal", box).length,
    };
}"""


class Drawn:
    """A figure as it is drawn at its last step, measured."""

    measured: ClassVar[dict[tuple[str, int], Any]] = {}
    """Each figure is drawn and measured once."""

    def __init__(self, tab: Any, folder: Path, name: str, width: int = 1280) -> None:
        self.recording = recorded(name)
        if (name, width) not in self.measured:
            tab.set_viewport_size({"width": width, "height": 900})
            tab.goto(save_page(self.recording, folder / f"{name}.html").as_uri() + "#step=999")
            self.measured[name, width] = tab.evaluate(MEASURED)
        self.found = self.measured[name, width]
        self.panes = self.found["panes"]

    def clock(self, step: int) -> int:
        return self.recording.moments[step].clock

    def heights(self) -> list[tuple[int, float]]:
        """The clock and the height of everything that has a step."""
        of_panes = [(self.clock(pane["step"]), pane["area"]["top"]) for pane in self.panes]
        of_elements = [
            (self.clock(element["step"]), element["middle"]) for element in self.found["elements"]
        ]
        return of_panes + of_elements

    def of(self, title: str) -> dict[str, Any]:
        (pane,) = [
            pane for pane in self.panes if pane["title"] == title and not pane["isWithdrawal"]
        ]
        return pane


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    noticed: list[str] = []
    page = browser.new_page()
    page.on("pageerror", lambda error: noticed.append(str(error)))
    yield page
    page.close()
    assert noticed == []


@pytest.mark.parametrize("name", FIGURES)
def test_everything_is_as_high_as_the_clock_says(tab: Any, tmp_path: Path, name: str):
    drawn = Drawn(tab, tmp_path, name)
    heights = drawn.heights()
    (low, bottom), (high, top) = min(heights), max(heights)
    per_ms = (bottom - top) / (high - low)
    assert per_ms > 0
    expected = [bottom - (clock - low) * per_ms for clock, _ in heights]
    assert [height for _, height in heights] == pytest.approx(expected, abs=1.5)
    for tick in drawn.found["ticks"]:
        said = instant_ms(tick["text"], "tick")
        middle = (tick["top"] + tick["bottom"]) / 2
        assert middle == pytest.approx(bottom - (said - low) * per_ms, abs=3)


@pytest.mark.parametrize(
    ("accumulation", "overlap"), [("accumulating", True), ("discarding", False)]
)
def test_panes_that_accumulate_contain_those_before_them_and_discarded_ones_do_not_touch(
    tab: Any, tmp_path: Path, accumulation: str, overlap: bool
):
    drawn = Drawn(tab, tmp_path, accumulation)
    late = "14" if overlap else "9"
    for before, after in (
        ("[12:00:00, 12:02:00) on time #0: 5", f"[12:00:00, 12:02:00) late #1: {late}"),
        (
            "[12:02:00, 12:04:00) early #0: 14",
            f"[12:02:00, 12:04:00) on time #1: {'22' if overlap else '8'}",
        ),
    ):
        first, second = drawn.of(before)["area"], drawn.of(after)["area"]
        assert (first["left"], first["right"]) == (second["left"], second["right"])
        bottom = first["bottom"] if overlap else first["top"]
        assert second["bottom"] == pytest.approx(bottom, abs=0.5)
        assert second["top"] < first["top"] < first["bottom"]


def test_withdrawn_panes_are_struck_out_and_others_are_not(tab: Any, tmp_path: Path):
    drawn = Drawn(tab, tmp_path, "retracting")
    labels = {
        pane["label"]["text"]: pane["label"]["isStruck"] for pane in drawn.panes if pane["label"]
    }
    assert labels["late #1: 14"] is False
    struck = [pane for pane in drawn.panes if pane["isWithdrawal"]]
    assert len(struck) == 4
    assert all(pane["label"] is None or pane["label"]["isStruck"] for pane in struck)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", FIGURES)
def test_labels_stay_in_their_windows_and_nothing_is_cut(
    tab: Any, tmp_path: Path, name: str, width: int
):
    drawn = Drawn(tab, tmp_path, name, width)
    for pane in drawn.panes:
        if pane["label"]:
            assert pane["label"]["left"] >= pane["area"]["left"] - 2
            assert pane["label"]["right"] <= pane["area"]["right"] + 2
    wide, high = drawn.found["width"], drawn.found["height"]
    for text in (*drawn.found["texts"], *drawn.found["axes"]):
        assert text["left"] >= -1
        assert text["right"] <= wide + 1
    assert all(text["top"] >= -1 and text["bottom"] <= high + 1 for text in drawn.found["texts"])
    labels = [pane["label"] for pane in drawn.panes if pane["label"]]
    for index, label in enumerate(labels):
        for other in labels[index + 1 :]:
            apart = (
                label["right"] <= other["left"] + 1
                or other["right"] <= label["left"] + 1
                or label["bottom"] <= other["top"] + 3
                or other["bottom"] <= label["top"] + 3
            )
            assert apart, (label, other)


def so_far(recording: Recording, accumulates: bool) -> dict[int, str]:
    """After each element the sum of its window, worked out from the run's panes alone."""
    sums: dict[Any, int] = {}
    found: dict[int, str] = {}
    for moment in recording.moments:
        arriving = moment.event.elements if isinstance(moment.event, Arrive) else ()
        for _, element in arriving:
            (window,) = own_windows(recording.strategy.window_fn, element)
            sums[window] = sums.get(window, 0) + element.value
            found[moment.step] = f"= {sums[window]}"
        for output in moment.outputs:
            assert isinstance(output.effect, Pane)
            found.pop(moment.step, None)  # the name of the pane says it
            if not accumulates:
                sums.pop(output.effect.window, None)
    return found


@pytest.mark.parametrize("name", ["accumulating", "discarding", "perfect watermark"])
def test_the_value_of_the_window_so_far_is_beside_each_element(tab: Any, tmp_path: Path, name: str):
    drawn = Drawn(tab, tmp_path, name)
    shown = {one["step"]: one["label"]["text"] for one in drawn.found["running"]}
    assert shown == so_far(drawn.recording, name == "accumulating")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", FIGURES)
def test_values_so_far_stay_in_their_windows_and_overlap_no_label(
    tab: Any, tmp_path: Path, name: str, width: int
):
    drawn = Drawn(tab, tmp_path, name, width)
    for one in drawn.found["running"]:
        label, across = one["label"], (one["coin"]["left"] + one["coin"]["right"]) / 2
        assert any(
            life["left"] <= min(label["left"], across) and life["right"] >= label["right"]
            for life in drawn.found["lives"]
        )
        others = [it for it in drawn.found["texts"] if it != label]
        assert not [it for it in others if overlaps(it, label)]


def overlaps(one: dict[str, Any], other: dict[str, Any]) -> bool:
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    up = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return min(across, up) > 2


STRUCK_BY_THE_WATERMARK: Final = """() => {
    const path = document.querySelector("#figure path.water").getAttribute("d");
    const lines = [], found = [];
    let x = 0, y = 0;
    for (const [, kind, first, second] of path.matchAll(/([MVH])([-.\\d]+) ?([-.\\d]*)/g)) {
        if (kind === "M") [x, y] = [Number(first), Number(second)];
        if (kind === "V") y = Number(first);
        if (kind !== "H") continue;
        lines.push([Math.min(x, first), Math.max(x, first), y]);
        x = Number(first);
    }
    for (const text of document.querySelectorAll("#figure [data-kind=pane] text")) {
        const box = text.getBBox();
        const struck = ([left, right, at]) => left < box.x + box.width && box.x < right
            && box.y + 3 < at && at < box.y + box.height - 3;
        if (lines.some(struck)) found.push(text.textContent);
    }
    return [lines.length, found];
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_no_name_of_a_pane_is_on_the_watermark(tab: Any, tmp_path: Path, width: int):
    arrivals = [
        (("team", 5), "2024-05-01 22:00:26", "2024-05-01 22:05:19"),
        (("team", 9), "2024-05-01 23:01:26", "2024-05-02 00:08:19"),
        (("team", 7), "2024-05-02 00:02:26", "2024-05-02 00:05:39"),
        (("team", 3), "2024-05-02 01:12:26", "2024-05-02 01:15:39"),
    ]
    late = stream_by_clock(arrivals, BoundedDelay("10 minutes"), every="10 minutes").run(
        window=bl.FixedWindows("1 hour"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
        allowed_lateness="2 hours",
        accumulation="accumulating",
        aggregate=Sum(),
    )
    tab.set_viewport_size({"width": width, "height": 900})
    for number, results in enumerate([late, *(figure() for figure in FIGURES.values())]):
        tab.goto(results.save_page(tmp_path / f"{number}.html").as_uri() + "#step=999")
        lines, struck = tab.evaluate(STRUCK_BY_THE_WATERMARK)
        assert (lines > 0, struck) == (True, [])


def test_the_skew_reaches_from_the_ideal_line_to_the_watermark(tab: Any, tmp_path: Path):
    drawn = Drawn(tab, tmp_path, "accumulating")
    (line,) = drawn.found["skew"]
    ticks = {it["text"]: (it["top"] + it["bottom"]) / 2 for it in drawn.found["ticks"]}
    # The watermark gets to 12:06 at 12:08, two minutes after it would ideally.
    assert line["top"] == pytest.approx(ticks["12:08:00"], abs=2)
    assert line["bottom"] == pytest.approx(ticks["12:06:00"], abs=2)
    (words,) = [it for it in drawn.found["texts"] if it["text"].startswith("skew")]
    assert words["text"] == "skew 2m"
    assert not [it for it in drawn.found["texts"] if it != words and overlaps(it, words)]
    assert Drawn(tab, tmp_path, "batch").found["skew"] == []


def test_the_ideal_line_is_drawn_where_both_times_are_of_one_day(tab: Any, tmp_path: Path):
    assert Drawn(tab, tmp_path, "accumulating").found["ideal"] == 1
