"""Scenarios written as transcripts are read back as they were."""

import json
from pathlib import Path

import pytest

from beamlike.hosts.memory import run_in_memory
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import LateCheck, WindowingStrategy
from beamlike.model.triggers import AfterCount
from beamlike.model.windowfns import FixedWindows
from beamlike.testing.differential import case_of
from beamlike.testing.generate import gap_of_number
from beamlike.testing.transcript_writing import (
    beyond_the_format,
    scenario_text,
    write_scenario,
)
from beamlike.testing.transcripts import differences, load_transcripts

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
    grouped = [one for one in load_transcripts(file) if one.combine is not None]
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


def test_what_the_format_cannot_say_is_said_beside_it() -> None:
    plain = WindowingStrategy(FixedWindows(5), AfterCount(1))
    checked = WindowingStrategy(FixedWindows(5), late_check=LateCheck.ELEMENT)
    bounded = WindowingStrategy(Sessions(gap_of_number, max_duration=9))

    assert beyond_the_format(plain) == []
    assert beyond_the_format(checked) == ["late_check=element"]
    assert beyond_the_format(bounded) == ["gap=gap_of_number", "max_duration=9"]
    document = write_scenario("x", bounded, "list", case_of(0, 1).run)
    assert document["windowing"]["window"] == {"fn": "sessions", "gap_ms": 1}
    assert document["windowing"]["x_beyond_the_format"] == ["gap=gap_of_number", "max_duration=9"]
