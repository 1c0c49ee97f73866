"""Stops a query if too great a share of a shard's elements or panes fails.

A row for which a user's function raises is dropped, and the query goes on. But a misspelt name in
that function drops every row, and looks like no data. So each shard judges its calls in lots, one
for elements and one for panes. A lot begins with a failure and has `LOT` calls or more; it is part
of the saved state.
"""

import logging
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

import attrs

from beamlike.errors import TooManyFailuresError, because_of
from beamlike.machine.events import Drop, DropReason, Effect, Lifted, Pane
from beamlike.runtime.plan import Plan
from beamlike.safe_text import problem_of, traceback_lines

LOT: Final = 20
"""At least so many calls are judged together: a few bad rows at the beginning stop nothing."""

_LOGGER: Final = logging.getLogger("beamlike.panes")


@attrs.frozen
class Calls:
    """Calls of the user's functions, and how many of them failed."""

    count: int = 0
    failed: int = 0

    def with_more(self, count: int, failed: int) -> "Calls":
        """These calls and more. Calls before the first failure are not counted."""
        if not failed and not self.failed:
            return self
        return Calls(self.count + max(count, failed), self.failed + failed)


@attrs.frozen
class Failing:
    """The lots of a shard that are not full yet."""

    elements: Calls = Calls()
    panes: Calls = Calls()

    @classmethod
    def from_json(cls, counts: Sequence[int]) -> "Failing":
        """The lots that `to_json` made numbers of.

        Raises:
            ValueError: There are not four whole numbers.
        """
        count, failed, panes, failed_panes = counts
        if not all(type(count) is int for count in counts):
            raise ValueError(f"its counts of failures are {counts}")
        return cls(Calls(count, failed), Calls(panes, failed_panes))

    def to_json(self) -> list[int]:
        """Calls and failures for elements, then for panes."""
        return [*attrs.astuple(self.elements), *attrs.astuple(self.panes)]

    def after(
        self, plan: Plan, elements: int, panes: int, failed: Sequence[tuple[Any, Drop]] = ()
    ) -> "Failing":
        """The lots after a step; a full one begins anew.

        Args:
            plan: What the shard does.
            elements: How many elements were given to it.
            panes: How many panes came out.
            failed: What was dropped because a function raised, by key.

        Raises:
            TooManyFailuresError: More than the plan allows has failed.
        """
        of_panes = sum(drop.element is None for _, drop in failed)
        of_elements = sum(drop.count for _, drop in failed if drop.element is not None)
        lots = []
        for calls, noun in (
            (self.elements.with_more(elements, of_elements), "elements"),
            (self.panes.with_more(panes + of_panes, of_panes), "panes"),
        ):
            if calls.count < LOT:
                lots.append(calls)
                continue
            if calls.failed > plan.max_failures * calls.count:
                drop = next((drop for _, drop in failed), None)
                raise _too_many(plan, calls, noun, drop)
            lots.append(Calls())
        return Failing(*lots)


def log_failure(stage: str, drop: Drop, logged: set[Hashable]) -> None:
    """A warning with the user's traceback, once for each function and type of what it raises.

    Args:
        stage: The name of the grouping.
        drop: What is dropped, with the exception.
        logged: What was logged before.
    """
    if drop.cause is None:
        return
    function = (drop.error or "").partition(" raised ")[0]
    known = (stage, function, type(drop.cause).__name__)
    if known in logged:
        return
    logged.add(known)
    lines = [*traceback_lines(drop.cause), problem_of(drop.cause)]
    _LOGGER.warning(
        "%s: %s raised; what it raises for is dropped as failed, and this is said once:\n%s",
        stage,
        function,
        "\n".join(lines),
    )


def _too_many(plan: Plan, calls: Calls, noun: str, drop: Drop | None) -> TooManyFailuresError:
    counts = calls.failed, calls.count, noun, plan.max_failures
    error = TooManyFailuresError(plan.name, *counts, (drop and drop.error) or "")
    return because_of(error, None if drop is None else drop.cause)


def failures_of(effects: Iterable[tuple[Any, Effect]]) -> list[tuple[Any, Drop]]:
    """What was dropped because a function of the user's raised, by key."""
    return [
        (key, effect)
        for key, effect in effects
        if isinstance(effect, Drop) and effect.reason is DropReason.FAILED
    ]


def panes_in(effects: Iterable[tuple[Any, Effect]]) -> int:
    """How many panes came out, without those that withdraw others."""
    return sum(isinstance(effect, Pane) and not effect.retraction for _, effect in effects)


def size_of(item: Any) -> int:
    """How many elements arrive as one."""
    return item.count if isinstance(item, Lifted) else 1
