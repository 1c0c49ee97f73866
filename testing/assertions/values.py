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
from beamlike.testing.assertions.equality import unmatched
from beamlike.testing.assertions.failures import some_lines
from beamlike.testing.assertions.matchers import Mismatch, ValueMatcher, show_element
from beamlike.testing.streams.results import Results
from beamlike.viz.table import shorten


def several(elements: Iterable[Any], owner: str) -> tuple[Any, ...]:
    """The elements that a matcher is given."""
    if not isinstance(elements, Iterable):
        raise TestStreamError(f"{owner} needs a list of elements, got {elements!r}")
    return tuple(elements)


def _contain(name: str, *wanted: Any, stamped: bool = False, extras: bool = False) -> ValueMatcher:
    """These elements, and perhaps others; with their times (ms) if ``stamped``."""

    def expected() -> str:
        lines = some_lines(show_element(element, stamped=stamped) for element in wanted)
        if extras:
            return f"an element {lines}"
        match len(wanted):
            case 0:
                return "no elements"
            case 1:
                return f"exactly one element, {lines}"
            case count:
                return f"exactly these {count} elements, in any order\n{lines}"

    def verdict(selected: list[Any], results: Results) -> Mismatch | None:
        same = results.same_stamped if stamped or results.stamped else results.same_element
        elements = [results.wanted(plain, name, stamped=stamped) for plain in wanted]
        missing, rest = unmatched(elements, selected, same)
        unexpected = () if extras else tuple(rest)
        return Mismatch(tuple(missing), unexpected) if missing or unexpected else None

    single = name.startswith("contain_single_value")
    return ValueMatcher(name, expected, verdict, not wanted, extras or single, stamped)


def _size_is(size: int) -> Callable[[list[Any], Results], Mismatch | None]:
    def verdict(selected: list[Any], results: Results) -> Mismatch | None:
        if len(selected) == size:
            return None
        unexpected = tuple(selected) if size == 0 else ()
        return Mismatch(unexpected=unexpected, remark=f"{_count(len(selected))} selected")

    return verdict


@attrs.frozen(eq=False)
class BeEmpty(ValueMatcher):
    """No elements. ``be_empty`` and ``be_empty()`` are the same."""

    def __call__(self) -> "BeEmpty":
        return self


Predicate = Callable[[Any], bool]


def _satisfy(
    name: str, predicate: Predicate, selection: str, wrong: Callable[[list[Any], Predicate], Any]
) -> ValueMatcher:
    """A question that a function of the user's answers, of ``what``; ``wrong`` makes a remark, or a
    list of unfit elements, of the selected elements and that function.
    """

    def holds(subject: Any) -> bool:
        answer: object = predicate(subject)
        if answer is None:
            raise TestStreamError(
                f"the predicate of {name}, {_name_of(predicate)}, returned None; "
                "it must return True or False"
            )
        return bool(answer)

    def verdict(selected: list[Any], results: Results) -> Mismatch | None:
        answer = wrong(selected, holds)
        if not answer:
            return None
        if isinstance(answer, str):
            return Mismatch(remark=answer)
        return Mismatch(unexpected=tuple(answer))

    def expected() -> str:
        return f"that {selection} satisfies {_name_of(predicate)}"

    return ValueMatcher(name, expected, verdict, asks_each=name != "satisfy")


def contain_in_any_order(elements: Iterable[Any]) -> ValueMatcher:
    """Exactly these elements, each as often as it is listed.

    Raises:
        TestStreamError: There is no list of them.
    """
    name = "contain_in_any_order"
    return _contain(name, *map(_plain, several(elements, name)))


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
    return _contain(name, *stamped, stamped=True)


def contain_single_value(element: Any) -> ValueMatcher:
    """Exactly one element, over all keys, and it is this one."""
    return _contain("contain_single_value", _plain(element))


