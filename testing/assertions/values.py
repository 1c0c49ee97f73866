"""Value matchers: what the selected elements must be.

An element of a test stream's results is a ``(key, value)`` pair, one of a pipeline's collection
anything. Each matcher can be asked of everything that came out, or put inside any pane matcher of
`beamlike.testing.assertions.matchers`.

Source: Scio ``SCollectionMatchers``; the ``at_time`` forms come from mkuthan/stream-processing.
"""

from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any, Final

import attrs

from beamlike.api.pipelines.dofn import Timestamped
from beamlike.errors import TestStreamError
from beamlike.model.time import InstantLike, instant_ms
from beamlike.testing.assertions.failures import Failure, some_lines
from beamlike.testing.assertions.selection import Mismatch, Question, Selection, judge, show_element
from beamlike.testing.streams.results import Results
from beamlike.viz.table import shorten

__all__ = [
    "BeEmpty",
    "Contain",
    "ValueMatcher",
    "be_empty",
    "contain_in_any_order",
    "contain_in_any_order_at_time",
    "contain_single_value",
    "contain_single_value_at_time",
    "contain_value",
    "contain_value_at_time",
    "equal_map_of",
    "exist",
    "for_all",
    "have_size",
    "satisfy",
    "satisfy_single_value",
]


def several(elements: Iterable[Any], owner: str) -> tuple[Any, ...]:
    """The elements that a matcher is given.

    Raises:
        TestStreamError: They are none that can be listed.
    """
    if not isinstance(elements, Iterable):
        raise TestStreamError(f"{owner} needs a list of elements, got {elements!r}")
    return tuple(elements)


class ValueMatcher(Question):
    """A question that can also be asked of everything that came out."""

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        """Why all panes together do not answer as wanted, None if they do."""
        return judge(results, Selection.of(results), self, negated=negated)


@attrs.frozen
class Contain(ValueMatcher):
    """These elements, and perhaps others; with their times (ms) if ``stamped``."""

    name: str
    wanted: tuple[Any, ...]
    stamped: bool
    others_allowed: bool = False
    is_single: bool = False

    @property
    def expected(self) -> str:
        lines = some_lines(show_element(w, stamped=self.stamped) for w in self.wanted)
        if self.others_allowed:
            return f"an element {lines}"
        match len(self.wanted):
            case 0:
                return "no elements"
            case 1:
                return f"exactly one element, {lines}"
            case count:
                return f"exactly these {count} elements, in any order\n{lines}"

    @property
    def wants_nothing(self) -> bool:
        return not self.wanted

    @property
    def asks_each(self) -> bool:
        return self.others_allowed or self.is_single

    def verdict(self, selected: list[Any], results: Results) -> Mismatch | None:
        everything = [results.wanted(it, self.name, stamped=self.stamped) for it in self.wanted]
        stamped = self.stamped or results.stamped
        same = results.same_stamped if stamped else results.same_element
        rest, missing = list(selected), []
        for wanted in everything:
            for at, actual in enumerate(rest):
                if same(wanted, actual):
                    del rest[at]
                    break
            else:
                missing.append(wanted)
        unexpected = () if self.others_allowed else tuple(rest)
        if not missing and not unexpected:
            return None
        return Mismatch(tuple(missing), unexpected)


@attrs.frozen
class _HaveSize(ValueMatcher):
    name: str
    size: int

    @property
    def expected(self) -> str:
        return _count(self.size)

    @property
    def wants_nothing(self) -> bool:
        return self.size == 0

    def verdict(self, selected: list[Any], results: Results) -> Mismatch | None:
        if len(selected) == self.size:
            return None
        return Mismatch(
            unexpected=tuple(selected) if self.size == 0 else (),
            remark=f"{_count(len(selected))} selected",
        )


@attrs.frozen
class BeEmpty(_HaveSize):
    """No elements. ``be_empty`` and ``be_empty()`` are the same."""

    def __call__(self) -> "BeEmpty":
        return self


