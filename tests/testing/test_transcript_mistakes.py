"""Scenario files with mistakes: each is shown with its line, its key and what was meant."""

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
            """\
case.json:8:5: scenario 'minute': windowing: unknown field 'allowed_latness_ms'; \
did you mean 'allowed_lateness_ms'?
  8 |     "allowed_latness_ms": 5000,
    |     ^^^^^^^^^^^^^^^^^^^^""",
        ),
        (
            '    "accumulation": "accumulating",\n',
            "",
            """\
case.json:4:16: scenario 'minute': windowing: lacks 'accumulation'; needed here: window, trigger, \
accumulation, allowed_lateness_ms, timestamp_combiner, closing_behavior, on_time_behavior
  4 |   "windowing": {
    |                ^""",
        ),
        (
            '"after_count"',
            '"after_cuont"',
            """\
case.json:6:61: scenario 'minute': windowing.trigger.late.type: unknown value 'after_cuont'; \
did you mean 'after_count'?
  6 | ... gger": {"type": "after_watermark", "late": {"type": "after_cuont", "count": 1}},
    |                                                         ^^^^^^^^^^^^^""",
        ),
        (
            "5000",
            '"5 seconds"',
            """\
case.json:8:28: scenario 'minute': windowing.allowed_lateness_ms: must be a whole number, \
got '5 seconds'; it is in ms, write 5000
  8 |     "allowed_lateness_ms": "5 seconds",
    |                            ^^^^^^^^^^^""",
        ),
        (
            '"ts_ms": 10',
            '"ts": 10',
            """\
case.json:15:46: scenario 'minute': steps[0].elements[0]: unknown field 'ts'; did you mean 'ts_ms'?
  15 |     {"elements": [{"key": "joe", "value": 1, "ts": 10}]},
     |                                              ^^^^""",
        ),
        (
            '"ts_ms": 10',
            '"ts_ms": "10"',
            """\
case.json:15:55: scenario 'minute': steps[0].elements[0].ts_ms: must be a whole number, \
got '10'; write 10
  15 |     {"elements": [{"key": "joe", "value": 1, "ts_ms": "10"}]},
     |                                                       ^^^^""",
        ),
        (
            '"accumulating"',
            '"Accumulating"',
            """\
case.json:7:21: scenario 'minute': windowing.accumulation: unknown value 'Accumulating'; \
did you mean 'accumulating'?
  7 |     "accumulation": "Accumulating",
    |                     ^^^^^^^^^^^^^^""",
        ),
        (
            '"count": 1}',
            '"count": 1},',
            """\
case.json:6:87: is not JSON: remove the comma after the last one
  6 | ... ger": {"type": "after_watermark", "late": {"type": "after_count", "count": 1},},
    |                                                                                  ^""",
        ),
        (
            '"aggregation": "sum",',
            '"aggregation": "sum"',
            """\
case.json:13:22: is not JSON: a comma is missing after this
  13 |   "aggregation": "sum"
     |                      ^""",
        ),
        (
            '"id": "minute",',
            "'id': 'minute',",
            """\
case.json:3:3: is not JSON: texts and names stand in double quotes, "like this"
  3 |   'id': 'minute',
    |   ^""",
        ),
        (
            '"id": "minute",',
            '"id": "minute",  // one',
            """\
case.json:3:20: is not JSON: there are no comments in JSON; write "notes", \
or a field such as "x_why"
  3 |   "id": "minute",  // one
    |                    ^""",
        ),
        (
            '"late": {',
            '"early": None, "late": {',
            """\
case.json:6:53: is not JSON: did you mean null?
  6 | ... "trigger": {"type": "after_watermark", "early": None, "late": {"type": "after_co ...
    |                                                     ^^^^""",
        ),
        (
            '"count": 1',
            '"count": 01',
            """\
case.json:6:85: is not JSON: this is no number in JSON: write 0.5 for .5, and 1 for 01
  6 | ... ger": {"type": "after_watermark", "late": {"type": "after_count", "count": 01}},
    |                                                                                ^^""",
        ),
        (
            "60000}\n  ]\n}",
            "60000}\n",
            """\
case.json:16:38: is not JSON: the text ends here, and a bracket or a brace is still open
  16 |     {"advance_watermark_to_ms": 60000}
     |                                      ^""",
        ),
        (
            '"on_time_behavior"',
            '"closing_behavior"',
            """\
case.json:11:5: an object has the field 'closing_behavior' twice
  11 |     "closing_behavior": "fire_always"
     |     ^^^^^^^^^^^^^^^^^^""",
        ),
        (
            '"value": 1',
            '"value": [0, NaN]',
            """\
case.json:15:47: NaN is not a JSON value
  15 |     {"elements": [{"key": "joe", "value": [0, NaN], "ts_ms": 10}]},
     |                                               ^^^""",
        ),
    ],
)
def test_a_mistake_is_shown_with_line_key_and_what_was_meant(
    tmp_path: Path, right: str, wrong: str, says: str
) -> None:
    assert SCENARIO.count(right) == 1

    assert text_of(tmp_path, SCENARIO.replace(right, wrong)) == says


