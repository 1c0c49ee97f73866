"""The memory host: plays a script in this process, without Spark."""

from collections.abc import Hashable, Mapping

from beamlike.errors import UserFunctionError
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Event,
    OnEvent,
    TraceEvent,
    refuse_going_back,
)
from beamlike.machine.failures import without_cause
from beamlike.machine.reference.state import KeyState
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.script import (
    Arrive,
    Machine,
    Output,
    Run,
    Script,
    ScriptStep,
    TracedEvent,
    correction_of,
)


def run_in_memory(machine: Machine, script: Script) -> Run:
    """Run a script from the beginning of time; every key sees every clock move.

    Raises:
        WatermarkError: The script moves a clock back.
        UserFunctionError: A function of the user's raised, and the machine reports it.
    """
    stage = MemoryStage(machine)
    for step in script:
        stage.play(step)
    return stage.run


class MemoryStage:
    """One stage in memory, played step by step.

    Args:
        machine: What it does.
        states: What is remembered of each key; None: nothing has happened.
        watermark: The input watermark (ticks of the machine).
        clock: Processing time (ticks).

    Attributes:
        records: Whether everything is written down as it happens, for `run`.
    """

    def __init__(
        self,
        machine: Machine,
        states: Mapping[Hashable, KeyState] | None = None,
        watermark: int = MIN_TIMESTAMP,
        clock: int = 0,
    ) -> None:
        # A stage that continues another one's state starts with an empty record.
        self.records = True
        self._machine = machine
        self._states: dict[Hashable, KeyState] = dict(states or {})
        self._script: list[ScriptStep] = []
        self._outputs: list[Output] = []
        # Of a step of a key all at once: objects are made on access.
        self._story: list[tuple[int, Hashable, list[TraceEvent]]] = []
        self.watermark, self.clock = watermark, clock
        self.side_watermark: int | None = None
        self._correction = correction_of(machine)
        self._passed_on = self._reached

    @property
    def run(self) -> Run:
        """What happened so far and everything that came out of it."""
        trace = (
            TracedEvent(step, key, event) for step, key, events in self._story for event in events
        )
        return Run(tuple(self._script), tuple(self._outputs), tuple(trace))

    @property
    def states(self) -> Mapping[Hashable, KeyState]:
        """What is remembered of each key now."""
        return dict(self._states)

    @property
    def output_watermark(self) -> int:
        """The output watermark (ticks): only late panes have timestamps before it."""
        return self._reached if self._correction is None else self._passed_on

    @property
    def wakes_at(self) -> int | None:
        """The processing time (ticks) that the clock has to pass for something to happen; None if
        nothing waits for the clock."""
        timers = map(self._machine.next_timers, self._states.values())
        instants = (timer.clock for timer in timers if timer.clock is not None)
        return min(instants, default=None)

    @property
    def _reached(self) -> int:
        # Every key saw every clock move; one that has not come yet will start at the watermark.
        output_watermarks = (state.output_watermark for state in self._states.values())
        return min(output_watermarks, default=self.watermark)

    def play(self, step: ScriptStep) -> tuple[Output, ...]:
        """Let one step happen; what came out of it.

        Raises:
            WatermarkError: The watermark or the clock would go back. Nothing has happened then.
            UserFunctionError: A function of the user's raised, and the machine reports it.
                Nothing has happened then, to no key.
        """
        self.check(step)
        events: dict[Hashable, Event]
        if isinstance(step, Arrive):
            events = {key: Bundle(tuple(items)) for key, items in step.by_key().items()}
        else:
            events = dict.fromkeys(self._states, step)
        seen, updates = len(self._outputs), len(self._story)
        after: dict[Hashable, KeyState] = {}
        try:
            for key, event in events.items():
                after[key] = self._step(key, event)
        except UserFunctionError:
            del self._outputs[seen:], self._story[updates:]
            raise
        self._states |= after
        came = tuple(self._outputs[seen:])
        if self.records:
            self._script.append(step)
        else:
            self._outputs.clear()
        if isinstance(step, AdvanceWatermark):
            self.side_watermark = self._unseen.side_after(step)
            self.watermark = step.to
        elif isinstance(step, AdvanceClock):
            self.clock = step.to
        if self._correction is not None:  # as far as no pane may still be withdrawn
            held = map(self._correction, self._states.values())
            reached = min([self._reached, *(instant for instant in held if instant is not None)])
            self._passed_on = max(self._passed_on, reached)
        return came

    def check(self, step: ScriptStep) -> None:
        """Refuse a step that moves a clock back.

        Raises:
            WatermarkError: The watermark or the clock would go back.
        """
        # The machine refuses it too, but not while there is no key.
        if isinstance(step, Arrive):
            return
        stands_at = self.watermark if isinstance(step, AdvanceWatermark) else self.clock
        refuse_going_back(step, stands_at, self._unseen.side)

    @property
    def _unseen(self) -> KeyState:
        """A key that comes now."""
        return KeyState.unseen(self.watermark, self.clock, self.side_watermark)

    def _step(self, key: Hashable, event: Event) -> KeyState:
        number = len(self._script)
        happened: list[TraceEvent] = []
        state = self._states.get(key) or self._unseen
        record: OnEvent = lambda traced: happened.append(without_cause(traced))  # noqa: E731
        try:
            after, effects = self._machine.step(state, event, record if self.records else None)
        except UserFunctionError as error:
            # The machine does not know the key's name.
            raise error.of_key(key) from error.__cause__
        if happened:
            self._story.append((number, key, happened))
        self._outputs += [Output(number, key, without_cause(effect)) for effect in effects]
        return after
