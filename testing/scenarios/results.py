"""What came out of a run as a transcript's document, and how it differs from what must.

Comparison is by value: ``1`` and ``1.0`` are one number, ``true`` is none. Outputs are a
multiset; only the withdrawals of a pane have their place, before it.
"""

import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Real
from operator import attrgetter
from typing import Any, Final

import attrs

from beamlike.machine.events import Pane
from beamlike.model.panes import Timing
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.script import Output, Run
from beamlike.testing.scenarios.places import Place
from beamlike.testing.scenarios.schema import read_key

_NULL_IS_A_VALUE: Final = frozenset({"key", "value"})

Entry = Mapping[str, Any]
"""A pane or a drop as in a document. In an expectation a field that is absent is not asserted."""


@attrs.frozen
class Expected:
    """The outcome that a scenario states.

    ``complete``: these are all panes and all drops; otherwise others may come out as well.
    ``panes`` or ``dropped`` is None if nothing is stated about them.
    """

    complete: bool
    panes: tuple[Entry, ...] | None
    dropped: tuple[Entry, ...] | None


# -- a run as a document -------------------------------------------------------------------


def to_document(run: Run) -> dict[str, list[dict[str, Any]]]:
    """``{"panes": [...], "dropped": [...]}`` with all fields, in order of emission."""
    document: dict[str, list[dict[str, Any]]] = {"panes": [], "dropped": []}
    for output in run.outputs:
        pane = output.effect if isinstance(output.effect, Pane) else None
        parts = _PANE if pane else _DROP
        entry = {name: value(output) for name, (value, _) in parts.items()}
        if pane and pane.retraction:
            entry["retraction"] = True
        document["panes" if pane else "dropped"].append(entry)
    return document


def _window(output: Output) -> list[int] | str | None:
    window: Window | None = output.effect.window
    if window is None:
        return None
    return [window.start, window.end] if isinstance(window, IntervalWindow) else "global"


def _check_window(place: Place) -> None:
    if place.value == "global":
        return
    if not isinstance(place.value, list) or len(place.value) != 2:
        place.fail(f'must be [start, end] in ms or "global", got {place.value!r}')
    for bound in place.items():
        bound.integer()


_Parts = Mapping[str, tuple[Callable[[Output], Any], Callable[[Place], object]]]
"""The fields of an entry: their values in a run, and what checks them in a file."""

_ANY: Final[_Parts] = {
    "step": (attrgetter("step"), Place.integer),
    "key": (attrgetter("key"), read_key),
    "value": (attrgetter("effect.value"), lambda place: None),
}
_WINDOW: Final = (_window, _check_window)
_PANE: Final[_Parts] = {
    **_ANY,
    "window": _WINDOW,
    "timestamp_ms": (attrgetter("effect.timestamp"), Place.integer),
    "timing": (
        attrgetter("effect.info.timing.value"),
        lambda place: place.one_of(timing.value for timing in Timing),
    ),
    "index": (attrgetter("effect.info.index"), Place.integer),
    "nonspeculative_index": (attrgetter("effect.info.nonspeculative_index"), Place.integer),
    "is_first": (attrgetter("effect.info.is_first"), Place.flag),
    "is_last": (attrgetter("effect.info.is_last"), Place.flag),
}
_DROP: Final[_Parts] = {
    **_ANY,
    "ts_ms": (attrgetter("effect.timestamp"), Place.integer),
    "window": _WINDOW,
    "reason": (
        attrgetter("effect.reason.value"),
        lambda place: place.one_of(("expired", "closed")),
    ),
}


# -- expectations --------------------------------------------------------------------------


def read_panes(place: Place, complete: bool, steps: int) -> tuple[Entry, ...]:
    """The expected panes; a complete scenario states every field of each."""
    panes = (_entry(item, _PANE, complete, steps) for item in place.items())
    return tuple({"retraction": False} | pane for pane in panes)


def read_drops(place: Place, complete: bool, steps: int) -> tuple[Entry, ...]:
    """The expected drops; a complete scenario states every field of each."""
    return tuple(_entry(item, _DROP, complete, steps) for item in place.items())


def _entry(place: Place, parts: _Parts, complete: bool, steps: int) -> dict[str, Any]:
    optional = ("retraction",) if parts is _PANE else ()
    fields = place.fields(parts, optional) if complete else place.fields((), (*parts, *optional))
    entry: dict[str, Any] = {}
    for name, field in fields.items():
        if field.value is None and not (complete and name in _NULL_IS_A_VALUE):
            if complete:
                field.fail(
                    'null means "not asserted", and a complete scenario asserts everything; '
                    'give the value, or write "complete": false'
                )
            continue
        check = Place.flag if name == "retraction" else parts[name][1]
        check(field)
        if name == "step" and not 0 <= field.value < steps:
            field.fail(f"the scenario has steps 0 to {steps - 1}, got {field.value}")
        entry[name] = field.value
    return entry


# -- comparison ----------------------------------------------------------------------------


def compare(expected: Expected, run: Run, *, any_order: bool) -> list[str]:
    """How a run differs from what was expected, a sentence each; empty if it does not.

    Args:
        any_order: The list values of panes are multisets.
    """
    document = to_document(run)
    panes = [{"retraction": False} | pane for pane in document["panes"]]
    kinds = (
        (_Comparison("pane", any_order), expected.panes, panes),
        (_Comparison("drop", False), expected.dropped, document["dropped"]),
    )
    sentences = [
        difference
        for comparison, wanted, came in kinds
        if wanted is not None
        for difference in comparison.differences(wanted, came, expected.complete)
    ]
    return sentences + _misplaced_withdrawals(panes)


