"""Triggers: when a window's content is emitted. A tree of frozen values.

A trigger here only describes *what* is wanted. How each one is notified, gets ready, fires and
merges stands in `beamlike.machine.reference`, files `leaves` and `composites`, one class per
trigger; what it remembers of a window is a `TriggerState` there. Triggers that Beam does not have
are in `beamlike.model.extra_triggers`.

Source: Beam Java, ``sdks/java/core/.../transforms/windowing``; Beam Python ``trigger``.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar

import attrs

from beamlike.errors import TriggerError
from beamlike.model.copies import with_fields
from beamlike.model.delays import AlignTo, Delay, transform_of
from beamlike.model.described import NO_ARGUMENTS, ArgumentKind
from beamlike.model.options import whole_number
from beamlike.model.resolution import MILLISECONDS, Resolution, finest_of
from beamlike.model.time import DurationLike
from beamlike.model.trigger_base import (
    BeamTrigger,
    CompositeTrigger,
    OnceTrigger,
    Trigger,
    require_trigger,
)

__all__ = [
    "AfterAll",
    "AfterAny",
    "AfterCount",
    "AfterEach",
    "AfterFirst",
    "AfterProcessingTime",
    "AfterSynchronizedProcessingTime",
    "AfterWatermark",
    "AlignTo",
    "Always",
    "DefaultTrigger",
    "Delay",
    "Never",
    "OrFinally",
    "Repeatedly",
    "Trigger",
]


@attrs.frozen
class DefaultTrigger(BeamTrigger):
    """Fires when the watermark passes the end of the window, then once per late bundle.

    >>> print(DefaultTrigger().may_finish)
    False
    """

    arguments = NO_ARGUMENTS
    may_finish = False


@attrs.frozen(init=False)
class AfterWatermark(BeamTrigger):
    """Fires when the watermark passes the end of the window.

    Args:
        early: Fires again and again before the end, starting over after each firing. Default:
            nothing comes out before the end.
        late: Fires again and again on what arrives after the end. Without it the trigger
            finishes at the end of the window and later data is dropped as closed.

    Source: Beam Java ``AfterWatermark.pastEndOfWindow().withEarlyFirings().withLateFirings()``.

    >>> print(AfterWatermark(early=AfterProcessingTime("1 minute"), late=AfterCount(1)))
    AfterWatermark(early=AfterProcessingTime(1m), late=AfterCount(1))
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"early": "trigger", "late": "trigger"}

    early: Trigger | None
    late: Trigger | None

    def __init__(self, early: Trigger | None = None, late: Trigger | None = None) -> None:
        self.__attrs_init__(
            None if early is None else require_trigger("AfterWatermark early", early),
            None if late is None else require_trigger("AfterWatermark late", late),
        )

    @property
    def fires_once(self) -> bool:
        return self.early is None and self.late is None

    @property
    def may_finish(self) -> bool:
        return self.late is None

    @property
    def always_fires(self) -> bool:
        return self.early is not None and self.early.always_fires

    @property
    def fires_on_arrival(self) -> bool:
        return self.early is not None and self.early.fires_on_arrival

    def data_loss(
        self, allowed_lateness: int, least_lateness: int = 0, unit: Resolution = MILLISECONDS
    ) -> str | None:
        if not self.may_finish or allowed_lateness == 0:
            return None
        early = f"early={self.early}, " if self.early else ""
        less = ", or allowed_lateness=0"
        if least_lateness:
            less = f"{less} where {unit.show_duration(least_lateness)} was set, as it never shrinks"
        return (
            f"{self} finishes at the end of the window, and data within the allowed lateness of "
            f"{unit.show_duration(allowed_lateness)} would be dropped; write "
            f"AfterWatermark({early}late=AfterCount(1)){less}"
        )


