"""What would have saved a dropped element, tried."""

import inspect
import re
from random import Random

from beamlike.hosts.memory import run_in_memory
from beamlike.machine.events import Drop
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import duration_ms
from beamlike.testing.generate import any_scenario
from beamlike.viz.recording import Recording
from beamlike.viz.rescue import Rescue

ENOUGH = re.compile(r"(.*) more of allowed lateness(?: \(.* in all\))? would have saved it\.")
PARTS = [part for part in inspect.signature(WindowingStrategy).parameters if part != "self"]


def test_what_would_have_saved_a_dropped_element_does_save_it() -> None:
    """The lateness that is named is enough, and a millisecond less is not."""
    saved = 0
    for seed in range(200):
        scenario = any_scenario(Random(f"rescue:{seed}"))
        strategy = scenario.strategy
        machine = Grouping(strategy, Collect())
        recording = Recording.of(run_in_memory(machine, scenario.script), strategy, Collect())
        for key in recording.keys:
            mine = recording.of_key(key)
            rescue = Rescue(mine.run.script, strategy)
            for told in mine.run.story:
                drop = told.happening
                if not isinstance(drop, Drop) or drop.missed_by is None:
                    continue
                advice = rescue.advice(told.step, drop)
                named = ENOUGH.match(advice)
                if not named:
                    continue
                saved += 1
                for less in (0, 1):
                    more = duration_ms(named[1], "more")
                    lateness = strategy.allowed_lateness + more - less
                    parts = {part: getattr(strategy, part) for part in PARTS}
                    longer = WindowingStrategy(**parts | {"allowed_lateness": lateness})
                    again = run_in_memory(Grouping(longer, Collect()), mine.run.script)
                    lost = [
                        o.effect.window
                        for o in again.drops
                        if o.step == told.step and o.effect.element is drop.element
                    ]
                    assert (drop.window in lost) == bool(less)
    assert saved > 50
