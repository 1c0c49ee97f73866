"""Scenarios of functions with states and timers: on each host, and what is refused about them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main
from beamlike.cli.scenarios import in_local, in_memory, on_spark
from beamlike.errors import TranscriptError
from beamlike.playground.answers import answer
from beamlike.runtime.script import Run
from beamlike.testing.scenarios.files import Scenario, differences, transcripts_of
from beamlike.testing.scenarios.functions import FUNCTIONS
from tests.support.corpus import scenarios_of

FOLDER = Path(__file__).parent / "functions"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "pages" / "state_and_timers.md"
SCENARIOS = [scenario for file in sorted(FOLDER.glob("*.json")) for scenario in scenarios_of(file)]


def unlike(scenario: Scenario, outcome: Any) -> list[str]:
    return differences(scenario, outcome) if isinstance(outcome, Run) else [repr(outcome)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda it: it.id)
def test_a_function_brings_out_in_memory_and_on_the_local_host_what_is_expected(scenario: Scenario):
    assert unlike(scenario, in_memory(scenario)) == []
    assert unlike(scenario, in_local(scenario)) == []


@pytest.mark.nightly
@pytest.mark.spark
def test_functions_bring_out_on_spark_what_is_expected(spark: Any) -> None:
    outcomes = on_spark(SCENARIOS, spark)
    both = zip(SCENARIOS, outcomes, strict=True)
    assert {it.id: found for it, outcome in both if (found := unlike(it, outcome))} == {}


def test_each_function_has_a_scenario_and_each_shows_a_rule_of_the_page():
    assert {it.function.name for it in SCENARIOS if it.function} == FUNCTIONS.keys()
    rules = set(re.findall(r"^\*\*([\d.]+)\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    shown = {it.source.rpartition(" ")[2] for it in SCENARIOS}
    assert shown <= rules
    assert {rule.partition(".")[0] for rule in shown} == {"1", "2", "3", "4", "5"}


# -- what is refused -------------------------------------------------------------------------------

ONE = json.loads((FOLDER / "states.json").read_text(encoding="utf-8"))[0]


def refused(**changed: Any) -> str:
    transcripts = transcripts_of(json.dumps({**ONE, **changed}), "one.json")
    assert isinstance(transcripts.problem, TranscriptError)
    return str(transcripts.problem)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"aggregation": "sum"}, "groups nothing, got the aggregation 'sum'"),
        ({"level": "core"}, "other engines do not know 'x_function'"),
        ({"x_function": {"name": "count_per_kez"}}, "count_per_key"),
        ({"x_function": {"name": "deduplicate", "within_ms": 5}}, "time"),
        ({"x_function": {"name": "deduplicate", "within_ms": 0, "time": "event"}}, "within_ms"),
        ({"x_function": {"name": "hold_output", "delay_ms": 1, "hold": "there"}}, "nowhere"),
        (
            {"windowing": {**ONE["windowing"], "window": {"fn": "sessions", "gap_ms": 5}}},
            "merges windows, and a state cannot be merged",
        ),
    ],
)
def test_a_function_that_cannot_be_is_refused_with_its_place(changed: dict[str, Any], problem: str):
    assert problem in refused(**changed)


def test_a_replay_names_the_function_and_what_it_brought_out(tmp_path: Path, capsys: Any):
    file = tmp_path / "one.json"
    file.write_text(json.dumps(ONE), encoding="utf-8")

    assert main(["replay", str(file), "--host", "local", "--format", "timeline", "--explain"]) == 0

    said = capsys.readouterr().out
    assert "\nFixedWindows(10ms); given to count_per_key()\n" in said
    assert "(not explained: a function with states and timers has no trigger" in said
    assert said.endswith("as expected\n\n1 scenario: 1 as expected\n")


def test_what_explains_triggers_has_nothing_to_say_of_a_function(tmp_path: Path, capsys: Any):
    file, page = tmp_path / "one.json", tmp_path / "page.html"
    file.write_text(json.dumps(ONE), encoding="utf-8")

    assert main(["explain", str(file)]) != 0
    assert main(["replay", str(file), "--format", "html", "--out", str(page)]) == 1

    assert capsys.readouterr().err.count("a function with states and timers has no trigger") == 2
    assert not page.exists()


def test_the_playground_draws_no_function() -> None:
    question = json.dumps({"what": "open", "text": json.dumps([ONE]), "name": "one.json"})
    assert "a function with states and timers cannot be drawn here" in answer(question)
