"""Strategies in the words of other systems: what is shown is code that makes the same strategy."""

import json
from typing import Any

import pytest

import beamlike.dialects
from beamlike.dialects import akka, apex, flink, kafka
from beamlike.playground.answers import answer
from beamlike.playground.sketches import strategy_in_words
from tests.support.refusals import refusal

MINUTE = 60_000

KAFKA = {"system": "kafka", "gap_ms": MINUTE, "grace_ms": 10 * MINUTE, "emit": "on_window_close"}
FLINK = {
    "system": "flink",
    "windows": "TumblingEventTimeWindows",
    **{"size_ms": 2 * MINUTE, "slide_ms": MINUTE, "gap_ms": MINUTE},
    "trigger": "ContinuousEventTimeTrigger",
    **{"interval_ms": MINUTE, "count": 3, "purging": "yes", "lateness_ms": 10 * MINUTE},
}
APEX = {
    "system": "apex",
    "windows": "sliding_time_windows",
    **{"size_ms": 2 * MINUTE, "slide_ms": MINUTE, "gap_ms": MINUTE, "at_watermark": "yes"},
    **{"early_count": 2, "early_ms": MINUTE, "late_count": 1, "late_ms": 0},
    **{"mode": "accumulating and retracting", "lateness_ms": 10 * MINUTE},
}
AKKA = {"system": "akka", "gap_ms": MINUTE}

CODE = {
    "kafka": """\
kafka.group_by_key().windowed_by(
    kafka.SessionWindows.of_inactivity_gap_and_grace("1m", "10m")
).emit_strategy('on_window_close')""",
    "flink": """\
flink.key_by().window(
    flink.TumblingEventTimeWindows.of("2m")
).trigger(flink.PurgingTrigger.of(flink.ContinuousEventTimeTrigger.of("1m"))\
).allowed_lateness("10m")""",
    "apex": """\
apex.WindowedOperator(
    apex.WindowOption.sliding_time_windows("2m", "1m"),
    apex.Sum(),
    apex.TriggerOption.at_watermark()
    .with_early_firings_at_every(2)
    .with_early_firings_at_every("1m")
    .with_late_firings_at_every(1)
    .accumulating_and_retracting_fired_panes(),
    allowed_lateness="10m",
    keyed=True,
)""",
    "akka": 'akka.SessionWindow("1m")',
}

MADE = {
    "kafka": lambda windowed: windowed.count(),
    "flink": lambda windowed: windowed.reduce(lambda one, other: one + other),
}


@pytest.mark.parametrize("choices", [KAFKA, FLINK, APEX, AKKA], ids=lambda it: it["system"])
def test_the_code_that_is_shown_makes_the_strategy_that_is_run(choices: dict[str, Any]) -> None:
    strategy, code = strategy_in_words(choices)
    assert code == CODE[choices["system"]]
    made = eval(code, {"kafka": kafka, "flink": flink, "apex": apex, "akka": akka})
    assert MADE.get(choices["system"], lambda it: it)(made).strategy == strategy


@pytest.mark.parametrize(
    "choices",
    [
        *({**FLINK, "windows": it} for it in ("SlidingEventTimeWindows", "GlobalWindows")),
        *({**FLINK, "trigger": it} for it in ("CountTrigger", "EventTimeTrigger", "NeverTrigger")),
        {**FLINK, "windows": "EventTimeSessionWindows", "trigger": "EventTimeTrigger"},
        {**FLINK, "trigger": "ContinuousProcessingTimeTrigger", "purging": "no"},
        *({**APEX, "windows": it} for it in ("time_windows", "session_windows", "global_window")),
        {**APEX, "at_watermark": "no", "late_count": 0, "mode": "accumulating"},
        {**KAFKA, "emit": "on_window_update"},
    ],
    ids=str,
)
def test_every_choice_is_drawn_and_can_be_taken_over(choices: dict[str, Any]) -> None:
    element = {"key": "team", "value": 5, "at": 0}
    sketch = {
        "title": "words",
        "steps": [{"clock": 0, "elements": [element]}, {"clock": 0, "watermark": None}],
        "rule": {"rule": "drawn"},
        "strategies": [{"words": choices, "windowing": {}, "aggregation": "sum"}],
    }
    (panel,) = json.loads(answer(json.dumps({"what": "draw", "sketch": sketch})))["panels"]
    sketch["strategies"] = [{"windowing": panel["windowing"], "aggregation": "sum"}]
    (again,) = json.loads(answer(json.dumps({"what": "draw", "sketch": sketch})))["panels"]
    assert again["scenario"] == panel["scenario"]
    assert panel["code"].startswith(f"{choices['system']}.")
    assert "code" not in again


def test_what_is_not_known_is_refused_with_what_is() -> None:
    for choices, problem in (
        ({**KAFKA, "system": "storm"}, "'storm' must be one of kafka, flink, apex, akka"),
        (
            {**APEX, "mode": "forgetting"},
            "'forgetting' must be one of discarding, accumulating, accumulating and retracting",
        ),
    ):
        assert refusal(beamlike.errors.BeamlikeError, strategy_in_words, choices) == problem
