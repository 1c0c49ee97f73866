"""All figures have the same colours, patterns and words."""

import re
from importlib.resources import files
from itertools import combinations

import attrs
import pytest

from beamlike.model.windows import IntervalWindow
from beamlike.palette.colours import DARK, LIGHT, TIMINGS, Palette
from beamlike.palette.pages import palette_style
from beamlike.viz.page import page_part
from beamlike.viz.picture import entries_of
from beamlike.viz.scene import Box, End, Fate, Life, Mark, Scene

SHEETS = {
    "beamlike.viz": "assets/page.css",
    "beamlike.playground": "assets/playground.css",
    "beamlike.inspect.live": "page.css",
}


@pytest.mark.parametrize("package", SHEETS)
def test_style_sheets_use_no_variable_that_is_not_there(package: str) -> None:
    sheet = (files(package) / SHEETS[package]).read_text(encoding="utf-8")
    shared = palette_style() + page_part("page.css")
    defined = set(re.findall(r"(--[\w-]+):", shared + sheet))
    assert set(re.findall(r"var\((--[\w-]+)", sheet)) - defined == set()


def light(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read_on_either_ground(palette: Palette) -> None:
    for words in (palette.ink, palette.muted, palette.lost, palette.water):
        for ground in (palette.paper, palette.card):
            low, high = sorted((light(words), light(ground)))
            assert (high + 0.05) / (low + 0.05) >= 4.5


def test_panes_differ_without_colour() -> None:
    looks = [(timing.stripes, timing.dashes) for timing in TIMINGS.values()]
    assert all(one != other for one, other in combinations(looks, 2))


def test_pictures_and_pages_name_the_same_things_alike() -> None:
    window = IntervalWindow(0, 1)
    marks = tuple(Mark(0, 0.0, fate=fate) for fate in Fate if fate is not Fate.NOWHERE)
    boxes = tuple(Box(window, timing, 0, "", 0.0, 1.0, withdrawn=2.0) for timing in TIMINGS)
    lives = (Life(window, 0.0, 1.0, End.EXPIRED),)
    scene = Scene("", marks=marks, boxes=boxes, lives=lives, watermark=((0.0, 0),))
    in_pictures = entries_of([attrs.evolve(scene, ideal=((0.0, 0),))])
    on_pages = re.findall(r'draw\("([^"]+)"', page_part("legend.js"))
    # A picture is of a run, which does not know how windows get their values.
    only_there = ("window", "merge", "value of the window so far")
    assert [on_page for on_page in on_pages if on_page not in only_there] == in_pictures
