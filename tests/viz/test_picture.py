"""The picture of a run: what is drawn, what is written, and what those get who cannot see it."""

import builtins
import io
import itertools
import random
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread
from PIL import Image

import beamlike as bl
from beamlike.errors import EnvironmentProblem, RecordingError, TestStreamError
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import IntervalWindow
from beamlike.palette.colours import LIGHT
from beamlike.runtime.script import Run
from beamlike.testing import FinishedTestStream, Results, TestStream
from beamlike.viz.picture import figure, figure_of
from beamlike.viz.saving import draw
from beamlike.viz.scene import Box, End, Fate, FoldLabel, Life, Mark, Scene, Tick
from beamlike.viz.timeline import text_timeline

EARLY, ON_TIME, LATE, DROPPED = LIGHT.early, LIGHT.ontime, LIGHT.late, LIGHT.lost
HOUR = IntervalWindow("12:00:00", "13:00:00")


def orders() -> Results:
    return (
        TestStream()
        .add_elements_at_time("12:01:00", ("table 3", "tea"))
        .advance_watermark_to("12:05:00")
        .add_elements_at_time("12:04:00", ("table 3", "milk"))
        .advance_watermark_to("12:15:00")
        .add_elements_at_time("12:04:30", ("table 3", "salt"))
        .advance_watermark_to_infinity()
        .run(
            window=bl.FixedWindows("5 minutes"),
            trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
            accumulation="accumulating",
            allowed_lateness="10 minutes",
        )
    )


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


def written(picture: Any) -> list[str]:
    """Every text in the axes of a picture that is not the label of a tick."""
    return [
        text.get_text() for axes in picture.axes for text in axes.texts if text.get_text().strip()
    ]


def legend(picture: Any) -> list[str]:
    return [text.get_text() for text in picture.legends[0].get_texts()]


def headings(picture: Any) -> list[str]:
    return [text.get_text() for text in picture.texts if text.get_text()]


def shapes(axes: Any, label: str) -> list[Any]:
    return [
        artist
        for artist in (*axes.collections, *axes.patches, *axes.lines)
        if artist.get_label() == label
    ]


def test_a_window_with_everything_in_it() -> None:
    picture = orders().figure()

    assert headings(picture) == [
        "key 'table 3'",
        "FixedWindows(5m), AfterWatermark(late=AfterCount(1)), accumulating, allowed lateness 10m",
    ]
    assert sorted(written(picture)) == sorted(
        [
            "watermark 12:15:00 >",
            "watermark infinity >",
            "'salt', expired, missed by 1ms",
            "on time #0: ['tea']",
            "late #1: ['tea', 'milk']",
            "'tea'",
            "= ['tea']",
            "'milk'",
        ]
    )
    assert legend(picture) == [
        "element",
        "element behind the watermark",
        "dropped element",
        "value of the window so far",
        "window expires",
        "on time pane",
        "late pane",
        "watermark",
    ]
    (axes,) = picture.axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        f"step {step}" for step in range(6)
    ]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [
        f"12:0{half // 2}:{half % 2 * 3}0" for half in range(11)
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "event time \u2192",
        "\u2191 order of arrival",
    )


def test_each_kind_has_a_colour_and_a_hatch_or_a_shape_of_its_own() -> None:
    (axes,) = orders().figure().axes
    (on_time,), (late,) = shapes(axes, "on time pane"), shapes(axes, "late pane")
    assert [to_hex(it.get_facecolor()) for it in (on_time, late)] == [ON_TIME, LATE]
    assert [it.get_hatch() or "" for it in (on_time, late)] == ["", "\\\\\\"]
    dots = [shapes(axes, fate.value)[0] for fate in (Fate.TAKEN, Fate.LATE, Fate.DROPPED)]
    assert [to_hex(dot.get_facecolor()[0]) for dot in dots] == [LIGHT.ink, LIGHT.paper, DROPPED]
    circle, _, cross = (dot.get_paths()[0].vertices.shape for dot in dots)
    assert circle != cross


