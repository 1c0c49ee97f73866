"""The picture of a run: what is drawn, what is written, and what those get who cannot see it."""

import random
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from PIL import Image

import beamlike as bl
from beamlike.errors import EnvironmentProblem, RecordingError, TestStreamError
from beamlike.extras import EXTRAS
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import IntervalWindow
from beamlike.palette.colours import LIGHT
from beamlike.runtime.script import Run
from beamlike.testing import FinishedTestStream, Results, TestStream
from beamlike.viz.picture import Picture, figure_of
from beamlike.viz.scene import Box, End, Fate, Life, Mark, RowLabel, Scene
from beamlike.viz.timeline import text_timeline
from tests.support.drawn_pictures import (
    AREAS,
    LABELS,
    DrawnPanel,
    DrawnPicture,
    frames_of,
    overlapping,
)
from tests.support.recordings import BY_FIVE, ordered

EARLY, ON_TIME, LATE, DROPPED = LIGHT.early, LIGHT.ontime, LIGHT.late, LIGHT.lost
HOUR = IntervalWindow("12:00:00", "13:00:00")


def orders() -> Results:
    return ordered().advance_watermark_to_infinity().run(**BY_FIVE)


def many(count: int, keys: str, **windowing: Any) -> Results:
    """So many elements of a busy hour, some of them late; the same each time."""
    chance = random.Random(7)
    stream, now, watermark = TestStream(), 0, 0
    for number in range(count):
        now += chance.randrange(20_000)
        behind = chance.randrange(60_000) + (chance.random() < 0.1) * chance.randrange(900_000)
        pair = (chance.choice(keys), chance.randrange(100))
        stream = stream.add_elements_at_time(max(now - behind, 0), pair)
        if number % 10 == 9:
            watermark = max(watermark, now - 120_000)
            stream = stream.advance_watermark_to(watermark)
    return FinishedTestStream(stream.steps).run(**windowing)


BUSY = {
    "trigger": bl.AfterWatermark(early=bl.AfterCount(5), late=bl.AfterCount(1)),
    "accumulation": "retracting",
    "allowed_lateness": "5 minutes",
}


def panel_of(results: Results) -> DrawnPanel:
    """The panel of results with one key."""
    (panel,) = DrawnPicture(results.figure()).panels
    return panel


def test_a_window_with_everything_in_it() -> None:
    picture = DrawnPicture(orders().figure())
    (panel,) = picture.panels

    assert picture.headings == [
        "key 'table 3'",
        "FixedWindows(5m), AfterWatermark(late=AfterCount(1)), accumulating, allowed lateness 10m",
    ]
    assert {kind: panel.texts(kind) for kind in LABELS if panel.texts(kind)} == {
        "lost": ["'salt', expired, missed by 1ms"],
        "pane": ["on time #0: ['tea']", "late #1: ['tea', 'milk']"],
        "reached": ["watermark 12:15:00 >", "watermark infinity >"],
        "running": ["= ['tea']"],
        "value": ["'tea'", "'milk'"],
    }
    assert {it.attributes["stroke"] for it in panel.of("reached")} == {LIGHT.paper}  # its ground
    assert picture.around.texts("entry") == [
        "element",
        "element behind the watermark",
        "dropped element",
        "value of the window so far",
        "window expires",
        "on time pane",
        "late pane",
        "watermark",
    ]
    assert panel.texts("row") == [f"step {step}" for step in range(6)]
    assert panel.texts("instant") == [f"12:0{half // 2}:{half % 2 * 3}0" for half in range(11)]
    assert picture.axes == ["\u2191 order of arrival", "event time \u2192"]


def test_each_kind_has_a_colour_and_a_pattern_or_a_shape_of_its_own() -> None:
    panel = panel_of(orders())
    (on_time,), (late,) = panel.of("on-time-pane"), panel.of("late-pane")
    assert [it.attributes["fill"] for it in (on_time, late)] == [ON_TIME, LATE]
    (stripes,) = panel.of("stripes")
    assert (stripes.left, stripes.top) == (late.left, late.top)
    (taken,), (behind,), (dropped,) = (
        panel.of(fate.value.replace(" ", "-")) for fate in (Fate.TAKEN, Fate.LATE, Fate.DROPPED)
    )
    assert [it.attributes["fill"] for it in (taken, behind)] == [LIGHT.ink, LIGHT.paper]
    assert dropped.attributes["stroke"] == DROPPED
    assert ("r" in taken.attributes, "r" in dropped.attributes) == (True, False)


