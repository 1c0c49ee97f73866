"""Texts in letters that are not as wide as others, on a terminal."""

from unicodedata import east_asian_width

import pytest

import beamlike as bl
from beamlike.testing import Results, TestStream, compare
from beamlike.viz.cells import cells, columns, cut, padded

TEA = (
    TestStream()
    .add_elements_at_time("12:01:00", ("お茶", "緑茶"))
    .add_elements_at_time("12:02:00", ("tea", "green"))
    .advance_watermark_to_infinity()
)


def on_a_terminal(line: str) -> int:
    """How far a line reaches, by Unicode's own table of wide letters."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in line)


def of_tea() -> Results:
    return TEA.run(window=bl.FixedWindows("5 minutes"))


@pytest.mark.parametrize(
    ("text", "width", "in_eight"),
    [
        ("", 0, "        "),
        ("tea", 3, "tea     "),
        ("お茶", 4, "お茶    "),
        ("the\u0301", 3, "the\u0301     "),
        ("green tea", 9, "green..."),
        ("お茶とお菓子", 12, "お茶... "),
        ("😀😀😀😀😀", 10, "😀😀... "),
    ],
)
def test_a_text_takes_the_columns_of_its_letters(text: str, width: int, in_eight: str) -> None:
    assert columns(text) == width
    assert len(cells(text)) == width
    assert "".join(cells(text)) == text
    assert padded(cut(text, 8), 8) == in_eight


def test_an_accent_after_a_wide_letter_stays_with_it() -> None:
    assert cells("か\u3099k") == ["か\u3099", "", "k"]


def test_a_timeline_stays_on_its_axis_and_its_tables_in_their_columns() -> None:
    results = of_tea()
    drawn = results.timeline(80).splitlines()

    assert drawn[2:8] == [
        "'お茶' key              12:00:00   12:01:00   12:02:00   12:03:00   12:04:00",
        "                        +----------+----------+----------+----------+----------+",
        "  0 + '緑茶'                       *",
        "      opened            [-----------------------------------------------------)",
        "  2 watermark                                                         infinity >",
        "      ON_TIME #0 last   [-----------------------------------------------------)",
    ]
    assert [on_a_terminal(line) for line in drawn[2:8]] == [76, 80, 36, 79, 80, 79]
    assert str(results) == (
        "  step  key     window                timing   #  ns  place  timestamp     value\n"
        "  2     'お茶'  [12:00:00, 12:05:00)  ON_TIME  0  0   only   12:04:59.999  ['緑茶']\n"
        "  2     'tea'   [12:00:00, 12:05:00)  ON_TIME  0  0   only   12:04:59.999  ['green']"
    )


def test_a_value_beside_its_window_leaves_room_for_wide_letters() -> None:
    long = TestStream().add_elements_at_time("12:01:00", ("k", "茶" * 60))
    results = long.advance_watermark_to_infinity().run(window=bl.FixedWindows("5 minutes"))

    assert max(map(on_a_terminal, results.timeline().splitlines())) == 100
    assert "茶" * 34 + "..." in results.timeline()


def test_strategies_side_by_side_stay_in_their_columns() -> None:
    fives, minutes = {"window": bl.FixedWindows("5 minutes")}, {"window": bl.FixedWindows("1 m")}

    assert str(compare(TEA, {"五分": fives, "一分": minutes})).splitlines()[3:] == [
        "   step  key     window                五分                           一分",
        "!  2     'お茶'  [12:00:00, 12:05:00)  ON_TIME 0 last: ['緑茶']       -",
        "!  2     'tea'   [12:00:00, 12:05:00)  ON_TIME 0 last: ['green']      -",
        "!  2     'お茶'  [12:01:00, 12:02:00)  -                              "
        "ON_TIME 0 last: ['緑茶']",
        "!  2     'tea'   [12:02:00, 12:03:00)  -                              "
        "ON_TIME 0 last: ['green']",
        "",
        "with 一分: 2 panes elsewhere",
    ]