def test_the_watermark_is_a_line_of_steps_and_a_pane_lies_from_what_it_holds_to_its_firing() -> (
    None
):
    (axes,) = orders().figure().axes
    (line,) = shapes(axes, "watermark")
    noon, minute = HOUR.start, 60_000
    left, right = axes.get_xlim()
    assert list(zip(*line.get_data(), strict=True)) == [
        *((left, axes.get_ylim()[0]), (left, 1.0), (noon + 5 * minute, 1.0)),
        *((noon + 5 * minute, 3.0), (right, 3.0)),
        *((right, 5.0), (right, 5.0), (right, axes.get_ylim()[1])),
    ]
    (late,) = shapes(axes, "late pane")
    assert (late.get_x(), late.get_width()) == (noon, 5 * minute)
    assert (late.get_y(), late.get_height()) == (0.0, 2.5)


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
    picture = results.figure()
    (axes,) = picture.axes
    assert len(shapes(axes, "withdrawn pane")) == 3
    assert [list(shape.get_ydata()) for shape in shapes(axes, "withdrawal")] == [[2.5, 2.5]] * 2 + [
        [3.5, 3.5]
    ]
    struck = [line for line in axes.lines if line.get_gid() == "struck"]
    names = [text for text in axes.texts if text.get_text().startswith("early #0")]
    assert sorted(text.get_text() for text in names) == [
        "early #0: [1, 2, 3]",
        "early #0: [1]",
        "early #0: [2]",
    ]
    places = {round(text.get_position()[1], 3) for text in names}
    assert {round(line.get_ydata()[0], 3) for line in struck} == places
    assert "3 windows merge" in written(picture)


def test_each_key_has_a_panel_and_they_share_their_axes() -> None:
    results = many(30, "ab", window=bl.FixedWindows("2 minutes"), **BUSY)
    picture = results.figure()
    assert headings(picture)[0] == "2 keys"
    assert {axes.get_label() for axes in picture.axes} == {"key 'a'", "key 'b'"}
    assert len({axes.get_xlim() for axes in picture.axes}) == 1
    assert len({axes.get_ylim() for axes in picture.axes}) == 1
    assert [axes.get_label() for axes in results.figure("b").axes] == ["key 'b'"]


def test_of_many_keys_the_busiest_are_drawn_and_a_line_says_so() -> None:
    results = many(60, "aaabbbcccdddefg", window=bl.FixedWindows("5 minutes"), **BUSY)
    picture = results.figure()
    assert {axes.get_label() for axes in picture.axes} == {f"key {key!r}" for key in "abcd"}
    assert "the busiest 4 of 7 keys; name one to draw another" in headings(picture)[1]
    assert "The busiest 4 of 7 keys; name one to draw another." in picture.get_label()


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
    picture = many(count, keys, window=window, **BUSY).figure()
    renderer = picture.canvas.get_renderer()
    for axes in picture.axes:
        boxes = [
            (text.get_text(), text.get_window_extent(renderer))
            for text in axes.texts
            if text.get_text() and text.get_clip_on() is False
        ]
        assert boxes
        overlapping = [
            (one, other)
            for (one, box), (other, theirs) in itertools.combinations(boxes, 2)
            if min(box.x1, theirs.x1) - max(box.x0, theirs.x0) > 1
            and min(box.y1, theirs.y1) - max(box.y0, theirs.y0) > 1
        ]
        assert overlapping == []


KINDS = ("early", "on time", "late", "withdrawn")


def test_what_found_no_room_is_counted() -> None:
    picture = many(300, "k", window=bl.FixedWindows("5 minutes"), **BUSY).figure()
    counted = re.search(r"for want of room: (\d+) elements and (\d+) panes?", headings(picture)[1])
    assert counted is not None
    named = [text for axes in picture.axes for text in axes.texts if text.get_gid() == "pane"]
    panes = sum(len(shapes(axes, f"{it} pane")) for axes in picture.axes for it in KINDS)
    assert len(named) + int(counted[2]) == panes
    assert int(counted[1]) > 250


