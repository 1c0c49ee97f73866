"""From a trigger to its running form. One entry for each trigger of `beamlike.model.triggers`, and
one for all others."""

from typing import Final

from beamlike.errors import UnsupportedError
from beamlike.machine.reference.composites import (
    AfterAll,
    AfterEach,
    AfterFirst,
    AfterWatermark,
    OrFinally,
    Repeatedly,
)
from beamlike.machine.reference.custom import Custom
from beamlike.machine.reference.leaves import (
    AfterCount,
    AfterEndOfWindow,
    AfterTime,
    Constant,
    Default,
)
from beamlike.machine.reference.running import Running
from beamlike.model import triggers as spec
from beamlike.model.custom_trigger import CustomTrigger

_COMPOSITES: Final[dict[type[spec.Trigger], type[Running]]] = {
    spec.Repeatedly: Repeatedly,
    spec.AfterFirst: AfterFirst,
    spec.AfterAll: AfterAll,
    spec.AfterEach: AfterEach,
    spec.OrFinally: OrFinally,
}


def run_trigger(trigger: spec.Trigger, merging: bool) -> Running:
    """The running form of a trigger."""
    match trigger:
        case spec.DefaultTrigger():
            return Default("DefaultTrigger")
        case spec.AfterWatermark(early=None, late=None):
            return AfterEndOfWindow("AfterWatermark")
        case spec.AfterWatermark(early=early, late=late):
            parts = [early or spec.Never(), *([] if late is None else [late])]
            subs = [run_trigger(part, merging) for part in parts]
            return AfterWatermark("AfterWatermark", subs, merging)
        case spec.AfterProcessingTime() | spec.AfterSynchronizedProcessingTime():
            return AfterTime(trigger)
        case spec.AfterCount():
            return AfterCount(trigger)
        case spec.Never():
            return Constant("Never", False)
        case spec.Always():
            return Constant("Always", True)
        case CustomTrigger():
            return Custom(trigger)
    composite = _COMPOSITES.get(type(trigger))
    if composite is None:
        raise UnsupportedError(f"the reference machine does not know the trigger {trigger!r}")
    subs = [run_trigger(child, merging) for child in trigger.children]
    return composite(type(trigger).__name__, subs, merging)
