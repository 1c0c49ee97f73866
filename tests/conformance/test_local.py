"""Every scenario of the conformance suite on the local host: production's runtime without Spark.

Its state rests as bytes between any two steps. The columnar machine steps all that group.
"""

from collections import Counter
from pathlib import Path

import pytest

from beamlike.hosts.local.nodes import run_in_local
from beamlike.runtime.graph.scripted_graph import ScriptedGraph, Stage
from beamlike.runtime.stepping import Choice, choose_machine
from beamlike.testing.scenarios.files import Scenario, differences
from tests.conformance.beamlike_conformance.comparing import row_differences
from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.corpus import scenarios_of
from tests.support.dialects.on_spark import play_on_local
from tests.support.dialects.player import CaseRow
from tests.support.dialects.plays import STREAMS, play, stage_of

HERE = Path(__file__).parent
SCENARIOS = [
    (file.stem, scenario)
    for file in sorted((HERE / "cases").glob("*/*.json"))
    for scenario in scenarios_of(file)
    if not scenario.contested
]


def does(scenario: Scenario) -> Stage:
    return scenario.strategy if scenario.combine is not None else scenario.strategy.window_fn


@pytest.mark.parametrize(
    "scenario", [pytest.param(s, id=f"{file}-{s.id}") for file, s in SCENARIOS]
)
def test_all_panes_and_drops_are_those_expected(scenario: Scenario) -> None:
    run = run_in_local(does(scenario), scenario.combine, scenario.script)

    assert differences(scenario, run) == []


def test_the_columnar_machine_steps_all_that_group() -> None:
    stages = (ScriptedGraph.of(does(s), s.combine, s.script) for _, s in SCENARIOS)
    choices = Counter((it.machine, it.why) for it in (choose_machine(s.plan) for s in stages))

    assert choices == {
        ("columnar", ""): 642,
        ("reference", "PassThrough takes one key after the other"): 4,
    }


@pytest.fixture(scope="module")
def rows() -> dict[str, list[CaseRow]]:
    """What comes out of each stream of another system."""
    return dict(play_on_local(list(STREAMS.values())))


@pytest.mark.parametrize("case", STREAMS.values(), ids=list(STREAMS))
def test_rows_of_other_systems_are_those_of_memory(
    case: DialectCase, rows: dict[str, list[CaseRow]]
) -> None:
    assert row_differences(play(case), rows[case.id], case.any_order) == []


def test_the_columnar_machine_steps_most_streams_of_other_systems() -> None:
    stages = map(stage_of, STREAMS.values())
    graphs = (ScriptedGraph.of(it.strategy, it.combine, it.run.script) for it in stages)
    choices = Counter(_short(choose_machine(graph.plan)) for graph in graphs)

    assert choices == {
        "columnar": 78,
        "runs key by key": 11,
        "for one element at a time": 6,
        "evicts elements": 1,
    }


def _short(choice: Choice) -> str:
    if choice.machine == "columnar":
        return "columnar"
    reasons = ("runs key by key", "for one element at a time", "evicts elements")
    return next(reason for reason in reasons if reason in choice.why)
