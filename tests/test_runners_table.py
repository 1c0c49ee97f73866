"""The table of where Beam's runners differ: beamlike does what the table says it does."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from beamlike.runtime.memory import run_in_memory
from beamlike.testing.scenarios.files import Scenario
from beamlike.testing.scenarios.results import to_document
from tests.support.corpus import scenarios_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "pages" / "beams_runners.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|")
]
HEADER, POINTS = ROWS[0], ROWS[2:]
SCENARIOS = {
    scenario.id: scenario
    for file in (ROOT / "tests" / "conformance" / "cases").glob("*/*.json")
    for scenario in scenarios_of(file)
}


def named(row: list[str]) -> Scenario:
    (identifier,) = re.fullmatch(r"`(\w+)`", row[-1]).groups()  # type: ignore[union-attr]
    return SCENARIOS[identifier]


# Panes and drops by scenario, in the table's order. Each says which outcome is meant.
OUTCOMES: dict[str, list[str]] = {
    "edge_bundle_count_overshoot": [
        "step 0: k [0, 100) EARLY [1, 2, 3, 4, 5] at 99",
        "step 2: k [0, 100) EARLY [6, 7] at 99",
    ],
    "edge_never_with_lateness": ["step 3: k [0, 10) ON_TIME last [1, 2] at 9"],
    "edge_two_keys": [
        "step 0: a [0, 10) EARLY [1, 3] at 9",
        "step 1: b [0, 10) EARLY [2, 4] at 9",
        "step 2: a [0, 10) ON_TIME last [] at 9",
        "step 2: b [0, 10) ON_TIME last [] at 9",
    ],
    "target_global_no_clamp_3": ["step 1: a global ON_TIME last 1 at 9223371950454775"],
    "target_no_empty_on_time_6": [
        "step 1: b global EARLY [1, 2] at 9223371950454775",
        "step 2: b global ON_TIME last [] at 9223371950454775",
    ],
    "yaml_fixed_default": [
        "step 1: k [0, 10000) ON_TIME last [1, 2, 3] at 9999",
        "step 1: k [10000, 20000) ON_TIME last [10, 11] at 19999",
    ],
    "blog_fixed_06_late_dropped": [
        "step 2: foo [0, 60000) ON_TIME last 1 at 59999",
        "step 2: bar [0, 60000) ON_TIME last 1 at 59999",
        "step 2: baz [0, 60000) ON_TIME last 2 at 59999",
        "step 3: 'foo' dropped, expired",
    ],
    "edge_pt_exact_delay": ["step 2: k [0, 1000) EARLY [1] at 999"],
    "edge_pt_fires_after_end_of_window": ["step 2: k [0, 10) ON_TIME [1] at 9"],
    "afterprocessingtime_merging": ["step 4: k [1, 13) EARLY last [1, 3] at 12"],
    "quirk_pt_align_before_offset": ["step 2: k [0, 100000) EARLY [1] at 99999"],
    "blog_hist_speculative_earliest": [
        "step 3: jack [0, 780000) EARLY ['open app', 'open product', 'add to cart'] at 0",
        "step 5: jack [0, 1170000) EARLY "
        "['open app', 'open product', 'add to cart', 'checkout'] at 570000",
        "step 7: jack [0, 1390000) ON_TIME last "
        "['open app', 'open product', 'add to cart', 'checkout', 'close app'] at 790000",
    ],
    "rfr_pane_info_all_states": [
        "step 1: k [0, 10) EARLY [1, 1] at 1",
        "step 2: k [0, 10) EARLY [2, 2] at 1",
        "step 5: k [0, 10) LATE [3, 3] at 9",
        "step 6: other [0, 10) ON_TIME [9, 9] at 1",
        "step 7: k [0, 10) LATE [4, 4] at 9",
    ],
    "quirk_early_composite_after_all": [
        "step 1: k [0, 1000) EARLY [1, 2] at 999",
        "step 3: k [0, 1000) EARLY [3, 4] at 999",
    ],
    "edge_session_closed_then_overlap": [
        "step 1: k [1, 11) ON_TIME last [1] at 10",
        "step 3: k [8, 18) ON_TIME last [8] at 17",
    ],
    "edge_session_two_new_late_pure_eow": ["step 1: k [1, 12) LATE last [1, 2] at 11"],
    "pytrig_sessions_after_count_g1": [
        "step 2: k [1000, 25000) EARLY last ['a', 'b', 'c'] at 24999",
        "step 4: k [30000, 41000) EARLY last ['s', 't'] at 40999",
        "step 6: k [50000, 60000) EARLY last ['z', 'y'] at 59999",
    ],
    "edge_default_closing_always_discarding": [
        "step 1: k [0, 10) ON_TIME [1, 2] at 9",
        "step 2: k [0, 10) LATE [3] at 9",
        "step 3: k [0, 10) LATE last [] at 9",
    ],
    "edge_on_time_if_non_empty_indices": [
        "step 0: k [0, 10) EARLY [1] at 9",
        "step 2: k [0, 10) LATE [1, 2] at 9",
    ],
    "quirk_fixed_negative_timestamp": [
        "step 1: k [-20, -10) ON_TIME last [-15] at -11",
        "step 1: k [-10, 0) ON_TIME last [-1] at -1",
    ],
    "sliding_elidings": [
        "step 1: k [0, 3) ON_TIME last [1, 2] at 2",
        "step 1: k [10, 13) ON_TIME last [10, 11] at 12",
        "step 1: k [100, 103) ON_TIME last [100] at 102",
    ],
    "quirk_jump_over_end_and_expiry": [
        "step 0: k [0, 10) EARLY [1] at 9",
        "step 1: k [0, 10) ON_TIME last [] at 9",
    ],
    "retract_session_same_identity": [
        "step 0: k [1, 11) EARLY 1 at 10",
        "step 1: k [1, 11) EARLY 1 at 10 withdrawn",
        "step 1: k [1, 11) EARLY 3 at 10",
    ],
}


def outcome(scenario: Scenario) -> list[str]:
    """All panes and drops, a sentence each."""
    document = to_document(run_in_memory(scenario.machine(), scenario.script))
    return [*map(pane_text, document["panes"]), *map(_drop, document["dropped"])]


def pane_text(pane: dict[str, Any]) -> str:
    """A pane of a document of results, in a sentence."""
    bounds = pane["window"]
    window = bounds if bounds == "global" else "[{}, {})".format(*bounds)
    value = json.dumps(pane["value"]).replace('"', "'")
    text = f"step {pane['step']}: {pane['key']} {window} {pane['timing']}"
    text += f"{' last' * pane['is_last']} {value} at {pane['timestamp_ms']}"
    return text + " withdrawn" * pane.get("retraction", False)


def _drop(drop: dict[str, Any]) -> str:
    return f"step {drop['step']}: {drop['value']!r} dropped, {drop['reason']}"


def test_the_table_has_these_rows() -> None:
    assert HEADER == ["point", "Java", "Python", "Prism", "beamlike", "scenario"]
    assert {len(row) for row in POINTS} == {len(HEADER)}
    assert [named(row).id for row in POINTS] == list(OUTCOMES)


@pytest.mark.parametrize("row", POINTS, ids=[row[-1].strip("`") for row in POINTS])
def test_beamlike_does_what_the_table_says(row: list[str]) -> None:
    scenario = named(row)

    assert outcome(scenario) == OUTCOMES[scenario.id]


@pytest.mark.parametrize("row", POINTS, ids=[row[-1].strip("`") for row in POINTS])
def test_what_is_not_as_in_java_is_contested_or_not_in_java_at_all(row: list[str]) -> None:
    is_as_java = row[HEADER.index("beamlike")] == "as Java"

    assert is_as_java == (not named(row).contested and row[HEADER.index("Java")] != "no runner")
