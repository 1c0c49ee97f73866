"""From a trigger to its running form. One entry for each trigger of `beamlike.model.triggers`, and
one for all others."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from beamlike.errors import UnsupportedError
from beamlike.machine.reference import composites, leaves
from beamlike.machine.reference.custom import CustomTriggerNode
from beamlike.machine.reference.running import TriggerNode
from beamlike.model import triggers as spec
from beamlike.model.custom_trigger import CustomTrigger

_LEAVES: Final[Mapping[type[spec.Trigger], Callable[[Any], TriggerNode]]] = {
    spec.DefaultTrigger: lambda trigger: leaves.DefaultNode("DefaultTrigger"),
    spec.AfterProcessingTime: leaves.AfterTimeNode,
    spec.AfterSynchronizedProcessingTime: leaves.AfterTimeNode,
    spec.AfterCount: leaves.AfterCountNode,
    spec.Never: lambda trigger: leaves.ConstantNode("Never", False),
    spec.Always: lambda trigger: leaves.ConstantNode("Always", True),
    CustomTrigger: CustomTriggerNode,
}
_COMPOSITES: Final[Mapping[type[spec.Trigger], type[TriggerNode]]] = {
    spec.Repeatedly: composites.RepeatedlyNode,
    spec.AfterFirst: composites.AfterFirstNode,
    spec.AfterAll: composites.AfterAllNode,
    spec.AfterEach: composites.AfterEachNode,
    spec.OrFinally: composites.OrFinallyNode,
}


def node_of(trigger: spec.Trigger, merging: bool) -> TriggerNode:
    """The running form of a trigger."""
    if isinstance(trigger, spec.AfterWatermark):
        if not trigger.children:
            return leaves.AfterEndOfWindowNode("AfterWatermark")
        parts = [trigger.early or spec.Never(), *([trigger.late] if trigger.late else [])]
        subs = [node_of(part, merging) for part in parts]
        return composites.AfterWatermarkNode("AfterWatermark", subs, merging)
    for cls, leaf in _LEAVES.items():
        if isinstance(trigger, cls):
            return leaf(trigger)
    composite = _COMPOSITES.get(type(trigger))
    if composite is None:
        raise UnsupportedError(f"the reference machine does not know the trigger {trigger!r}")
    subs = [node_of(child, merging) for child in trigger.children]
    return composite(type(trigger).__name__, subs, merging)
