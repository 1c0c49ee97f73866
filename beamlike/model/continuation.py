"""What a trigger means for the stages after it: its continuation, and when its first pane is due.

Source: Beam Java, ``Trigger.getContinuationTrigger`` and
``Trigger.getWatermarkThatGuaranteesFiring``.
"""

from beamlike.errors import TriggerError, UnsupportedError
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import (
    AfterAll,
    AfterCount,
    AfterEach,
    AfterFirst,
    AfterProcessingTime,
    AfterSynchronizedProcessingTime,
    AfterWatermark,
    Always,
    DefaultTrigger,
    Never,
    OrFinally,
    Repeatedly,
    Trigger,
)
from beamlike.model.windows import Window

__all__ = ["continuation", "guaranteed_firing", "unknown_trigger"]


def continuation(trigger: Trigger) -> Trigger:
    """The trigger of the grouping after one with this trigger, unless another is set.

    The waiting was done by the grouping before. What it lets through shall not wait for a
    count or a delay once more, and not be called late.

    Beam Python keeps ``OrFinally`` as it is; Java, and this, repeat it.

    >>> print(continuation(AfterWatermark(early=AfterCount(100))))
    AfterWatermark(early=AfterCount(1))

    Raises:
        TriggerError: This is no trigger.
        UnsupportedError: It is none of beamlike's.
    """
    if not isinstance(trigger, Trigger):
        raise TriggerError(f"continuation needs a trigger such as AfterCount(1), got {trigger!r}")
    after = tuple(map(continuation, trigger.children))
    match trigger:
        case AfterCount():
            return AfterCount(1)
        case AfterProcessingTime():
            return AfterSynchronizedProcessingTime()
        case CustomTrigger():
            return trigger.continuation()
        case AfterWatermark(early=early, late=late):
            return AfterWatermark(
                None if early is None else continuation(early),
                None if late is None else continuation(late),
            )
        case AfterEach():
            # How far the first grouping had got is not known any more: take what comes.
            return Repeatedly(AfterFirst(*after))
        case OrFinally():
            return Repeatedly(OrFinally(*after))
        case AfterFirst() | AfterAll() | Repeatedly():
            return type(trigger)(*after)
        case DefaultTrigger() | AfterSynchronizedProcessingTime() | Never() | Always():
            return trigger
        case _:
            raise unknown_trigger(trigger)


def guaranteed_firing(trigger: Trigger, window: Window) -> int:
    """The watermark (ms) beyond which a window that has no pane yet has had no data on time.

    What waits for the first pane of a window, such as a side input, need not wait any longer.
    `MAX_TIMESTAMP` for triggers that no watermark makes ready. For `Always`, of which Beam
    does not say, the end of the window.

    Raises:
        UnsupportedError: The trigger is none of beamlike's.
    """
    match trigger:
        case DefaultTrigger() | AfterWatermark() | Always():
            return window.max_timestamp
        case CustomTrigger():
            return trigger.latest_first_firing(window)
        case AfterCount() | AfterProcessingTime() | AfterSynchronizedProcessingTime() | Never():
            return MAX_TIMESTAMP
        case AfterFirst() | OrFinally():
            return min(guaranteed_firing(child, window) for child in trigger.children)
        case AfterAll():
            return max(guaranteed_firing(child, window) for child in trigger.children)
        case AfterEach() | Repeatedly():
            return guaranteed_firing(trigger.children[0], window)
        case _:
            raise unknown_trigger(trigger)


def unknown_trigger(trigger: Trigger) -> UnsupportedError:
    """The error for a trigger class of which nothing is known here."""
    return UnsupportedError(
        f"{trigger!r} is not a trigger that beamlike knows; build it from those of "
        "beamlike.model.triggers, or make its class a beamlike.CustomTrigger"
    )
