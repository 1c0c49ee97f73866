"""Scenario files with mistakes: each is shown with its place, its key and what was meant."""

import pickle
from pathlib import Path

import pytest

from beamlike.errors import TranscriptError
from beamlike.testing import load_transcripts

SCENARIO = """\
{
  "format": "beamlike-transcript-v1",
  "id": "minute",
  "windowing": {
    "window": {"fn": "fixed", "size_ms": 60000},
    "trigger": {"type": "after_watermark", "late": {"type": "after_count", "count": 1}},
    "accumulation": "accumulating",
    "allowed_lateness_ms": 5000,
    "timestamp_combiner": "end_of_window",
    "closing_behavior": "fire_if_non_empty",
    "on_time_behavior": "fire_always"
  },
  "aggregation": "sum",
  "steps": [
    {"elements": [{"key": "joe", "value": 1, "ts_ms": 10}]},
    {"advance_watermark_to_ms": 60000}
  ]
}
"""


def text_of(folder: Path, text: str) -> str:
    """What is said of a file called case.json with this text."""
    file = folder / "case.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TranscriptError) as refused:
        load_transcripts(file)
    return str(refused.value).replace(str(file), "case.json")


def test_without_a_mistake_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(SCENARIO, encoding="utf-8")

    assert [scenario.id for scenario in load_transcripts(file)] == ["minute"]


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        (
            '"allowed_lateness_ms"',
            '"allowed_latness_ms"',
            "scenario 'minute': windowing: unknown field 'allowed_latness_ms'; did you mean "
            "'allowed_lateness_ms'?",
        ),
        (
            '    "accumulation": "accumulating",\n',
            "",
            "scenario 'minute': windowing: lacks 'accumulation'; needed here: window, trigger, acc",
        ),
        (
            '"after_count"',
            '"after_cuont"',
            "scenario 'minute': windowing.trigger.late.type: unknown value 'after_cuont'; did you "
            "mean 'after_count'?",
        ),
        (
            "5000",
            '"5 seconds"',
            "scenario 'minute': windowing.allowed_lateness_ms: must be a whole number, got "
            "'5 seconds'",
        ),
        (
            '"ts_ms": 10',
            '"ts": 10',
            "scenario 'minute': steps[0].elements[0]: unknown field 'ts'; did you mean 'ts_ms'?",
        ),
        (
            '"sum"',
            '"s\u202eum\u00a0"',
            "scenario 'minute': aggregation: unknown value 's\\u202eum\\xa0'; did you mean 'sum'?",
        ),
        (': "sum",', ': "sum"', ":14:3: is not JSON: Expecting ',' delimiter"),
        ('"id": "minute",', "'id': 'minute',", ":3:3: is not JSON: "),
        (
            '"on_time_behavior"',
            '"closing_behavior"',
            "an object has the field 'closing_behavior' twice",
        ),
        ('"value": 1', '"value": [0, NaN]', "NaN is not a JSON value"),
    ],
)
def test_a_mistake_is_shown_with_its_place_and_what_was_meant(
    tmp_path: Path, right: str, wrong: str, says: str
) -> None:
    assert SCENARIO.count(right) == 1

    complaint = text_of(tmp_path, SCENARIO.replace(right, wrong))

    assert complaint.startswith(f"case.json{says}" if says[0] == ":" else f"case.json: {says}")
    assert "\n" not in complaint


def test_the_first_mistakes_of_very_many_scenarios_are_shown(tmp_path: Path) -> None:
    complaint = text_of(tmp_path, f"[{', '.join(['{}'] * 14)}]")

    lines = complaint.splitlines()

    assert [line.split(":")[1] for line in lines[:10]] == [f" [{index}]" for index in range(10)]
    assert lines[10:] == ["... and 4 more"]


def test_complaints_can_be_sent_to_another_process(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(TranscriptError) as refused:
        load_transcripts(file)

    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
