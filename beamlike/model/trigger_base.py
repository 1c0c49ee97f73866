"""What every trigger is: a frozen value with children, and what can be known of it.

Source: Beam Java, ``Trigger``; Beam Python ``TriggerFn``.
"""

from collections.abc import Iterator
from enum import Flag
from typing import Any

from beamlike.errors import TriggerError
from beamlike.model.readable import Readable
from beamlike.model.time import duration_ms

__all__ = ["DataLossReason", "OnceTrigger", "Trigger", "require_trigger"]


class DataLossReason(Flag):
    """Why data may be lost under a trigger. Source: Beam Python ``DataLossReason``."""

    NO_POTENTIAL_LOSS = 0
    MAY_FINISH = 1
    """The trigger may finish, and drops what comes afterwards."""


class Trigger(metaclass=Readable):
    """Base of all triggers. A frozen value with children; it does nothing by itself.

    >>> from beamlike.model.triggers import AfterCount, AfterProcessingTime, AfterWatermark
    >>> trigger = AfterWatermark(early=AfterProcessingTime("1 minute"), late=AfterCount(1))
    >>> trigger.may_finish, trigger.needs_clock
    (False, True)
    """

    @property
    def children(self) -> tuple["Trigger", ...]:
        """The sub-triggers, in order."""
        return ()

    @property
    def may_finish(self) -> bool:
        """True if it can fire for the last time while its window may still get data.

        Source: Beam Java, ``Trigger.mayFinish``.
        """
        return True

    @property
    def fires_once(self) -> bool:
        """True if its first firing is always its last. Source: Beam Java, ``OnceTrigger``."""
        return False

    @property
    def needs_clock(self) -> bool:
        """True if it waits on processing time anywhere in its tree."""
        return any(child.needs_clock for child in self.children)

    @property
    def needs_elements(self) -> bool:
        """True if it looks at each element by itself anywhere in its tree, and not only at how
        many there are."""
        return any(child.needs_elements for child in self.children)

    def get_continuation_trigger(self) -> "Trigger":
        """Beam Python's name of `beamlike.continuation` of this trigger."""
        from beamlike.model.continuation import continuation  # which knows all triggers

        return continuation(self)

    def may_lose_data(self, windowing: Any) -> DataLossReason:
        """Whether data that comes in time may be dropped, under a windowing with this trigger.

        Source: Beam Python ``TriggerFn.may_lose_data``; what may be lost is Beam Java's.
        """
        from beamlike.model.validation import data_loss

        lost = data_loss(self, duration_ms(windowing.allowed_lateness, "allowed_lateness"))
        return DataLossReason.NO_POTENTIAL_LOSS if lost is None else DataLossReason.MAY_FINISH

    def walk(self) -> Iterator["Trigger"]:
        """This trigger and everything below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


def require_trigger(owner: str, value: object) -> Trigger:
    """The value, which has to be a trigger.

    Raises:
        TriggerError: It is none.
    """
    if isinstance(value, Trigger):
        return value
    hint = f"; write {value.__name__}()" if isinstance(value, type) else ""
    raise TriggerError(f"{owner} must be a trigger such as AfterCount(1), got {value!r}{hint}")


class OnceTrigger(Trigger):
    """Base of the triggers whose first firing is always their last."""

    @property
    def fires_once(self) -> bool:
        return True
