"""The saved state of one window of a key: states as bytes, timers, elements that wait."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from beamlike.machine.reference.state import TriggerState, WindowState
from beamlike.model.state_specs import TimerSpec
from beamlike.model.stateful import StatefulFn
from beamlike.model.windows import Window

TimerId = tuple[str, str]
"""The name of a timer, and the tag of one of its family; empty if it has none."""

SavedTimer = tuple[int, int | None]
"""The instant that the timer's clock has to pass (ticks); and the event time of what it emits,
where the output watermark waits for it, None if that does not wait."""


class Saved(NamedTuple):
    """The saved state of one window of a key, in plain values.

    ===========  ================================================  ==========================
    field        stored                                            cleared
    ===========  ================================================  ==========================
    ``key``      the key, which callbacks may ask for              with the window
    ``cells``    each state that is not empty, by name; its        by the function; with the
                 values as the bytes of its coder                  window
    ``timers``   each timer that is set                            when it fires; by the
                                                                   function; with the window
    ``waiting``  elements that wait to be given in order of        when the watermark is past
                 event time: their times and values                them
    ===========  ================================================  ==========================

    Between steps it is the accumulator of a `WindowState`, as a plain tuple. The fields of that are
    derived from it: ``element_hold`` is the earliest output timestamp that the output watermark
    waits for, and ``processing_timers`` has the earliest instant of processing time.
    """

    key: Any
    cells: Mapping[str, Any]
    timers: Mapping[TimerId, SavedTimer]
    waiting: tuple[tuple[int, Any], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remember."""
        return not (self.cells or self.timers or self.waiting)

    def instants(self, specs: Mapping[str, TimerSpec], event_time: bool) -> Iterator[int]:
        """The instants that the timers of one time domain are set to (ticks)."""
        for (name, _), (instant, _output) in self.timers.items():
            if specs[name].is_event_time is event_time:
                yield instant


def of_state(state: WindowState) -> Saved:
    """The saved state in a window's state."""
    return Saved(*state.accumulator)


def in_state(saved: Saved, fn: StatefulFn, window: Window) -> WindowState:
    """What is remembered of a window of a function, as the machine and its hosts keep it."""
    holds = [output for _, output in saved.timers.values() if output is not None]
    holds += [timestamp for timestamp, _ in saved.waiting]
    if fn.expires:
        holds.append(window.max_timestamp)  # what its end brings out is in time
    alarm = min(saved.instants(fn.timers, event_time=False), default=None)
    return WindowState(
        TriggerState(),
        tuple(saved),
        element_hold=min(holds, default=None),
        processing_timers=() if alarm is None else (alarm,),
    )