@attrs.frozen
class _EqualMapOf(ValueMatcher):
    name: str
    wanted: Mapping[Any, Any] = attrs.field(eq=False)

    @property
    def expected(self) -> str:
        return f"one element for each key, {shorten(dict(self.wanted), 200)}"

    @property
    def wants_nothing(self) -> bool:
        return not self.wanted

    def verdict(self, selected: list[Any], results: Results) -> Mismatch | None:
        pairs = [element[0] for element in selected] if results.stamped else selected
        for pair in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TestStreamError(
                    f"{self.name} needs a collection of (key, value) pairs, and got {pair!r}"
                )
        keys = [key for key, _ in pairs]
        twice = sorted({repr(key) for key in keys if keys.count(key) > 1})
        missing = [
            p for p in self.wanted.items() if not any(results.same_element(p, s) for s in pairs)
        ]
        unexpected = [
            shown
            for shown, pair in zip(selected, pairs, strict=True)
            if not any(results.same_element(wanted, pair) for wanted in self.wanted.items())
        ]
        if not missing and not unexpected and not twice:
            return None
        remark = f"several elements have the key {', '.join(twice)}" if twice else ""
        return Mismatch(tuple(missing), tuple(unexpected), remark)


Predicate = Callable[[Any], bool]


@attrs.frozen
class _Satisfy(ValueMatcher):
    name: str
    predicate: Predicate
    what: str

    @property
    def expected(self) -> str:
        return f"that {self.what} satisfies {_name_of(self.predicate)}"

    @property
    def asks_each(self) -> bool:
        return self.name != "satisfy"

    def verdict(self, selected: list[Any], results: Results) -> Mismatch | None:
        match self.name:
            case "satisfy":
                if self._holds(selected):
                    return None
                return Mismatch(remark="it is False for" + _show_all(selected))
            case "satisfy_single_value":
                if len(selected) != 1:
                    return Mismatch(remark=f"{_count(len(selected))} selected, not one")
                if self._holds(selected[0]):
                    return None
                return Mismatch(remark="it is False for" + _show_all(selected))
            case "exist":
                if any(map(self._holds, selected)):
                    return None
                return Mismatch(remark="it is False for all of" + _show_all(selected))
        unfit = tuple(element for element in selected if not self._holds(element))
        return Mismatch(unexpected=unfit) if unfit else None

    def _holds(self, subject: Any) -> bool:
        answer: object = self.predicate(subject)
        if answer is None:
            raise TestStreamError(
                f"the predicate of {self.name}, {_name_of(self.predicate)}, returned None; "
                "it must return True or False"
            )
        return bool(answer)


def contain_in_any_order(elements: Iterable[Any]) -> ValueMatcher:
    """Exactly these elements, each as often as it is listed.

    Raises:
        TestStreamError: There is no list of them.
    """
    name = "contain_in_any_order"
    return Contain(name, tuple(map(_plain, several(elements, name))), stamped=False)


def contain_in_any_order_at_time(*expected: Any) -> ValueMatcher:
    """Exactly these elements with these timestamps.

    Either one list of ``("00:00:59.999", (key, value))``, or one instant for all and a list
    of elements: ``contain_in_any_order_at_time("00:00:59.999", [("foo", 1), ("bar", 1)])``.

    Raises:
        TestStreamError: The arguments are neither.
        TimeError: An instant cannot be read.
    """
    name = "contain_in_any_order_at_time"
    match expected:
        case (elements,) if isinstance(elements, Iterable) and not isinstance(elements, str):
            stamped = [_stamped(*_time_and_element(element, name), name) for element in elements]
        case (instant, Iterable() as elements):
            stamped = [_stamped(instant, element, name) for element in elements]
        case _:
            raise TestStreamError(
                f'{name} needs [("00:00:59.999", ("foo", 1)), ...], or "00:00:59.999" and '
                f'[("foo", 1), ...]; got {", ".join(map(repr, expected)) or "nothing"}'
            )
    return Contain(name, tuple(stamped), stamped=True)


