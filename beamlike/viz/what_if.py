"""What would have saved an element that was dropped. Nothing is guessed: it is tried.

The steps up to the drop are replayed with the change, and only what then takes the element in is
named.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs

from beamlike.errors import BeamlikeError
from beamlike.machine.assigning import windows_of
from beamlike.machine.events import AdvanceWatermark, Drop, DropReason, Element, Item
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.options import LateCheck
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, show_duration
from beamlike.model.triggers import AfterCount, AfterWatermark, Repeatedly, Trigger
from beamlike.model.windows import Window, bounds
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Script, ScriptStep
from beamlike.viz.sentences import window_in_words

_CHECKS = (LateCheck.ASSIGNED, LateCheck.MERGED)
"""Late checks that may take in more than others do, Beam's own first."""

_UNTRIED: Final = "What would have saved it was not tried"
_FAILED: Final = f"{_UNTRIED}: the run cannot be repeated with another windowing."

_PARTS: Final = tuple(
    part.name
    for part in attrs.fields(WindowingStrategy)
    if part.eq and part.name not in ("already_merged", "resolution")
)
_MOST_STEPS: Final = 50_000
"""Steps to replay for one key. A person reads no further than that."""
_MOST_TURNS: Final = 40
"""So many lengths are tried one by one."""


class Rescue:
    """Tries what would have become of the elements of one key under other strategies."""

    def __init__(self, script: Script, strategy: WindowingStrategy) -> None:
        self._script = script
        self._strategy = strategy
        self._spent = 0
        self._failed = False

    def advice(self, step: int, drop: Drop, live: Sequence[Window] = ()) -> str:
        """What would have saved it, in a sentence or two."""
        if drop.reason is DropReason.FAILED:
            return 'It was left out because on_error="drop"; mend the function to keep it.'
        if drop.element is None:
            return ""
        if self._spent > _MOST_STEPS:
            return f"{_UNTRIED}: too much was dropped before."
        if drop.reason is not DropReason.CLOSED and (drop.watermark or 0) > END_OF_GLOBAL_WINDOW:
            return "Nothing would have saved it: the watermark is past the end of time."
        if self._strategy.already_merged:  # how these windows came about is not to be seen here
            return f"{_UNTRIED}: its windows were merged before."
        self._failed = False
        if drop.reason is DropReason.CLOSED:
            return self._open_longer(step, drop)
        return self._take_later(step, drop, live)

    def _open_longer(self, step: int, drop: Drop) -> str:
        lasting = _lasting(self._strategy.trigger)
        saved = self._saves(step, drop, {"trigger": lasting})
        if self._failed:
            return _FAILED
        no_use = "No lateness would have saved it"
        return f"{no_use}; {lasting} would have." if saved else f"{no_use}, nor {lasting}."

    def _take_later(self, step: int, drop: Drop, live: Sequence[Window]) -> str:
        ways = [*self._more_lateness(step, drop), *self._other_check(step, drop, live)]
        if not ways:
            neither = "Neither more allowed lateness nor another late_check would have saved it."
            return _FAILED if self._failed else neither
        return f"{'. So would '.join(ways)}."

    def _more_lateness(self, step: int, drop: Drop) -> Iterator[str]:
        now, lasting = self._strategy.allowed_lateness, _lasting(self._strategy.trigger)
        before = f", together with {lasting}, because as it is the trigger finishes before"
        for changes, why in (({}, ""), ({"trigger": lasting}, before)):
            enough = self._least(step, drop, changes)
            if enough is not None:
                increase = f"{show_duration(enough - now)} more of allowed lateness"
                in_all = f" ({show_duration(enough)} in all)" if now else ""
                yield f"{increase}{in_all} would have saved it{why}"
                return

    def _least(self, step: int, drop: Drop, changes: dict[str, Any]) -> int | None:
        """The least allowed lateness (ms) that saves it; None if what it missed does not."""
        enough = self._strategy.allowed_lateness + (drop.missed_by or 0)

        def saves(lateness: int) -> bool:
            return self._saves(step, drop, changes | {"allowed_lateness": lateness})

        turns = [enough]
        if self._strategy.late_check is LateCheck.MERGED:
            # A longer lateness keeps the sessions longer, and one that ends later saves it.
            turns = [*self._turns(step, enough), enough]
        if len(turns) <= _MOST_TURNS:
            return next((turn for turn in turns if saves(turn)), None)
        if not saves(enough):
            return None
        # Nearly always the longer one saves what the shorter one does.
        return turns[bisect_left(turns, True, key=saves)]

    def _turns(self, step: int, below: int) -> list[int]:
        """Every allowed lateness (ms) from the present one up to ``below`` with which something
        else is expired or not: each by which the end of some window outlasts some watermark."""
        script = self._script[: step + 1]
        marks = {moved.to for moved in script if isinstance(moved, AdvanceWatermark)}
        ends: set[int] = set()
        for arrived in script:
            for _, element in arrived.elements if isinstance(arrived, Arrive) else ():
                ends |= {window.end for window in _windows(element, self._strategy)}
        turns = {mark - end + 1 for mark in marks for end in ends}
        return sorted(turn for turn in turns if self._strategy.allowed_lateness < turn < below)

    def _other_check(self, step: int, drop: Drop, live: Sequence[Window]) -> Iterator[str]:
        for check in _CHECKS:
            is_other = check is not self._strategy.late_check
            if is_other and self._saves(step, drop, {"late_check": check}):
                yield f'late_check="{check.value}"{_joined(drop.nearest_session, live)}'
                return

    def _saves(self, step: int, drop: Drop, changes: dict[str, Any]) -> bool:
        if changes.get("trigger") == self._strategy.trigger:
            return False
        parts: dict[str, Any] = {part: getattr(self._strategy, part) for part in _PARTS}
        try:
            changed = WindowingStrategy(**(parts | changes))
            return not self._loses(step, drop, changed)
        except BeamlikeError:
            self._failed = True
            return False

    def _loses(self, step: int, drop: Drop, strategy: WindowingStrategy) -> bool:
        """Whether the drop happens under another strategy. What panes hold makes no difference."""
        script = self._script[: step + 1]
        if not strategy.is_merging:
            script = tuple(_for_window(played, drop.window, strategy) for played in script)
        stage = MemoryStage(Grouping(strategy, Count(), OnFailure.DROP))
        self._spent += len(script)
        for before in script[:-1]:
            stage.play(before)
        return any(
            isinstance(output.effect, Drop)
            and output.effect.window == drop.window
            and _is_same_element(output.effect.element, drop.element)
            for output in stage.play(script[-1])
        )


