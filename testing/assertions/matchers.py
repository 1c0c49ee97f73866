"""Pane matchers: which panes a value matcher looks at.

All of them first keep the panes whose window *equals* the given one, then choose value by
value, over all keys: three users with the same session bounds are three elements. Any value
matcher goes with any pane matcher. A window is given by two instants, or as one thing: an
`IntervalWindow`, a pair of instants, or ``"global"``.

    results.should(in_on_time_pane("00:00:00", "00:11:00", have_size(1)))
    results.should(in_late_pane("global", be_empty))

Source: Scio ``SCollectionMatchers``, Beam ``PAssert`` and ``PaneExtractors``.
"""

from typing import Any

import attrs

from beamlike.errors import TestStreamError
from beamlike.machine.events import Pane
from beamlike.model.fingerprint import stable_repr
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import GLOBAL_WINDOW, Window
from beamlike.testing.assertions.failures import Failure
from beamlike.testing.assertions.selection import Choice, Selection, ValueMatcher, judge
from beamlike.testing.spelling import read_window
from beamlike.testing.streams.results import Matcher, Results

__all__ = [
    "in_combined_non_late_panes",
    "in_early_global_window_panes",
    "in_early_pane",
    "in_final_pane",
    "in_late_pane",
    "in_on_time_pane",
    "in_only_pane",
    "in_window",
]


@attrs.frozen
class _InPanes:
    name: str
    window: Window
    choice: Choice
    question: ValueMatcher

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        scope = f"{self.name} {self.window}"
        if self.name == "in_early_global_window_panes" and _can_have_none(results):
            fact = ("expected", "a collection in the global window")
            return Failure(f"{self.name} says nothing: no such window occurs", (fact,))
        selection = Selection.of(results, scope, self.window, self.choice)
        if self.name == "in_only_pane" and (spoiled := _not_alone(scope, selection)):
            return spoiled
        return judge(results, selection, self.question, negated=negated)


def _can_have_none(results: Results) -> bool:
    """Whether this is a collection in other windows, of which Scio cannot even ask this."""
    strategy = results.strategy if results.origin is not None else None
    return strategy is not None and not isinstance(strategy.window_fn, GlobalWindows)


def _not_alone(scope: str, selection: Selection) -> Failure | None:
    alone = {
        at
        for at, output in zip(selection.positions, selection.outputs, strict=True)
        if isinstance(output.effect, Pane)
        and output.effect.info.is_first
        and output.effect.info.is_last
    }
    if len(alone) == len(selection.positions):
        return None
    return Failure(
        f"{scope}: the window has panes that are not the only one of their key",
        (("expected", "every pane of the window is both first and last"),),
        tuple(at for at in selection.positions if at not in alone),
    )


def in_on_time_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window whose timing is ON_TIME."""
    return _in_panes("in_on_time_pane", Choice.ON_TIME, window_and_matcher)


def in_early_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window whose timing is EARLY, all of them together."""
    return _in_panes("in_early_pane", Choice.EARLY, window_and_matcher)


def in_late_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window whose timing is LATE, all of them together."""
    return _in_panes("in_late_pane", Choice.LATE, window_and_matcher)


def in_final_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window that are the last of their key.

    A window whose last data came out before it expired has no such pane.
    """
    return _in_panes("in_final_pane", Choice.FINAL, window_and_matcher)


def in_only_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window, and fail if any is not both first and last."""
    return _in_panes("in_only_pane", Choice.ALL, window_and_matcher)


def in_window(*window_and_matcher: Any) -> Matcher:
    """Look at all panes of the window."""
    return _in_panes("in_window", Choice.ALL, window_and_matcher)


def in_combined_non_late_panes(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window whose timing is anything but LATE."""
    return _in_panes("in_combined_non_late_panes", Choice.NOT_LATE, window_and_matcher)


def in_early_global_window_panes(matcher: ValueMatcher) -> Matcher:
    """Look at the EARLY panes of the global window.

    Of a pipeline's collection in other windows this never holds, whatever is asked.
    """
    return _in_panes("in_early_global_window_panes", Choice.EARLY, (GLOBAL_WINDOW, matcher))


def _in_panes(name: str, choice: Choice, window_and_matcher: tuple[Any, ...]) -> Matcher:
    question = window_and_matcher[-1] if window_and_matcher else None
    if not isinstance(question, ValueMatcher):
        named = getattr(question, "__name__", None)
        hint = f"; write {named}(...)" if named else ""
        raise TestStreamError(
            f"{name} needs a value matcher such as have_size(1) after its window, "
            f"got {stable_repr(question)}{hint}"
        )
    return _InPanes(name, read_window(window_and_matcher[:-1], name), choice, question)
