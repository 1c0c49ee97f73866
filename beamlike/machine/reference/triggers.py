"""From a trigger to its running form. One entry for each trigger of `beamlike.model.triggers`, and
one for all others."""

from typing import Final

from beamlike.errors import UnsupportedError
from beamlike.machine.reference.composites import (
    AfterAllNode,
    AfterEachNode,
    AfterFirstNode,
    AfterWatermarkNode,
    OrFinallyNode,
    RepeatedlyNode,
)
from beamlike.machine.reference.custom import Custom
from beamlike.machine.reference.leaves import (
    AfterCountNode,
    AfterEndOfWindowNode,
    AfterTimeNode,
    ConstantNode,
    DefaultNode,
)
from beamlike.machine.reference.running import TriggerNode
from beamlike.model import triggers as spec
from beamlike.model.custom_trigger import CustomTrigger

_COMPOSITES: Final[dict[type[spec.Trigger], type[TriggerNode]]] = {
    spec.Repeatedly: RepeatedlyNode,
    spec.AfterFirst: AfterFirstNode,
    spec.AfterAll: AfterAllNode,
    spec.AfterEach: AfterEachNode,
    spec.OrFinally: OrFinallyNode,
}


def run_trigger(trigger: spec.Trigger, merging: bool) -> TriggerNode:
    """The running form of a trigger."""
    match trigger:
        case spec.DefaultTrigger():
            return DefaultNode("DefaultTrigger")
        case spec.AfterWatermark(early=None, late=None):
            return AfterEndOfWindowNode("AfterWatermark")
        case spec.AfterWatermark(early=early, late=late):
            parts = [early or spec.Never(), *([] if late is None else [late])]
            subs = [run_trigger(part, merging) for part in parts]
            return AfterWatermarkNode("AfterWatermark", subs, merging)
        case spec.AfterProcessingTime() | spec.AfterSynchronizedProcessingTime():
            return AfterTimeNode(trigger)
        case spec.AfterCount():
            return AfterCountNode(trigger)
        case spec.Never():
            return ConstantNode("Never", False)
        case spec.Always():
            return ConstantNode("Always", True)
        case CustomTrigger():
            return Custom(trigger)
    composite = _COMPOSITES.get(type(trigger))
    if composite is None:
        raise UnsupportedError(f"the reference machine does not know the trigger {trigger!r}")
    subs = [run_trigger(child, merging) for child in trigger.children]
    return composite(type(trigger).__name__, subs, merging)
