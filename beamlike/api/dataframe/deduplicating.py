"""The function that lets the first row of each key go on.

Source: Beam Python ``transforms.deduplicate``.
"""

from collections.abc import Mapping
from typing import Any, Final

import attrs

from beamlike.api.function_rows import FunctionRows, Outputs, OverRows
from beamlike.model.bundle import Windowed
from beamlike.model.coders import BooleanCoder
from beamlike.model.resolution import MILLISECONDS, Resolution, rescaled
from beamlike.model.state_specs import ReadModifyWriteStateSpec, StateSpec, TimeDomain, TimerSpec
from beamlike.model.stateful import DueTimer, KeepsFirst, StatefulFn, UserStates

_SEEN: Final = ReadModifyWriteStateSpec("seen", BooleanCoder())


@attrs.frozen
class FirstOfKey(OverRows, StatefulFn):
    """Knows a key until one of the clocks is past its row by some time.

    It has one timer, so that a query which waits for the watermark alone has no use for ticks.

    Args:
        rows: What it is given: the columns of the key, and after them all that goes on.
        within: How long a key is known, in ticks.
        by_event_time: Whether that is until the watermark is past the event time of its row; else
            until the clock is past where it stood when its row came.
    """

    rows: FunctionRows
    within: int
    by_event_time: bool
    resolution: Resolution = MILLISECONDS

    states: Mapping[str, StateSpec] = attrs.field(init=False, factory=lambda: {_SEEN.name: _SEEN})
    timers: Mapping[str, TimerSpec] = attrs.field(init=False)

    @timers.default
    def _timer(self) -> Mapping[str, TimerSpec]:
        domain = TimeDomain.WATERMARK if self.by_event_time else TimeDomain.REAL_TIME
        return {"forget": TimerSpec("forget", domain)}

    @property
    def keeps_first(self) -> KeepsFirst:  # type: ignore[override]
        return KeepsFirst(_SEEN, self.timers["forget"], self.within)

    def in_resolution(self, resolution: Resolution) -> "FirstOfKey":
        return rescaled(self, resolution, "within")

    @property
    def display_name(self) -> str:
        return "deduplicate"

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        seen = user_states.state(_SEEN)
        if not seen.is_empty():
            return ()
        seen.write(True)
        timer = user_states.timer(self.timers["forget"])
        start = element.timestamp if self.by_event_time else timer.now
        end = start + self.within
        timer.set(end if timer.latest is None else min(end, timer.latest), holds=False)
        return [("", attrs.evolve(element, value=self.first(element.value)))]

    def first(self, value: Any) -> Any:
        # The columns of the result are those of the row, of the same types.
        return value[len(self.rows.keys) :]

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        user_states.state(_SEEN).clear()
        return ()