def _joined(into: Window | None, live: Sequence[Window]) -> str:
    """Which open sessions an element nearly joined, and what it would have made of them."""
    if into is None:
        return ""
    inside = [window for window in live if into.start <= window.start and window.end <= into.end]
    if not inside:
        return ""
    names = " and ".join(map(window_in_words, sorted(inside, key=bounds)))
    result = f" and made {'it' if len(inside) == 1 else 'them'} {window_in_words(into)}"
    return f": it would have joined {names}{'' if inside == [into] else result}"


def _is_same_element(item: Item | None, other: Item | None) -> bool:
    """The same element of a script, and not only an equal one."""
    if not isinstance(item, Element) or not isinstance(other, Element):
        return False
    return item.value is other.value and item.timestamp == other.timestamp


def _for_window(step: ScriptStep, window: Window | None, strategy: WindowingStrategy) -> ScriptStep:
    """What a step brings to one window. Windows that do not merge know nothing of one another."""
    if not isinstance(step, Arrive) or window is None:
        return step
    elements = (pair for pair in step.elements if window in _windows(pair[1], strategy))
    return Arrive(tuple((key, attrs.evolve(element, window=window)) for key, element in elements))


def _windows(element: Element, strategy: WindowingStrategy) -> Collection[Window]:
    """The windows of an element before any merging; none if the window function fails."""
    with suppress(BeamlikeError):
        windows = windows_of(element, strategy.window_fn, OnFailure.DROP, None)
        return () if isinstance(windows, Drop) else windows
    return ()


def _lasting(trigger: Trigger) -> Trigger:
    """The nearest trigger that does not finish."""
    if isinstance(trigger, AfterWatermark):
        return AfterWatermark(trigger.early, trigger.late or AfterCount(1))
    return Repeatedly(trigger) if trigger.may_finish else trigger
