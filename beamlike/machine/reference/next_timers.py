"""When a key needs its next step. Timers are a function of the state, stored nowhere else."""

from typing import NamedTuple

from beamlike.machine.failures import FunctionFailure
from beamlike.machine.reference.running import TriggerFailed, TriggerNode
from beamlike.machine.reference.state import KeyState
from beamlike.model.strategy import WindowingStrategy


class NextTimers(NamedTuple):
    """When a key needs its next step: once a clock is strictly past its instant here (ticks)."""

    event: int | None
    """The earliest event time; None if no watermark will change anything."""
    clock: int | None
    """The earliest processing time; None if no processing time will change anything."""
    side: int | None = None
    """The earliest event time for the side input's watermark; None if that changes nothing."""

    def event_due(self, watermark: int) -> bool:
        """Whether the watermark is strictly past the earliest event time."""
        return self.event is not None and self.event < watermark

    def clock_due(self, clock: int) -> bool:
        """Whether processing time is strictly past the earliest timer."""
        return self.clock is not None and self.clock < clock

    def side_due(self, watermark: int) -> bool:
        """Whether the side input's watermark is strictly past the event time that waits for it."""
        return self.side is not None and self.side < watermark


def next_timers(
    strategy: WindowingStrategy,
    state: KeyState,
    trigger: TriggerNode | None = None,
    *,
    drops_failures: bool = False,
) -> NextTimers:
    """The earliest timer of a key's windows, for each clock.

    In event time these are each window's expiry, its end if a trigger waits for it, the event-time
    timers of its trigger, and for a retained window that has expired the instant at which it is
    forgotten. In processing time they are its processing-time timers. A closed window waits for its
    expiry only.

    Args:
        trigger: The running form of the trigger; None if it has no event-time timers.
        drops_failures: Whether a window whose trigger raises waits only for its end and expiry: the
            step at that instant then reports the failure.

    Raises:
        UserFunctionError: The trigger raises, and that is to be reported as an error.
    """
    event: int | None = None
    clock: int | None = None
    for window, remembered in state.windows.items():
        deadline = strategy.expiry(window)
        if deadline < state.watermark:
            deadline = strategy.forgotten(window)
        elif trigger is not None:
            try:
                timers = [*trigger.event_time_timers(remembered.trigger)]
            except TriggerFailed as failed:
                if not drops_failures:
                    failure = FunctionFailure(failed.function, failed.cause, (), window)
                    raise failure.error_in(strategy.resolution) from failed.cause
                timers = []
            deadline = min([deadline, *(timer for timer in timers if timer >= state.watermark)])
        if remembered.end_timer_set and window.max_timestamp < deadline:
            deadline = window.max_timestamp
        if event is None or deadline < event:
            event = deadline
        if remembered.processing_timers:
            first = remembered.processing_timers[0]  # ascending
            clock = first if clock is None else min(clock, first)
    return NextTimers(event, clock)
