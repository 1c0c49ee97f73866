"""Triggers of one's own: the contract that their classes keep.

A custom trigger is a leaf of the tree. It is a frozen value with pure methods: what it keeps of a
window goes in, what it keeps from then on comes out. `check_trigger` of `beamlike.testing` tries
its laws. The triggers of `beamlike.model.extra_triggers` are written against this contract alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, get_args

import attrs

from beamlike.errors import TriggerError
from beamlike.model import triggers as built_in
from beamlike.model.copies import own_copy, with_fields
from beamlike.model.fingerprint import stable_repr
from beamlike.model.resolution import Resolution
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.trigger_context import ArrivedElements, TriggerContext
from beamlike.model.triggers import Trigger
from beamlike.model.windows import Window

State = TypeVar("State")

Firings = Literal["once", "repeated", "until finished"]
Keeps = Literal["number", "value", "both"]
LooksAt = Literal["counts", "timestamps", "values"]

_TAKEN: Final = frozenset(name for name in built_in.__all__ if name != "Trigger")
_CHOICES: Final[Mapping[str, Any]] = {"firings": Firings, "keeps": Keeps, "looks_at": LooksAt}


@attrs.frozen(eq=False)
class CustomTrigger(Trigger, Generic[State]):
    """Base of triggers of one's own. Subclass it as a frozen value.

    A custom trigger stands in a tree wherever a trigger without children does. The machine calls
    its methods, which are pure: they change nothing and read nothing but their arguments. What it
    keeps of each window is one value, its state; that a firing was the last one is kept for it.
    It runs key by key on the reference machine, on every host.

    Saved state knows the trigger by its text, ``str(trigger)``. By default that names the class and
    its fields, and a query that starts with another text refuses the checkpoint.

    To write: `on_elements`, `is_ready` and `merge`, and of these what differs from the default:

    ============================  ==================================================================
    ``firings``                   ``"once"``: its first firing is its last. ``"repeated"``: it never
                                  finishes. ``"until finished"``: `finishes` says which is the last
    ``keeps``                     what its state is: a ``"number"`` (whole, 64 bits, or None), any
                                  ``"value"`` that can be pickled, or ``"both"``: a pair of a number
                                  and a tuple of one value or none. Numbers are saved unpickled
    ``looks_at``                  of elements: their ``"counts"``, also their ``"timestamps"``, or
                                  their ``"values"`` too
    ``observes_all_elements``     whether it also sees those that come while it is another trigger's
                                  turn; `on_pane` is then called for them
    ``waits_for_end``             whether it may get ready by the end of its window alone
    ``fires_on_arrival``          whether elements alone can make it ready
    ``state_version``             raise it when what is kept changes its meaning: saved state with
                                  another version is refused
    ============================  ==================================================================

    Raises:
        TriggerError: As the class is made: one of these has a value that it cannot have, or the
            class has the name of a trigger of beamlike.

    Source: Beam Java, ``TriggerStateMachine``: ``onElement``, ``onMerge``, ``shouldFire``,
    ``onFire``, ``clear``.

    >>> import attrs, beamlike as bl
    >>> @attrs.frozen
    ... class EveryTenth(bl.CustomTrigger[int]):
    ...     firings = "repeated"
    ...     keeps = "number"
    ...     def start(self) -> int:
    ...         return 0
    ...     def on_elements(self, state, arrived, now) -> int:
    ...         return state + arrived.count
    ...     def is_ready(self, state, now) -> bool:
    ...         return state >= 10
    ...     def on_fire(self, state, now) -> int:
    ...         return state % 10
    ...     def merge(self, states, now) -> int:
    ...         return sum(states)
    >>> print(bl.AfterWatermark(early=EveryTenth()))
    AfterWatermark(early=EveryTenth())
    >>> bl.testing.check_trigger(EveryTenth())
    """

    firings: ClassVar[Firings] = "once"
    keeps: ClassVar[Keeps] = "value"
    looks_at: ClassVar[LooksAt] = "counts"
    observes_all_elements: ClassVar[bool] = False
    waits_for_end: ClassVar[bool] = False
    state_version: ClassVar[int] = 1

    asked: ClassVar[str] = "on_elements"
    """What errors call the function that is asked about elements."""

    _read: Callable[[Any], Any] | None = attrs.field(default=None, init=False, repr=False)
    """From an element at rest to its value, see `reading`."""

    _per_ms: int = attrs.field(default=1, init=False, repr=False)
    """Ticks of the query in a millisecond, which is all that one of a user's own knows."""

    @property
    def per_ms(self) -> int:
        """Ticks of the query in a millisecond, for a trigger that knows no other unit; else 1."""
        return self._per_ms

    def in_resolution(self, resolution: Resolution) -> Trigger:
        if self.arguments:
            return self
        return with_fields(self, _per_ms=resolution.per_ms)

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for name, choices in _CHOICES.items():
            if getattr(cls, name) not in get_args(choices):
                raise TriggerError(
                    f"{name} of {cls.__name__} must be one of "
                    f"{', '.join(map(repr, get_args(choices)))}, got {getattr(cls, name)!r}"
                )
        if not _is_ours(cls) and cls.__name__ in _TAKEN.union(
            sub.__name__ for sub in _below(CustomTrigger)
        ):
            raise TriggerError(
                f"{cls.__name__} is the name of a trigger of beamlike, and saved state knows "
                "triggers by name; give the class another one"
            )

    # -- what it keeps ---------------------------------------------------------------------

    def start(self) -> State:
        """What it keeps of a new window. Default: None."""
        return None  # type: ignore[return-value]

    def on_elements(self, state: State, arrived: ArrivedElements, now: TriggerContext) -> State:
        """Elements of one bundle were added to the window.

        How elements are cut into bundles must not matter. What it raises is the fault of the
        element, which fails or is dropped as ``on_error`` says.
        """
        raise NotImplementedError

    def on_fire(self, state: State, now: TriggerContext) -> State:
        """Its pane came out, or it begins anew after one. Default: `start`.

        Called a second time at the same moment it changes nothing more.
        """
        return self.start()

    def on_pane(self, state: State, now: TriggerContext) -> State:
        """A pane came out for which it was not ready; what it waited for has left with it.
        Default: as `on_fire`."""
        return self.on_fire(state, now)

    def on_end(self, state: State) -> State:
        """The end of its window was dealt with while it was the early trigger of `AfterWatermark`.
        It comes back if the window grows. Default: `start`."""
        return self.start()

    def merge(self, states: Sequence[State], now: TriggerContext) -> State:
        """What it keeps of the merged window. Associative.

        Args:
            states: What it keeps of each window with data that merges, at least one, in order of
                ``(start, end)``.
            now: With the merged window.
        """
        raise NotImplementedError

    def merges_finished(self, result: bool, parts: Sequence[bool]) -> bool:
        """Whether it has finished in a merged window. Not asked of one that never finishes.

        Args:
            result: Whether the merged window was there before, and it had finished in it.
            parts: Whether it had finished, for each window that merges.

        Default: it has if it had in any of them, as Beam's ``AfterPane``.
        """
        return any(parts)

    # -- when it fires ---------------------------------------------------------------------

    def is_ready(self, state: State, now: TriggerContext) -> bool:
        """Whether to fire. Asked after each bundle, and when a timer is due."""
        raise NotImplementedError

    def finishes(self, state: State, now: TriggerContext) -> bool:
        """Whether the firing for which it is ready is its last; asked before `on_fire`, and only
        with ``firings = "until finished"``."""
        return True

    def processing_time_timers(self, state: State) -> Iterable[int]:
        """The processing times (ms) that it waits for. It is asked once the clock is past them.

        A class that has this method needs the clock. Timers are a function of the state: one that
        the state no longer names is taken back.
        """
        return ()

    def event_time_timers(self, state: State) -> Iterable[int]:
        """The event times (ms) that it waits for, besides the end of the window. It is asked once
        the watermark is past them."""
        return ()

    # -- what is known of it before any data comes -------------------------------------------

    @property
    def fires_unchanged(self) -> bool:
        """Whether it fires also if nothing is new, and the value of the pane before comes again."""
        return False

    @property
    def always_fires(self) -> bool:
        """Whether enough elements and time always make it fire before its window's end."""
        return False

    @property
    def fires_on_arrival(self) -> bool:
        """Whether elements alone can make it ready, before the watermark or the clock moves."""
        return True

    def latest_first_firing(self, window: Window) -> int:
        """The watermark (ms) beyond which its first pane of a window with data is out. Default: the
        end of time, that is, none makes it fire."""
        return MAX_TIMESTAMP * self._per_ms

    def continuation(self) -> Trigger:
        """The trigger of the grouping after one with this trigger. Default: one that waits for
        nothing more, once or repeatedly as this one fires."""
        after = (
            built_in.AfterSynchronizedProcessingTime()
            if self.needs_clock
            else built_in.AfterCount(1)
        )
        return after if self.fires_once else built_in.Repeatedly(after)

    @property
    def may_finish(self) -> bool:
        return self.firings != "repeated"

    @property
    def fires_once(self) -> bool:
        return self.firings == "once"

    @property
    def needs_clock(self) -> bool:
        return type(self).processing_time_timers is not CustomTrigger.processing_time_timers

    @property
    def needs_watermark(self) -> bool:
        """Whether it waits for event times of its own."""
        return type(self).event_time_timers is not CustomTrigger.event_time_timers

    @property
    def needs_elements(self) -> bool:
        return self.looks_at != "counts"

    # -- for people ------------------------------------------------------------------------

    def waits_for(self, state: State, now: TriggerContext) -> str | None:
        """What has to happen before it gets ready, as ``2 more elements``; None if nothing can.
        Asked if it is not ready."""
        return f"{self} to get ready"

    def reason(self) -> str:
        """What has happened once it is ready. ``{time}`` stands for the time that `waits_for`
        ends with."""
        return f"{self} was ready"

    def __str__(self) -> str:
        if self.arguments:
            return super().__str__()
        fields = attrs.fields(type(self)) if attrs.has(type(self)) else ()
        known = {field.name: getattr(self, field.name) for field in fields if field.repr}
        parts = (f"{name}={stable_repr(value)}" for name, value in known.items())
        return f"{type(self).__name__}({', '.join(parts)})"

    def arrived(self, count: int, elements: Iterable[tuple[int, Any]]) -> ArrivedElements:
        """What it is given of elements: of each that did not come combined, timestamp and value."""
        if self.looks_at == "counts":
            return ArrivedElements(count)
        read = self._read
        times, values = [], []
        for timestamp, value in elements:
            times.append(timestamp)
            values.append(own_copy(value if read is None else read(value)))
        return ArrivedElements(count, times, values if self.looks_at == "values" else None)


def _is_ours(cls: type) -> bool:
    return cls.__module__.startswith("beamlike.")


def _below(cls: type) -> Iterator[type]:
    """All classes of beamlike that are made from this one."""
    below: list[type] = cls.__subclasses__()
    for sub in below:
        if _is_ours(sub):
            yield sub
            yield from _below(sub)


def custom_triggers_in(trigger: Trigger) -> list[CustomTrigger[Any]]:
    """The triggers of a user's own in a tree, parents first."""
    return [
        node for node in trigger.walk() if isinstance(node, CustomTrigger) and not node.arguments
    ]


# -- over columns ------------------------------------------------------------------------------


def reading(trigger: Trigger, read: Callable[[Any], Any]) -> Trigger:
    """The same trigger over elements that rest as columns; ``read`` makes of these what triggers
    look at."""
    if not trigger.needs_elements:
        return trigger
    if not isinstance(trigger, CustomTrigger):
        return trigger.with_children(lambda child: reading(child, read))
    return with_fields(trigger, _read=read)
