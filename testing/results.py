"""Results: everything that came out of a run, and the two ways to ask about it."""

from typing import Any, Literal, Protocol, Self, runtime_checkable

import attrs

from beamlike.errors import TestStreamError
from beamlike.hosts.script import Output, Run
from beamlike.machine.events import Pane
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.options import AccumulationMode
from beamlike.model.strategy import WindowingStrategy
from beamlike.testing.changes import Changes, changes_of
from beamlike.testing.equality import same_pair
from beamlike.testing.failures import Failure, PaneAssertionError, failure_text
from beamlike.viz.table import pane_table

__all__ = ["Matcher", "Results"]


@runtime_checkable
class Matcher(Protocol):
    """A question about results."""

    def failure(self, results: "Results", *, negated: bool) -> Failure | None:
        """Why the answer is not the wanted one, None if it is."""
        ...


@attrs.frozen(str=False)
class Results:
    """Everything that came out of one run. Elements are ``(key, value)`` pairs, one a pane.

    Lists made by `Collect` are compared without their order, which nobody promises. Panes
    that withdraw earlier ones are no elements; `emit_exactly` sees them.

    ``str(results)`` is the table of all panes and drops.

    Source: Scio ``SCollectionMatchers``.
    """

    run: Run
    strategy: WindowingStrategy | None = None
    aggregate: CombineFn | None = None
    stamped: bool = False

    @property
    def panes(self) -> tuple[Output, ...]:
        """All panes, in order of emission."""
        return self.run.panes

    @property
    def drops(self) -> tuple[Output, ...]:
        """All (element, window) pairs that were dropped, in order."""
        return self.run.drops

    def with_timestamp(self) -> Self:
        """The same panes with elements ``((key, value), timestamp in ms)``.

        The ``..._at_time`` matchers do not need it: they read the timestamps either way.

        Source: Scio ``withTimestamp``.
        """
        return attrs.evolve(self, stamped=True)

    def should(self, matcher: Matcher) -> None:
        """Assert that the matcher holds.

        Raises:
            PaneAssertionError: It does not, or only because there was nothing to look at and
                the window that it names never existed.
        """
        __tracebackhide__ = True  # the test's own line is what pytest should show
        self._ask("should", matcher, negated=False)

    def should_not(self, matcher: Matcher) -> None:
        """Assert that the matcher does not hold for what it selects.

        Raises:
            PaneAssertionError: It holds, or it fails to only because there was nothing to
                look at and the window that it names never existed.
        """
        __tracebackhide__ = True
        self._ask("should_not", matcher, negated=True)

    def _ask(self, verb: str, matcher: Matcher, *, negated: bool) -> None:
        __tracebackhide__ = True
        if isinstance(matcher, type) or not isinstance(matcher, Matcher):
            name = getattr(matcher, "__name__", None)
            hint = f"; write {name}(...)" if name else ""
            raise TestStreamError(f"{verb} needs a matcher, got {matcher!r}{hint}")
        failure = matcher.failure(self, negated=negated)
        if failure is not None:
            raise PaneAssertionError(failure_text(failure, self.run, self.strategy))

    def changes(self, by: Literal["window", "session"] = "session") -> Changes:
        """The run as the changes of a table, such as a sink that puts and deletes rows sees.

        Rows ``(step, key, op, identity, value)``: ``"upsert"`` puts the value in the row of
        this key and identity, ``"delete"`` removes that row. Of panes that withdraw and
        replace others this is what remains to be told. ``print(results.changes())`` shows a
        table.

        Args:
            by: What a row is called by. ``"session"``: a name that stays while a session grows
                and merges, which is right for all windows. ``"window"``: the pane's window; a
                session that grew is deleted and put anew.

        Raises:
            TestStreamError: The run does not retract, or ``by`` is neither.
        """
        mode = self.strategy.accumulation if self.strategy else AccumulationMode.RETRACTING
        if mode is not AccumulationMode.RETRACTING:
            raise TestStreamError(
                "changes are told by panes that withdraw others, but this run is "
                f'{mode.value}; run it with accumulation="retracting"'
            )
        return changes_of(self.run.outputs, by)

    def elements(self, outputs: tuple[Output, ...], *, stamped: bool) -> list[Any]:
        """The outputs that are panes as ``(key, value)``, or with their timestamps."""
        return [
            ((output.key, output.effect.value), output.effect.timestamp)
            if stamped
            else (output.key, output.effect.value)
            for output in outputs
            if isinstance(output.effect, Pane)
        ]

    def same_pair(self, expected: Any, actual: tuple[Any, Any]) -> bool:
        """The same key and value, in the sense of this run's aggregation."""
        return same_pair(expected, actual, any_order=isinstance(self.aggregate, Collect))

    def __str__(self) -> str:
        return pane_table(self.run.outputs)
