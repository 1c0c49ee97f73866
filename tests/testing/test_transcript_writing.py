"""Scenarios written as transcripts are read back as they were."""

import json
from pathlib import Path
from typing import Any

import pytest

from beamlike.errors import TranscriptError
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, AfterWatermark, Repeatedly
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.memory import run_in_memory
from beamlike.testing.scenarios.files import differences, load_transcripts
from beamlike.testing.scenarios.writing import beyond_the_format, scenario_text, write_scenario
from tests.support.differential import case_of
from tests.support.generated.strategies import gap_of_number, is_fifth

CASES = Path(__file__).resolve().parents[1] / "conformance" / "cases"


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_a_random_scenario_is_read_back_as_it_was(tmp_path: Path, first: int) -> None:
    file = tmp_path / "written.json"
    read = 0
    for number in range(first, first + 100):
        case = case_of(0, number)
        if beyond_the_format(case.strategy):
            continue
        document = write_scenario("x", case.strategy, case.scenario.aggregation, case.run)
        file.write_text(scenario_text(document), encoding="utf-8")
        (scenario,) = load_transcripts(file, must_expect=True)

        assert scenario.strategy == case.strategy
        assert scenario.script == case.script
        assert scenario.combine == case.machine.combine
        assert differences(scenario, case.run) == []
        read += 1
    assert read > 50


@pytest.mark.parametrize("file", sorted(CASES.glob("*/*.json")), ids=lambda file: file.stem)
def test_the_conformance_suite_is_read_back_as_it_was(file: Path, tmp_path: Path) -> None:
    grouped = [
        load_transcript
        for load_transcript in load_transcripts(file)
        if load_transcript.combine is not None
    ]
    written = [
        write_scenario(
            one.id, one.strategy, one.aggregation, run_in_memory(one.machine(), one.script)
        )
        for one in grouped
    ]
    again = tmp_path / "again.json"
    again.write_text(json.dumps(written), encoding="utf-8")
    read = load_transcripts(again, must_expect=True)

    assert [(one.id, one.strategy, one.script, one.combine, one.level) for one in read] == [
        (one.id, one.strategy, one.script, one.combine, one.level) for one in grouped
    ]


EXTENDED = {
    "late_check": WindowingStrategy(Sessions(5), late_check="merged"),
    "retained": WindowingStrategy(Sessions(5), late_check="retain"),
    "unchanged": WindowingStrategy(
        FixedWindows(5), AfterWatermark(early=AfterCount(1)), "retracting", unchanged="omit"
    ),
    "by duration": WindowingStrategy(Sessions(5, max_duration=9)),
    "by elements": WindowingStrategy(Sessions(5, max_elements=3)),
    "on touch": WindowingStrategy(Sessions(5, merge_touching=True)),
    "with an event": WindowingStrategy(Sessions(5, ends_with=3)),
    "all": WindowingStrategy(
        Sessions(5, max_duration=9, max_elements=3, merge_touching=True, ends_with=3),
        Repeatedly(AfterCount(1)),
        "retracting",
        late_check="element",
        unchanged="omit",
    ),
}


@pytest.mark.parametrize("name", EXTENDED)
def test_what_is_beamlike_s_own_is_read_back_as_it_was(name: str, tmp_path: Path) -> None:
    strategy, script = EXTENDED[name], case_of(0, 1).script
    run = run_in_memory(Grouping(strategy, Collect()), script)
    file = tmp_path / "written.json"
    file.write_text(scenario_text(write_scenario("x", strategy, "list", run)), encoding="utf-8")
    (scenario,) = load_transcripts(file, must_expect=True)

    assert scenario.strategy == strategy
    assert scenario.strategy.late_check is strategy.late_check
    assert scenario.strategy.unchanged is strategy.unchanged
    # Other engines may skip what they do not know.
    assert scenario.level == (
        "retracting" if strategy.accumulation.value == "retracting" else "extended"
    )
    assert differences(scenario, run) == []


