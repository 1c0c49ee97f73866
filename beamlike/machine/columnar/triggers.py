"""From a trigger to its running form. One entry for each trigger of `beamlike.model.triggers`."""

from functools import singledispatch
from typing import Final

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.composites import (
    AfterAll,
    AfterEach,
    AfterFirst,
    AfterWatermark,
    OrFinally,
    Repeatedly,
)
from beamlike.machine.columnar.leaves import (
    AfterCount,
    AfterEndOfWindow,
    AfterTime,
    Constant,
    Default,
)
from beamlike.machine.columnar.nodes import Trigger
from beamlike.model import triggers as spec
from beamlike.model.custom_trigger import CustomTrigger


@singledispatch
def run_trigger(trigger: spec.Trigger, merging: bool) -> Trigger:
    """The running form of a trigger over columns.

    Raises:
        UnsupportedError: The trigger is none of beamlike's.
    """
    raise UnsupportedError(f"{trigger} is a trigger of yours, and only beamlike's run over columns")


@run_trigger.register
def _(trigger: CustomTrigger, merging: bool) -> Trigger:  # type: ignore[type-arg]
    # A class that has a form over columns registers it.
    whose = "" if trigger.arguments else ", a trigger of yours,"
    raise UnsupportedError(f"{trigger}{whose} runs key by key, and not over columns")


@run_trigger.register
def _(trigger: spec.DefaultTrigger, merging: bool) -> Trigger:
    return Default()


@run_trigger.register
def _(trigger: spec.AfterWatermark, merging: bool) -> Trigger:
    if trigger.early is None and trigger.late is None:
        return AfterEndOfWindow()
    subs = [run_trigger(trigger.early or spec.Never(), merging)]
    if trigger.late is not None:
        subs.append(run_trigger(trigger.late, merging))
    return AfterWatermark(subs, merging)


@run_trigger.register
def _(
    trigger: spec.AfterProcessingTime | spec.AfterSynchronizedProcessingTime, merging: bool
) -> Trigger:
    return AfterTime(trigger)


@run_trigger.register
def _(trigger: spec.AfterCount, merging: bool) -> Trigger:
    return AfterCount(trigger)


@run_trigger.register
def _(trigger: spec.Never | spec.Always, merging: bool) -> Trigger:
    return Constant(isinstance(trigger, spec.Always))


_COMPOSITES: Final[dict[type[spec.Trigger], type[Trigger]]] = {
    spec.Repeatedly: Repeatedly,
    spec.AfterFirst: AfterFirst,
    spec.AfterAll: AfterAll,
    spec.AfterEach: AfterEach,
    spec.OrFinally: OrFinally,
}


def _run_composite(trigger: spec.Trigger, merging: bool) -> Trigger:
    subs = [run_trigger(child, merging) for child in trigger.children]
    return _COMPOSITES[type(trigger)](subs, merging)


for _composite in _COMPOSITES:
    run_trigger.register(_composite, _run_composite)