def contain_single_value(element: Any) -> ValueMatcher:
    """Exactly one element, over all keys, and it is this one."""
    name = "contain_single_value"
    return Contain(name, (_plain(element),), stamped=False, is_single=True)


def contain_single_value_at_time(time: InstantLike, element: Any) -> ValueMatcher:
    """Exactly one element, over all keys, and it is this one with this timestamp.

    Raises:
        TimeError: The instant cannot be read.
    """
    name = "contain_single_value_at_time"
    return Contain(name, (_stamped(time, element, name),), stamped=True, is_single=True)


def contain_value(element: Any) -> ValueMatcher:
    """At least one element is this one."""
    name = "contain_value"
    return Contain(name, (_plain(element),), stamped=False, others_allowed=True)


def contain_value_at_time(time: InstantLike, element: Any) -> ValueMatcher:
    """At least one element is this one with this timestamp.

    Raises:
        TimeError: The instant cannot be read.
    """
    name = "contain_value_at_time"
    return Contain(name, (_stamped(time, element, name),), stamped=True, others_allowed=True)


be_empty: Final = BeEmpty("be_empty", 0)
"""No elements. ``be_empty`` and ``be_empty()`` are the same."""


def have_size(size: int) -> ValueMatcher:
    """So many elements.

    Raises:
        TestStreamError: The size is no number of things.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise TestStreamError(f"have_size needs a whole number, 0 or more, got {size!r}")
    return _HaveSize("have_size", size)


def equal_map_of(mapping: Mapping[Any, Any]) -> ValueMatcher:
    """Exactly one element for each key of the mapping, with that value, and no other keys.

    Raises:
        TestStreamError: It is none.
    """
    if not isinstance(mapping, Mapping):
        raise TestStreamError(
            f'equal_map_of needs a value for each key, such as {{"joe": 3}}, got {mapping!r}'
        )
    return _EqualMapOf("equal_map_of", mapping)


def satisfy(predicate: Callable[[list[Any]], bool]) -> ValueMatcher:
    """The predicate is True for the list of all selected elements."""
    return _Satisfy("satisfy", predicate, "the list of elements")


def satisfy_single_value(predicate: Predicate) -> ValueMatcher:
    """There is exactly one element, and the predicate is True for it."""
    return _Satisfy("satisfy_single_value", predicate, "the only element")


def for_all(predicate: Predicate) -> ValueMatcher:
    """The predicate is True for every element."""
    return _Satisfy("for_all", predicate, "every element")


def exist(predicate: Predicate) -> ValueMatcher:
    """The predicate is True for at least one element."""
    return _Satisfy("exist", predicate, "at least one element")


def _plain(element: Any) -> Any:
    """An expected element; on results with timestamps it is (element, timestamp)."""
    if isinstance(element, Timestamped):
        return element.value, element.millis
    return element


def _time_and_element(element: Any, name: str) -> tuple[InstantLike, Any]:
    if isinstance(element, Timestamped):
        return element.millis, element.value
    if not isinstance(element, tuple) or len(element) != 2:
        raise TestStreamError(
            f'{name}: write ("00:00:59.999", ("foo", 1)) for each element, got {element!r}'
        )
    time, rest = element
    return time, rest


def _stamped(time: InstantLike, element: Any, name: str) -> tuple[Any, int]:
    return _plain(element), instant_ms(time, f"{name} time")


def _count(size: int) -> str:
    return "no elements" if size == 0 else "1 element" if size == 1 else f"{size} elements"


def _show_all(elements: list[Any]) -> str:
    lines = some_lines(shorten(element, 200) for element in elements)
    return f"\n{lines}" if lines else " no elements"


def _name_of(predicate: Predicate) -> str:
    code = getattr(predicate, "__code__", None)
    name = getattr(predicate, "__name__", repr(predicate))
    if not isinstance(code, CodeType):
        return name
    file = code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{'the lambda' if name == '<lambda>' else name} of {file}:{code.co_firstlineno}"
