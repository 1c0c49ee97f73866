"""Traces of what happens inside of a grouping while scripts are played, written by the workers.

A worker records the input of a shard in a micro-batch, its clocks after it, and all outputs of its
machine. In the driver the traces of all shards become the `Run` of the grouping.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Effect,
    Element,
    Event,
    OnEvent,
    TraceEvent,
)
from beamlike.machine.failures import without_cause
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.column_shard import ARRIVAL, CLOCK, WATERMARK
from beamlike.runtime.graph.keyed_tables import read_values
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.graph.worker import Recorded
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive, Machine, Output, Run, ScriptStep, TracedEvent
from beamlike.runtime.shard import KeyStepped, Shard
from beamlike.runtime.store.state import Key

_PHASES: Final[Mapping[type[Event], int]] = {
    AdvanceClock: CLOCK,
    Bundle: ARRIVAL,
    AdvanceWatermark: WATERMARK,
}
"""The phases of a shard's micro-batch, by the event of the machine."""


@attrs.frozen
class ShardTrace:
    """What happened to a shard of a grouping in a micro-batch.

    Args:
        node: The number of the grouping.
        shard: The position of the shard.
        clock: Processing time (ticks).
        watermark: Its input watermark (ticks) after the micro-batch.
        arrived: The elements that arrived: key in bytes, value in bytes, element without its value.
        outputs: The outputs in order: phase, key and effect.
        trace: The trace of the machine in order: phase, key and event.
    """

    node: int
    shard: int
    clock: int
    watermark: int
    arrived: Sequence[tuple[bytes, bytes, Element]]
    outputs: Sequence[tuple[int, bytes, Effect]]
    trace: Sequence[tuple[int, bytes, TraceEvent]]


class TracedShard(Shard):
    """A shard that records the outputs of its machine in a step."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._traced = _TracedMachine(self.machine)
        self.machine = self._traced

    def taken(self) -> tuple[list[Any], list[Any]]:
        """The outputs and the trace since the last call, see `ShardTrace`."""
        taken = self._traced.outputs, self._traced.trace
        self._traced.outputs, self._traced.trace = [], []
        return taken

    def _step_key(self, states: dict[Key, KeyState], key: Key, *args: Any) -> KeyStepped:
        (self._traced.key,) = key  # which the machine never gets
        return super()._step_key(states, key, *args)


class _TracedMachine:
    """A machine whose outputs are recorded."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.key = b""
        self.outputs: list[tuple[int, bytes, Effect]] = []
        self.trace: list[tuple[int, bytes, TraceEvent]] = []

    @property
    def needs_clock(self) -> bool:
        return self._machine.needs_clock

    def step(
        self, state: KeyState, event: Event, on_event: OnEvent | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        phase, key = _PHASES[type(event)], self.key

        def record(traced: TraceEvent) -> None:
            self.trace.append((phase, key, without_cause(traced)))
            if on_event is not None:
                on_event(traced)

        after, effects = self._machine.step(state, event, record)
        self.outputs += ((phase, key, without_cause(effect)) for effect in effects)
        return after, effects

    def next_timers(self, state: KeyState) -> NextTimers:
        return self._machine.next_timers(state)


class Inside(Recorded):
    """The run of one grouping, made of the traces of each micro-batch.

    Args:
        key_of: Makes keys of their bytes.
        wire: How values are bytes.
        machine: The reference machine of the grouping. It makes the trace where the columnar
            machine stepped the grouping, which reports only outputs.
    """

    def __init__(self, key_of: Callable[[Any], Hashable], wire: Wire, machine: Machine) -> None:
        self._key_of, self._wire, self._machine = key_of, wire, machine
        self._script: list[ScriptStep] = []
        self._steps: list[int] = []
        self._outputs: list[Output] = []
        self._story: list[TracedEvent] = []
        self._watermark, self._clock = MIN_TIMESTAMP, 0

    @property
    def run(self) -> Run:
        trace: Sequence[TracedEvent] = self._story
        if self._outputs and not trace and isinstance(self._machine, Grouping):
            trace = run_in_memory(self._machine, tuple(self._script)).trace
        run = Run(tuple(self._script), tuple(self._outputs), tuple(trace), tuple(self._steps))
        return run.with_keys(self._key_of)

    def add(self, step: int, noted: Iterable[ShardTrace]) -> None:
        """Add the traces of its shards in one micro-batch, which was this step of the pipeline."""
        shards = sorted(noted, key=lambda shard: shard.shard)
        clock = max(shard.clock for shard in shards)
        watermark = min(shard.watermark for shard in shards)
        noted_elements = [arrival for shard in shards for arrival in shard.arrived]
        values = read_values((value for _, value, _ in noted_elements), self._wire)
        arrived: list[tuple[Any, Element]] = [
            (key, attrs.evolve(element, value=value))
            for (key, _, element), value in zip(noted_elements, values, strict=True)
        ]
        happenings: tuple[tuple[ScriptStep, bool], ...] = (
            (AdvanceClock(clock), clock > self._clock),
            (Arrive(tuple(arrived)), bool(arrived)),
            (AdvanceWatermark(watermark), watermark > self._watermark),
        )
        for phase, (happening, happens) in enumerate(happenings):
            outputs = [(k, out) for shard in shards for n, k, out in shard.outputs if n == phase]
            trace = [(k, event) for shard in shards for n, k, event in shard.trace if n == phase]
            if not (happens or outputs or trace):
                continue
            number = len(self._script)
            self._script.append(happening)
            self._steps.append(step)
            self._outputs += (Output(number, key, effect) for key, effect in outputs)
            self._story += (TracedEvent(number, key, happening) for key, happening in trace)
        self._clock, self._watermark = max(clock, self._clock), max(watermark, self._watermark)