def test_mistakes_that_do_not_depend_on_each_other_are_reported_together(tmp_path: Path) -> None:
    text = (
        SCENARIO.replace('"aggregation"', '"agregation"')
        .replace('"size_ms"', '"sise_ms"')
        .replace("5000", "-1")
        .replace('"key": "joe", ', "")
        .replace('"advance_watermark_to_ms"', '"advance_watermark_to"')
    )

    assert (
        text_of(tmp_path, text)
        == """\
case.json: 5 mistakes

case.json:13:3: scenario 'minute': unknown field 'agregation'; did you mean 'aggregation'?
  13 |   "agregation": "sum",
     |   ^^^^^^^^^^^^

case.json:5:31: scenario 'minute': windowing.window: unknown field 'sise_ms'; did you mean \
'size_ms'?
  5 |     "window": {"fn": "fixed", "sise_ms": 60000},
    |                               ^^^^^^^^^

case.json:8:28: scenario 'minute': windowing.allowed_lateness_ms: must be 0 or more, got -1
  8 |     "allowed_lateness_ms": -1,
    |                            ^^

case.json:15:19: scenario 'minute': steps[0].elements[0]: lacks 'key'; needed here: key, value, \
ts_ms
  15 |     {"elements": [{"value": 1, "ts_ms": 10}]},
     |                   ^

case.json:16:6: scenario 'minute': steps[1]: unknown field 'advance_watermark_to'; did you mean \
'advance_watermark_to_ms'?
  16 |     {"advance_watermark_to": 60000}
     |      ^^^^^^^^^^^^^^^^^^^^^^"""
    )


def test_of_very_many_mistakes_the_first_are_shown(tmp_path: Path) -> None:
    element = '{"key": "joe", "value": 1, "ts_ms": 10}'
    wrong = ", ".join(["{}"] * 14)

    lines = text_of(tmp_path, SCENARIO.replace(element, wrong)).splitlines()

    assert lines[0] == "case.json: 14 mistakes"
    assert sum(line.startswith("case.json:15:") for line in lines) == 10
    assert lines[-1] == "... and 4 more"


def test_what_would_upset_a_terminal_is_not_shown_as_it_is(tmp_path: Path) -> None:
    text = SCENARIO.replace('"sum"', '"s\u202eum\u00a0"').replace("  ", "\t")

    assert text_of(tmp_path, text) == (
        "case.json:13:17: scenario 'minute': aggregation: unknown value 's\\u202eum\\xa0'; "
        "did you mean 'sum'?\n"
        '  13 |  "aggregation": "s um ",\n'
        "     |                 ^^^^^^^"
    )


def test_complaints_can_be_sent_to_another_process(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(TranscriptError) as refused:
        load_transcripts(file)

    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
