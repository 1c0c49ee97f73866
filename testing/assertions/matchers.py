"""Pane matchers: which panes a value matcher looks at.

All of them first keep the panes whose window *equals* the given one, then choose value by
value, over all keys: three users with the same session bounds are three elements. Any value
matcher goes with any pane matcher. A window is given by two instants, or as one thing: an
`IntervalWindow`, a pair of instants, or ``"global"``.

    results.should(in_on_time_pane("00:00:00", "00:11:00", have_size(1)))
    results.should(in_late_pane("global", be_empty))

Source: Scio ``SCollectionMatchers``, Beam ``PAssert`` and ``PaneExtractors``.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

import attrs

from beamlike.errors import TestStreamError
from beamlike.machine.events import Pane
from beamlike.model.fingerprint import stable_repr
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.time import show_instant
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import GLOBAL_WINDOW, Window
from beamlike.runtime.script import Output
from beamlike.testing.assertions.failures import Failure, some_lines
from beamlike.testing.spelling import read_window
from beamlike.testing.streams.results import Matcher, Results
from beamlike.viz.table import shorten

_ELEMENT_WIDTH: Final = 200


PaneChoice = Callable[[PaneInfo], bool]
"""Whether a pane of the window is selected."""


def _any_pane(info: PaneInfo) -> bool:
    return True


def _timed(timing: Timing) -> PaneChoice:
    return lambda info: info.timing is timing


@attrs.frozen
class Selection:
    """The panes that a matcher looks at, by their positions in the run's outputs.

    A ``window`` of None means panes of all windows.
    """

    scope: str
    window: Window | None
    panes: Mapping[int, Output]

    @classmethod
    def of(
        cls,
        results: Results,
        scope: str = "",
        window: Window | None = None,
        choice: PaneChoice = _any_pane,
    ) -> "Selection":
        """Select value by value, over all keys, as Beam's ``PaneExtractors`` do."""
        panes = {
            index: output
            for index, output in enumerate(results.run.outputs)
            if isinstance(output.effect, Pane)
            and not output.effect.retraction
            and (window is None or output.effect.window == window)
            and choice(output.effect.info)
        }
        return cls(scope, window, panes)

    def window_occurs(self, results: Results) -> bool:
        """Whether anything in this run had to do with the window."""
        return any(output.effect.window == self.window for output in results.run.outputs)


@attrs.frozen
class Mismatch:
    """What is wrong with the selected elements."""

    missing: tuple[Any, ...] = ()
    unexpected: tuple[Any, ...] = ()
    remark: str = ""


@attrs.frozen(eq=False)
class ValueMatcher:
    """A question about elements: about everything that came out, or inside a pane matcher.

    Args:
        name: The name of the matcher in a test.
        expected: What is asked for, in words.
        verdict: What is wrong with the selected elements of some results, None if nothing is.
        wants_nothing: Whether it is the very point that nothing is there.
        asks_each: Whether it asks of elements one by one, so that of none there is only one answer.
        stamped: Whether it needs timestamps, even of results without them.
    """

    name: str
    expected: Callable[[], str] = attrs.field(repr=False)
    verdict: Callable[[list[Any], Results], Mismatch | None] = attrs.field(repr=False)
    wants_nothing: bool = False
    asks_each: bool = False
    stamped: bool = False

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        """Why all panes together do not answer as wanted, None if they do."""
        return judge(results, Selection.of(results), self, negated=negated)


def judge(
    results: Results, selection: Selection, question: ValueMatcher, *, negated: bool
) -> Failure | None:
    """Ask a question about a selection; the failure if the answer is not the wanted one."""
    stamped = results.stamped or question.stamped
    selected = results.elements(selection.panes.values(), stamped=stamped)
    mismatch = question.verdict(selected, results)
    asked = f"{selection.scope} {question.name}".strip()
    facts = [("expected", ("anything but " if negated else "") + question.expected())]
    if (mismatch is None) == negated:
        wrong = mismatch or Mismatch()
        if not negated:
            empty = "" if selection.panes else ": no pane was selected"
            headline = f"{asked} does not hold{empty}"
        else:
            headline = f"{asked} holds, but should not"
        for label, elements in (("missing", wrong.missing), ("unexpected", wrong.unexpected)):
            if elements:
                lines = (show_element(element, stamped=stamped) for element in elements)
                facts.append((label, some_lines(lines)))
        if wrong.remark:
            facts.append(("because", wrong.remark))
        return Failure(headline, tuple(facts), tuple(selection.panes))
    if not selection.panes:
        return _says_nothing(results, selection, question, facts, negated=negated)
    return None


