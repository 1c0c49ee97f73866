"""The kit for authors of an engine: its schemas, its comparer and its command."""

import copy
import json
import random
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conformance.beamlike_conformance.command import main
from tests.conformance.beamlike_conformance.comparing import differences, row_differences
from tests.conformance.beamlike_conformance.rules import RULES, rules_of
from tests.conformance.beamlike_conformance.scenarios import (
    Scenario,
    load_cases,
    load_scenarios,
    questions_of,
)
from tests.conformance.beamlike_conformance.schema import FormatError, check, load_schema, read_json
from tests.conformance.beamlike_conformance.verdicts import judge, judge_case, read_results

HERE = Path(__file__).parent
SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
CASES = {case.id: case for case in load_cases()}
SEMANTICS = HERE.parents[1] / "docs" / "pages" / "semantics.md"


def test_the_kit_has_the_scenarios_and_each_has_a_source_and_a_rule() -> None:
    numbers = set(re.findall(r"^\*\*([\d.]+)\*\*", SEMANTICS.read_text("utf-8"), re.MULTILINE))

    assert (len(SCENARIOS), len(CASES)) == (670, 127)
    assert [
        name for name, scenario in SCENARIOS.items() if not (scenario.source and rules_of(scenario))
    ] == []
    assert {rule.number for rule in RULES} <= numbers
    assert [r.feature for r in RULES if not any(map(r.shows, SCENARIOS.values()))] == []


@pytest.mark.parametrize(
    ("schema", "documents"),
    [("transcript", SCENARIOS), ("dialect_case", CASES)],
    ids=["transcript", "dialect_case"],
)
def test_another_validator_reads_the_schemas_as_the_kit_does(
    schema: str, documents: dict[str, Any]
) -> None:
    validator = jsonschema.Draft202012Validator(load_schema(schema))
    jsonschema.Draft202012Validator.check_schema(load_schema(schema))

    for name, scenario in documents.items():
        assert validator.is_valid(scenario.document), name


def broken(document: Any, chance: random.Random) -> Any:
    """The document with one mistake in it."""
    document = copy.deepcopy(document)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    walk(document)
    holder, key = chance.choice(places)
    match chance.randrange(3):
        case 0 if isinstance(holder, dict):
            holder[f"{key}_"] = holder.pop(key)
        case 1:
            holder[key] = {"no": "such"}
        case _:
            holder[key] = "nonsense" if not isinstance(holder[key], str) else 5
    return document


def test_the_kit_refuses_what_another_validator_refuses() -> None:
    chance, schema = random.Random(7), load_schema("transcript")
    validator = jsonschema.Draft202012Validator(schema)
    refused = 0
    for scenario in chance.sample(list(SCENARIOS.values()), 300):
        document = broken(scenario.document, chance)
        expected = validator.is_valid(document)
        try:
            check(document, schema, "it")
            valid = True
        except FormatError:
            valid = False
        assert valid == expected, document
        refused += not valid
    assert refused > 200


def in_transcript(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
        holder: Any = document
        for step in steps:
            holder = holder[step]
        holder[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (in_transcript("titel", ""), "the document: unknown field 'titel'; did you mean 'title'?"),
        (in_transcript("aggregation", "median"), 'aggregation: must be one of "list", '),
        (in_transcript("steps.0.elements", 5), "steps[0].elements: must be of type array, got 5"),
        (in_transcript("windowing.trigger.type", "after_cuont"), "windowing.trigger.type: must be"),
        (
            in_transcript("windowing.allowed_lateness_ms", -1),
            "windowing.allowed_lateness_ms: must be 0 or more, got -1",
        ),
        (
            in_transcript("steps.0.advance_watermark_to_ms", 5),
            "steps[0]: must have one field of elements, advance_watermark_to_ms, ",
        ),
    ],
)
def test_a_mistake_in_a_scenario_is_named_with_its_place(
    change: Callable[[dict[str, Any]], None], says: str, tmp_path: Path
) -> None:
    document = copy.deepcopy(dict(SCENARIOS["edge_bundle_count_overshoot"].document))
    change(document)
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(document), encoding="utf-8")

    with pytest.raises(FormatError) as caught:
        load_scenarios([file])

    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{file}: edge_bundle_count_overshoot: ")


