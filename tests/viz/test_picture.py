"""The picture of one window's story: everything that happened is in it."""

import builtins
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from matplotlib import colors
from matplotlib.image import imread

from beamlike.errors import EnvironmentProblem
from beamlike.viz.picture import Dot, FoldedTime, PaneBand, Story, draw_story

MINUTE = 60_000
HOUR = 60 * MINUTE
EARLY, ON_TIME, LATE, DROPPED = "#56B4E9", "#009E73", "#E69F00", "#D55E00"

STORY = Story(
    title="UA, 00:00 to 01:00",
    note="a morning",
    window_ms=(0, HOUR),
    dots=[
        Dot(10 * MINUTE, 15 * MINUTE),
        Dot(20 * MINUTE, 2 * HOUR),
        Dot(5 * MINUTE, 20 * HOUR, dropped=True, label="N1: dropped"),
    ],
    panes=[
        PaneBand("EARLY", 30 * MINUTE, "1 departure"),
        PaneBand("ON_TIME", 90 * MINUTE, "1 departure"),
        PaneBand("LATE", 150 * MINUTE, "2 departures"),
    ],
    watermark=[(30 * MINUTE, 0), (90 * MINUTE, HOUR), (8 * HOUR, 7 * HOUR)],
    expired_ms=8 * HOUR,
)


def pixels(story: Story, folder: Path) -> Any:
    path = folder / "story.png"
    draw_story(story, path)
    return imread(path)[:, :, :3]


def has_colour(image: Any, colour: str) -> bool:
    """Whether the pure colour is there, on more than a few pixels."""
    distance = np.abs(image - np.array(colors.to_rgb(colour))).max(axis=2)
    return int((distance < 0.01).sum()) > 50


def test_the_picture_shows_every_kind_of_pane_and_the_drop(tmp_path: Path):
    image = pixels(STORY, tmp_path)
    assert image.shape[0] > 800
    assert image.shape[1] > 1200
    assert [has_colour(image, colour) for colour in (EARLY, ON_TIME, LATE, DROPPED)] == [True] * 4


def test_what_did_not_happen_is_not_in_the_picture(tmp_path: Path):
    quiet = attrs.evolve(STORY, dots=STORY.dots[:2], panes=STORY.panes[:2], expired_ms=None)
    image = pixels(quiet, tmp_path)
    shown = [has_colour(image, colour) for colour in (EARLY, ON_TIME, LATE, DROPPED)]
    assert shown == [True, True, False, False]


def test_a_window_without_panes_can_be_drawn(tmp_path: Path):
    assert has_colour(pixels(attrs.evolve(STORY, panes=[]), tmp_path), DROPPED)


def test_a_long_silence_is_folded_to_the_limit():
    time = FoldedTime([0, 2 * HOUR, 20 * HOUR], limit_ms=HOUR)
    assert time.folds == [(2 * HOUR + 30 * MINUTE, 19 * HOUR + 30 * MINUTE)]
    shown = [time.position(at * HOUR) / HOUR for at in (0, 2, 3, 19, 20, 21)]
    assert shown == [0, 2, 2.5, 2.5, 3, 4]
    assert [time.shows(at * HOUR) for at in (0, 2, 3, 19, 20)] == [True, True, False, False, True]


def test_a_silence_just_long_enough_to_be_shown_is_not_folded():
    assert FoldedTime([0, 2 * HOUR], limit_ms=HOUR).folds == []


def test_without_matplotlib_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    original = builtins.__import__

    def without_matplotlib(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(EnvironmentProblem, match=r'pip install "beamlike\[demo\]"'):
        draw_story(STORY, tmp_path / "story.png")
    assert not (tmp_path / "story.png").exists()
