"""Beam Python's assertions: ``assert_that(pcoll, equal_to([...]))``.

They are other names of `expect`, and are checked with it: when a pipeline has run. Their matchers
are functions as well: called with a list of elements, they raise a `BeamAssertException` if it is
wrong.

Source: Beam Python ``apache_beam.testing.util``.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import attrs

from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.windows import of_model
from beamlike.api.pipelines.rows import Row
from beamlike.errors import TestStreamError
from beamlike.machine.events import Pane
from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.runtime.script import Output, Run
from beamlike.testing.assertions.equality import same, same_pair, unmatched
from beamlike.testing.assertions.failures import Failure
from beamlike.testing.assertions.values import several
from beamlike.testing.pipelines.collections import asked, asking
from beamlike.testing.spelling import WindowLike, read_window
from beamlike.testing.streams.results import NO_KEY, Matcher, Results, check_matcher

__all__ = [
    "BeamAssertException",
    "BeamMatcher",
    "TestWindowedValue",
    "assert_that",
    "contains_in_any_order",
    "equal_to",
    "equal_to_per_window",
    "is_empty",
    "is_not_empty",
]

Equals = Callable[[Any, Any], bool]


def assert_that(
    actual: PCollection[Any],
    matcher: Matcher | Callable[[list[Any]], object],
    label: str = "assert_that",
    reify_windows: bool = False,
    use_global_window: bool = True,
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
        use_global_window: If not, a function is called for each window, with a pair of the list
            of its elements and the window.

    Raises:
        PipelineError: The pipeline has run.
        TestStreamError: The matcher is neither a matcher nor a function.

    Source: Beam Python ``assert_that``.
    """
    is_function = callable(matcher) and not isinstance(matcher, type)
    # A function of the harness makes a matcher; given elements it would never fail.
    if not is_function or str(getattr(matcher, "__module__", "")).startswith("beamlike.testing."):
        check_matcher("assert_that", matcher)
    question = matcher if isinstance(matcher, Matcher) else _Function(matcher, use_global_window)
    view = reified if reify_windows else lambda results: results
    asking(actual, "assert_that")(asked(actual, question, view))


@attrs.frozen
class _Function:
    """A function that looks at all elements, or at those of each window."""

    function: Callable[[Any], object]
    at_all: bool

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        because = ""
        try:
            for elements in self._arguments(results):
                if self.function(elements) is False:
                    because = "it returned False"
                    break
        except AssertionError as failed:
            because = f"{type(failed).__name__}: {failed}"
        name = getattr(self.function, "__name__", repr(self.function))
        return Failure(f"{name} does not hold", (("because", because),)) if because else None

    def _arguments(self, results: Results) -> list[Any]:
        """What the function is called with, one after the other."""
        if self.at_all:
            return [results.elements(results.panes, stamped=False)]
        by_window: dict[Any, list[Any]] = defaultdict(list)
        for output in results.panes:
            by_window[output.effect.window].append(results.element(output))
        return [(elements, window) for window, elements in by_window.items()]


class BeamAssertException(AssertionError):
    """What a function given to `assert_that` may raise. Source: Beam ``BeamAssertException``."""


class TestWindowedValue(NamedTuple):
    """An element with its `Timestamp`, window and pane, as ``reify_windows=True`` shows it.

    Source: Beam Python ``TestWindowedValue``.
    """

    value: Any
    timestamp: Any
    windows: list[Any]
    pane_info: PaneInfo = NO_FIRING


# The name starts with Test, but pytest must not collect it.
TestWindowedValue.__test__ = False  # type: ignore[attr-defined]


@attrs.frozen
class BeamMatcher:
    """What Beam's functions make: a function of all elements, which `expect` takes as well; it
    answers what is wrong with them, and may look at each as a `TestWindowedValue`.
    """

    name: str
    wrong: Callable[[list[Any]], str] = attrs.field(eq=False)
    reifies: bool = False

    def __call__(self, actual: Iterable[Any]) -> None:
        if wrong := self.wrong(list(actual)):
            raise BeamAssertException(f"Failed assert: {wrong}")

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        """Why all elements together do not answer as wanted, None if they do."""
        if self.reifies:
            results = reified(results)
        wrong = self.wrong(results.elements(results.panes, stamped=False))
        if negated:
            return None if wrong else Failure(f"{self.name} holds, but should not")
        facts = (("because", f"Failed assert: {wrong}"),)
        return Failure(f"{self.name} does not hold", facts) if wrong else None