def test_the_watermark_is_a_line_of_steps_and_a_pane_lies_from_what_it_holds_to_its_firing():
    (frame,), panel = frames_of(orders().figure()), panel_of(orders())
    (line,) = panel.of("watermark")
    left, right, five = frame.left, frame.right, frame.point(HOUR.start + 300_000, 0)[0]
    steps = [(left, frame.bottom)]
    for row, x in ((1.0, five), (3.0, right), (5.0, right)):
        steps += [(steps[-1][0], frame.y(row)), (x, frame.y(row))]
    written = re.findall(r"-?[\d.]+", line.attributes["d"])
    assert [float(it) for it in written] == pytest.approx(
        [it for point in [*steps, (right, frame.top)] for it in point], abs=0.01
    )
    (late,) = panel.of("late-pane")
    assert (late.left, late.right) == pytest.approx((frame.point(HOUR.start, 0)[0], five), abs=0.01)
    assert (late.bottom, late.top) == pytest.approx((frame.y(0.0), frame.y(2.5)), abs=0.01)


def test_withdrawn_panes_are_faint_their_names_struck_and_a_line_is_where_that_happens() -> None:
    results = (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", 1))
        .add_elements_at_time("00:12:10", ("k", 2))
        .add_elements_at_time("00:06:10", ("k", 3))
        .advance_watermark_to_infinity()
        .run(
            window=bl.Sessions("10 minutes"),
            trigger=bl.AfterWatermark(early=bl.AfterCount(1)),
            accumulation="retracting",
            allowed_lateness="0 s",
        )
    )
    (frame,), panel = frames_of(results.figure()), panel_of(results)
    assert len(panel.of("withdrawn-pane")) == 3
    heights = [shape.top for shape in panel.of("withdrawal")]
    assert heights == pytest.approx([frame.y(row) for row in (2.5, 2.5, 3.5)], abs=0.01)
    names = [it for it in panel.of("pane") if it.text.startswith("early #0")]
    assert sorted(it.text for it in names) == [
        "early #0: [1, 2, 3]",
        "early #0: [1]",
        "early #0: [2]",
    ]
    middles = sorted((it.top + it.bottom) / 2 for it in names)
    assert sorted(it.top for it in panel.of("struck")) == pytest.approx(middles, abs=0.1)
    assert panel.texts("merge") == ["3 windows merge"]


def test_each_key_has_a_panel_and_they_share_their_axes() -> None:
    results = many(30, "ab", window=bl.FixedWindows("2 minutes"), **BUSY)
    picture = DrawnPicture(results.figure())
    assert picture.headings[0] == "2 keys"
    one, other = sorted(picture.panels, key=lambda panel: panel.title)
    assert (one.title, other.title) == ("key 'a'", "key 'b'")
    ticks = [[it.left for it in panel.of("grid")] for panel in (one, other)]
    assert ticks[0] == ticks[1]
    assert one.texts("row") == other.texts("row") != []
    assert [panel.title for panel in DrawnPicture(results.figure("b")).panels] == ["key 'b'"]


def test_of_many_keys_the_busiest_are_drawn_and_a_line_says_so() -> None:
    results = many(60, "aaabbbcccdddefg", window=bl.FixedWindows("5 minutes"), **BUSY)
    picture = DrawnPicture(results.figure())
    assert {panel.title for panel in picture.panels} == {f"key {key!r}" for key in "abcd"}
    assert "the busiest 4 of 7 keys; name one to draw another" in picture.headings
    assert "The busiest 4 of 7 keys; name one to draw another." in results.figure().text


STAGES = {
    "fixed windows": ("k", bl.FixedWindows("5 minutes")),
    "sliding windows": ("k", bl.SlidingWindows("10 minutes", "2 minutes")),
    "sessions of two keys": ("ab", bl.Sessions("1 minute")),
    "the global window": ("k", bl.GlobalWindows()),
}