def test_a_case_of_another_system_is_of_it_and_expects_rows_of_its_steps() -> None:
    for name, case in CASES.items():
        assert name.startswith(f"{case.dialect}-")
        assert all(row["step"] < len(case.steps) for row in case.rows)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (in_transcript("grace_m", 3), "unknown field 'grace_m'; did you mean 'grace_ms'?"),
        (in_transcript("kind", "streem"), 'kind: must be one of "stream", '),
        (in_transcript("dialect", "beam"), 'dialect: must be one of "akka", '),
        (in_transcript("order", "any"), "order: must be one of "),
        (in_transcript("defect", "yes"), "defect: must be of type boolean"),
        (in_transcript("steps.0", {"ent_batches": 1}), "did you mean 'end_batches'?"),
        (in_transcript("steps.0", {"end_batches": "1"}), "steps[0].end_batches: must be of type"),
        (in_transcript("steps.0.elements.0", {"key": "a"}), "elements[0]: lacks 'value'"),
        (in_transcript("expect.0.window", [1]), "expect[0].window: "),
        (in_transcript("expect.0.kind", "pane"), 'expect[0].kind: must be one of "value", '),
    ],
)
def test_a_mistake_in_a_case_is_named_with_its_place(
    change: Callable[[dict[str, Any]], None], says: str, tmp_path: Path
) -> None:
    document = copy.deepcopy(dict(CASES["flink-gap-equal-elements-merge"].document))
    change(document)
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(document), encoding="utf-8")

    with pytest.raises(FormatError, match=re.escape(says)):
        load_cases([file])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1, 2", "is not JSON: "),
        ('{"a": 1, "a": 2}', "the field 'a' stands twice in one object"),
        ('{"a": NaN}', "NaN is not a number of JSON"),
    ],
)
def test_what_is_not_json_is_refused(text: str, says: str) -> None:
    with pytest.raises(FormatError, match=re.escape(says)):
        read_json(text, "mine.json")


# -- comparing -------------------------------------------------------------------------------------


def test_each_scenario_agrees_with_its_own_outcome_and_with_no_other() -> None:
    unnoticed = []
    for scenario in SCENARIOS.values():
        assert differences(scenario, scenario.panes, scenario.dropped) == []
        for number, pane in enumerate(scenario.panes[:2]):
            remaining = [*scenario.panes[:number], *scenario.panes[number + 1 :]]
            for field, value in (
                ("index", pane["index"] + 7),
                ("is_last", not pane["is_last"]),
                ("timestamp_ms", pane["timestamp_ms"] - 1),
                ("value", "something else"),
            ):
                changed = [*remaining, {**pane, field: value}]
                if not differences(scenario, changed, scenario.dropped):
                    unnoticed.append((scenario.id, number, field))
            if not differences(scenario, remaining, scenario.dropped):
                unnoticed.append((scenario.id, number, "left out"))
        if scenario.dropped and not differences(scenario, scenario.panes, scenario.dropped[1:]):
            unnoticed.append((scenario.id, -1, "a drop"))
    assert unnoticed == []


def test_a_difference_is_said_in_a_sentence() -> None:
    scenario = SCENARIOS["edge_pt_exact_delay"]
    (pane,) = scenario.panes

    assert differences(scenario, [{**pane, "step": 1}], ()) == [
        'step 2, key "k", [0, 1000): pane EARLY #0: step is 1 (expected 2)'
    ]
    assert differences(scenario, [], ()) == [
        'step 2, key "k", [0, 1000): missing pane timing "EARLY", index 0, nonspeculative_index '
        "-1, is_first true, is_last false, timestamp_ms 999, value [1]"
    ]


def test_lists_are_multisets_and_lists_by_time_are_not() -> None:
    listed = SCENARIOS["edge_bundle_count_overshoot"]
    turned = [{**pane, "value": pane["value"][::-1]} for pane in listed.panes]
    ordered = Scenario(
        "x", "", "", "core", False, {**listed.document, "aggregation": "list_by_timestamp"}
    )

    assert differences(listed, turned, ()) == []
    assert differences(ordered, turned, ()) != []


def test_an_engine_that_counts_its_drops_is_compared_by_their_number() -> None:
    scenario = SCENARIOS["blog_fixed_06_late_dropped"]

    assert differences(scenario, scenario.panes, None, {"expired": 1}) == []
    assert differences(scenario, scenario.panes, None, {"expired": 2}) == [
        "2 dropped as expired (expected 1)"
    ]
    assert differences(scenario, scenario.panes) == []


def test_a_retraction_comes_before_the_pane_that_causes_it() -> None:
    scenario = SCENARIOS["retract_session_same_identity"]
    turned = list(reversed(scenario.panes))

    assert differences(scenario, scenario.panes, ()) == []
    assert differences(scenario, turned, ()) == [
        'step 1, key "k", [1, 11): the retraction of EARLY #0 does not come before the pane that '
        "causes it"
    ]


