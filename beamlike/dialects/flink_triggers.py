"""Flink's triggers, each with what it is in the model.

Source: Flink ``streaming.api.windowing.triggers``.
"""

from typing import Literal

import attrs

from beamlike.dialects.stages import check_kind
from beamlike.errors import TriggerError, UnsupportedError
from beamlike.model import triggers as t
from beamlike.model.extra_triggers import AfterDelta, AfterSilence, DeltaOf
from beamlike.model.interval_triggers import EveryEventTime, EveryProcessingTime
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike, duration_ms


@attrs.frozen
class Trigger:
    """When a window's contents are given to its function.

    Args:
        trigger: The trigger of the model.
        at_end: Whether it fires at the end of the window. If not, elements without a firing
            are dropped with the window.
        purging: Whether the contents are purged at each firing.
        refires: Whether it fires at the end of the window also if nothing is new.
        at_cleanup: Whether it fires at the cleanup of the window, also if nothing is new.
        forgets_end: Whether it forgets, when it has fired before the end, that the window has one,
            until the next element comes.
        merges: Whether windows that merge can have it.
        windows: The windows that it is for: in ``event`` time, in ``processing`` time, or both.
        by_clock: What it is in windows in processing time, whose event time is the clock; None:
            the same.
    """

    trigger: t.Trigger
    at_end: bool
    purging: bool = False
    refires: bool = False
    at_cleanup: bool = False
    forgets_end: bool = False
    merges: bool = True
    windows: Literal["event", "processing"] | None = None
    by_clock: "Trigger | None" = None


_AT_END = t.AfterWatermark(late=t.AfterCount(1))
_EXAMPLE = "CountTrigger.of(3)"


class EventTimeTrigger:
    """Fires when the watermark passes the end of the window, and then for every element."""

    @staticmethod
    def create() -> Trigger:
        """The trigger."""
        return Trigger(_AT_END, at_end=True, windows="event")


class ProcessingTimeTrigger:
    """Fires when the clock passes the end of the window. For windows in processing time."""

    @staticmethod
    def create() -> Trigger:
        """The trigger."""
        return Trigger(_AT_END, at_end=True, windows="processing")


class CountTrigger:
    """Fires whenever so many elements have come since it fired last."""

    @staticmethod
    def of(count: int) -> Trigger:
        """The trigger for this number of elements.

        Raises:
            TriggerError: The count is no whole number of 1 or more.
        """
        whole_number(count, 1, "CountTrigger count", TriggerError)
        return Trigger(t.Repeatedly(t.AfterCount(count)), at_end=False)


class NeverTrigger:
    """Never fires."""

    @staticmethod
    def create() -> Trigger:
        """The trigger."""
        return Trigger(t.Never(), at_end=False)


def _continuous(interval: DurationLike) -> t.Trigger:
    every = EveryEventTime(interval, to_end=True, fire_unchanged=True)
    return t.AfterWatermark(early=every, late=t.AfterCount(1))


class ContinuousEventTimeTrigger:
    """Fires whenever the watermark has passed a multiple of an interval, at the end of the window,
    and then for every element. It fires whether anything is new or not.

    The first multiple is after the time of the window's first element. No firing waits longer
    than for the end of the window, so the period of a session that grows restarts where it
    would have ended. For a multiple that the watermark has passed before, Flink fires too, with the
    next watermark; here the rhythm begins with the first that lies ahead. Before 1970 Flink rounds
    towards zero, which makes the first firing an interval later; here the multiples go on.
    """

    @staticmethod
    def of(interval: DurationLike) -> Trigger:
        """The trigger with this interval.

        Raises:
            TriggerError: The interval is 0.
            TimeError: The interval cannot be read.
        """
        return Trigger(_continuous(interval), at_end=True, refires=True, windows="event")


class ContinuousProcessingTimeTrigger:
    """Fires whenever the clock has passed a multiple of an interval, whether anything is new or
    not; for windows in processing time also at their end.

    With windows in event time Flink also compares the clock with the end of the window, and fires
    without end once it has passed that; here an end in event time has no meaning for the clock.
    """

    @staticmethod
    def of(interval: DurationLike) -> Trigger:
        """The trigger with this interval.

        Raises:
            TriggerError: The interval is 0.
            TimeError: The interval cannot be read.
        """
        every = EveryProcessingTime(interval, fire_unchanged=True)
        by_clock = Trigger(_continuous(interval), at_end=True, refires=True, windows="processing")
        return Trigger(every, at_end=False, by_clock=by_clock)


