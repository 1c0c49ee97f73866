"""A stage that runs now: elements arrive when they are added, processing time is real."""

from collections.abc import Callable, Hashable
from typing import Any

from beamlike.errors import TimeError, WatermarkError
from beamlike.hosts.clock import wall_clock_ms
from beamlike.hosts.script import Arrive, Output, Run, ScriptStep, Told
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Element,
    Event,
    Happening,
)
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import (
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    InstantLike,
    instant_ms,
    show_instant,
)

__all__ = ["LiveStage"]


class LiveStage:
    """One grouping, driven by hand or by a loop, on the time of day.

    Every method first reads the clock and lets what became due by it happen, then does its
    own work, and returns what came out. Everything is written down as it happens: `run` is a
    script like any other, and replaying it gives the same output on any day.

    Args:
        strategy: Windows, trigger, lateness and pane rules.
        combine: How a pane's elements become its value.
        clock: Processing time in milliseconds. If it steps back, processing time stands
            still until it has caught up.
    """

    def __init__(
        self,
        strategy: WindowingStrategy,
        combine: CombineFn,
        clock: Callable[[], int] = wall_clock_ms,
    ) -> None:
        self._machine = Grouping(strategy, combine)
        self._read_clock = clock
        self._states: dict[Hashable, KeyState] = {}
        self._watermark, self._clock = MIN_TIMESTAMP, 0
        self._script: list[ScriptStep] = []
        self._outputs: list[Output] = []
        self._story: list[Told] = []

    @property
    def run(self) -> Run:
        """What happened so far and everything that came out of it."""
        return Run(tuple(self._script), tuple(self._outputs), tuple(self._story))

    def add(self, key: Hashable, value: Any, timestamp: InstantLike) -> tuple[Output, ...]:
        """An element of ``key`` arrives now, a bundle of its own.

        Raises:
            TimeError: The timestamp cannot be read, or is the end of time.
        """
        element = Element(value, instant_ms(timestamp, "timestamp"))
        if element.timestamp >= MAX_TIMESTAMP:
            raise TimeError(f"timestamp must lie before {MAX_TIMESTAMP} ms, got {timestamp!r}")
        seen = len(self._outputs)
        self._move_clock()
        self._script.append(Arrive(((key, element),)))
        self._step(key, Bundle((element,)))
        return tuple(self._outputs[seen:])

    def advance_watermark(self, to: InstantLike) -> tuple[Output, ...]:
        """The input watermark becomes ``to``.

        Raises:
            TimeError: The instant cannot be read.
            WatermarkError: The watermark would go back.
        """
        move = AdvanceWatermark(instant_ms(to, "watermark"))
        if move.to < self._watermark:
            raise WatermarkError(
                f"the watermark cannot go back: it stands at {show_instant(self._watermark)} "
                f"({self._watermark} ms), asked for {show_instant(move.to)} ({move.to} ms)"
            )
        seen = len(self._outputs)
        self._move_clock()
        self._script.append(move)
        for key in self._states:
            self._step(key, move)
        self._watermark = move.to
        return tuple(self._outputs[seen:])

    def tick(self) -> tuple[Output, ...]:
        """Only read the clock, and let happen what became due."""
        seen = len(self._outputs)
        self._move_clock()
        return tuple(self._outputs[seen:])

    def _move_clock(self) -> None:
        now = self._read_clock()
        if now <= self._clock:
            return
        move = AdvanceClock(now)
        self._script.append(move)
        for key in self._states:
            self._step(key, move)
        self._clock = now

    def _step(self, key: Hashable, event: Event) -> None:
        number = len(self._script) - 1

        def tell(happening: Happening) -> None:
            self._story.append(Told(number, key, happening))

        state = self._states.get(key) or KeyState(self._watermark, self._clock, self._watermark)
        self._states[key], effects = self._machine.step(state, event, tell)
        self._outputs.extend(Output(number, key, effect) for effect in effects)