def _says_nothing(
    results: Results,
    selection: Selection,
    question: ValueMatcher,
    facts: list[tuple[str, str]],
    *,
    negated: bool,
) -> Failure | None:
    """Why the right answer about no elements says nothing, None if it says something.

    Of a collection it says nothing if no other answer was possible: elements one by one are asked
    for, and there are none. Of a window that never occurs, and that is most likely misspelt, it
    says nothing unless it is the very point that nothing is there.
    """
    asked = f"{selection.scope} {question.name}".strip()
    asked = f"should_not {asked}" if negated else asked
    if selection.window is None:
        if not question.asks_each:
            return None
        why, to_do = "no pane came out at all", "write be_empty if that is meant"
    else:
        if selection.window_occurs(results) or (question.wants_nothing and not negated):
            return None
        why = "no pane was selected, and no such window occurs"
        to_do = "name a window that occurs, or write be_empty if that is meant"
        seen = {output.effect.window for output in results.run.outputs}
        windows = sorted(
            (window for window in seen if window is not None), key=attrgetter("start", "end")
        )
        facts = [*facts, ("windows", some_lines(map(str, windows)) or "none")]
    return Failure(f"{asked} says nothing: {why}", (*facts, ("to do", to_do)))


def show_element(element: Any, *, stamped: bool) -> str:
    """An element as a test would write it, with its time if it has one."""
    if stamped and isinstance(element, tuple) and isinstance(element[1], int):
        pair, timestamp = element
        return f"{shorten(pair, _ELEMENT_WIDTH)} at {show_instant(timestamp)}"
    return shorten(element, _ELEMENT_WIDTH)


@attrs.frozen
class _InPanes:
    name: str
    window: Window
    choice: PaneChoice
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
    accompanied = tuple(
        position
        for position, output in selection.panes.items()
        if isinstance(output.effect, Pane)
        and not (output.effect.info.is_first and output.effect.info.is_last)
    )
    headline = f"{scope}: the window has panes that are not the only one of their key"
    facts = (("expected", "every pane of the window is both first and last"),)
    return Failure(headline, facts, accompanied) if accompanied else None


def in_on_time_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window whose timing is ON_TIME."""
    return _in_panes("in_on_time_pane", _timed(Timing.ON_TIME), window_and_matcher)


def in_early_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window whose timing is EARLY, all of them together."""
    return _in_panes("in_early_pane", _timed(Timing.EARLY), window_and_matcher)


def in_late_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window whose timing is LATE, all of them together."""
    return _in_panes("in_late_pane", _timed(Timing.LATE), window_and_matcher)


def in_final_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window that are the last of their key.

    A window whose last data came out before it expired has no such pane.
    """
    return _in_panes("in_final_pane", attrgetter("is_last"), window_and_matcher)


def in_only_pane(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window, and fail if any is not both first and last."""
    return _in_panes("in_only_pane", _any_pane, window_and_matcher)


def in_window(*window_and_matcher: Any) -> Matcher:
    """Look at all panes of the window."""
    return _in_panes("in_window", _any_pane, window_and_matcher)


def in_combined_non_late_panes(*window_and_matcher: Any) -> Matcher:
    """Look at the panes of the window whose timing is anything but LATE."""
    return _in_panes(
        "in_combined_non_late_panes",
        lambda info: info.timing is not Timing.LATE,
        window_and_matcher,
    )


def in_early_global_window_panes(matcher: ValueMatcher) -> Matcher:
    """Look at the EARLY panes of the global window.

    Of a pipeline's collection in other windows this never holds, whatever is asked.
    """
    return _in_panes("in_early_global_window_panes", _timed(Timing.EARLY), (GLOBAL_WINDOW, matcher))


def _in_panes(name: str, choice: PaneChoice, window_and_matcher: tuple[Any, ...]) -> Matcher:
    question = window_and_matcher[-1] if window_and_matcher else None
    if not isinstance(question, ValueMatcher):
        named = getattr(question, "__name__", None)
        hint = f"; write {named}(...)" if named else ""
        raise TestStreamError(
            f"{name} needs a value matcher such as have_size(1) after its window, "
            f"got {stable_repr(question)}{hint}"
        )
    return _InPanes(name, read_window(window_and_matcher[:-1], name), choice, question)
