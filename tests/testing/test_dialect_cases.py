"""Files with cases of other systems: every mistake is named with its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from beamlike.errors import TranscriptError
from tests.support.dialects.cases import CaseRow, load_dialect_cases, row_differences


def a_case(**changes: Any) -> dict[str, Any]:
    case = {
        "id": "flink-one",
        "source": "WindowOperatorTest",
        "provenance": "test",
        "dialect": "flink",
        "kind": "stream",
        "window": {"type": "session", "gap_ms": 3},
        "trigger": {"type": "event_time"},
        "accumulation": "accumulating",
        "aggregate": "sum",
        "watermark_convention": "inclusive",
        "steps": [{"elements": [{"key": "a", "value": 1, "ts_ms": 0}]}],
        "expect": [],
    }
    return {name: value for name, value in (case | changes).items() if value is not ...}


def a_row(**changes: Any) -> dict[str, Any]:
    row = {"step": 0, "kind": "value", "key": "a", "value": 1, "window": [0, 3], "ts_ms": 2}
    return row | changes


def load(folder: Path, *cases: dict[str, Any]) -> list[Any]:
    file = folder / "cases.json"
    file.write_text(json.dumps(cases), encoding="utf-8")
    return load_dialect_cases(file)


def test_a_case_has_its_settings_steps_and_rows(tmp_path: Path) -> None:
    (case,) = load(tmp_path, a_case(expect=[a_row(reason="because")], allowed_lateness_ms=7))

    assert case.id == "flink-one"
    assert case.expect == (CaseRow(0, "value", "a", 1, (0, 3), 2, "because"),)
    assert case.steps == ({"elements": [{"key": "a", "value": 1, "ts_ms": 0}]},)
    assert case.settings["allowed_lateness_ms"] == 7
    assert case.order == "strict"
    assert case.keyed


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (a_case(kind="streem"), "kind: unknown value 'streem'; did you mean 'stream'?"),
        (a_case(trigger=...), "lacks 'trigger'; needed here: id, source"),
        (a_case(grace_m=3), "unknown field 'grace_m'; did you mean 'grace_ms'?"),
        (a_case(dialect="beam"), "dialect: unknown value 'beam'; known: akka, apex, flink, kafka"),
        (a_case(id="kafka-one"), "id: must begin with its dialect, flink-, got 'kafka-one'"),
        (a_case(provenance="guess"), "provenance: unknown value 'guess'; known: test, text"),
        (a_case(order="any"), "order: unknown value 'any'"),
        (a_case(defect="yes"), "defect: must be true or false, got 'yes'"),
        (a_case(steps=[{}]), "steps[0]: is one thing that happens, one of elements"),
        (
            a_case(steps=[{"end_batches": 1, "flush_cache": True}]),
            "steps[0]: is one thing that happens",
        ),
        (a_case(steps=[{"end_batches": "1"}]), "end_batches: must be a whole number, got '1'"),
        (a_case(steps=[{"elements": [{"key": "a"}]}]), "elements[0]: lacks 'value' and 'ts_ms'"),
        (a_case(expect=[a_row(step=1)]), "expect[0].step: must be less than 1, got 1"),
        (a_case(expect=[a_row(window=[1])]), "window: must be [start, end], got 1 numbers"),
        (
            a_case(expect=[a_row(window="all")]),
            "window: must be [start, end], \"global\" or null, got 'all'",
        ),
        (a_case(expect=[a_row(kind="pane")]), "expect[0].kind: unknown value 'pane'"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, wrong: dict[str, Any], said: str):
    with pytest.raises(TranscriptError) as caught:
        load(tmp_path, wrong)

    assert said in str(caught.value)
    assert "cases.json: [0]" in str(caught.value)


def test_an_id_may_be_there_once(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="the id 'flink-one' is here twice"):
        load(tmp_path, a_case(), a_case())


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"none\.json: cannot be read: No such file"):
        load_dialect_cases(tmp_path / "none.json")


def test_rows_are_compared_one_by_one_and_in_their_order() -> None:
    first, second = CaseRow(0, "value", "a", 1, None, 2), CaseRow(0, "value", "b", 2, None, 2)
    because = CaseRow(0, "value", "a", 1, None, 2, "because")

    assert row_differences([first, second], [first, second]) == []
    assert row_differences([first], [because]) == []
    assert row_differences([because], [first]) == [
        "missing: step 0: value 'a' 1 in None at 2 (because)",
        "not expected: step 0: value 'a' 1 in None at 2",
    ]
    assert row_differences([first, second], [second, first], "per_step_any") == []
    assert row_differences([first, second], [second, first]) == [
        "at place 0: step 0: value 'b' 2 in None at 2; expected there: step 0: value 'a' 1 in "
        "None at 2",
        "at place 1: step 0: value 'a' 1 in None at 2; expected there: step 0: value 'b' 2 in "
        "None at 2",
    ]
    assert row_differences([first], [first, first]) == [
        "not expected: step 0: value 'a' 1 in None at 2"
    ]