@pytest.mark.samples
@pytest.mark.parametrize("count", [3, 30, 300])
@pytest.mark.parametrize("stage", STAGES)
def test_no_label_lies_on_another_however_many_there_are(stage: str, count: int) -> None:
    keys, window = STAGES[stage]
    picture = DrawnPicture(many(count, keys, window=window, **BUSY).figure())
    for panel in picture.panels:
        assert panel.of(*LABELS, "coin")
        assert overlapping(panel.of(*LABELS)) == []
    assert picture.cut == []


def test_what_found_no_room_is_counted() -> None:
    picture = DrawnPicture(many(300, "k", window=bl.FixedWindows("5 minutes"), **BUSY).figure())
    counted = re.search(r"for want of room: (\d+) elements and (\d+) panes?", picture.headings[-1])
    assert counted is not None
    (panel,) = picture.panels
    assert len(panel.of("pane")) + int(counted[2]) == len(panel.of(*AREAS))
    assert int(counted[1]) > 250


def test_of_many_elements_those_that_some_windows_refused_have_their_reason_too() -> None:
    stream = TestStream()
    for second in range(70):
        stream = stream.add_elements_at_time(second * 5_000, ("k", second))
    stream = stream.advance_watermark_to("00:05:00").add_elements_at_time("00:04:59", ("k", "milk"))
    results = stream.advance_watermark_to_infinity().run(
        window=bl.SlidingWindows("10 minutes", "5 minutes")
    )

    assert "'milk', dropped from 1 of 2 windows: expired, missed by 1ms" in panel_of(results).texts(
        "value"
    )


def test_what_a_dropped_element_missed_stands_in_no_window_of_others() -> None:
    results = (
        TestStream()
        .add_elements_at_time("12:10:00", ("Oslo", 1))
        .add_elements_at_time("13:10:00", ("Oslo", 2))
        .advance_watermark_to("13:50:00")
        .add_elements_at_time("12:59:40", ("Oslo", 3))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1 hour"))
    )
    (label,), (frame,) = panel_of(results).of("lost"), frames_of(results.figure())

    assert label.text == "3, expired, missed by 50m 1ms"
    assert label.right < frame.point(HOUR.end, 0)[0]


def test_windows_that_lie_above_each_other_do_not_blacken_what_is_below() -> None:
    stream = TestStream().add_elements_at_time("00:30:00", ("k", 1))
    results = stream.advance_watermark_to_infinity().run(window=bl.SlidingWindows("1 h", "1 m"))

    grounds = panel_of(results).of("window")
    assert len(grounds) == 60
    assert 0.1 < sum(float(ground.attributes["fill-opacity"]) for ground in grounds) < 0.3


def test_elements_that_would_cover_each_other_are_one_dot_with_their_number() -> None:
    results = (
        TestStream()
        .add_elements_at_time("00:00:10", *[("k", number) for number in range(40)])
        .add_elements_at_time("00:00:50", ("k", "alone"))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1 minute"))
    )
    panel = panel_of(results)
    assert len(panel.of("element")) == 2
    assert panel.texts("value") == ["\u00d740", "'alone'"]


SCENE = Scene(
    title="UA, 12:00 to 13:00",
    note="a morning",
    marks=(
        Mark(HOUR.start + 600_000, 1.0),
        Mark(HOUR.start + 1_200_000, 9.0, "N1: dropped", Fate.DROPPED),
    ),
    lives=(Life(HOUR, 0.0, 8.0, End.EXPIRED),),
    boxes=(
        Box(HOUR, "EARLY", None, "1 departure", 0.0, 2.0),
        Box(HOUR, "LATE", None, "2 departures", 2.0, 2.1),
        Box(HOUR, "UNKNOWN", None, "3 departures", 2.1, 2.2),
    ),
    watermark=((2.0, HOUR.start), (6.0, HOUR.end)),
    rows=(-0.6, 10.0),
    span=(HOUR.start - 60_000, HOUR.end + 60_000),
    ticks=(RowLabel(1.0, "12:10", strong=True), RowLabel(1.1, "12:11"), RowLabel(9.0, "22:00")),
    folds=(RowLabel(7.0, "7h left out"),),
    ideal=((0.0, HOUR.start), (4.0, HOUR.end)),
    event_axis="scheduled",
    arrival_axis="departed",
)


