"""The judges: what is kept of them, and a short form with Beam Java and Kafka Streams."""

import json
import os
from pathlib import Path

import pytest

from tests.conformance.beamlike_conformance.scenarios import load_cases, load_scenarios
from tests.judges.building import NotHere, cache_folder
from tests.judges.decisions import DECISIONS, decision_of
from tests.judges.engines import ENGINES
from tests.judges.judging import judge_engine
from tests.judges.kafka_algorithm import rows_of_stores
from tests.judges.page import page_text, pictures
from tests.judges.questions import QUESTIONS, Outcome, documents_for, outcomes
from tests.judges.random_cases import random_cases
from tests.judges.random_scenarios import random_scenarios

HERE = Path(__file__).parent
PAGES = HERE.parents[1] / "docs" / "pages"
KEPT = json.loads((HERE / "LATEST.json").read_text(encoding="utf-8"))


def test_the_page_and_its_pictures_are_made_from_what_is_kept() -> None:
    assert (PAGES / "engines.md").read_text(encoding="utf-8") == page_text(KEPT)
    for name, text in pictures(KEPT).items():
        assert (PAGES / "pictures" / name).read_text(encoding="utf-8") == text


def test_every_engine_has_been_asked_and_no_difference_is_without_a_word() -> None:
    assert list(KEPT) == list(ENGINES)
    assert [name for name, kept in KEPT.items() if kept["scenarios"]["open"]] == []
    assert [name for name, kept in KEPT.items() if kept["random"]["open"]] == []
    assert KEPT["beam_java"]["random"]["all"] == 10_000
    assert all(len(kept["questions"]) == len(QUESTIONS) == 10 for kept in KEPT.values())


def test_each_decision_has_been_needed() -> None:
    named = {name for kept in KEPT.values() for name in kept["decisions"]}

    assert {decision.name for decision in DECISIONS} == named
    assert [decision.name for decision in DECISIONS if not (decision.text and decision.cause)] == []


def test_an_adapter_is_one_or_two_files_of_500_lines_at_most() -> None:
    folders = {getattr(engine, "folder", "") for engine in ENGINES.values()}
    for folder in folders:
        sources = [*(HERE / folder).glob("*.java"), *(HERE / folder).glob("*.py")]
        assert len(sources) in (1, 2)
        for source in sources:
            assert len(source.read_text(encoding="utf-8").splitlines()) <= 500, source


def test_a_seed_names_a_scenario_however_many_there_are() -> None:
    assert list(random_scenarios(3, 5, ("a",))) == list(random_scenarios(9, 5, ("a",)))[:3]
    assert list(random_cases("kafka", 3, 5)) == list(random_cases("kafka", 9, 5))[:3]
    assert list(random_cases("flink", 3, 5)) == list(random_cases("flink", 9, 5))[:3]


def test_a_difference_that_no_decision_covers_stays_open() -> None:
    scenario = next(one for one in load_scenarios() if one.id == "edge_bundle_count_overshoot")

    assert decision_of("beam_java", scenario, {"id": scenario.id, "panes": []}) is None
    assert decision_of("beam_core", scenario, {"id": scenario.id, "error": "broken"}) is None


def test_the_stores_of_kafka_make_the_rows_of_cases_with_a_cache() -> None:
    for case in load_cases():
        if case.id.startswith("kafka-cached-gap-equal"):
            rows = rows_of_stores(case.document)
            assert rows == case.document["expect"]


def test_an_outcome_names_the_elements_that_it_holds() -> None:
    pane = {"step": 2, "key": "k", "value": 5, "window": [0, 10], "timing": "ON_TIME"}
    row = {"step": 1, "key": "k", "value": "1+4", "window": [0, 10], "kind": "value"}

    assert outcomes({"panes": [pane, {**pane, "key": "end"}]}, 2) == [
        Outcome(2, (1, 3), (0, 10), "on-time")
    ]
    assert outcomes({"rows": [row]}, 1) == [Outcome(2, (1, 3), (0, 10), "result")]
    assert outcomes({"error": "broken"}, 1) == "fails: broken"
    assert [len(documents_for(dialect)) for dialect in (None, "kafka", "flink", "plain")] == [
        10
    ] * 4


def test_an_engine_that_needs_what_is_not_here_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NotHere, match="mvn is not installed"):
        ENGINES["beam_java"].command(tmp_path)


@pytest.mark.xdist_group("judges")
@pytest.mark.parametrize("name", ["beam_java", "kafka_streams"])
def test_the_engine_itself_agrees_or_differs_as_decided(name: str) -> None:
    cache = cache_folder(os.environ.get("BEAMLIKE_JUDGES_CACHE"))
    try:
        outcome = judge_engine(ENGINES[name], cache, count=0, seed=1, seconds=300)
    except NotHere as reason:
        pytest.skip(f"{name} is left out: {reason}")

    assert outcome.open == []
    kept = KEPT[name]["scenarios"]
    agree = sum(judged.agrees for judged in outcome.corpus)
    assert (len(outcome.corpus), agree) == (kept["all"], kept["agree"])
