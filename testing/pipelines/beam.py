"""Beam Python's assertions: ``assert_that(pcoll, equal_to([...]))``.

They are `expect` in other words, and are asked where that is: when a `TestPipeline` has run.

Source: Beam Python ``apache_beam.testing.util``.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import attrs

from beamlike.api.pipelines.collection import PCollection
from beamlike.errors import TestStreamError
from beamlike.hosts.memory.pipeline import PipelineRun
from beamlike.machine.events import Pane
from beamlike.model.windows import Window
from beamlike.runtime.script import Output, Run
from beamlike.testing.assertions.failures import Failure, some_lines
from beamlike.testing.assertions.selection import Selection, judge
from beamlike.testing.assertions.values import BeEmpty, Contain
from beamlike.testing.pipelines.collections import asking, results_of
from beamlike.testing.spelling import WindowLike, read_window
from beamlike.testing.streams.arguments import several
from beamlike.testing.streams.results import NO_KEY, Matcher, Results

__all__ = [
    "BeamAssertException",
    "TestWindowedValue",
    "assert_that",
    "equal_to",
    "equal_to_per_window",
    "is_empty",
    "is_not_empty",
]

Equals = Callable[[Any, Any], bool]


class BeamAssertException(AssertionError):
    """What a function given to `assert_that` may raise. Source: Beam ``BeamAssertException``."""


class TestWindowedValue(NamedTuple):
    """An element with its timestamp (ms) and its window, as ``reify_windows=True`` shows it.

    Source: Beam Python ``TestWindowedValue``.
    """

    value: Any
    timestamp: int
    windows: list[Window]


# The name starts with Test, but pytest must not collect it.
TestWindowedValue.__test__ = False  # type: ignore[attr-defined]


def assert_that(
    actual: PCollection[Any],
    matcher: Matcher | Callable[[list[Any]], object],
    label: str = "assert_that",
    reify_windows: bool = False,
) -> None:
    """Assert something about a collection, when its `TestPipeline` has run.

    Args:
        actual: The collection.
        matcher: What must hold: `equal_to` and the others here, any matcher that `expect`
            takes, or a function that is given the list of all elements, and raises an
            `AssertionError` or returns False if they are wrong.
        label: Taken, so that tests of Beam need no change; assertions here need no names.
        reify_windows: Look at each element as `TestWindowedValue`. Either way an element of
            several windows is there once for each of them.

    Raises:
        PipelineError: The pipeline is none of a test.
        TestStreamError: The matcher is neither a matcher nor a function.

    Source: Beam Python ``assert_that``.
    """
    _refuse_unless_it_asks(matcher)
    told = asking(actual, "assert_that")
    edge, windowing = actual.edge, actual.windowing

    def ask(run: PipelineRun) -> str | None:
        results = results_of(run, edge, windowing)
        if reify_windows and not isinstance(matcher, _EqualToPerWindow):
            results = _reified(results)
        if isinstance(matcher, Matcher):
            failure = matcher.failure(results, negated=False)
            return None if failure is None else results.text_of(failure)
        try:
            answer = matcher(results.elements(results.panes, stamped=False))
        except AssertionError as failed:
            why = f"{type(failed).__name__}: {failed}"
        else:
            if answer is not False:
                return None
            why = "it returned False"
        name = getattr(matcher, "__name__", repr(matcher))
        return results.text_of(Failure(f"{name} does not hold", (("because", why),)))

    told(ask)


def _refuse_unless_it_asks(matcher: object) -> None:
    hint = ""
    if not isinstance(matcher, type):
        if isinstance(matcher, Matcher):
            return
        # A function of the harness makes a matcher; given elements it would never fail.
        if callable(matcher):
            if not str(getattr(matcher, "__module__", "")).startswith("beamlike.testing."):
                return
            hint = f"; write {getattr(matcher, '__name__', matcher)}(...)"
    raise TestStreamError(
        "assert_that needs a matcher such as equal_to([...]), or a function of all elements, got "
        f"{matcher!r}{hint}"
    )


def _reified(results: Results) -> Results:
    outputs = []
    for output in results.run.outputs:
        pane = output.effect
        if isinstance(pane, Pane):
            value = TestWindowedValue(results.element(output), pane.timestamp, [pane.window])
            output = Output(output.step, NO_KEY, attrs.evolve(pane, value=value))
        outputs.append(output)
    return attrs.evolve(results, run=Run((), tuple(outputs)), aggregate=None)


@attrs.frozen
class _EqualTo(Contain):
    equals_fn: Equals | None = attrs.field(default=None, eq=False)

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        if self.equals_fn is not None:
            results = attrs.evolve(results, equal=self.equals_fn, aggregate=None)
        return super().failure(results, negated=negated)


def equal_to(expected: Iterable[Any], equals_fn: Equals | None = None) -> Matcher:
    """Exactly these elements, in any order.

    Args:
        expected: The elements.
        equals_fn: When an expected one and one that came out are the same.

    Raises:
        TestStreamError: There is no list of elements.

    Source: Beam Python ``equal_to``.
    """
    return _EqualTo("equal_to", several(expected, "equal_to"), stamped=False, equals_fn=equals_fn)


def is_empty() -> Matcher:
    """No elements. Source: Beam Python ``is_empty``."""
    return BeEmpty("is_empty", 0)


@attrs.frozen
class _IsNotEmpty:
    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        if bool(results.panes) != negated:
            return None
        holds = "holds, but should not" if negated else "does not hold"
        return Failure(f"is_not_empty {holds}", (("expected", "at least one element"),))


def is_not_empty() -> Matcher:
    """At least one element. Source: Beam Python ``is_not_empty``."""
    return _IsNotEmpty()


@attrs.frozen
class _EqualToPerWindow:
    expected: tuple[tuple[Window, tuple[Any, ...]], ...]

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        failures = []
        for window, elements in self.expected:
            question = Contain(f"equal_to_per_window {window}", elements, stamped=False)
            selection = Selection.of(results, "", window)
            failures.append(judge(results, selection, question, negated=False))
        wanted = {window for window, _ in self.expected}
        others = tuple(
            at
            for at, output in enumerate(results.run.outputs)
            if isinstance(output.effect, Pane) and output.effect.window not in wanted
        )
        if others:
            seen = {results.run.outputs[at].effect.window: None for at in others}
            facts = (
                ("expected", "no elements in windows that are not listed"),
                ("windows", some_lines(map(str, seen))),
            )
            failures.append(Failure("equal_to_per_window does not hold", facts, others))
        wrong = [failure for failure in failures if failure is not None]
        if negated:
            return None if wrong else Failure("equal_to_per_window holds, but should not")
        return wrong[0] if len(wrong) == 1 else _together(wrong) if wrong else None


def _together(failures: list[Failure]) -> Failure:
    """One failure that tells of all windows."""
    facts = [
        fact
        for failure in failures
        for fact in (("", ""), ("wrong", failure.headline), *failure.facts)
    ]
    marked = sorted(at for failure in failures for at in failure.marked)
    notes = tuple(dict.fromkeys(note for failure in failures for note in failure.notes))
    headline = "equal_to_per_window does not hold, for several reasons"
    return Failure(headline, tuple(facts), tuple(marked), notes)


def equal_to_per_window(
    expected_window_to_elements: Mapping[WindowLike, Iterable[Any]],
) -> Matcher:
    """Exactly these elements in each of these windows, and none in any other.

    Args:
        expected_window_to_elements: Elements by window: an `IntervalWindow`, a pair of instants
            or ``"global"``.

    Source: Beam Python ``equal_to_per_window``; there it needs ``reify_windows=True``, here it
    does not matter.

    Raises:
        TestStreamError: There are no windows with lists of elements.
    """
    name = "equal_to_per_window"
    if not isinstance(expected_window_to_elements, Mapping):
        raise TestStreamError(
            f'{name} needs elements by window, such as {{("00:00:00", "00:01:00"): [1, 2]}}, got '
            f"{expected_window_to_elements!r}"
        )
    return _EqualToPerWindow(
        tuple(
            (read_window((window,), name), several(elements, f"{name}: {window!r}"))
            for window, elements in expected_window_to_elements.items()
        )
    )
