"""What Beam Python answers, in sentences, and the table that was made of them."""

from pathlib import Path

import pytest

from tests.beam_suite.rows import sentences
from tests.test_runners_table import POINTS, named

ROWS = (Path(__file__).parent / "ROWS.md").read_text(encoding="utf-8")
PANE = {
    **{"step": 0, "key": "k", "window": "global", "timestamp_ms": 5, "timing": "EARLY"},
    **{"index": 0, "nonspeculative_index": -1, "is_first": True, "is_last": False, "value": [1]},
}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            {"panes": [PANE, PANE | {"window": [0, 10], "is_last": True}]},
            ["step 0: k global EARLY [1] at 5", "step 0: k [0, 10) EARLY last [1] at 5"],
        ),
        (
            {"panes": [], "notes": ["the run fails at its end: TypeError: no"]},
            ["the run fails at its end: TypeError: no"],
        ),
        ({"error": "IndexError: 3"}, ["the run fails: IndexError: 3"]),
        ({"unsupported": "calendar windows"}, ["cannot be said: calendar windows"]),
    ],
)
def test_an_answer_is_said_in_sentences(answer: dict, said: list[str]) -> None:
    assert sentences(answer) == said


@pytest.mark.parametrize("row", POINTS, ids=[row[-1].strip("`") for row in POINTS])
def test_each_point_has_been_played_with_beam(row: list[str]) -> None:
    assert f"| {row[0]} | `{named(row).id}` |" in ROWS
