"""Processing-time timers: when a window's trigger is evaluated again."""

from beamlike.model.triggers import AfterEach, OrFinally, Trigger


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
