"""What every trigger is: a frozen value with children, and what can be known of it.

Source: Beam Java, ``Trigger``; Beam Python ``TriggerFn``.
"""

from collections.abc import Iterator, Mapping

from beamlike.errors import TriggerError, UnsupportedError
from beamlike.model.readable import Readable
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windows import Window


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

    @property
    def without_unit(self) -> Mapping[str, int]:
        """As `WindowFn.without_unit`, of this trigger without its children."""
        return {}

    def continuation(self) -> "Trigger":
        """The trigger of the grouping after one with this trigger, see `beamlike.continuation`.

        Raises:
            UnsupportedError: Its class does not say.
        """
        raise unknown_trigger(self)

    def latest_first_firing(self, window: Window) -> int:
        """The watermark (ms) beyond which a window that has no pane yet has had no data on time.

        What waits for the first pane of a window, such as a side input, need not wait any longer.
        `MAX_TIMESTAMP` for triggers that no watermark makes ready. For `Always`, of which Beam
        does not say, the end of the window.

        Raises:
            UnsupportedError: Its class does not say.

        Source: Beam Java, ``Trigger.getWatermarkThatGuaranteesFiring``.
        """
        raise unknown_trigger(self)

    def data_loss(
        self, allowed_lateness: int, least_lateness: int = 0, unit: Resolution = MILLISECONDS
    ) -> str | None:
        """How it may drop data that comes in time, and what to change; None if it cannot.

        Args:
            allowed_lateness: In ticks.
            least_lateness: What it cannot be less than, as it was set before.
            unit: What a tick is.

        Source: Beam Java, ``GroupByKey.triggerIsSafe``.
        """
        if not self.may_finish:
            return None
        return (
            f"{self} may finish, and data that arrives afterwards would be dropped; write "
            f"Repeatedly({self})"
        )

    def walk(self) -> Iterator["Trigger"]:
        """This trigger and everything below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


def unknown_trigger(trigger: Trigger) -> UnsupportedError:
    """The error for a trigger class of which nothing is known here."""
    return UnsupportedError(
        f"{trigger!r} is not a trigger that beamlike knows; build it from those of "
        "beamlike.model.triggers, or make its class a beamlike.CustomTrigger"
    )


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
    """Base of the triggers whose first firing is always their last.

    By default no watermark makes them ready.
    """

    @property
    def fires_once(self) -> bool:
        return True

    def latest_first_firing(self, window: Window) -> int:
        return MAX_TIMESTAMP
