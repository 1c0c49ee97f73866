"""A stage that runs now: elements arrive when they are added, processing time is real."""

from collections.abc import Callable, Hashable
from typing import Any

from beamlike.errors import TimeError
from beamlike.hosts.clock import wall_clock_ms
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, InstantLike, instant_ms
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Output, Run, ScriptStep


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
        on_error: What to do when a function of the user's raises, as for `Grouping`.
    """

    def __init__(
        self,
        strategy: WindowingStrategy,
        combine: CombineFn,
        clock: Callable[[], int] = wall_clock_ms,
        on_error: OnFailure | str = OnFailure.FAIL,
    ) -> None:
        self._stage = MemoryStage(Grouping(strategy, combine, on_error))
        self._read_clock = clock

    @property
    def run(self) -> Run:
        """What happened so far and everything that came out of it."""
        return self._stage.run

    def add(self, key: Hashable, value: Any, timestamp: InstantLike) -> tuple[Output, ...]:
        """An element of ``key`` arrives now, a bundle of its own."""
        element = Element(value, instant_ms(timestamp, "timestamp"))
        if element.timestamp >= MAX_TIMESTAMP:
            raise TimeError(f"timestamp must lie before {MAX_TIMESTAMP} ms, got {timestamp!r}")
        return self.tick() + self._play(Arrive(((key, element),)))

    def advance_watermark(self, to: InstantLike) -> tuple[Output, ...]:
        """The input watermark becomes ``to``."""
        move = AdvanceWatermark(instant_ms(to, "watermark"))
        self._stage.check(move)  # before the clock is read: what that brings out must be returned
        return self.tick() + self._play(move)

    def tick(self) -> tuple[Output, ...]:
        """Only read the clock, and let happen what became due."""
        now = self._read_clock()
        return self._play(AdvanceClock(now)) if now > self._stage.clock else ()

    def _play(self, step: ScriptStep) -> tuple[Output, ...]:
        return self._stage.play(step)
