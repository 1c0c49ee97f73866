"""A dialect's stage in memory: the machine, with its watermark where the dialect says it is."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from beamlike.dialects.arguments import check_key
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState, WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window, bounds
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Output, Run, ScriptStep


@attrs.frozen
class SavedStage:
    """The state of a stage: of every key, and of its clocks (ms)."""

    states: Mapping[Hashable, KeyState]
    watermark: int
    clock: int


class Stage:
    """One grouping that takes elements one by one.

    The other systems ask their triggers after every element. So each element is a bundle of its
    own here.
    """

    def __init__(self, strategy: WindowingStrategy, combine: CombineFn) -> None:
        self.strategy = strategy
        self.combine = combine
        self._grouping = Grouping(strategy, combine)
        self._stage = MemoryStage(self._grouping)

    @property
    def watermark(self) -> int:
        """The input watermark (ms)."""
        return self._stage.watermark

    @property
    def run(self) -> Run:
        """The whole script so far, and the panes and drops that came of it."""
        return self._stage.run

    def arrive(
        self,
        key: Hashable,
        value: Any,
        timestamp: int,
        windows: Sequence[Window] | None = None,
    ) -> tuple[Output, ...]:
        """What comes out because of one element.

        Args:
            windows: Those that it comes in; None: the window function assigns.
        """
        check_key(key)
        given = (None,) if windows is None else windows
        return self._play(Arrive(tuple((key, Element(value, timestamp, it)) for it in given)))

    def advance(self, watermark: int) -> tuple[Output, ...]:
        """What comes out because of a watermark (ms). One that is not news changes nothing."""
        to = min(max(watermark, MIN_TIMESTAMP), MAX_TIMESTAMP)
        if to <= self._stage.watermark:
            return ()
        return self._play(AdvanceWatermark(to))

    def advance_clock(self, clock: int) -> tuple[Output, ...]:
        """What comes out because processing time becomes so much (ms)."""
        return self._play(AdvanceClock(clock)) if clock > self._stage.clock else ()

    def saved(self) -> SavedStage:
        """The whole state, without its history."""
        return SavedStage(self._stage.states, self._stage.watermark, self._stage.clock)

    def resume(self, saved: SavedStage) -> None:
        """Go on from there."""
        self._stage = MemoryStage(
            Grouping(self.strategy, self.combine), saved.states, saved.watermark, saved.clock
        )

    def due(self) -> NextTimers:
        """When something happens next although no element comes, to any key."""
        next_timers = [self._grouping.next_timers(state) for state in self._stage.states.values()]
        return NextTimers(
            min(
                (next_timer.event for next_timer in next_timers if next_timer.event is not None),
                default=None,
            ),
            min(
                (next_timer.clock for next_timer in next_timers if next_timer.clock is not None),
                default=None,
            ),
        )

    def windows(self) -> Iterator[tuple[Any, Window, WindowState]]:
        """Every key with every open window and its state."""
        for key, state in self._stage.states.items():
            for window in sorted(state.windows, key=bounds):
                yield key, window, state.windows[window]

    def _play(self, step: ScriptStep) -> tuple[Output, ...]:
        return self._stage.play(step)
