"""Every scenario of the conformance suite, on the memory host, compared completely."""

from pathlib import Path

import pytest

from beamlike.runtime.memory import run_in_memory
from beamlike.testing.scenarios.files import Scenario, differences
from tests.support.corpus import scenarios_of
from tests.support.machines.laws import broken_pane_laws

CASES = Path(__file__).parent / "cases"
FILES = sorted(CASES.glob("*/*.json"))
SCENARIOS = [(file.stem, scenario) for file in FILES for scenario in scenarios_of(file)]


@pytest.mark.parametrize(
    "scenario", [pytest.param(s, id=f"{file}-{s.id}") for file, s in SCENARIOS if not s.contested]
)
def test_all_panes_and_drops_are_those_expected(scenario: Scenario) -> None:
    assert differences(scenario, run_in_memory(scenario.machine(), scenario.script)) == []


@pytest.mark.parametrize(
    "scenario", [pytest.param(s, id=f"{file}-{s.id}") for file, s in SCENARIOS if s.contested]
)
def test_a_contested_scenario_is_not_compared_but_keeps_the_laws_of_panes(scenario: Scenario):
    run = run_in_memory(scenario.machine(), scenario.script)

    assert run.panes != ()
    assert broken_pane_laws(run, merging=scenario.strategy.is_merging) == []
    assert scenario.contested_reason != ()


def test_the_suite_has_every_level_and_its_ids_are_unique() -> None:
    ids = [scenario.id for _, scenario in SCENARIOS]

    assert len(set(ids)) == len(ids) == 670
    assert {scenario.level for _, scenario in SCENARIOS} == {
        "core",
        "calendar",
        "retracting",
        "ungrouped",
        "extended",
    }
    assert sum(scenario.contested for _, scenario in SCENARIOS) == 24


def test_every_expected_pane_states_all_of_its_fields() -> None:
    incomplete = [
        scenario.id
        for _, scenario in SCENARIOS
        if scenario.expected is None or not scenario.expected.complete
    ]

    assert incomplete == []
