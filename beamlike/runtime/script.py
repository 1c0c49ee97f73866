"""A script: what happens to one stage, step by step, and the record of what came out.

The same script runs on every host, and every host returns the same kind of `Run`.
"""

from collections.abc import Callable, Hashable
from typing import Any, Protocol

import attrs

from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Drop,
    Effect,
    Element,
    Event,
    OnEvent,
    Pane,
    TraceEvent,
)
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.model.time import MIN_TIMESTAMP


class Machine(Protocol):
    """What a host needs of a stage: step one key, and know when to step it again."""

    @property
    def needs_clock(self) -> bool:
        """Whether anything depends on processing time."""
        ...

    def step(
        self, state: KeyState, event: Event, on_event: OnEvent | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]: ...

    def next_timers(self, state: KeyState) -> NextTimers: ...


Correction = Callable[[KeyState], int | None]
"""Where panes of a key that may be withdrawn hold back later stages (ticks); None: nowhere."""


def correction_of(machine: Machine) -> Correction | None:
    """What a machine has besides whose panes may withdraw earlier ones; None: they never do."""
    correction: Correction | None = getattr(machine, "earliest_correction", None)
    return correction if getattr(machine, "retracts", False) else None


@attrs.frozen
class Arrive:
    """Elements that arrive together: one bundle for each key, in this order."""

    elements: tuple[tuple[Hashable, Element], ...]

    def by_key(self) -> dict[Hashable, list[Element]]:
        bundles: dict[Hashable, list[Element]] = {}
        for key, element in self.elements:
            bundles.setdefault(key, []).append(element)
        return bundles


ScriptStep = Arrive | AdvanceWatermark | AdvanceClock
Script = tuple[ScriptStep, ...]


def with_elements(
    script: Script, change: Callable[[Any, Any], tuple[Hashable, Any] | None]
) -> Script:
    """The script with what ``change`` makes of each key and its element; None leaves them out."""
    steps = list[ScriptStep]()
    for step in script:
        if isinstance(step, Arrive):
            changed = (change(key, element) for key, element in step.elements)
            step = Arrive(tuple(pair for pair in changed if pair is not None))
        steps.append(step)
    return tuple(steps)


@attrs.frozen
class Output:
    """One pane or drop, with the key it belongs to and the script step that brought it out."""

    step: int
    key: Any
    effect: Effect


@attrs.frozen
class TracedEvent:
    """One event of a key's trace and the step it belongs to."""

    step: int
    key: Any
    happening: TraceEvent


@attrs.frozen
class Run:
    """A script and everything that came out of it, in order of emission.

    ``trace`` is what the machine traced; hosts that do not trace leave it empty. Of a node in a
    pipeline ``steps`` has, for each step of the script, the step of the pipeline that it was a part
    of, where the host notes that.
    """

    script: Script
    outputs: tuple[Output, ...]
    trace: tuple[TracedEvent, ...] = ()
    steps: tuple[int, ...] = attrs.field(default=(), eq=False, repr=False)

    @property
    def panes(self) -> tuple[Output, ...]:
        return tuple(output for output in self.outputs if isinstance(output.effect, Pane))

    @property
    def drops(self) -> tuple[Output, ...]:
        return tuple(output for output in self.outputs if isinstance(output.effect, Drop))

    def with_keys(self, key_of: Callable[[Any], Hashable]) -> "Run":
        """This run, with what this makes of each key in its place."""
        script = with_elements(self.script, lambda key, element: (key_of(key), element))
        outputs = (attrs.evolve(output, key=key_of(output.key)) for output in self.outputs)
        trace = (attrs.evolve(traced, key=key_of(traced.key)) for traced in self.trace)
        return Run(script, tuple(outputs), tuple(trace), self.steps)

    def clocks(self) -> list[tuple[int, int]]:
        """Watermark and processing time (ticks) after each step."""
        watermark, clock = MIN_TIMESTAMP, 0
        readings = []
        for step in self.script:
            if isinstance(step, AdvanceWatermark):
                watermark = step.to
            elif isinstance(step, AdvanceClock):
                clock = step.to
            readings.append((watermark, clock))
        return readings
