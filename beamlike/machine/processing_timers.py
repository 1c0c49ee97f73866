"""Alarms: the processing times at which a window is to be asked again."""

from beamlike.model.triggers import AfterEach, OrFinally, Trigger

__all__ = ["minds_stale_processing_timers"]


def minds_stale_processing_timers(trigger: Trigger) -> bool:
    """Whether an alarm matters although its trigger no longer waits for it.

    Beam never takes a timer back, and a window that is woken may fire for another reason: an
    `AfterEach` whose next child is ready already, an `OrFinally` whose ``until`` fires again.
    Elsewhere a second firing finds nothing new and leaves everything as it was, so only
    current targets are kept, and a trigger that fires often does not pile up alarms.
    """
    return any(
        isinstance(node, AfterEach) or (isinstance(node, OrFinally) and not node.until.fires_once)
        for node in trigger.walk()
    )
