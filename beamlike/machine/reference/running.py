"""The methods of a running trigger: the contract of `leaves` and `composites`.

A running trigger holds no state: `TriggerState` values go in and come out. It sets no
timers either; it returns what it waits for (`needs_end_of_window_timer`, `targets`), so a window
that is gone has no timers. `TriggerView` describes the same for people.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import attrs

from beamlike.errors import TriggerError
from beamlike.machine.events import Element, Item
from beamlike.machine.reference.state import TriggerState
from beamlike.model.trigger_base import Tree
from beamlike.model.trigger_context import TriggerContext
from beamlike.safe_text import UserRaised, problem_of

FINISHED = TriggerState(finished=True)

States = Sequence[TriggerState]


class Blamed(Exception):
    """A function of the user's in a trigger raised for an element."""

    def __init__(self, function: str, element: Element, cause: UserRaised) -> None:
        super().__init__(function)
        self.function = function
        self.element = element
        self.cause = cause


class TriggerFailed(TriggerError):
    """A method of a user's trigger raised, or gave back what a trigger cannot keep."""

    def __init__(self, function: str, cause: UserRaised) -> None:
        super().__init__(f"{function} raised {problem_of(cause)}")
        self.function = function
        self.cause = cause


@attrs.frozen
class Now(TriggerContext):
    """All that a trigger may use in a decision. In methods about new elements, ``items`` are the
    elements that were just added to the window, in order of arrival."""

    items: Sequence[Item] = ()

    @property
    def elements(self) -> Iterator[Element]:
        """The elements that were added, except those that were combined before they arrived."""
        return (item for item in self.items if isinstance(item, Element))


@attrs.frozen
class TriggerView(Tree):
    """A node of a window's trigger tree, described for people. It decides nothing.

    Args:
        path: Where it stands in the tree, as ``AfterWatermark.late``. No two nodes of a tree stand
            in the same place.
        name: What it is, as ``AfterCount(3)``. Of a trigger made of triggers only its kind.
        finished: It has fired for the last time. An early trigger is finished once the end of the
            window was processed.
        ready: It would fire now. A node that is finished, or whose turn has not come, is not
            evaluated.
        waits_for: What has to happen before it gets ready, as ``1 more element (2 of 3)``.
        subs: The nodes below it, in order.
        reason: What has happened once it is ready, see `CustomTrigger.reason`; None if that is
            the end of the window.
    """

    path: str
    name: str
    finished: bool
    ready: bool
    waits_for: str
    subs: tuple["TriggerView", ...] = ()
    reason: str | None = None