def test_a_scene_of_ones_own_is_drawn_as_it_stands() -> None:
    picture = DrawnPicture(Picture([SCENE]))
    (panel,) = picture.panels
    assert picture.axes == ["\u2191 departed", "scheduled \u2192"]
    assert panel.texts("row") == ["12:10", "22:00"]
    assert {"7h left out", "N1: dropped", "late: 2 departures"} <= set(panel.texts(*LABELS))
    assert "event time = processing time" in picture.around.texts("entry")
    assert panel.of("early-pane")[0].attributes["fill"] == EARLY
    (cut,) = DrawnPicture(Picture([attrs.evolve(SCENE, rows=(3.0, 10.0))])).root.iterfind(
        "{*}g/{*}svg"
    )
    assert {line.get("class") for line in cut} >= {"event-time-=-processing-time", "watermark"}


@pytest.mark.parametrize("times", [(MIN_TIMESTAMP, MAX_TIMESTAMP - 1), (5, 5), (0, 10**15), (-1,)])
def test_whatever_the_scale_there_is_a_picture(times: tuple[int, ...]) -> None:
    stream = TestStream()
    for time in times:
        stream = stream.add_elements_at_time(time, ("k", time))
    results = stream.advance_watermark_to_infinity().run(
        window=bl.GlobalWindows(),
        trigger=bl.Repeatedly(bl.AfterCount(1)),
        accumulation="discarding",
    )
    (frame,), dots = frames_of(results.figure()), panel_of(results).of("element")
    assert len(dots) == len(times)
    assert all(frame.left < dot.left + 4 < frame.right for dot in dots)


# -- files, and words for those who cannot see -------------------------------------------------


def odd() -> Results:
    return (
        TestStream()
        .add_elements_at_time("00:00:10", ("<k> & $x$", "<b>$a$</b>"))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1 minute"))
    )


def test_an_svg_has_its_title_and_its_words_with_everything_escaped(tmp_path: Path) -> None:
    odd().draw(tmp_path / "odd.svg")
    root = ElementTree.parse(tmp_path / "odd.svg").getroot()
    title, text = root[0], root[1]
    assert (title.tag.rpartition("}")[2], text.tag.rpartition("}")[2]) == ("title", "desc")
    assert title.text == "key '<k> & $x$'"
    assert text.text == (
        "key '<k> & $x$'. 1 element, 0 late and taken, 0 dropped; 1 window, 1 pane. "
        "Pane on time #0, last of [00:00:00, 00:01:00): ['<b>$a$</b>']. "
        "Windowing: FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms."
    )
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", title.get("id"))
    assert root.get("aria-describedby") == text.get("id")
    assert panel_of(odd()).texts("value") == ["'<b>$a$</b>'"]
    assert odd().figure().svg() == (tmp_path / "odd.svg").read_text()  # the same each time


def test_pictures_on_one_page_keep_their_patterns_and_their_words_apart() -> None:
    pictures = [orders().figure(), orders().figure(dark=True), odd().figure()]
    light, dark, other = (
        {node.get("id") for node in ElementTree.fromstring(it.svg()).iter() if node.get("id")}
        for it in pictures
    )
    # The words of the first two are the same.
    assert {it.split("-")[0] for it in light & dark} == {"title", "text"}
    assert {it.split("-", 1)[1] for it in light & other} == {f"on-{LIGHT.paper[1:]}"}


def test_a_png_has_its_words_in_its_metadata(tmp_path: Path) -> None:
    results = orders()
    results.draw(tmp_path / "orders.png", "table 3")
    with Image.open(tmp_path / "orders.png") as image:
        assert image.size[0] == 1650
        assert image.text["Title"] == "key 'table 3'"  # type: ignore[attr-defined]
        assert image.text["Description"] == results.figure().text  # type: ignore[attr-defined]


def test_a_gif_shows_what_has_happened_until_each_instant(tmp_path: Path) -> None:
    results = orders()
    results.draw(tmp_path / "orders.gif")
    picture = DrawnPicture(results.figure())
    frames, lengths, panes = 0, [], []
    with Image.open(tmp_path / "orders.gif") as image:
        assert image.size == (picture.width, picture.height)
        frames = image.n_frames  # type: ignore[attr-defined]
        for number in range(frames):
            image.seek(number)
            lengths.append(image.info["duration"])
            shown = np.asarray(image.convert("RGB")).astype(int)
            late = np.abs(shown - [int(LATE[at : at + 2], 16) for at in (1, 3, 5)]).max(axis=2)
            panes.append(int((late < 8).sum()) > 1000)
    assert lengths == [700] * (frames - 1) + [3000]
    # Tea, the watermark, its pane, milk: then the late pane.
    assert panes == [False] * 4 + [True] * (frames - 4)