def test_of_many_elements_those_that_some_windows_refused_have_their_reason_too() -> None:
    stream = TestStream()
    for second in range(70):
        stream = stream.add_elements_at_time(second * 5_000, ("k", second))
    stream = stream.advance_watermark_to("00:05:00").add_elements_at_time("00:04:59", ("k", "milk"))
    results = stream.advance_watermark_to_infinity().run(
        window=bl.SlidingWindows("10 minutes", "5 minutes")
    )

    assert "'milk', dropped from 1 of 2 windows: expired, missed by 1ms" in written(
        results.figure()
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
    picture: Any = results.figure()
    picture.canvas.draw()
    (axes,) = picture.axes
    (label,) = (text for text in axes.texts if text.get_text() == "3, expired, missed by 50m 1ms")
    at_one_o_clock = axes.transData.transform((IntervalWindow("12:00:00", "13:00:00").end, 0))[0]

    assert label.get_window_extent(picture.canvas.get_renderer()).x1 < at_one_o_clock


def test_windows_that_lie_above_each_other_do_not_blacken_what_is_below() -> None:
    stream = TestStream().add_elements_at_time("00:30:00", ("k", 1))
    results = stream.advance_watermark_to_infinity().run(window=bl.SlidingWindows("1 h", "1 m"))
    (axes,) = results.figure().axes

    grounds = [patch.get_alpha() or 0.0 for patch in axes.patches if patch.get_gid() == "window"]
    assert len(grounds) == 60
    assert 0.1 < sum(grounds) < 0.3


def test_elements_that_would_cover_each_other_are_one_dot_with_their_number() -> None:
    results = (
        TestStream()
        .add_elements_at_time("00:00:10", *[("k", number) for number in range(40)])
        .add_elements_at_time("00:00:50", ("k", "alone"))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1 minute"))
    )
    picture = results.figure()
    (dots,) = shapes(picture.axes[0], "element")
    assert len(dots.get_offsets()) == 2
    assert {"\u00d740", "'alone'"} <= set(written(picture))


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
    ticks=(Tick(1.0, "12:10", strong=True), Tick(1.1, "12:11"), Tick(9.0, "22:00")),
    folds=(FoldLabel(7.0, "7h left out"),),
    ideal=((0.0, HOUR.start), (4.0, HOUR.end)),
    event_axis="scheduled",
    arrival_axis="departed",
)


def test_a_scene_of_ones_own_is_drawn_as_it_stands() -> None:
    picture = figure(SCENE)
    (axes,) = picture.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("scheduled \u2192", "\u2191 departed")
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["12:10", "22:00"]
    assert {"7h left out", "N1: dropped", "late: 2 departures"} <= set(written(picture))
    assert "event time = processing time" in legend(picture)
    assert to_hex(shapes(axes, "early pane")[0].get_facecolor()) == EARLY


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
    (axes,) = results.figure().axes
    (dots,) = shapes(axes, "element")
    left, right = axes.get_xlim()
    assert len(dots.get_offsets()) == len(times)
    assert all(left < x < right for x, _ in dots.get_offsets())


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
    title, words = root[0], root[1]
    assert (title.tag.rpartition("}")[2], words.tag.rpartition("}")[2]) == ("title", "desc")
    assert title.text == "key '<k> & $x$'"
    assert words.text == (
        "key '<k> & $x$'. 1 element, 0 late and taken, 0 dropped; 1 window, 1 pane. "
        "Pane on time #0, last of [00:00:00, 00:01:00): ['<b>$a$</b>']. "
        "Windowing: FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms."
    )
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "title text")
    assert (title.get("id"), words.get("id")) == ("title", "text")


