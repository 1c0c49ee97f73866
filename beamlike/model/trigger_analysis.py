"""What a trigger can and cannot do, read from its tree alone.

A no of `can_fire`, `can_close` and `can_stay_open` is certain; a yes means that nothing rules it
out. A yes of `closes` is certain.

In all of them ``end_comes`` says whether the end of a window is an event of its own. It is not
if the window expires there and then, or, as the global window on a stream, never ends.
"""

from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.trigger_base import BeamTrigger, CompositeTrigger, unknown_trigger
from beamlike.model.triggers import (
    AfterEach,
    AfterWatermark,
    DefaultTrigger,
    Never,
    OrFinally,
    Trigger,
)


def can_fire(trigger: Trigger, end_comes: bool) -> bool:
    """Whether it can get ready."""
    match trigger:
        case DefaultTrigger():
            return end_comes
        case AfterWatermark(early=early):
            return end_comes or (early is not None and can_fire(early, end_comes=False))
        case CompositeTrigger():
            return trigger.holds_for(can_fire(child, end_comes) for child in trigger.children)
        case BeamTrigger() | CustomTrigger():
            return not isinstance(trigger, Never)
    raise unknown_trigger(trigger)


def can_close(trigger: Trigger, end_comes: bool) -> bool:
    """Whether it can finish."""
    match trigger:
        case AfterWatermark(late=late):
            return end_comes and late is None
        case AfterEach():
            return all(can_close(child, end_comes) for child in trigger.children)
        case OrFinally():
            return any(can_close(child, end_comes) for child in trigger.children)
    return trigger.may_finish and can_fire(trigger, end_comes)


def can_stay_open(trigger: Trigger, end_comes: bool) -> bool:
    """Whether it can fire without finishing."""
    match trigger:
        case AfterWatermark(early=early, late=late):
            before_end = early is not None and can_fire(early, end_comes=False)
            return before_end or (end_comes and late is not None)
        case OrFinally():
            return any(can_stay_open(child, end_comes) for child in trigger.children)
    return not trigger.fires_once and can_fire(trigger, end_comes)


def closes(trigger: Trigger) -> bool:
    """Whether it always finishes once it has fired often enough before the window's end."""
    match trigger:
        case AfterEach():
            return all(map(closes, trigger.children))
        case OrFinally():
            return any(map(closes, trigger.children))
    return trigger.fires_once and trigger.always_fires


def minds_stale_processing_timers(trigger: Trigger) -> bool:
    """Whether a timer matters although its trigger no longer waits for it.

    Beam never cancels a timer, and a window whose timer fires may emit for another reason: an
    `AfterEach` whose next child is ready already, an `OrFinally` whose ``until`` fires again.
    Elsewhere a second firing finds nothing new and leaves everything as it was, so only
    current targets are kept, and a trigger that fires often does not pile up timers.
    """
    return any(
        isinstance(node, AfterEach) or (isinstance(node, OrFinally) and not node.until.fires_once)
        for node in trigger.walk()
    )
