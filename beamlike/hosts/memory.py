"""The memory host: a script in this process, in milliseconds, without Spark."""

from collections.abc import Hashable

from beamlike.hosts.script import Arrive, Machine, Output, Run, Script, Told
from beamlike.machine.events import AdvanceWatermark, Bundle, Event, Happening
from beamlike.machine.reference.state import KeyState
from beamlike.model.time import MIN_TIMESTAMP

__all__ = ["run_in_memory"]


def run_in_memory(machine: Machine, script: Script) -> Run:
    """Run a script from the beginning of time; every key sees every clock move.

    Raises:
        WatermarkError: The script moves a clock back.
    """
    states: dict[Hashable, KeyState] = {}
    outputs: list[Output] = []
    story: list[Told] = []
    watermark, clock = MIN_TIMESTAMP, 0

    def step(number: int, key: Hashable, event: Event) -> None:
        def tell(happening: Happening) -> None:
            story.append(Told(number, key, happening))

        state = states.get(key) or KeyState(watermark, clock, watermark)
        states[key], effects = machine.step(state, event, tell)
        outputs.extend(Output(number, key, effect) for effect in effects)

    for number, happens in enumerate(script):
        if isinstance(happens, Arrive):
            for key, elements in happens.by_key().items():
                step(number, key, Bundle(tuple(elements)))
            continue
        for key in states:
            step(number, key, happens)
        if isinstance(happens, AdvanceWatermark):
            watermark = happens.to
        else:
            clock = happens.to
    return Run(script, tuple(outputs), tuple(story))