def test_a_format_that_no_one_knows_is_refused(tmp_path: Path) -> None:
    for name, ending in (("scene.pdf", "has the ending .pdf"), ("scene", "has no ending")):
        with pytest.raises(RecordingError) as raised:
            Picture([SCENE]).save(tmp_path / name)
        assert str(raised.value) == (
            f"path: {tmp_path / name} {ending}, which is no format of a picture; end it with "
            ".svg, .png or .gif"
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture_in_no_folder_says_where_it_cannot_be_written(tmp_path: Path, ending: str):
    path = tmp_path / "missing" / f"scene.{ending}"
    with pytest.raises(EnvironmentProblem) as raised:
        Picture([SCENE]).save(path)
    assert str(raised.value) == (
        f"the picture cannot be written to {path} (No such file or directory); name a file in a "
        "folder that exists"
    )


def test_a_notebook_shows_the_picture_by_itself_and_its_words_beside_it() -> None:
    picture = orders().figure()
    shown, _ = DisplayFormatter().format(picture)
    assert shown == {"image/svg+xml": picture.svg(), "text/plain": picture.text}
    assert picture.text.startswith("key 'table 3'. 3 elements, 1 late and taken, 1 dropped;")
    assert len(picture.svg()) < 15_000


@pytest.mark.browser
@pytest.mark.samples
@pytest.mark.parametrize("stage", STAGES)
def test_in_a_browser_no_text_is_wider_than_it_was_taken_to_be(stage: str, browser: Any) -> None:
    keys, window = STAGES[stage]
    picture = many(30, keys, window=window, **BUSY).figure()
    tab = browser.new_page()
    tab.set_content(picture.svg())
    texts = "[...document.querySelectorAll('text')]"
    real = tab.evaluate(f"() => {texts}.map(it => [it.textContent, it.getBBox().width])")
    tab.close()
    taken = [[it.text, it.right - it.left] for it in DrawnPicture(picture).written]
    assert [text for text, _ in real] == [text for text, _ in taken]
    assert [(one, two) for one, two in zip(real, taken, strict=True) if one[1] > two[1] + 3] == []


# -- what cannot be drawn ----------------------------------------------------------------------


def test_a_key_that_the_run_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(RecordingError) as refusal:
        orders().figure("table 4")
    assert str(refusal.value) == "there is no key 'table 4'; the only key is 'table 3'"


def test_a_run_in_which_nothing_happened_is_refused() -> None:
    with pytest.raises(RecordingError) as refusal:
        figure_of(Run((), ()))
    assert str(refusal.value) == (
        "there is nothing to draw: no elements came, and nothing came out"
    )


def test_results_have_their_timeline_too() -> None:
    results = orders()
    assert results.strategy is not None
    window_fn = results.strategy.window_fn
    assert results.timeline() == text_timeline(results.run, window_fn=window_fn)
    assert max(map(len, results.timeline(width=80).splitlines())) == 80


def test_a_collection_of_which_no_grouping_is_known_is_refused() -> None:
    from beamlike.testing.streams.results import Origin

    results = Results(Run((), ()), origin=Origin("Sum", lambda: ""))
    with pytest.raises(TestStreamError, match="only a grouping can be shown step by step"):
        results.figure()


def test_an_svg_needs_nothing_and_without_resvg_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXTRAS, "png", ("pillow", "no_such_painter"))  # type: ignore[arg-type]
    Picture([SCENE]).save(tmp_path / "story.svg")
    with pytest.raises(EnvironmentProblem) as raised:
        Picture([SCENE]).save(tmp_path / "story.png")
    assert str(raised.value) == (
        "a PNG or a GIF needs no_such_painter, which is not installed; run: "
        'pip install "beamlike[png]", or draw an SVG, which needs neither'
    )
    assert [path.name for path in tmp_path.iterdir()] == ["story.svg"]