@attrs.frozen(init=False)
class AfterProcessingTime(OnceTrigger):
    """Fires once the clock is strictly past a target counted from the pane's first element.

    Args:
        transforms: Applied from left to right to the arrival time of the first element; a
            bare duration (``"10 seconds"``, a timedelta, an int of milliseconds) is a `Delay`.
            None at all means: as soon as the clock moves.
        delay: The same as one leading `Delay`, as a keyword.

    Source: Beam Java ``AfterProcessingTime.pastFirstElementInPane().plusDelayOf().alignedTo()``.
    Beam Python fires when the clock equals the target; Java, and this, when it is past it.

    >>> AfterProcessingTime("10 seconds").target(arrival=5_000)
    15000
    >>> AfterProcessingTime("10 seconds", AlignTo("1 minute")).target(arrival=5_000)
    60000
    """

    needs_clock = True
    always_fires = True

    transforms: tuple[Delay | AlignTo, ...]
    resolution: Resolution = attrs.field(default=MILLISECONDS, init=False, eq=False, repr=False)
    without_unit: Mapping[str, int] = attrs.field(init=False, eq=False, repr=False)

    def __init__(
        self, *transforms: Delay | AlignTo | DurationLike, delay: DurationLike | None = None
    ) -> None:
        moves = transforms if delay is None else (delay, *transforms)
        self.__attrs_init__(
            tuple(transform_of(move, "AfterProcessingTime delay") for move in moves)
        )
        numbers = [pair for move in self.transforms for pair in move.without_unit.items()]
        unit = finest_of(move.resolution for move in self.transforms)
        object.__setattr__(self, "without_unit", dict(numbers))
        object.__setattr__(self, "resolution", unit)

    def in_resolution(self, resolution: Resolution) -> "AfterProcessingTime":
        moves = tuple(move.in_resolution(resolution) for move in self.transforms)
        return with_fields(self, transforms=moves, resolution=resolution)

    def target(self, arrival: int) -> int:
        """The instant that the clock must pass for a first element that came at ``arrival``."""
        for transform in self.transforms:
            arrival = transform.apply(arrival)
        return arrival

    def continuation(self) -> Trigger:
        return AfterSynchronizedProcessingTime()

    def __str__(self) -> str:
        return f"AfterProcessingTime({', '.join(map(str, self.transforms))})"


@attrs.frozen
class AfterSynchronizedProcessingTime(OnceTrigger):
    """Fires as soon as the clock moves past the arrival of the pane's first element.

    Beam hands it to the grouping after one with `AfterProcessingTime`.

    >>> from beamlike import continuation
    >>> print(continuation(AfterProcessingTime("10 seconds")))
    AfterSynchronizedProcessingTime()
    """

    arguments = NO_ARGUMENTS
    needs_clock = True
    always_fires = True

    def target(self, arrival: int) -> int:
        return arrival


@attrs.frozen
class AfterCount(OnceTrigger):
    """Fires once the pane holds at least ``count`` elements.

    It is evaluated once per bundle: three elements that arrive together make one pane of three,
    also with a count of two.

    Source: Beam Java ``AfterPane.elementCountAtLeast``, Beam Python ``AfterCount``.

    >>> print(Repeatedly(AfterCount(100)))
    Repeatedly(AfterCount(100))
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"count": "count"}
    always_fires = True
    fires_on_arrival = True

    count: int

    def __attrs_post_init__(self) -> None:
        whole_number(self.count, 1, "AfterCount count", TriggerError)

    def continuation(self) -> Trigger:
        return AfterCount(1)


@attrs.frozen(init=False)
class Repeatedly(CompositeTrigger):
    """Fires whenever ``trigger`` fires, starting it over when it finishes. Never finishes.

    >>> AfterCount(100).may_finish, Repeatedly(AfterCount(100)).may_finish
    (True, False)
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"trigger": "trigger"}
    may_finish = False

    trigger: Trigger

    def __init__(self, trigger: Trigger) -> None:
        self.__attrs_init__(require_trigger("Repeatedly trigger", trigger))


@attrs.frozen(init=False)
class _TriggersInOrder(CompositeTrigger):
    """A trigger made of others, in order. Of one alone it does what that one does, once."""

    triggers: tuple[Trigger, ...]

    def __init__(self, *triggers: Trigger) -> None:
        name = type(self).__name__
        if not triggers:
            raise TriggerError(
                f"{name} needs triggers, as separate arguments, got none; "
                f"write {name}(AfterCount(100), AfterWatermark())"
            )
        self.__attrs_init__(tuple(require_trigger(f"a part of {name}", t) for t in triggers))

    @property
    def children(self) -> tuple[Trigger, ...]:
        return self.triggers

    def with_children(self, change: Callable[[Trigger], Trigger]) -> Trigger:
        return type(self)(*map(change, self.triggers))

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.triggers))})"