class TriggerNode(Tree, ABC):
    """A trigger in action: how one node of a tree of triggers changes its `TriggerState`.

    ``merging`` says that its windows may merge. There are four ways to begin anew:

    =============  =====================================  ==========================================
    way            when                                   what is left
    =============  =====================================  ==========================================
    `cleared`      a pane came out for which the node     whether it is finished; of a
                   was not ready                          `CustomTrigger` what `on_pane` says
    `restarted`    a parent that repeats starts it over   nothing; of a `CustomTrigger` what
                                                          `on_fire` says
    `ended`        `AfterWatermark` has passed the end    nothing; of a `CustomTrigger` what
                   of the window, and it was the early    `on_end` says
                   trigger
    ``forgotten``  windows merge to one whose end is to   nothing: no trigger is asked, see
                   come, and it was the late trigger      `TriggerState`
    =============  =====================================  ==========================================

    A window that closes has its tree cleared by `TriggerState.cleared`, which asks no trigger.
    """

    keeps_value: bool = False
    """Whether the node's state has a ``value``: a count, or a target of a clock."""
    observes_all_elements: bool = False
    """Whether it has to get all elements of the window, also while its turn has not come."""
    keeps_element: bool = False
    """Whether the node's state has ``kept`` the value of an element."""
    waits_for_watermark: bool = False
    """Whether the node waits for instants in event time of its own, see `event_time_timers`."""

    def __init__(
        self, name: str, subs: Sequence["TriggerNode"] = (), merging: bool = False
    ) -> None:
        self.name = name
        self.subs: tuple[TriggerNode, ...] = tuple(subs)
        self.merging = merging
        self.observes_all: bool = self.observes_all_elements or any(
            sub.observes_all for sub in self.subs
        )

    def start(self) -> TriggerState:
        return TriggerState(subs=tuple(sub.start() for sub in self.subs))

    def pairs(self, state: TriggerState) -> Iterator[tuple["TriggerNode", TriggerState]]:
        """Each child with its state."""
        return zip(self.subs, state.subs, strict=True)

    @abstractmethod
    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        """``count`` elements of one bundle were added to the window."""

    def on_skipped_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        """``count`` elements were added while it is not the turn of this node. If it observes all
        elements it counts them, without getting ready by them; else it ignores them."""
        if not self.observes_all:
            return state
        return self.cleared(self.on_elements(state, count, now), now)

    @abstractmethod
    def ready(self, state: TriggerState, now: Now) -> bool:
        """Whether to fire now. Does not look at the node's own finished bit."""

    @abstractmethod
    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        """The pane was emitted."""

    @abstractmethod
    def on_merge(self, state: TriggerState, parts: States, now: Now) -> TriggerState:
        """The state in the merged window.

        ``parts`` are the live windows that merged, at least one; ``state`` is the state that
        the result had before, if it was one of them, else a fresh one.
        """

    def needs_end_of_window_timer(self, state: TriggerState) -> bool:
        """Whether an element that arrives now makes the node wait for the end of the window."""
        return False

    def targets(self, state: TriggerState) -> Iterator[int]:
        """The processing times it waits for; each is due once the clock is past it."""
        for sub, sub_state in self.pairs(state):
            yield from sub.targets(sub_state)

    def event_time_timers(self, state: TriggerState) -> Iterator[int]:
        """The event times it waits for, besides the end of the window; each is due once the
        watermark is past it."""
        for sub, sub_state in self.pairs(state):
            yield from sub.event_time_timers(sub_state)

    def fires_when_empty(self, state: TriggerState, now: Now) -> bool:
        """Whether it emits a pane also if nothing is new. Called if it is ready."""
        return any(
            self._is_active(state, index)
            and not state.subs[index].finished
            and sub.ready(state.subs[index], now)
            and sub.fires_when_empty(state.subs[index], now)
            for index, sub in enumerate(self.subs)
        )

    def cleared(self, state: TriggerState, now: Now) -> TriggerState:
        """The state after a pane for which this node was not ready. What it waited for is in that
        pane, so it forgets it. What is finished stays finished."""
        if state.value is None and not state.subs:
            return state
        subs = tuple(sub.cleared(sub_state, now) for sub, sub_state in self.pairs(state))
        return TriggerState(state.finished, None, subs)

    def restarted(self, state: TriggerState, now: Now) -> TriggerState:
        """The state after a pane if the node begins anew, with all nodes below it."""
        subs = (sub.restarted(sub_state, now) for sub, sub_state in self.pairs(state))
        return TriggerState(subs=tuple(subs))

    def ended(self, state: TriggerState) -> TriggerState:
        """The state after the end of the window was processed. The node starts again only if the
        window grows."""
        return TriggerState(subs=tuple(sub.ended(old) for sub, old in self.pairs(state)))

    def because(self, state: TriggerState, now: Now) -> str:
        """Which part of it is ready, as a path: ``AfterWatermark.late[AfterCount(1)]``."""
        return self.name

    # -- for people --------------------------------------------------------------------------

    def waits_for(self, state: TriggerState, now: Now) -> str | None:
        """What has to happen before it gets ready; None if nothing can. Called if it is not."""
        return None

    def reason(self) -> str | None:
        """What has happened once it is ready; None if that is the end of the window."""
        return None

    def _is_active(self, state: TriggerState, index: int) -> bool:
        """Whether child ``index`` decides now."""
        return True

    def _role(self, index: int) -> str:
        """What child ``index`` is called below this node."""
        return str(index + 1)

    def _wait(
        self, state: TriggerState, now: Now, ready: bool, *, is_root: bool, is_active: bool
    ) -> str:
        if state.finished:
            return "nothing: it has finished"
        if not is_active:
            return "its turn"
        if ready:
            return "the next element: it is ready" if is_root else "nothing more: it is ready"
        return self.waits_for(state, now) or "nothing: it can never fire"

    def view(
        self, state: TriggerState, now: Now, path: str | None = None, *, is_active: bool = True
    ) -> TriggerView:
        """The whole tree, described; ``path`` is where this is only a part of one."""
        is_root, path = path is None, path or self.name
        is_active = is_active and not state.finished
        ready = False
        try:
            ready = is_active and self.ready(state, now)
            waits_for = self._wait(state, now, ready, is_root=is_root, is_active=is_active)
        except TriggerFailed as failed:
            waits_for = f"the expiry of its window: {failed}"
        subs = tuple(
            sub.view(
                state.subs[index],
                now,
                f"{path}.{self._role(index)}",
                is_active=is_active and self._is_active(state, index),
            )
            for index, sub in enumerate(self.subs)
        )
        return TriggerView(path, self.name, state.finished, ready, waits_for, subs, self.reason())
