"""What Beam Python says of triggers, where it says another thing than beamlike."""

from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.trigger_analysis import unknown_trigger
from beamlike.model.trigger_base import Trigger
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
)


def loses_in_beam_python(trigger: Trigger, lateness: int) -> bool:
    """Beam Python's ``TriggerFn.may_lose_data``."""
    match trigger:
        case DefaultTrigger() | Always() | Never() | Repeatedly():
            return False
        case AfterWatermark(late=late):
            return lateness > 0 and late is None
        case AfterCount() | AfterProcessingTime() | AfterSynchronizedProcessingTime():
            return True
        case CustomTrigger():
            return trigger.may_finish
        case AfterFirst() | OrFinally():
            return any(loses_in_beam_python(child, lateness) for child in trigger.children)
        case AfterAll() | AfterEach():
            return all(loses_in_beam_python(child, lateness) for child in trigger.children)
        case _:
            raise unknown_trigger(trigger)