@attrs.frozen
class _Comparison:
    noun: str
    any_order: bool

    def differences(
        self, expected: Sequence[Entry], actual: Sequence[Entry], complete: bool
    ) -> list[str]:
        missing, extra = self._unmatched(expected, actual)
        sentences = []
        for entry in missing:
            near = self._nearest(entry, extra)
            if near is None:
                sentences.append(f"{_whereabouts(entry)}: missing {self._show(entry)}")
            else:
                extra.remove(near)
                sentences.append(f"{_whereabouts(entry)}: {self._changes(entry, near)}")
        if complete:
            sentences += [
                f"{_whereabouts(entry)}: unexpected {self._show(entry)}" for entry in extra
            ]
        return sentences

    def _unmatched(
        self, expected: Sequence[Entry], actual: Sequence[Entry]
    ) -> tuple[list[Entry], list[Entry]]:
        """What is left over when as many as possible are paired, each with one of its like."""
        taken: dict[int, int] = {}  # position in expected -> position in actual
        owner: dict[int, int] = {}  # and back
        for wanted in range(len(expected)):
            # An entry that leaves fields open may take what a stricter one needs; move it on.
            reached: dict[int, int] = {}  # position in actual -> who may take it
            waiting, free = [wanted], None
            for entry in waiting:
                for index, candidate in enumerate(actual):
                    if index in reached or self._unlike(expected[entry], candidate):
                        continue
                    reached[index] = entry
                    if index not in owner:
                        free = index
                        break
                    waiting.append(owner[index])
                if free is not None:
                    break
            while free is not None:
                entry = owner[free] = reached[free]
                taken[entry], free = free, taken.get(entry)
        missing = [entry for index, entry in enumerate(expected) if index not in taken]
        return missing, [entry for index, entry in enumerate(actual) if index not in owner]

    def _unlike(self, expected: Entry, actual: Entry) -> list[str]:
        """The asserted fields in which they differ."""
        return [
            name
            for name, value in expected.items()
            if self._canonical(name, value) != self._canonical(name, actual[name])
        ]

    def _canonical(self, name: str, value: Any) -> Hashable:
        if name == "value" and self.any_order and isinstance(value, list | tuple):
            return frozenset(Counter(map(canonical, value)).items())
        return canonical(value)

    def _nearest(self, entry: Entry, candidates: Sequence[Entry]) -> Entry | None:
        """What probably came out in place of an expected entry: the same key and window."""
        if "key" not in entry or "window" not in entry:
            return None
        same = [
            (len(unlike), index)
            for index, candidate in enumerate(candidates)
            if not {"key", "window", "retraction", "ts_ms"}.intersection(
                unlike := self._unlike(entry, candidate)
            )
        ]
        return candidates[min(same)[1]] if same else None

    def _changes(self, expected: Entry, actual: Entry) -> str:
        changes = ", ".join(
            f"{name} is {_show(actual[name])} (expected {_show(expected[name])})"
            for name in self._unlike(expected, actual)
        )
        return f"{self._name(expected)}: {changes}"

    def _name(self, entry: Entry) -> str:
        if self.noun == "drop":
            return f"drop of {_show(entry['value'])}" if "value" in entry else "drop"
        parts = ["retraction of" if entry["retraction"] else "pane"]
        parts += [entry["timing"]] if "timing" in entry else []
        parts += [f"#{entry['index']}"] if "index" in entry else []
        return " ".join(parts)

    def _show(self, entry: Entry) -> str:
        rest = {
            name: value
            for name, value in entry.items()
            if name not in ("step", "key", "window", "timing", "index", "retraction")
            and not (name == "value" and self.noun == "drop")
        }
        shown = ", ".join(f"{name} {_show(value)}" for name, value in rest.items())
        return f"{self._name(entry)} ({shown})" if shown else self._name(entry)


def canonical(value: Any) -> Hashable:
    """A form in which equal JSON values are equal: numbers by value, booleans apart.

    >>> canonical([1, True]) == canonical([1.0, True]), canonical(1) == canonical(True)
    (True, False)
    """
    match value:
        case None | bool():
            return (str(value),)
        case Real():
            return ("number", value)
        case str():
            return value
        case list() | tuple():
            return ("list", tuple(map(canonical, value)))
        case dict():
            return ("object", frozenset((name, canonical(item)) for name, item in value.items()))
        case _:
            return ("other", repr(value))


def _misplaced_withdrawals(panes: Sequence[Entry]) -> list[str]:
    """Retractions that no pane follows which could have caused them."""
    return [
        f"{_whereabouts(entry)}: the retraction of {entry['timing']} #{entry['index']} "
        "does not come before the pane that causes it"
        for index, entry in enumerate(panes)
        if entry["retraction"] and not any(_causes(later, entry) for later in panes[index + 1 :])
    ]


def _causes(pane: Entry, retraction: Entry) -> bool:
    if pane["retraction"] or any(pane[name] != retraction[name] for name in ("step", "key")):
        return False
    new, old = pane["window"], retraction["window"]
    if new == "global" or old == "global":
        return bool(new == old)
    # Mostly it has grown. A session that an event ends is shorter than it was.
    return bool(new[0] < old[1] and old[0] < new[1])


def _whereabouts(entry: Entry) -> str:
    parts = [f"step {entry['step']}"] if "step" in entry else []
    parts += [f"key {_show(entry['key'])}"] if "key" in entry else []
    if "window" in entry:
        window = entry["window"]
        parts.append(window if window == "global" else f"[{window[0]}, {window[1]})")
    return ", ".join(parts) or "anywhere"


def _show(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
