"""What every trigger is: a frozen value with children, and what can be known of it.

Source: Beam Java, ``Trigger``; Beam Python ``TriggerFn``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, Self

from beamlike.errors import TriggerError, UnsupportedError
from beamlike.model.described import HasArguments
from beamlike.model.readable import Readable
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windows import Window


class Tree:
    """A part of a trigger in whatever form: a node with nodes of its sort below it."""

    __slots__ = ()

    subs: Sequence[Any]

    def walk(self) -> Iterator[Self]:
        """This node and all below it, parents first."""
        yield self
        for sub in self.subs:
            yield from sub.walk()


class Trigger(HasArguments, metaclass=Readable):
    """Base of all triggers. A frozen value with children; it does nothing by itself.

    >>> from beamlike.model.triggers import AfterCount, AfterProcessingTime, AfterWatermark
    >>> trigger = AfterWatermark(early=AfterProcessingTime("1 minute"), late=AfterCount(1))
    >>> trigger.may_finish, trigger.needs_clock
    (False, True)
    """

    resolution: Resolution = MILLISECONDS
    """What its own durations count, without those of its children."""

    without_unit: Mapping[str, int] = MappingProxyType({})
    """As `WindowFn.without_unit`, of this trigger without its children."""

    @property
    def children(self) -> tuple["Trigger", ...]:
        """The sub-triggers, in order."""
        names = [name for name, sort in self.arguments.items() if sort == "trigger"]
        return tuple(child for name in names if (child := getattr(self, name)) is not None)

    def with_children(self, change: Callable[["Trigger"], "Trigger"]) -> "Trigger":
        """The same trigger with other children.

        Args:
            change: From each child to what takes its place.
        """
        parts = {name: getattr(self, name) for name in self.arguments} if self.children else {}
        if not parts:
            return self
        make: Callable[..., Trigger] = type(self)
        return make(**{name: part and change(part) for name, part in parts.items()})

    def in_resolution(self, resolution: Resolution) -> "Trigger":
        """The trigger as a query asks it that counts so.

        Raises:
            TimeError: A duration is finer than the ticks.
        """
        return self.with_children(lambda child: child.in_resolution(resolution))

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
    def always_fires(self) -> bool:
        """Whether enough elements and time always make it fire, before its window's end too."""
        return False

    @property
    def fires_on_arrival(self) -> bool:
        """Whether elements alone can make it ready, before the watermark or the clock moves."""
        return False

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
    """The value, which has to be a trigger."""
    if isinstance(value, Trigger):
        return value
    hint = f"; write {value.__name__}()" if isinstance(value, type) else ""
    raise TriggerError(f"{owner} must be a trigger such as AfterCount(1), got {value!r}{hint}")


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


class BeamTrigger(Trigger):
    """Base of Beam's triggers. By default the end of the window makes them ready, and later stages
    have the same trigger."""

    def continuation(self) -> Trigger:
        return self.with_children(lambda child: child.continuation())

    def latest_first_firing(self, window: Window) -> int:
        return window.max_timestamp


class OnceTrigger(BeamTrigger):
    """Base of the triggers whose first firing is always their last.

    By default no watermark makes them ready.
    """

    @property
    def fires_once(self) -> bool:
        return True

    def latest_first_firing(self, window: Window) -> int:
        return MAX_TIMESTAMP


class CompositeTrigger(BeamTrigger):
    """Base of the triggers that are ready as their children are.

    ``ready_by`` says which of these decide: any, all of them, or the first one.
    """

    ready_by: ClassVar[Literal["any", "all", "first"]] = "first"

    def latest_first_firing(self, window: Window) -> int:
        instants = [child.latest_first_firing(window) for child in self.children]
        instant: int = _AMONG[self.ready_by](instants)
        return instant

    @property
    def always_fires(self) -> bool:
        return self.holds_for(child.always_fires for child in self.children)

    @property
    def fires_on_arrival(self) -> bool:
        return self.holds_for(child.fires_on_arrival for child in self.children)

    def holds_for(self, answers: Iterable[bool]) -> bool:
        """What is true of it, if these are the answers of its children."""
        # As instants: what is true is so at once, and what is not is so later.
        return not _AMONG[self.ready_by]([not answer for answer in answers])


_AMONG: Final[Mapping[str, Callable[[Any], Any]]] = {"any": min, "all": max, "first": itemgetter(0)}
