"""What Beam Python's `assert_that` is given: matchers, which are functions as well.

Called with a list of elements, they raise a `BeamAssertException` if it is wrong.

Source: Beam Python ``apache_beam.testing.util``.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, Final, NamedTuple

import attrs

from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.python.windows import of_model
from beamlike.api.pipelines.rows import Row
from beamlike.errors import TestStreamError
from beamlike.machine.events import Pane
from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.model.windows import Window
from beamlike.testing.assertions.equality import same
from beamlike.testing.assertions.failures import Failure, some_lines
from beamlike.testing.assertions.selection import Selection, judge
from beamlike.testing.assertions.values import BeEmpty, Contain, several
from beamlike.testing.spelling import WindowLike, read_window
from beamlike.testing.streams.results import Matcher, Results

__all__ = [
    "BEAMS_MATCHERS",
    "BeamAssertException",
    "EqualToPerWindow",
    "SortLists",
    "TestWindowedValue",
    "contains_in_any_order",
    "equal_to",
    "equal_to_approx",
    "equal_to_per_window",
    "is_empty",
    "is_not_empty",
    "matches_all",
    "row_namedtuple_equals_fn",
]

Equals = Callable[[Any, Any], bool]


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
class _EqualTo(Contain):
    equals_fn: Equals | None = attrs.field(default=None, eq=False)

    def __call__(self, actual: Iterable[Any]) -> None:
        equals = self.equals_fn or _same
        elements = list(actual)
        missing, unexpected = list(self.wanted), []
        for element in elements:
            found = next((at for at, it in enumerate(missing) if equals(it, element)), None)
            if found is None:
                unexpected.append(element)
            else:
                del missing[found]
        if missing or unexpected:
            more = f", unexpected elements {unexpected!r}" if unexpected else ""
            more += f", missing elements {missing!r}" if missing else ""
            raise BeamAssertException(f"Failed assert: {list(self.wanted)!r} == {elements!r}{more}")

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        equals = self.equals_fn or _same
        results = attrs.evolve(results, equal=equals, aggregate=None)
        return super().failure(results, negated=negated)


def _same(expected: Any, actual: Any) -> bool:
    return row_namedtuple_equals_fn(expected, actual, same)


def row_namedtuple_equals_fn(
    expected: Any, actual: Any, fallback_equals_fn: Equals | None = None
) -> bool:
    """Whether two are the same, where a `Row` and a named tuple of the same fields are.

    Args:
        expected: The one.
        actual: The other.
        fallback_equals_fn: For what has no fields; None is ``==``.

    Source: Beam Python ``row_namedtuple_equals_fn``.
    """
    fields, others = _fields(expected), _fields(actual)
    if fields is None or others is None:
        return bool(
            fallback_equals_fn(expected, actual) if fallback_equals_fn else expected == actual
        )
    return fields.keys() == others.keys() and all(
        row_namedtuple_equals_fn(it, others[name], fallback_equals_fn)
        for name, it in fields.items()
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
    return _EqualTo("equal_to", several(expected, "equal_to"), stamped=False, equals_fn=equals_fn)


def equal_to_approx(
    expected: Iterable[Any], rel_tol: float = 1e-09, abs_tol: float = 0.0
) -> Matcher:
    """Exactly these elements, in any order; numbers, also in lists and tuples, nearly.

    Args:
        expected: The elements.
        rel_tol: As of `math.isclose`; the next one likewise.
        abs_tol: Likewise.

    Source: Beam Python ``equal_to_approx``.
    """

    def close(one: Any, other: Any) -> bool:
        if isinstance(one, Real) and isinstance(other, Real):
            return math.isclose(one, other, rel_tol=rel_tol, abs_tol=abs_tol)
        if isinstance(one, list | tuple) and type(one) is type(other) and len(one) == len(other):
            return all(map(close, one, other))
        return bool(one == other)

    return equal_to(expected, close)


def matches_all(expected: Iterable[Any]) -> Callable[[list[Any]], None]:
    """Elements, or matchers of PyHamcrest, each of one element, in any order.

    Args:
        expected: The elements and matchers.

    Source: Beam Python ``matches_all``.
    """
    wanted = list(expected)

    def check(actual: list[Any]) -> None:
        from hamcrest import assert_that as hamcrest_assert
        from hamcrest import contains_inanyorder

        hamcrest_assert(actual, contains_inanyorder(*wanted))

    return check


def _sort_lists(element: Any) -> Any:
    """The element, in which lists are sorted, also in tuples."""
    if isinstance(element, list):
        return sorted(element)
    if isinstance(element, tuple):
        return type(element)(_sort_lists(part) for part in element)
    return element


SortLists: Map[Any, Any] = Map(_sort_lists)
"""Sorts the lists in elements, which have no order. Source: Beam ``SortLists``."""


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


@attrs.frozen
class _IsEmpty:
    def __call__(self, actual: Iterable[Any]) -> None:
        elements = list(actual)
        if elements:
            raise BeamAssertException(f"Failed assert: [] == {elements!r}")

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        return BeEmpty("is_empty", 0).failure(results, negated=negated)


def is_empty() -> Matcher:
    """No elements. Source: Beam Python ``is_empty``."""
    return _IsEmpty()


@attrs.frozen
class _IsNotEmpty:
    def __call__(self, actual: Iterable[Any]) -> None:
        if not list(actual):
            raise BeamAssertException("Failed assert: pcol is empty")

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        if bool(results.panes) != negated:
            return None
        holds = "holds, but should not" if negated else "does not hold"
        return Failure(f"is_not_empty {holds}", (("expected", "at least one element"),))


def is_not_empty() -> Matcher:
    """At least one element. Source: Beam Python ``is_not_empty``."""
    return _IsNotEmpty()


@attrs.frozen
class EqualToPerWindow:
    """What `equal_to_per_window` makes."""

    expected: tuple[tuple[Window, tuple[Any, ...]], ...]

    def __call__(self, actual: Iterable[Any]) -> None:
        came: dict[Any, list[Any]] = defaultdict(list)
        for it in actual:
            if not isinstance(it, TestWindowedValue):
                raise BeamAssertException(
                    f"Failed assert: {it!r} is no TestWindowedValue; write reify_windows=True"
                )
            came[it.windows[0]].append(it.value)
        wanted: dict[Any, list[Any]] = {
            of_model(window): list(elements) for window, elements in self.expected
        }
        for window, elements in came.items():
            if window not in wanted:
                raise BeamAssertException(
                    f"Failed assert: window {window} not found in any expected windows "
                    f"{list(wanted)}"
                )
            for element in elements:
                if element not in wanted[window]:
                    raise BeamAssertException(
                        f"Failed assert: element {element!r} not found in window "
                        f"{window}:{wanted[window]}"
                    )
                wanted[window].remove(element)
        for window, rest in wanted.items():
            if rest:
                raise BeamAssertException(
                    f"Failed assert: unmatched elements {rest} in window {window}"
                )

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
    """One failure that lists all windows."""
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
    return EqualToPerWindow(
        tuple(
            (read_window((window,), name), several(elements, f"{name}: {window!r}"))
            for window, elements in expected_window_to_elements.items()
        )
    )


BEAMS_MATCHERS: Final = (_EqualTo, _IsEmpty, _IsNotEmpty, EqualToPerWindow)
"""The classes of matchers that are functions of a list of elements."""