def reified(results: Results) -> Results:
    """Results whose elements are `TestWindowedValue`, each with its time, window and pane."""
    outputs = []
    for output in results.run.outputs:
        pane = output.effect
        if isinstance(pane, Pane) and not isinstance(pane.value, TestWindowedValue):
            stamp, windows = Timestamp.of_millis(pane.timestamp), [of_model(pane.window)]
            value = TestWindowedValue(results.element(output), stamp, windows, pane.info)
            output = Output(output.step, NO_KEY, attrs.evolve(pane, value=value))
        outputs.append(output)
    return attrs.evolve(results, run=Run((), tuple(outputs)), aggregate=None)


def _same(expected: Any, actual: Any) -> bool:
    """Whether two are the same, where a `Row` and a named tuple of the same fields are."""
    expected_fields, actual_fields = _fields(expected), _fields(actual)
    if expected_fields is None or actual_fields is None:
        return same(expected, actual)
    return expected_fields.keys() == actual_fields.keys() and all(
        _same(field, actual_fields[name]) for name, field in expected_fields.items()
    )


def _fields(value: Any) -> dict[str, Any] | None:
    if isinstance(value, Row) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        fields: dict[str, Any] = value._asdict()  # type: ignore[union-attr]
        return fields
    return None


def equal_to(expected: Iterable[Any], equals_fn: Equals | None = None) -> Matcher:
    """Exactly these elements, in any order.

    Args:
        expected: The elements.
        equals_fn: When an expected one and one that came out are the same.

    Raises:
        TestStreamError: There is no list of elements.

    Source: Beam Python ``equal_to``.
    """
    wanted, equals = list(several(expected, "equal_to")), equals_fn or _same

    def wrong(actual: list[Any]) -> str:
        missing, unexpected = unmatched(wanted, actual, equals)
        differences = f", unexpected elements {unexpected!r}" if unexpected else ""
        differences += f", missing elements {missing!r}" if missing else ""
        return f"{wanted!r} == {actual!r}{differences}" if differences else ""

    return BeamMatcher("equal_to", wrong)


class contains_in_any_order:
    """Equal to whatever lists the same elements as often, in any order; they are hashable.

    Source: Beam Python ``contains_in_any_order``.
    """

    def __init__(self, iterable: Iterable[Any]) -> None:
        self._counts = Counter(iterable)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Iterable) and self._counts == Counter(other)

    def __hash__(self) -> int:
        return hash(frozenset(self._counts.items()))

    def __repr__(self) -> str:
        return f"InAnyOrder({self._counts})"


def is_empty() -> Matcher:
    """No elements. Source: Beam Python ``is_empty``."""
    return BeamMatcher("is_empty", lambda actual: f"[] == {actual!r}" if actual else "")


def is_not_empty() -> Matcher:
    """At least one element. Source: Beam Python ``is_not_empty``."""
    return BeamMatcher("is_not_empty", lambda actual: "" if actual else "pcol is empty")


def equal_to_per_window(expected_window_to_elements: Mapping[WindowLike, Iterable[Any]]) -> Matcher:
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
    wanted: dict[Any, list[Any]] = {
        of_model(read_window((window,), name)): list(several(elements, f"{name}: {window!r}"))
        for window, elements in expected_window_to_elements.items()
    }

    def wrong(actual: list[Any]) -> str:
        came: dict[Any, list[Any]] = {}
        for reified_value in actual:
            if not isinstance(reified_value, TestWindowedValue):
                return f"{reified_value!r} is no TestWindowedValue; write reify_windows=True"
            came.setdefault(reified_value.windows[0], []).append(reified_value.value)
        problems: list[str] = []
        for window in {**came, **wanted}:
            if window not in wanted:
                problems.append(f"window {window} not found in any expected windows {list(wanted)}")
                continue
            elements = came.get(window, [])
            missing, unexpected = unmatched(wanted[window], elements, _same_or_grouped)
            problems += [
                f"element {element!r} not found in window {window}:{wanted[window]}"
                for element in unexpected
            ]
            problems += [f"unmatched elements {missing} in window {window}"] if missing else []
        return "\n".join(dict.fromkeys(problems))

    return BeamMatcher(name, wrong, reifies=True)


def _same_or_grouped(expected: Any, actual: Any) -> bool:
    """Whether two are the same, where a list of grouped values has no order."""
    grouped = isinstance(actual, tuple) and len(actual) == 2
    return same(expected, actual) or (grouped and same_pair(expected, actual, any_order=True))
