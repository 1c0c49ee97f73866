"""Which panes a matcher looks at, and what it finds there."""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

import attrs

from beamlike.machine.events import Pane
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.time import show_instant
from beamlike.model.windows import Window
from beamlike.runtime.script import Output
from beamlike.testing.assertions.failures import Failure, some_lines
from beamlike.testing.streams.results import Results
from beamlike.viz.table import shorten

_ELEMENT_WIDTH: Final = 200


class Choice(Enum):
    """Which panes of a window are selected."""

    ALL = "any pane"
    EARLY = "timing EARLY"
    ON_TIME = "timing ON_TIME"
    LATE = "timing LATE"
    NOT_LATE = "any timing but LATE"
    FINAL = "the last pane"

    def objection(self, info: PaneInfo) -> str | None:
        """Why a pane is not selected, None if it is."""
        match self:
            case Choice.ALL:
                return None
            case Choice.FINAL:
                return None if info.is_last else "not the last pane"
            case Choice.NOT_LATE:
                wanted = info.timing is not Timing.LATE
            case _:
                wanted = info.timing.value == self.name
        return None if wanted else f"timing {info.timing.value}"


@attrs.frozen
class Selection:
    """The panes that a matcher looks at.

    ``outputs`` and ``positions`` go together; positions count in the run's outputs. A
    ``window`` of None means panes of all windows.
    """

    scope: str
    window: Window | None
    choice: Choice
    outputs: tuple[Output, ...]
    positions: tuple[int, ...]

    @classmethod
    def of(
        cls,
        results: Results,
        scope: str = "",
        window: Window | None = None,
        choice: Choice = Choice.ALL,
    ) -> "Selection":
        """Select value by value, over all keys, as Beam's ``PaneExtractors`` do."""
        chosen = [
            (index, output)
            for index, output in enumerate(results.run.outputs)
            if isinstance(output.effect, Pane)
            and not output.effect.retraction
            and (window is None or output.effect.window == window)
            and choice.objection(output.effect.info) is None
        ]
        return cls(
            scope, window, choice, tuple(o for _, o in chosen), tuple(at for at, _ in chosen)
        )

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
    selected = results.elements(selection.outputs, stamped=stamped)
    mismatch = question.verdict(selected, results)
    asked = f"{selection.scope} {question.name}".strip()
    facts = [("expected", ("anything but " if negated else "") + question.expected())]
    if (mismatch is None) == negated:
        wrong = mismatch or Mismatch()
        if not negated:
            empty = "" if selection.outputs else ": no pane was selected"
            headline = f"{asked} does not hold{empty}"
        else:
            headline = f"{asked} holds, but should not"
        for label, elements in (("missing", wrong.missing), ("unexpected", wrong.unexpected)):
            if elements:
                lines = (show_element(element, stamped=stamped) for element in elements)
                facts.append((label, some_lines(lines)))
        if wrong.remark:
            facts.append(("because", wrong.remark))
        return Failure(headline, tuple(facts), selection.positions)
    if not selection.outputs:
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
        windows = sorted((window for window in seen if window is not None), key=_bounds)
        facts = [*facts, ("windows", some_lines(map(str, windows)) or "none")]
    return Failure(f"{asked} says nothing: {why}", (*facts, ("to do", to_do)))


def show_element(element: Any, *, stamped: bool) -> str:
    """An element as a test would write it, with its time if it has one."""
    if stamped and isinstance(element, tuple) and isinstance(element[1], int):
        pair, timestamp = element
        return f"{shorten(pair, _ELEMENT_WIDTH)} at {show_instant(timestamp)}"
    return shorten(element, _ELEMENT_WIDTH)


def _bounds(window: Window) -> tuple[int, int]:
    return window.start, window.end
