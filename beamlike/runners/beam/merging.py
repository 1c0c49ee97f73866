"""Groupings in windows of a user's own class that merge.

Each key is stepped by the reference machine with the windows themselves. What is saved of a window
is its bytes, by its coder, beside all that the machine remembers of it; its bounds in the graph
only tell it from others.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from beamlike.machine.events import Bundle as Arrived
from beamlike.machine.events import Effect, Element, Event, OnEvent, Pane
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.bundle import Retraction
from beamlike.model.combine import CombineFn
from beamlike.model.copies import own_copy
from beamlike.model.graph import Edge, Node, ParDoNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import IntervalWindow, Window, bounds
from beamlike.runners.beam.elements import Repacking
from beamlike.runners.beam.windows import ObjectWindow, ObjectWindows
from beamlike.runtime.changes import strategy_words
from beamlike.runtime.graph.machine_node import MachineNode


class ObjectGrouping:
    """The machine of such a grouping. The value of an element is a pair of the bytes of its window
    and its own value; that of a pane is those and whether it is withdrawn."""

    def __init__(
        self, windows: ObjectWindows, strategy: WindowingStrategy, combine: CombineFn
    ) -> None:
        self._windows, self._combine = windows, combine
        self._grouping = Grouping(strategy, combine)

    @property
    def needs_clock(self) -> bool:
        """Whether a trigger waits for processing time."""
        return self._grouping.needs_clock

    @property
    def state_identity(self) -> Mapping[str, str]:
        """What saved state depends on."""
        return strategy_words(self._grouping.strategy) | {"combine": str(self._combine)}

    def teardown(self) -> None:
        """Let what the combine function has set up come to its end."""
        self._combine.teardown()

    def step(
        self, state: KeyState, event: Event, on_event: OnEvent | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        """Take one event to the next state of a key, and say what comes out."""
        if isinstance(event, Arrived):
            event = Arrived(tuple(map(self._with_window, event.elements)))
        after, effects = self._grouping.step(self._opened(state), event, on_event)
        return _saved(after), tuple(map(_shown, effects))

    def next_timers(self, state: KeyState) -> NextTimers:
        """When the watermark, or the clock, has to step the key again."""
        return self._grouping.next_timers(self._opened(state))

    @property
    def retracts(self) -> bool:
        """Whether a pane withdraws the one before."""
        return self._grouping.retracts

    def earliest_correction(self, state: KeyState) -> int | None:
        """Where panes that may still be withdrawn hold back what comes after (us), if any do."""
        return self._grouping.earliest_correction(self._opened(state))

    def _with_window(self, element: Any) -> Element:
        encoded, value = element.value
        window = self._windows.by_bytes(encoded, element.window.end)
        return Element(value, element.timestamp, window)

    def _opened(self, state: KeyState) -> KeyState:
        """The state of a key as the reference machine has it."""
        windows: dict[Window, WindowState] = {}
        for place, saved in state.windows.items():
            encoded, remembered = saved.accumulator
            windows[self._windows.by_bytes(encoded, place.end)] = remembered
        return state.after(state.watermark, state.clock, windows)


def _saved(state: KeyState) -> KeyState:
    """The state of a key as hosts keep it: each window with what the machine remembers of it."""
    places: dict[Window, WindowState] = {}
    for window, remembered in state.windows.items():
        assert isinstance(window, ObjectWindow), "all have come as such"
        place = IntervalWindow(*bounds(window))
        while place in places:  # two windows that have their bounds in common
            place = IntervalWindow(place.start - 1, place.end)
        places[place] = WindowState(
            TriggerState(),
            (window.encoded, remembered),
            element_hold=remembered.element_hold,
            processing_timers=remembered.processing_timers,
        )
    return state.after(state.watermark, state.clock, places)


def _shown(effect: Effect) -> Effect:
    if not isinstance(effect, Pane):
        return effect
    assert isinstance(effect.window, ObjectWindow), "all have come as such"
    value = effect.window.encoded, own_copy(effect.value), effect.retraction
    window = IntervalWindow(*bounds(effect.window))
    return Pane(window, value, effect.timestamp, effect.info)


def _windows_in_values(values: Sequence[Any]) -> list[Any]:
    """Pairs whose keys have the bytes of their windows, as `ObjectGrouping` takes them."""
    return [(key, (encoded, value)) for (encoded, key), value in values]


def _windows_in_keys(values: Sequence[Any]) -> list[Any]:
    """What comes out of `ObjectGrouping` with the bytes of the windows in the keys."""
    return [
        Retraction(((encoded, key), value)) if retracts else ((encoded, key), value)
        for key, (encoded, value, retracts) in values
    ]


def object_grouping(
    add: Callable[[Node], Node],
    label: str,
    source: Edge,
    windows: ObjectWindows,
    strategy: WindowingStrategy,
    combine: CombineFn,
) -> Node:
    """The last node of a grouping whose windows merge, and are more than bounds."""
    before = add(ParDoNode(f"{label}/Windows", (source,), Repacking(_windows_in_values)))
    machine = ObjectGrouping(windows, strategy, combine)
    group = add(MachineNode(label, (Edge(before),), machine))
    return add(ParDoNode(f"{label}/Panes", (Edge(group),), Repacking(_windows_in_keys)))