def test_rows_of_a_system_are_compared_in_order_and_with_a_reason_only_where_one_is_stated():
    rows = CASES["kafka-cogroup-joins-what-its-own-stream-has-not-closed"].document["expect"]
    without = [{**row, "reason": "another"} for row in rows]

    assert row_differences(rows, rows) == []
    assert row_differences([{**row, "reason": None} for row in rows], without) == []
    assert len(row_differences(rows, without)) == 2
    assert row_differences(rows, rows[::-1], any_order=True) == []
    assert row_differences(rows, rows[::-1])[0].startswith("row 0: step 3: dropped")


def test_questions_are_answered_one_by_one() -> None:
    case = CASES["kafka-store-remove"]
    right = questions_of(case)

    assert judge_case(case, {"id": case.id, "answers": right}).word == "as expected"
    assert judge_case(case, {"id": case.id, "answers": right[1:]}).details == (
        'question 0: [["a", [1500, 2500], 2]] (expected [])',
        'question 1: [] (expected [["a", [1500, 2500], 2]])',
        "2 answers (expected 3)",
    )


def test_a_verdict_has_a_word_and_fails_for_what_counts() -> None:
    core, calendar = SCENARIOS["edge_two_keys"], SCENARIOS["calendar_days"]
    contested = SCENARIOS["quirk_early_composite_after_all"]

    assert [judge(core, None).word, judge(core, None).fails] == ["no result", True]
    assert not judge(calendar, {"id": "calendar_days", "unsupported": "none"}).fails
    assert judge(calendar, {"id": "calendar_days", "error": "none"}).fails
    assert judge(contested, {"id": contested.id, "panes": []}).word == "differs"
    assert not judge(contested, {"id": contested.id, "panes": []}).fails


def test_results_that_answer_nothing_or_twice_are_refused() -> None:
    with pytest.raises(FormatError, match="the results of 'x' lack 'panes'"):
        read_results({"scenarios": [{"id": "x"}]}, "mine")
    with pytest.raises(FormatError, match="the results of 'x' are there twice"):
        read_results({"scenarios": [{"id": "x", "panes": []}] * 2}, "mine")


# -- the command -----------------------------------------------------------------------------------


def test_the_command_compares_lists_and_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    answers = [
        {"id": name, "panes": list(scenario.panes), "dropped": list(scenario.dropped)}
        for name, scenario in SCENARIOS.items()
    ]
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"scenarios": answers}), encoding="utf-8")

    assert main(["compare", str(results)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].split() == [
        *("level", "authority", "cases", "as", "expected", "differs", "failed"),
        *("not", "supported", "no", "result"),
    ]
    assert (
        "all                        646          646        -       -              -          -"
        in said
    )

    wrong = next(answer for answer in answers if answer["id"] == "edge_two_keys")
    wrong["panes"] = []
    results.write_text(json.dumps({"scenarios": answers}), encoding="utf-8")
    assert main(["compare", str(results)]) == 1
    assert capsys.readouterr().out.startswith("== edge_two_keys: differs\n")

    results.write_text(json.dumps({"scenarios": [{"id": "none", "panes": []}]}), encoding="utf-8")
    assert main(["compare", str(results)]) == 2
    assert capsys.readouterr().err.endswith("results.json: no scenario has the id 'none'\n")

    assert main(["list", str(HERE / "cases" / "blog" / "blog_toll.json")]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first["source"]
    assert "5.3 " in first["rules"]

    assert main(["copy", str(tmp_path / "copy")]) == 0
    assert len(load_scenarios([tmp_path / "copy" / "cases"])) == 670


def test_beamlike_itself_conforms() -> None:
    files = [str(file) for file in sorted((HERE / "cases").glob("*/*.json"))]
    replayed = subprocess.run(
        [sys.executable, "-m", "beamlike.cli", "replay", *files, "--format", "json"],
        check=True,
        capture_output=True,
    )

    compared = subprocess.run(
        [sys.executable, "-m", "tests.conformance", "-"],
        input=replayed.stdout,
        capture_output=True,
        cwd=HERE.parents[1],
        check=False,
    )

    assert (compared.returncode, compared.stderr) == (0, b"")
    assert b"\nall                        646          646" in compared.stdout


@pytest.mark.nightly
def test_the_distribution_works_alone(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, source]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("beamlike_conformance-*.whl")
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    subprocess.run([home / "bin" / "pip", "install", "--quiet", wheel], check=True)

    ran = subprocess.run(
        [home / "bin" / "beamlike-conformance", "list"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )

    assert len(ran.stdout.splitlines()) == 670