@attrs.frozen(init=False)
class AfterEach(_TriggersInOrder):
    """Runs its triggers one after the other; finishes when the last one does.

    A pane of one element first, and then panes of a hundred:

    >>> print(AfterEach(AfterCount(1), Repeatedly(AfterCount(100))))
    AfterEach(AfterCount(1), Repeatedly(AfterCount(100)))
    """

    @property
    def may_finish(self) -> bool:
        return all(trigger.may_finish for trigger in self.triggers)

    @property
    def always_fires(self) -> bool:
        for trigger in self.triggers:
            if not trigger.always_fires:
                return False
            if not trigger.may_finish:
                break  # the triggers behind it never get their turn
        return True

    def continuation(self) -> Trigger:
        # How far the first grouping had got is not known any more: take what comes.
        return Repeatedly(AfterFirst(*(trigger.continuation() for trigger in self.triggers)))


@attrs.frozen(init=False)
class AfterFirst(_TriggersInOrder):
    """Fires once, when any of its triggers is ready. Beam Python calls it ``AfterAny``.

    At the hundredth element, or after a minute with less, again and again:

    >>> print(Repeatedly(AfterFirst(AfterCount(100), AfterProcessingTime("1 minute"))))
    Repeatedly(AfterFirst(AfterCount(100), AfterProcessingTime(1m)))
    """

    ready_by = "any"
    fires_once = True


AfterAny = AfterFirst
"""`AfterFirst`, by its name in Beam Python."""


@attrs.frozen(init=False)
class AfterAll(_TriggersInOrder):
    """Fires once, when all of its triggers are ready or finished.

    Not before the hundredth element, and not before a minute is over:

    >>> print(AfterAll(AfterCount(100), AfterProcessingTime("1 minute")))
    AfterAll(AfterCount(100), AfterProcessingTime(1m))
    """

    ready_by = "all"
    fires_once = True


@attrs.frozen(init=False)
class OrFinally(CompositeTrigger):
    """Fires whenever ``main`` does, and a last time when ``until`` is ready.

    ``until`` judges everything the window received since it started, also what ``main``
    has emitted already.

    Panes of ten elements, until the end of the window:

    >>> print(OrFinally(Repeatedly(AfterCount(10)), AfterWatermark()))
    OrFinally(Repeatedly(AfterCount(10)), until=AfterWatermark())
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"main": "trigger", "until": "trigger"}
    ready_by = "any"

    main: Trigger
    until: Trigger

    def __init__(self, main: Trigger, until: Trigger) -> None:
        self.__attrs_init__(
            require_trigger("OrFinally main", main), require_trigger("OrFinally until", until)
        )

    @property
    def may_finish(self) -> bool:
        return self.main.may_finish or self.until.may_finish

    def continuation(self) -> Trigger:
        # Beam Python keeps it as it is; Java, and this, repeat it.
        return Repeatedly(super().continuation())

    def __str__(self) -> str:
        return f"OrFinally({self.main}, until={self.until})"


@attrs.frozen
class Never(OnceTrigger):
    """Never fires. The content of the window comes out once, when the window expires.

    >>> from beamlike import FixedWindows, WindowingStrategy, report
    >>> bool(report(WindowingStrategy(FixedWindows("1 hour"), Never())).never_fires)
    True
    """

    arguments = NO_ARGUMENTS

    def data_loss(
        self, allowed_lateness: int, least_lateness: int = 0, unit: Resolution = MILLISECONDS
    ) -> str | None:
        return None


@attrs.frozen
class Always(BeamTrigger):
    """Fires after every bundle and never finishes.

    Source: Beam Java ``ReshuffleTrigger``, Beam Python ``Always``.

    >>> print(Always().may_finish)
    False
    """

    arguments = NO_ARGUMENTS
    may_finish = False
    always_fires = True
    fires_on_arrival = True