class DeltaTrigger:
    """Fires for an element that is further than a threshold from the one that it fired for last.
    The first element is only measured from. For windows that do not merge."""

    @staticmethod
    def of(threshold: float, delta_function: DeltaOf) -> Trigger:
        """The trigger with this threshold and ``(old value, new value) -> distance``.

        Raises:
            TriggerError: The threshold is negative, or there is no function.
        """
        trigger = t.Repeatedly(AfterDelta(threshold, delta_function))
        return Trigger(trigger, at_end=False, merges=False)


class ProcessingTimeoutTrigger:
    """Fires as another trigger does, and when the clock has passed a timeout; and once more when
    the window is cleaned up. For windows that do not merge."""

    @staticmethod
    def of(
        nested_trigger: Trigger,
        timeout: DurationLike,
        reset_timer_on_new_record: bool = False,
        should_clear_on_timeout: bool = True,
    ) -> Trigger:
        """That trigger with a timeout.

        Args:
            nested_trigger: The other trigger. Whenever it fires, both begin anew.
            timeout: Counted from the first element.
            reset_timer_on_new_record: Count from the latest one.
            should_clear_on_timeout: With a timeout the other trigger begins anew, too. If not,
                nothing times out again before the next element, or, without
                ``reset_timer_on_new_record``, before the other trigger has fired. Flink's timeout
                then outlasts a firing at the end of the window, and emits once more what was
                just emitted; here it does not.

        Raises:
            TriggerError: The timeout is 0.
            WindowingError: The other trigger is none.
            UnsupportedError: The other trigger purges, measures a distance, or has a rhythm or a
                timeout of its own.
            TimeError: The timeout cannot be read.
        """
        check_kind("ProcessingTimeoutTrigger nested_trigger", nested_trigger, Trigger, _EXAMPLE)
        for flag in (reset_timer_on_new_record, should_clear_on_timeout):
            check_kind("a flag of ProcessingTimeoutTrigger", flag, bool, "True")
        by = duration_ms(timeout, "ProcessingTimeoutTrigger timeout")
        if by == 0:
            raise TriggerError(
                'ProcessingTimeoutTrigger needs a timeout of more than 0 ms, as "1s"'
            )
        nested = nested_trigger.trigger
        inside = nested.trigger if isinstance(nested, t.Repeatedly) else nested
        if nested_trigger.purging:
            raise UnsupportedError(
                "ProcessingTimeoutTrigger.of(PurgingTrigger...) would empty the window at some "
                "firings only; write PurgingTrigger.of(ProcessingTimeoutTrigger.of(...))"
            )
        plain = isinstance(inside, t.AfterCount | t.AfterWatermark | t.Never)
        if not plain or nested_trigger.refires:
            raise UnsupportedError(
                f"ProcessingTimeoutTrigger of the trigger {nested} of the model; give it a "
                "CountTrigger, EventTimeTrigger, ProcessingTimeTrigger or NeverTrigger"
            )
        # The clock of the harness is a millisecond ahead of Flink's, see there.
        timer = (AfterSilence if reset_timer_on_new_record else t.AfterProcessingTime)(by - 1)
        if should_clear_on_timeout:
            trigger = t.Repeatedly(t.AfterFirst(nested, timer))
        elif reset_timer_on_new_record:
            trigger = t.Repeatedly(t.OrFinally(t.Repeatedly(timer), inside))
        else:
            trigger = t.Repeatedly(t.OrFinally(t.AfterEach(timer, t.Never()), inside))
        return Trigger(
            trigger,
            at_end=nested_trigger.at_end,
            refires=nested_trigger.at_end and not should_clear_on_timeout,
            at_cleanup=True,
            forgets_end=nested_trigger.at_end and should_clear_on_timeout,
            merges=False,
            windows=nested_trigger.windows,
        )


class PurgingTrigger:
    """Fires as another trigger does, and empties the window; its bounds stay."""

    @staticmethod
    def of(trigger: Trigger) -> Trigger:
        """That trigger, purging.

        Raises:
            WindowingError: It is no trigger.
        """
        check_kind("PurgingTrigger trigger", trigger, Trigger, _EXAMPLE)
        by_clock = trigger.by_clock and attrs.evolve(trigger.by_clock, purging=True)
        return attrs.evolve(trigger, purging=True, by_clock=by_clock)
