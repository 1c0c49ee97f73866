"""Alarms that a trigger does not mind may be kept or forgotten: no output differs."""

from random import Random

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.trigger_analysis import minds_stale_processing_timers
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, Script
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy

SEEDS = examples(400)


def run_with(
    strategy: bl.WindowingStrategy, script: Script, *, keeps_processing_timers: bool
) -> Run:
    machine = Grouping(strategy, Collect())
    machine.keeps_processing_timers = keeps_processing_timers
    return run_in_memory(machine, script)


def scenarios() -> list[tuple[int, bl.WindowingStrategy, Script]]:
    """Scenarios with a clock, by their seeds, whose trigger does not mind a stale alarm."""
    found: list[tuple[int, bl.WindowingStrategy, Script]] = []
    seed = 0
    while len(found) < SEEDS:
        random = Random(seed)
        strategy = any_strategy(random, gap_functions=True)
        script = any_script(random, steps=25)
        if strategy.trigger.needs_clock and not minds_stale_processing_timers(strategy.trigger):
            found.append((seed, strategy, script))
        seed += 1
    return found


def test_a_trigger_that_does_not_mind_gives_the_same_whether_alarms_are_kept_or_not():
    differ = [
        f"seed {seed}: {strategy.trigger}"
        for seed, strategy, script in scenarios()
        if run_with(strategy, script, keeps_processing_timers=True).outputs
        != run_with(strategy, script, keeps_processing_timers=False).outputs
    ]
    assert differ == []


def test_a_trigger_that_minds_can_tell():
    trigger = bl.AfterEach(
        bl.AfterWatermark(early=bl.AfterProcessingTime(5)),
        bl.AfterFirst(bl.DefaultTrigger(), bl.AfterProcessingTime(5)),
    )
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), trigger, "discarding", 100)
    arrive = [Arrive((("k", Element(at, at)),)) for at in (5, 6)]
    script = (arrive[0], AdvanceWatermark(10), AdvanceClock(6), arrive[1])
    kept, forgotten = (
        run_with(strategy, script, keeps_processing_timers=keeps) for keeps in (True, False)
    )
    assert kept.panes == forgotten.panes[:1]
    assert [drop.effect.element for drop in kept.drops] == [Element(6, 6)]
    assert forgotten.drops == ()