def test_what_is_beamlike_s_own_is_said_only_where_it_differs_from_beam() -> None:
    run = case_of(0, 1).run
    plain = write_scenario("x", WindowingStrategy(Sessions(5)), "list", run)
    own = write_scenario("x", EXTENDED["all"], "list", run)

    assert plain["level"] == "core"
    assert plain["windowing"]["window"] == {"fn": "sessions", "gap_ms": 5}
    assert own["windowing"]["window"] == plain["windowing"]["window"] | {
        "x_max_duration_ms": 9,
        "x_max_elements": 3,
        "x_merge_touching": True,
        "x_ends_with": 3,
    }
    assert set(own["windowing"]) - set(plain["windowing"]) == {"x_late_check", "x_unchanged"}
    assert own["windowing"]["x_late_check"] == "element"
    assert own["windowing"]["x_unchanged"] == "omit"


def test_what_the_format_cannot_say_is_said_beside_it() -> None:
    bounded = WindowingStrategy(Sessions(gap_of_number, max_duration=9), late_check="merged")

    assert beyond_the_format(WindowingStrategy(FixedWindows(5), AfterCount(1))) == []
    assert beyond_the_format(EXTENDED["all"]) == []
    assert beyond_the_format(bounded) == ["gap=gap_of_number"]
    by_function = WindowingStrategy(Sessions(5, ends_with=is_fifth))
    assert beyond_the_format(by_function) == ["ends_with=is_fifth"]
    document = write_scenario("x", bounded, "list", case_of(0, 1).run)
    assert document["windowing"]["window"] == {
        "fn": "sessions",
        "gap_ms": 1,
        "x_max_duration_ms": 9,
    }
    assert document["windowing"]["x_beyond_the_format"] == ["gap=gap_of_number"]


@pytest.mark.parametrize(
    ("windowing", "window", "complaint"),
    [
        (
            {"x_late_check": "asigned"},
            {},
            "windowing.x_late_check: unknown value 'asigned'; did you mean 'assigned'?",
        ),
        (
            {"x_unchanged": "forget"},
            {},
            "windowing.x_unchanged: unknown value 'forget'; known: re_emit, omit",
        ),
        (
            {"x_unchanged": "omit"},
            {},
            'windowing: unchanged="omit" leaves out a pane that would withdraw an equal one, but '
            'accumulation="discarding" withdraws nothing; write unchanged="re_emit", or '
            'accumulation="retracting"',
        ),
        (
            {"x_late_chek": "merged"},
            {},
            "windowing: unknown field 'x_late_chek'; did you mean 'x_late_check'? If not, call it "
            "something else",
        ),
        (
            {},
            {"x_max_duration_ms": 4},
            "windowing.window: Sessions max_duration must not be shorter than the gap, because one "
            "element alone makes a session that long; got max_duration=4ms and a gap of 5ms; "
            "give a longer max_duration or a shorter gap",
        ),
        (
            {},
            {"x_max_elements": "3"},
            "windowing.window.x_max_elements: must be a whole number, got '3'",
        ),
        (
            {},
            {"x_max_elements": 0},
            "windowing.window: Sessions max_elements must be a whole number of 1 or more, got 0",
        ),
        (
            {},
            {"x_merge_touching": 1},
            "windowing.window.x_merge_touching: must be true or false, got 1",
        ),
        (
            {},
            {"x_max_duration": 9},
            "windowing.window: unknown field 'x_max_duration'; did you mean 'x_max_duration_ms'? "
            "If not, call it something else",
        ),
    ],
)
def test_what_is_beamlike_s_own_is_read_as_strictly_as_the_rest(
    tmp_path: Path, windowing: dict[str, Any], window: dict[str, Any], complaint: str
) -> None:
    document = write_scenario("mine", WindowingStrategy(Sessions(5)), "list", case_of(0, 1).run)
    document["windowing"] |= windowing
    document["windowing"]["window"] |= window
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(document), encoding="utf-8")

    with pytest.raises(TranscriptError) as refused:
        load_transcripts(file)

    first, *_ = str(refused.value).splitlines()
    assert first.partition(": ")[2] == f"scenario 'mine': {complaint}"


def test_notes_of_anyone_may_stand_beside_it(tmp_path: Path) -> None:
    document = write_scenario("mine", EXTENDED["all"], "list", case_of(0, 1).run)
    document["windowing"] |= {"x_why": "to see", "x_author": "me"}
    document["windowing"]["window"]["x_maximum"] = "see below"
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(document), encoding="utf-8")

    (scenario,) = load_transcripts(file)

    assert scenario.strategy == EXTENDED["all"]
