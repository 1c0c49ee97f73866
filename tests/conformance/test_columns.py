"""Every grouping scenario of the conformance suite, through the columnar machine."""

from pathlib import Path

import pytest

from beamlike.testing.in_columns import run_in_columns
from beamlike.testing.transcripts import Scenario, differences, load_transcripts

CASES = Path(__file__).parent / "cases"
SCENARIOS = [
    (file.stem, scenario)
    for file in sorted(CASES.glob("*/*.json"))
    for scenario in load_transcripts(file, must_expect=True)
    if scenario.combine is not None and not scenario.contested
]


@pytest.mark.parametrize(
    "scenario", [pytest.param(s, id=f"{file}-{s.id}") for file, s in SCENARIOS]
)
def test_all_panes_and_drops_are_those_expected(scenario: Scenario) -> None:
    assert scenario.combine is not None

    run = run_in_columns(scenario.strategy, scenario.script, scenario.combine)

    assert differences(scenario, run) == []


def test_nearly_all_of_the_suite_is_run() -> None:
    assert len(SCENARIOS) == 641
