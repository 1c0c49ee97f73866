"""Scenarios in Beam Python's words, and the table that was made of them."""

from pathlib import Path

import pytest

from tests.beam_suite.rows import as_document
from tests.test_runners_table import POINTS, SCENARIOS, named

ROWS = (Path(__file__).parent / "ROWS.md").read_text(encoding="utf-8")


def test_a_scenario_in_the_words_of_beam_python() -> None:
    assert as_document(SCENARIOS["edge_two_keys"]) == {
        "id": "edge_two_keys",
        "window_fn": {"kind": "FixedWindows", "args": [0.01, 0], "kwargs": {}},
        "trigger": {
            "kind": "Repeatedly",
            "args": [{"kind": "AfterCount", "args": [2], "kwargs": {}}],
            "kwargs": {},
        },
        "accumulation": "DISCARDING",
        "lateness": 0,
        "combiner": "OUTPUT_AT_EOW",
        "unit": 1000,
        "events": [
            ("elements", [("a", 1, 0.001), ("b", 2, 0.002), ("a", 3, 0.003)]),
            ("elements", [("b", 4, 0.004)]),
            ("watermark", None),
        ],
    }


def test_short_delays_are_played_as_whole_seconds() -> None:
    document = as_document(SCENARIOS["edge_pt_fires_after_end_of_window"])

    assert document["unit"] == 1
    assert document["window_fn"]["args"] == [10, 0]
    assert document["trigger"]["args"] == [
        {"kind": "AfterProcessingTime", "args": [5], "kwargs": {}}
    ]
    assert document["events"] == [("elements", [("k", 1, 1)]), ("watermark", 50), ("clock", 6)]


@pytest.mark.parametrize("row", POINTS, ids=[row[-1].strip("`") for row in POINTS])
def test_each_point_has_been_played_with_beam(row: list[str]) -> None:
    assert f"| {row[0]} | `{named(row).id}` |" in ROWS
