"""The memory host: a script in this process, in milliseconds, without Spark."""

from collections.abc import Hashable

from beamlike.errors import WatermarkError
from beamlike.hosts.script import Arrive, Machine, Output, Run, Script, ScriptStep, Told
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle, Event, Happening
from beamlike.machine.reference.state import KeyState
from beamlike.model.time import MIN_TIMESTAMP, show_instant

__all__ = ["MemoryStage", "run_in_memory"]


def run_in_memory(machine: Machine, script: Script) -> Run:
    """Run a script from the beginning of time; every key sees every clock move.

    Raises:
        WatermarkError: The script moves a clock back.
    """
    stage = MemoryStage(machine)
    for step in script:
        stage.play(step)
    return stage.run


class MemoryStage:
    """One stage in memory, played step by step. Everything is written down as it happens."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._states: dict[Hashable, KeyState] = {}
        self._script: list[ScriptStep] = []
        self._outputs: list[Output] = []
        self._story: list[Told] = []
        self.watermark, self.clock = MIN_TIMESTAMP, 0

    @property
    def run(self) -> Run:
        """What happened so far and everything that came out of it."""
        return Run(tuple(self._script), tuple(self._outputs), tuple(self._story))

    def play(self, step: ScriptStep) -> tuple[Output, ...]:
        """Let one step happen; what came out of it.

        Raises:
            WatermarkError: The watermark or the clock would go back. Nothing has happened then.
        """
        self.check(step)
        seen = len(self._outputs)
        self._script.append(step)
        match step:
            case Arrive():
                for key, elements in step.by_key().items():
                    self._step(key, Bundle(tuple(elements)))
            case AdvanceWatermark(to):
                self._step_all(step)
                self.watermark = to
            case AdvanceClock(to):
                self._step_all(step)
                self.clock = to
        return tuple(self._outputs[seen:])

    def check(self, step: ScriptStep) -> None:
        """Refuse a step that moves a clock back.

        Raises:
            WatermarkError: The watermark or the clock would go back.
        """
        # The machine refuses it too, but it has no say while there is no key.
        if isinstance(step, AdvanceWatermark) and step.to < self.watermark:
            raise WatermarkError(
                f"the watermark cannot go back: it stands at {show_instant(self.watermark)} "
                f"({self.watermark} ms), asked for {show_instant(step.to)} ({step.to} ms)"
            )
        if isinstance(step, AdvanceClock) and step.to < self.clock:
            raise WatermarkError(
                f"processing time cannot go back: it stands at {self.clock} ms, asked for "
                f"{step.to} ms"
            )

    def _step_all(self, event: Event) -> None:
        for key in self._states:
            self._step(key, event)

    def _step(self, key: Hashable, event: Event) -> None:
        number = len(self._script) - 1

        def tell(happening: Happening) -> None:
            self._story.append(Told(number, key, happening))

        state = self._states.get(key) or KeyState.unseen(self.watermark, self.clock)
        self._states[key], effects = self._machine.step(state, event, tell)
        self._outputs.extend(Output(number, key, effect) for effect in effects)
