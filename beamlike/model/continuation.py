"""The trigger of the grouping after another one."""

from beamlike.errors import TriggerError
from beamlike.model.trigger_base import Trigger


def continuation(trigger: Trigger) -> Trigger:
    """The trigger of the grouping after one with this trigger, unless another is set.

    The waiting was done by the grouping before. What it lets through shall not wait for a
    count or a delay once more, and not be called late.

    >>> import beamlike as bl
    >>> print(continuation(bl.AfterWatermark(early=bl.AfterCount(100))))
    AfterWatermark(early=AfterCount(1))

    Raises:
        TriggerError: This is no trigger.
        UnsupportedError: It is none of beamlike's.

    Source: Beam Java, ``Trigger.getContinuationTrigger``.
    """
    if not isinstance(trigger, Trigger):
        raise TriggerError(f"continuation needs a trigger such as AfterCount(1), got {trigger!r}")
    return trigger.continuation()
