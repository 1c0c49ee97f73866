"""Triggers that Beam does not have, in scenario files and as the code of a test stream."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from beamlike.errors import TranscriptError
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.extra_triggers import AfterDelta, AfterSilence, EveryEventTime
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterWatermark, Repeatedly, Trigger
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.memory import run_in_memory
from beamlike.testing.scenarios.files import differences, load_transcripts
from beamlike.testing.scenarios.writing import beyond_the_format, scenario_text, write_scenario
from beamlike.testing.streams.as_code import as_test_stream
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import OWN_TRIGGERS, TRIGGERS, any_strategy, any_trigger


def further_by_price(before: int, after: int) -> int:
    return after - before


def test_scenarios_with_them_are_read_back_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "written.json"
    for seed in range(60):
        random = Random(seed)
        trigger = any_trigger(random, 3, (*TRIGGERS, *OWN_TRIGGERS * 3))
        strategy, script = any_strategy(random, trigger=trigger), any_script(random)
        run = run_in_memory(Grouping(strategy, Collect()), script)
        file.write_text(scenario_text(write_scenario("x", strategy, "list", run)), encoding="utf-8")
        (scenario,) = load_transcripts(file, must_expect=True)

        assert (scenario.strategy, scenario.script) == (strategy, script)
        assert differences(scenario, run) == []
        # What says something that Beam does not have says so by its level.
        own = any(isinstance(node, OWN_TRIGGERS) for node in trigger.walk())
        assert not own or scenario.level in ("extended", "retracting")

        names: dict[str, Any] = {}
        exec(as_test_stream(script, strategy, Collect()), names)
        assert (names["results"].run.outputs, names["results"].strategy) == (run.outputs, strategy)


def test_they_are_written_as_somebody_would_write_them() -> None:
    early = EveryEventTime("1 minute", fire_unchanged=True)
    trigger = AfterWatermark(early=early, late=AfterSilence("5 seconds"))
    strategy = WindowingStrategy(FixedWindows("1 hour"), trigger)

    assert """\
    trigger=bl.AfterWatermark(
        early=bl.EveryEventTime("1m", fire_unchanged=True),
        late=bl.AfterSilence("5s"),
    ),
""" in as_test_stream((), strategy)


def test_a_distance_of_ones_own_is_beyond_the_format() -> None:
    strategy = WindowingStrategy(FixedWindows(5), Repeatedly(AfterDelta(2, further_by_price)))

    assert beyond_the_format(strategy) == ["delta=further_by_price"]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ('{"type": "x_every_event_time", "interval_ms": 0}', "more than 0 ms"),
        ('{"type": "x_every_event_time", "interval_ms": 5, "to_end": 1}', "to_end"),
        ('{"type": "x_after_delta", "threshold": "2"}', "threshold must be a number"),
        ('{"type": "x_after_silence"}', "silence_ms"),
    ],
)
def test_a_mistake_in_one_is_named(tmp_path: Path, said: str, problem: str) -> None:
    trigger: Trigger = AfterSilence(7)
    strategy = WindowingStrategy(FixedWindows(5), trigger)
    run = run_in_memory(Grouping(strategy, Collect()), ())
    text = scenario_text(write_scenario("x", strategy, "list", run))
    file = tmp_path / "mistaken.json"
    written = '{"type": "x_after_silence", "silence_ms": 7}'
    assert written in text
    file.write_text(text.replace(written, said), encoding="utf-8")

    with pytest.raises(TranscriptError, match=problem):
        load_transcripts(file)
