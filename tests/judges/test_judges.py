"""The judges: what is kept of them, and a short form with Beam Java and Kafka Streams."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import attrs
import pytest

from beamlike.machine.reference import emission
from beamlike.model.panes import PaneInfo, next_pane
from tests.conformance.beamlike_conformance.comparing import row_differences
from tests.conformance.beamlike_conformance.scenarios import (
    DialectCase,
    Scenario,
    load_cases,
    load_scenarios,
)
from tests.judges import decisions
from tests.judges.beam_accidents import MERGES, ORIGIN, OUTPUT, PARTS, STALE, outcomes_with
from tests.judges.decisions import DECISIONS, accidents_of, decisions_of, turns_on
from tests.judges.engines import ENGINES
from tests.judges.flink_algorithm import BEHIND, rows_of_operator
from tests.judges.judging import judge_engine
from tests.judges.kafka_algorithm import rows_of_stores
from tests.judges.page import page_text, pictures
from tests.judges.python_accidents import EXPIRY, HOLD, SESSIONS, TICK, TIMING
from tests.judges.questions import QUESTIONS, Outcome, documents_for, outcomes
from tests.judges.random_cases import random_cases
from tests.judges.random_scenarios import random_scenarios
from tests.support.environments import NotHere, cache_folder

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
    assert KEPT["beam_java"]["random"]["agree"] >= 10_000
    assert KEPT["beam_core"]["random"]["agree"] >= 10_000
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
    assert list(islice(random_scenarios(5, ("a",)), 3)) == _drawn(9)[:3]
    assert list(random_cases("kafka", 3, 5)) == list(random_cases("kafka", 9, 5))[:3]
    assert list(random_cases("flink", 3, 5)) == list(random_cases("flink", 9, 5))[:3]


def _drawn(count: int) -> list[Mapping[str, Any]]:
    return list(islice(random_scenarios(5, ("a",)), count))


def test_a_difference_that_no_decision_covers_stays_open() -> None:
    scenario = _scenario("edge_bundle_count_overshoot")

    assert decisions_of("beam_java", scenario, {"id": scenario.id, "panes": []}) == ()
    assert decisions_of("beam_core", scenario, {"id": scenario.id, "error": "broken"}) == ()


def _scenario(name: str) -> Scenario:
    return next(load_scenario for load_scenario in load_scenarios() if load_scenario.id == name)


SHOWN_BY = {
    ("beam_java", OUTPUT): "fuzz_360",
    ("beam_java", MERGES): "edge_first_pane_late_session_two_new",
    ("beam_java", PARTS): "quirk_early_composite_after_all",
    ("beam_java", STALE): "quirk_timer_of_a_merged_session",
    ("beam_java", ORIGIN): "quirk_fixed_negative_timestamp",
    ("beam_python", EXPIRY): "target_no_empty_on_time_1",
    ("beam_python", HOLD): "target_nonspec_is_index_2",
    ("beam_python", TICK): "blog_session_07b_late_boundary",
    ("beam_python", TIMING): "rfr_pane_info_all_states",
    ("beam_python", SESSIONS): "edge_session_closed_then_overlap",
}
"""A scenario of the corpus for accidents that have one."""


@pytest.fixture
def played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each outcome is worked out once, and several answers are held against it."""
    known: dict[tuple[str, ...], list[Any]] = {}

    def outcomes(document: Mapping[str, Any], accidents: Sequence[str]) -> Iterator[Any]:
        name = (document["id"], *accidents)
        if name not in known:
            known[name] = [*outcomes_with(document, accidents)]
        return iter(known[name])

    monkeypatch.setattr(decisions, "outcomes_with", outcomes)


@pytest.mark.usefixtures("played_once")
@pytest.mark.parametrize(("engine", "accident"), SHOWN_BY)
def test_what_an_accident_makes_is_decided_and_nothing_beside_it(engine: str, accident: str):
    scenario = _scenario(SHOWN_BY[engine, accident])
    *_, made = outcomes_with(scenario.document, [accident])
    (decision,) = decisions_of(engine, scenario, made)
    assert decision.accident == accident
    assert turns_on(scenario.document, [accident])

    first, *rest = made["panes"]
    for spoilt in (
        {**made, "panes": [*rest, {**first, "index": first["index"] + 1}]},
        {**made, "panes": [*rest, {**first, "value": [*[first["value"]], "another"]}]},
        {**made, "panes": [*rest, {**first, "timestamp_ms": first["timestamp_ms"] - 1}]},
        {**made, "panes": [first, *made["panes"]]},
    ):
        assert decisions_of(engine, scenario, spoilt) == ()


def test_a_wrong_rule_of_the_machine_is_not_excused_as_an_accident() -> None:
    scenario = _scenario(SHOWN_BY["beam_java", OUTPUT])
    *_, made = outcomes_with(scenario.document, [OUTPUT])

    with patch.object(emission, "next_pane", _with_an_index_off_by_one):
        assert decisions_of("beam_java", scenario, made) == ()


def test_a_wrong_row_of_the_dialect_is_not_excused_by_what_the_stores_show() -> None:
    documents = random_cases("kafka", 60, 1)
    wrong = [
        document for document in documents if document.get("store", {}).get("kind") == "cached"
    ]
    for document in wrong:
        case = DialectCase(document["id"], "kafka", "stream", "derived", "", document)
        answer = {"id": case.id, "rows": rows_of_stores(document)}
        spoilt = {**document, "expect": document["expect"][1:]}
        missed = DialectCase(case.id, "kafka", "stream", "derived", "", spoilt)
        assert decisions_of("kafka_streams", case, answer) != ()
        assert decisions_of("kafka_streams", missed, answer) == ()


def test_flinks_own_algorithm_makes_what_the_dialect_makes() -> None:
    for document in random_cases("flink", 200, 3):
        rows = rows_of_operator(document)
        assert row_differences(document["expect"], rows, any_order=True) == [], document["id"]


def test_a_wrong_row_of_the_dialect_is_not_excused_by_an_accident_of_flink() -> None:
    documents = list(random_cases("flink", 400, 3))
    behind = [
        document
        for document in documents
        if rows_of_operator(document, [BEHIND]) != rows_of_operator(document)
    ]
    assert len(behind) > 3
    for document in behind:
        case = DialectCase(document["id"], "flink", "stream", "derived", "", document)
        answer = {"id": case.id, "rows": rows_of_operator(document, [BEHIND])}
        wrong = {**document, "expect": document["expect"][1:]}
        missed = DialectCase(case.id, "flink", "stream", "derived", "", wrong)
        assert decisions_of("flink", case, answer) != ()
        assert decisions_of("flink", missed, answer) == ()


def _with_an_index_off_by_one(*arguments: Any, **named: Any) -> PaneInfo:
    info = next_pane(*arguments, **named)
    return attrs.evolve(info, index=info.index + 1)


def test_a_scenario_without_accidents_turns_on_none() -> None:
    assert not turns_on(_scenario("blog_fixed_06_late_dropped").document, accidents_of("beam_java"))


def test_the_stores_of_kafka_make_the_rows_of_cases_with_a_cache() -> None:
    for case in load_cases():
        if case.id.startswith("kafka-cached-gap-equal"):
            assert rows_of_stores(case.document) == case.document["expect"]


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
