"""What the page asks of Python, and what it gets."""

import json
from pathlib import Path
from typing import Any

import pytest

from beamlike.playground.answers import answer
from beamlike.runtime.memory import run_in_memory
from beamlike.testing import differences
from beamlike.testing.scenarios.files import load_transcripts, transcripts_of

CASES = Path(__file__).parents[1] / "conformance" / "cases"
MINUTE = 60_000


def ask(what: str, **more: Any) -> Any:
    return json.loads(answer(json.dumps({"what": what, **more})))


def sketch(*steps: dict[str, Any], rule: Any = None, **windowing: Any) -> dict[str, Any]:
    whole = {
        "window": {"fn": "fixed", "size_ms": 2 * MINUTE},
        "trigger": {"type": "after_watermark", "late": {"type": "after_count", "count": 1}},
        "accumulation": "accumulating",
        "allowed_lateness_ms": 10 * MINUTE,
        "timestamp_combiner": "end_of_window",
        "closing_behavior": "fire_if_non_empty",
        "on_time_behavior": "fire_always",
    } | windowing
    return {
        "title": "scores",
        "steps": list(steps),
        "rule": rule or {"rule": "drawn"},
        "strategies": [{"windowing": whole, "aggregation": "sum"}],
    }


def arrives(clock: int, value: Any, at: int, key: str = "team") -> dict[str, Any]:
    return {"clock": clock, "elements": [{"key": key, "value": value, "at": at}]}


FIVE, NINE = arrives(319_000, 5, 26_000), arrives(499_000, 9, 86_000)
MOVE, END = {"clock": 360_000, "watermark": 120_000}, {"clock": 600_000, "watermark": None}


def values(answer: Any, panel: int = 0) -> list[tuple[str, str]]:
    """The panes of the first key: when they come, and their values."""
    (stream,) = answer["panels"][panel]["scenario"]["streams"]
    return [(f"{pane['timing']} #{pane['index']}", pane["value"]) for pane in stream["panes"]]


def test_a_sketch_is_drawn_with_its_report():
    drawn = ask("draw", sketch=sketch(FIVE, MOVE, NINE, END))
    assert values(drawn) == [("on time #0", "5"), ("late #1", "14")]
    assert drawn["moves"] == [{"step": 3, "to": 120_000}, {"step": 7, "to": None}]
    (panel,) = drawn["panels"]
    assert panel["trigger"] == "AfterWatermark(late=AfterCount(1))"
    assert panel["warnings"] == []
    assert panel["report"].splitlines()[0].startswith("FixedWindows(2m), AfterWatermark")


def test_an_element_before_the_watermark_is_on_time():
    drawn = ask("draw", sketch=sketch(FIVE, NINE | {"clock": 350_000}, MOVE, END))
    assert values(drawn) == [("on time #0", "14")]


@pytest.mark.parametrize(
    ("rule", "moves"),
    [
        ({"rule": "perfect"}, [86_000, None]),
        ({"rule": "bound", "bound": 20_000}, [6_000, 66_000, None]),
        ({"rule": "percentile", "percent": 100}, [26_000, 86_000, None]),
        (
            {"rule": "idle", "bound": 1_000, "silence": 60_000},
            [25_000, 378_000, 438_000, 558_000, None],
        ),
    ],
)
def test_a_rule_moves_the_watermark(rule: dict[str, Any], moves: list[int | None]):
    drawn = ask("draw", sketch=sketch(FIVE, NINE, rule=rule))
    assert [move["to"] for move in drawn["moves"]] == moves


def test_a_trigger_that_may_lose_data_is_drawn_and_warned_of():
    drawn = ask(
        "draw", sketch=sketch(FIVE, MOVE, NINE, END, trigger={"type": "after_count", "count": 1})
    )
    (panel,) = drawn["panels"]
    assert len(panel["warnings"]) == 1
    assert "AfterCount(1)" in panel["warnings"][0]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"allowed_lateness_ms": -1}, "allowed_lateness_ms"),
        ({"window": {"fn": "fixed", "size_ms": 0}}, "size"),
        ({"trigger": {"type": "after_tea"}}, "after_tea"),
    ],
)
def test_a_strategy_that_cannot_be_used_says_so_and_the_other_is_drawn(
    wrong: dict[str, Any], said: str
):
    both = sketch(FIVE, END)
    both["strategies"] += sketch(**wrong)["strategies"]
    drawn = ask("draw", sketch=both)
    assert values(drawn) == [("on time #0", "5")]
    assert said in drawn["panels"][1]["problem"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (sketch(MOVE, MOVE | {"watermark": 1}), "the watermark goes back; move it forward in time"),
        (sketch(FIVE, rule={"rule": "tea"}), "the rule 'tea' must be one of drawn, perfect"),
        (
            sketch(FIVE, rule={"rule": "percentile", "percent": 0}),
            "percent must be more than 0 and at most 100, got 0",
        ),
    ],
)
def test_a_stream_that_cannot_be_is_refused(given: dict[str, Any], said: str):
    assert ask("draw", sketch=given)["problem"].startswith(said)


def test_scenarios_are_saved_and_opened_again():
    text = ask("scenario", sketch=sketch(FIVE, MOVE, NINE, END), strategy_index=0)["text"]
    (scenario,) = transcripts_of(text, "scores.json", must_expect=True).scenarios
    assert differences(scenario, run_in_memory(scenario.machine(), scenario.script)) == []
    opened = ask("open", text=text, name="scores.json")
    assert opened["problem_of_others"] == ""
    assert opened["sketches"][0]["steps"] == [FIVE, MOVE, NINE, END]
    drawn = ask("draw", sketch=opened["sketches"][0])
    assert values(drawn) == [("on time #0", "5"), ("late #1", "14")]


@pytest.mark.parametrize("name", ["blog/blog_session.json", "blog/blog_fixed.json"])
def test_every_scenario_of_a_file_is_drawn_with_the_panes_that_it_expects(name: str):
    opened = ask("open", text=(CASES / name).read_text(), name=name)
    for scenario, one in zip(load_transcripts(CASES / name), opened["sketches"], strict=True):
        drawn = ask("draw", sketch=one)
        streams = drawn["panels"][0]["scenario"]["streams"]
        came = sum(len(stream["panes"]) for stream in streams)
        assert scenario.expected is not None
        assert came == len(scenario.expected.panes or ()), scenario.id


def test_a_test_in_python_holds():
    text = ask("python", sketch=sketch(FIVE, MOVE, NINE, END), strategy_index=0)["text"]
    names: dict[str, Any] = {}
    exec(text, names)
    names["test_of_the_playground"]()
    assert "late_pane('team', 14" in text


def test_what_is_no_scenario_is_refused_with_its_place():
    problem = ask("open", text='{"format": "tea"}', name="tea.json")["problem"]
    assert problem.startswith("tea.json: ")


def test_an_unknown_question_names_those_that_are_known():
    assert ask("tea") == {
        "problem": "there is no question 'tea'; they are draw, open, python, scenario"
    }
