"""A dialect's stage in memory: the machine, with its watermark where the dialect says it is."""

from collections.abc import Hashable, Iterator
from typing import Any

from beamlike.hosts.memory import MemoryStage
from beamlike.hosts.script import Arrive, Output, Run
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.reference.state import WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window, bounds

__all__ = ["Stage"]


class Stage:
    """One grouping that takes elements one by one.

    The other systems ask their triggers after every element. So each element is a bundle of its
    own here.
    """

    def __init__(self, strategy: WindowingStrategy, combine: CombineFn) -> None:
        self.strategy = strategy
        self.combine = combine
        self._stage = MemoryStage(Grouping(strategy, combine))

    @property
    def watermark(self) -> int:
        """The input watermark (ms)."""
        return self._stage.watermark

    @property
    def run(self) -> Run:
        """The whole script so far, and the panes and drops that came of it."""
        return self._stage.run

    def arrive(self, key: Hashable, value: Any, timestamp: int) -> tuple[Output, ...]:
        """What comes out because of one element."""
        return self._stage.play(Arrive(((key, Element(value, timestamp)),)))

    def advance(self, watermark: int) -> tuple[Output, ...]:
        """What comes out because of a watermark (ms). One that is not news changes nothing."""
        to = min(max(watermark, MIN_TIMESTAMP), MAX_TIMESTAMP)
        if to <= self._stage.watermark:
            return ()
        return self._stage.play(AdvanceWatermark(to))

    def windows(self) -> Iterator[tuple[Any, Window, WindowState]]:
        """Every key with every window that is open, and what is remembered of it."""
        for key, state in self._stage.states.items():
            for window in sorted(state.windows, key=bounds):
                yield key, window, state.windows[window]
