"""What is said of a firing or of waiting is true of the clocks, in any scenario."""

import re
from collections import Counter
from random import Random

from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.time import END_OF_GLOBAL_WINDOW, instant_ms
from beamlike.runtime.memory import run_in_memory
from beamlike.viz.explain import explain
from beamlike.viz.recording import Recording
from tests.support.generated.scenarios import any_scenario

TIME = r"((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:\.\d+)?|the end of time|-?\d+ ms)"


def read(time: str) -> int:
    if time == "the end of time":
        return END_OF_GLOBAL_WINDOW + 1
    number = re.fullmatch(r"(-?\d+) ms", time)
    return int(number[1]) if number else instant_ms(time, "time")


def test_a_clock_that_is_said_to_have_passed_has_and_one_that_is_waited_for_has_not() -> None:
    said: Counter[str] = Counter()
    for seed in range(200):
        scenario = any_scenario(Random(f"because:{seed}"))
        machine = Grouping(scenario.strategy, Count())
        recording = Recording.of(
            run_in_memory(machine, scenario.script), scenario.strategy, Count()
        )
        for sentence in explain(recording).sentences:
            moment = recording.moments[-1 if sentence.step is None else sentence.step]
            found = {
                words: [read(time) for time in re.findall(f"{words} {TIME}", sentence.text)]
                for words in (
                    "the clock has passed",
                    "the watermark has reached",
                    "the clock to pass",
                    "the watermark to reach",
                )
            }
            assert all(at < moment.clock for at in found["the clock has passed"])
            assert all(at <= moment.watermark for at in found["the watermark has reached"])
            assert all(at >= moment.clock for at in found["the clock to pass"])
            assert all(at > moment.watermark for at in found["the watermark to reach"])
            said.update({words: len(times) for words, times in found.items()})
    assert min(said.values()) > 100, said