def contain_single_value_at_time(time: InstantLike, element: Any) -> ValueMatcher:
    """Exactly one element, over all keys, and it is this one with this timestamp.

    Raises:
        TimeError: The instant cannot be read.
    """
    name = "contain_single_value_at_time"
    return _contain(name, _stamped(time, element, name), stamped=True)


def contain_value(element: Any) -> ValueMatcher:
    """At least one element is this one."""
    return _contain("contain_value", _plain(element), extras=True)


def contain_value_at_time(time: InstantLike, element: Any) -> ValueMatcher:
    """At least one element is this one with this timestamp.

    Raises:
        TimeError: The instant cannot be read.
    """
    name = "contain_value_at_time"
    return _contain(name, _stamped(time, element, name), stamped=True, extras=True)


be_empty: Final = BeEmpty("be_empty", lambda: "no elements", _size_is(0), wants_nothing=True)
"""No elements. ``be_empty`` and ``be_empty()`` are the same."""


def have_size(size: int) -> ValueMatcher:
    """So many elements.

    Raises:
        TestStreamError: The size is no number of things.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise TestStreamError(f"have_size needs a whole number, 0 or more, got {size!r}")
    return ValueMatcher("have_size", lambda: _count(size), _size_is(size), size == 0)


def equal_map_of(mapping: Mapping[Any, Any]) -> ValueMatcher:
    """Exactly one element for each key of the mapping, with that value, and no other keys.

    Raises:
        TestStreamError: It is none.
    """
    if not isinstance(mapping, Mapping):
        raise TestStreamError(
            f'equal_map_of needs a value for each key, such as {{"joe": 3}}, got {mapping!r}'
        )

    def verdict(selected: list[Any], results: Results) -> Mismatch | None:
        pairs = [element[0] for element in selected] if results.stamped else selected
        for pair in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TestStreamError(
                    f"equal_map_of needs a collection of (key, value) pairs, and got {pair!r}"
                )
        keys = [key for key, _ in pairs]
        twice = sorted({repr(key) for key in keys if keys.count(key) > 1})
        same, wanted = results.same_element, mapping.items()
        missing = [entry for entry in wanted if not any(same(entry, pair) for pair in pairs)]
        unexpected = [
            shown
            for shown, pair in zip(selected, pairs, strict=True)
            if not any(same(entry, pair) for entry in wanted)
        ]
        if not missing and not unexpected and not twice:
            return None
        remark = f"several elements have the key {', '.join(twice)}" if twice else ""
        return Mismatch(tuple(missing), tuple(unexpected), remark)

    def expected() -> str:
        return f"one element for each key, {shorten(dict(mapping), 200)}"

    return ValueMatcher("equal_map_of", expected, verdict, not mapping)


def satisfy(predicate: Callable[[list[Any]], bool]) -> ValueMatcher:
    """The predicate is True for the list of all selected elements."""

    def wrong(selected: list[Any], holds: Predicate) -> str:
        return "" if holds(selected) else "it is False for" + _show_all(selected)

    return _satisfy("satisfy", predicate, "the list of elements", wrong)


def satisfy_single_value(predicate: Predicate) -> ValueMatcher:
    """There is exactly one element, and the predicate is True for it."""

    def wrong(selected: list[Any], holds: Predicate) -> str:
        if len(selected) != 1:
            return f"{_count(len(selected))} selected, not one"
        return "" if holds(selected[0]) else "it is False for" + _show_all(selected)

    return _satisfy("satisfy_single_value", predicate, "the only element", wrong)


def for_all(predicate: Predicate) -> ValueMatcher:
    """The predicate is True for every element."""

    def wrong(selected: list[Any], holds: Predicate) -> list[Any]:
        return [element for element in selected if not holds(element)]

    return _satisfy("for_all", predicate, "every element", wrong)


def exist(predicate: Predicate) -> ValueMatcher:
    """The predicate is True for at least one element."""

    def wrong(selected: list[Any], holds: Predicate) -> str:
        return "" if any(map(holds, selected)) else "it is False for all of" + _show_all(selected)

    return _satisfy("exist", predicate, "at least one element", wrong)


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
