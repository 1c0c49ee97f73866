"""What Beam Python says of triggers, where it says another thing than beamlike."""

import beamlike as bl
from beamlike.model.trigger_analysis import unknown_trigger


def loses_in_beam_python(trigger: bl.Trigger, lateness: int) -> bool:
    """Beam Python's ``TriggerFn.may_lose_data``."""
    match trigger:
        case bl.DefaultTrigger() | bl.Always() | bl.Never() | bl.Repeatedly():
            return False
        case bl.AfterWatermark(late=late):
            return lateness > 0 and late is None
        case bl.AfterCount() | bl.AfterProcessingTime() | bl.AfterSynchronizedProcessingTime():
            return True
        case bl.CustomTrigger():
            return trigger.may_finish
        case bl.AfterFirst() | bl.OrFinally():
            return any(loses_in_beam_python(child, lateness) for child in trigger.children)
        case bl.AfterAll() | bl.AfterEach():
            return all(loses_in_beam_python(child, lateness) for child in trigger.children)
        case _:
            raise unknown_trigger(trigger)
