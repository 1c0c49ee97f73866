"""What a trigger in action is asked: the contract of `leaves` and `composites`.

A running trigger holds no state: `TriggerState` values go in and come out. It sets no
timers either; it says what it waits for (`hears_end`, `targets`), and a window that is gone
no longer says anything.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import attrs

from beamlike.machine.reference.state import TriggerState
from beamlike.model.windows import Window

__all__ = ["FINISHED", "Now", "Running"]

FINISHED = TriggerState(finished=True)


@attrs.frozen
class Now:
    """All that a trigger may know when it is asked."""

    window: Window
    watermark: int
    clock: int

    @property
    def end_reached(self) -> bool:
        """The watermark is past the window's last instant: at its end, in milliseconds."""
        return self.watermark > self.window.max_timestamp


class Running(ABC):
    """A trigger in action. ``merging`` says that its windows may merge."""

    keeps_value: ClassVar[bool] = False
    """Whether the node's state has a ``value``: a count, or a target of the clock."""

    def __init__(self, name: str, subs: Sequence["Running"] = (), merging: bool = False) -> None:
        self.name = name
        self.subs = tuple(subs)
        self.merging = merging

    def start(self) -> TriggerState:
        return TriggerState(subs=tuple(sub.start() for sub in self.subs))

    @abstractmethod
    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        """``count`` elements of one bundle were added to the window."""

    @abstractmethod
    def ready(self, state: TriggerState, now: Now) -> bool:
        """Whether to fire now. Does not look at the node's own finished bit."""

    @abstractmethod
    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        """The pane was emitted."""

    @abstractmethod
    def on_merge(self, own: TriggerState, parts: Sequence[TriggerState], now: Now) -> TriggerState:
        """The state in the merged window.

        ``parts`` are the live windows that merged, at least one; ``own`` is the state that
        the result had before, if it was one of them, else a fresh one.
        """

    def hears_end(self, state: TriggerState) -> bool:
        """Whether an element that comes now makes it wait for the end of the window."""
        return False

    def targets(self, state: TriggerState) -> Iterator[int]:
        """The processing times (ms) it waits for; each is due once the clock is past it."""
        for sub, sub_state in zip(self.subs, state.subs, strict=True):
            yield from sub.targets(sub_state)

    def because(self, state: TriggerState, now: Now) -> str:
        """Which part of it is ready, as a path: ``AfterWatermark.late[AfterCount(1)]``."""
        return self.name
