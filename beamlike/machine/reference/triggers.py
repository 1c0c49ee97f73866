"""From a trigger to its running form. One entry for each trigger of `beamlike.model.triggers`, and
one for all others."""

from functools import singledispatch

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

__all__ = ["run_trigger"]


@singledispatch
def run_trigger(trigger: spec.Trigger, merging: bool) -> Running:
    """The running form of a trigger."""
    raise UnsupportedError(f"the reference machine does not know the trigger {trigger!r}")


@run_trigger.register
def _(trigger: spec.DefaultTrigger, merging: bool) -> Running:
    return Default("DefaultTrigger")


@run_trigger.register
def _(trigger: spec.AfterWatermark, merging: bool) -> Running:
    if trigger.early is None and trigger.late is None:
        return AfterEndOfWindow("AfterWatermark")
    subs = [run_trigger(trigger.early or spec.Never(), merging)]
    if trigger.late is not None:
        subs.append(run_trigger(trigger.late, merging))
    return AfterWatermark("AfterWatermark", subs, merging)


@run_trigger.register
def _(trigger: spec.AfterProcessingTime, merging: bool) -> Running:
    return AfterTime(trigger)


@run_trigger.register
def _(trigger: spec.AfterSynchronizedProcessingTime, merging: bool) -> Running:
    return AfterTime(trigger)


@run_trigger.register
def _(trigger: spec.AfterCount, merging: bool) -> Running:
    return AfterCount(trigger)


@run_trigger.register
def _(trigger: spec.Never, merging: bool) -> Running:
    return Constant("Never", False)


@run_trigger.register
def _(trigger: spec.Always, merging: bool) -> Running:
    return Constant("Always", True)


@run_trigger.register
def _(trigger: CustomTrigger, merging: bool) -> Running:  # type: ignore[type-arg]
    return Custom(trigger)


def _composite(kind: type[Running], trigger: spec.Trigger, merging: bool) -> Running:
    subs = [run_trigger(child, merging) for child in trigger.children]
    return kind(type(trigger).__name__, subs, merging)


@run_trigger.register
def _(trigger: spec.Repeatedly, merging: bool) -> Running:
    return _composite(Repeatedly, trigger, merging)


@run_trigger.register
def _(trigger: spec.AfterFirst, merging: bool) -> Running:
    return _composite(AfterFirst, trigger, merging)


@run_trigger.register
def _(trigger: spec.AfterAll, merging: bool) -> Running:
    return _composite(AfterAll, trigger, merging)


@run_trigger.register
def _(trigger: spec.AfterEach, merging: bool) -> Running:
    return _composite(AfterEach, trigger, merging)


@run_trigger.register
def _(trigger: spec.OrFinally, merging: bool) -> Running:
    return _composite(OrFinally, trigger, merging)