def test_the_same_run_gives_the_same_svg(tmp_path: Path) -> None:
    odd().draw(tmp_path / "one.svg")
    odd().draw(tmp_path / "other.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_a_png_has_its_words_in_its_metadata(tmp_path: Path) -> None:
    results = orders()
    results.draw(tmp_path / "orders.png", "table 3")
    assert imread(tmp_path / "orders.png").shape[1] == 1650
    with Image.open(tmp_path / "orders.png") as image:
        assert image.text["Title"] == "key 'table 3'"  # type: ignore[attr-defined]
        assert image.text["Description"] == results.figure().get_label()  # type: ignore[attr-defined]


def test_a_figure_can_be_written_as_pdf_too(tmp_path: Path) -> None:
    draw(orders().figure(), str(tmp_path / "orders.pdf"))
    assert (tmp_path / "orders.pdf").read_bytes().startswith(b"%PDF")


def test_a_gif_shows_what_has_happened_until_each_instant(tmp_path: Path) -> None:
    results = orders()
    results.draw(tmp_path / "orders.gif")
    frames, lengths, panes = 0, [], []
    with Image.open(tmp_path / "orders.gif") as image:
        assert image.size == tuple(int(it) for it in results.figure().bbox.size)
        frames = image.n_frames  # type: ignore[attr-defined]
        for number in range(frames):
            image.seek(number)
            lengths.append(image.info["duration"])
            shown = np.asarray(image.convert("RGB")).astype(int)
            late = np.abs(shown - [int(LATE[at : at + 2], 16) for at in (1, 3, 5)]).max(axis=2)
            panes.append(int((late < 8).sum()) > 3000)
    assert lengths == [700] * (frames - 1) + [3000]
    # Tea, the watermark, its pane, milk: then the late pane.
    assert panes == [False] * 4 + [True] * (frames - 4)


def test_a_format_that_no_one_knows_is_refused(tmp_path: Path) -> None:
    for name, ending in (("scene.doc", "has the ending .doc"), ("scene", "has no ending")):
        with pytest.raises(RecordingError) as raised:
            draw(figure(SCENE), tmp_path / name)
        assert str(raised.value).startswith(
            f"path: {tmp_path / name} {ending}, which is no format of a picture; end it with "
            ".png, .svg, .pdf or .gif (matplotlib writes "
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "jpg"])
def test_a_picture_in_no_folder_says_where_it_cannot_be_written(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / "missing" / f"scene.{ending}"
    with pytest.raises(EnvironmentProblem) as raised:
        draw(figure(SCENE), path)
    assert str(raised.value) == (
        f"the picture cannot be written to {path} (No such file or directory); name a file in a "
        "folder that exists"
    )


def test_the_words_of_a_watermark_beyond_the_axis_have_a_ground_of_their_own() -> None:
    (axes,) = figure_of(orders().run, orders().strategy).axes
    (words,) = [text for text in axes.texts if text.get_text() == "watermark infinity >"]
    ground = words.get_bbox_patch()
    assert ground is not None
    assert to_hex(ground.get_facecolor()) == LIGHT.paper


def test_a_notebook_shows_the_picture_by_itself_and_its_words_beside_it() -> None:
    picture = orders().figure()
    shown, beside = vars(picture)["_repr_mimebundle_"](include=None, exclude=None)
    assert shown["image/png"].startswith(b"\x89PNG")
    assert shown["text/plain"].startswith("key 'table 3'. 3 elements, 1 late and taken, 1 dropped;")
    assert beside == {"image/png": {"alt": shown["text/plain"]}}


def test_a_notebook_saves_the_picture_at_less_than_half_the_size_and_it_looks_the_same() -> None:
    picture = orders().figure()
    bytes_io = io.BytesIO()
    picture.savefig(bytes_io, format="png", dpi=100)
    shown, _ = vars(picture)["_repr_mimebundle_"]()
    assert len(shown["image/png"]) < len(bytes_io.getvalue()) / 2
    pair = (Image.open(bytes_io), Image.open(io.BytesIO(shown["image/png"])))
    one, other = (np.asarray(it.convert("RGB")).astype(int) for it in pair)
    assert np.abs(one - other).max() < 16  # of 256


def test_letters_that_the_font_lacks_are_no_trouble(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    results = (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", "\u4e2d\u6587"))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1 minute"))
    )
    results.draw(tmp_path / "letters.png")
    assert [str(warning.message) for warning in recwarn] == []


# -- what cannot be drawn ----------------------------------------------------------------------


def test_a_key_that_the_run_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(RecordingError) as refusal:
        orders().figure("table 4")
    assert str(refusal.value) == "key: the run has no key 'table 4'; it has 'table 3'"


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


def test_without_matplotlib_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def without_matplotlib(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(
        EnvironmentProblem, match=r'a picture needs matplotlib, .*"beamlike\[demo\]"'
    ):
        draw(figure(SCENE), tmp_path / "story.png")
    assert not (tmp_path / "story.png").exists()
