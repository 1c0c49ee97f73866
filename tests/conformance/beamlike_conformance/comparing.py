"""How what an engine gave out differs from what a scenario expects, a sentence each.

Numbers are compared by value, so ``1`` is ``1.0``; ``true`` is not a number. Panes and drops are
multisets step by step; only retractions have their place, before the pane that causes them.
"""

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from .scenarios import Scenario

__all__ = ["DROP_FIELDS", "PANE_FIELDS", "canonical", "differences", "row_differences", "unmatched"]

Entry = Mapping[str, Any]

PANE_FIELDS: Final = (
    *("step", "key", "window", "timing", "index", "nonspeculative_index", "is_first", "is_last"),
    *("timestamp_ms", "value"),
)
DROP_FIELDS: Final = ("step", "key", "window", "ts_ms", "value", "reason")
ROW_FIELDS: Final = ("step", "kind", "key", "window", "ts_ms", "value")


def differences(
    scenario: Scenario,
    panes: Sequence[Entry],
    dropped: Sequence[Entry] | None = None,
    drop_counts: Mapping[str, int] | None = None,
) -> list[str]:
    """How an outcome differs from what a scenario expects; empty if it does not.

    Args:
        scenario: What is expected.
        panes: All panes that came out, in order, each with all fields of the format.
        dropped: All drops; None: the engine does not say which elements it drops.
        drop_counts: Of such an engine how many it dropped for each reason, if it counts them.
    """
    any_order = scenario.aggregation == "list"
    problems = _multiset("pane", PANE_FIELDS, scenario.panes, panes, any_order)
    if dropped is not None:
        problems += _multiset("drop", DROP_FIELDS, scenario.dropped, dropped, False)
    elif drop_counts is not None:
        expected = Counter(entry["reason"] for entry in scenario.dropped)
        for reason in sorted(expected.keys() | drop_counts.keys()):
            if expected[reason] != drop_counts.get(reason, 0):
                problems.append(
                    f"{drop_counts.get(reason, 0)} dropped as {reason} "
                    f"(expected {expected[reason]})"
                )
    return problems + list(_misplaced_retractions(panes))


def row_differences(
    expected: Sequence[Entry], rows: Sequence[Entry], any_order: bool = False
) -> list[str]:
    """How the rows of a system differ from those of a case; a reason counts where one is stated.

    Args:
        expected: The rows of the case.
        rows: All rows that came out, in order.
        any_order: Whether rows of one step may come in any order.
    """
    rest, missing = list(rows), []
    for entry in expected:
        index = next((n for n, row in enumerate(rest) if _row_matches(entry, row)), None)
        if index is None:
            missing.append(f"missing: {_row_text(entry)}")
        else:
            del rest[index]
    problems = [*missing, *(f"unexpected: {_row_text(row)}" for row in rest)]
    if problems or any_order:
        return problems
    return [
        f"row {number}: {_row_text(row)}; expected in its place: {_row_text(entry)}"
        for number, (entry, row) in enumerate(zip(expected, rows, strict=True))
        if not _row_matches(entry, row)
    ]


def unmatched(scenario: Scenario, panes: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The expected panes that did not come out as they should, and those that came besides."""
    form = _form(PANE_FIELDS, scenario.aggregation == "list")
    return _leftover(scenario.panes, panes, form)


def canonical(value: Any) -> Hashable:
    """A form in which equal JSON values are equal: numbers by value, booleans apart.

    >>> canonical([1, True]) == canonical([1.0, True]), canonical(1) == canonical(True)
    (True, False)
    """
    match value:
        case None | bool():
            return (str(value),)
        case int() | float():
            return ("number", value)
        case list() | tuple():
            return ("list", tuple(map(canonical, value)))
        case dict():
            return ("object", frozenset((name, canonical(item)) for name, item in value.items()))
        case _:
            return str(value)


def _multiset(
    word: str,
    fields: Sequence[str],
    expected: Sequence[Entry],
    actual: Sequence[Entry],
    any_order: bool,
) -> list[str]:
    form = _form(fields, any_order)
    missing, extra = _leftover(expected, actual, form)
    problems = []
    for entry in missing:
        near = _nearest(entry, extra, fields)
        place = f"step {entry['step']}, key {_show(entry['key'])}, {_window(entry['window'])}"
        if near is None:
            problems.append(f"{place}: missing {word} {_text(entry, fields)}")
            continue
        extra.remove(near)
        changes = ", ".join(
            f"{name} is {_show(near.get(name))} (expected {_show(entry[name])})"
            for name in fields
            if _part(entry[name], any_order) != _part(near.get(name), any_order)
        )
        problems.append(f"{place}: {_name(word, entry)}: {changes}")
    for entry in extra:
        place = f"step {entry['step']}, key {_show(entry['key'])}, {_window(entry['window'])}"
        problems.append(f"{place}: unexpected {word} {_text(entry, fields)}")
    return problems


def _form(fields: Sequence[str], any_order: bool) -> Callable[[Entry], Hashable]:
    """A function that makes entries that are alike equal."""

    def form(entry: Entry) -> Hashable:
        parts = [_part(entry.get(name), any_order and name == "value") for name in fields]
        return (*parts, bool(entry.get("retraction")))

    return form


def _part(value: Any, any_order: bool) -> Hashable:
    if any_order and isinstance(value, list):
        return frozenset(Counter(map(canonical, value)).items())
    return canonical(value)


def _leftover(
    expected: Sequence[Entry], actual: Sequence[Entry], form: Callable[[Entry], Hashable]
) -> tuple[list[Entry], list[Entry]]:
    wanted, came = Counter(map(form, expected)), Counter(map(form, actual))

    def beyond(entries: Sequence[Entry], other: Counter[Hashable]) -> list[Entry]:
        left, rest = Counter(other), []
        for entry in entries:
            if left[form(entry)] > 0:
                left[form(entry)] -= 1
            else:
                rest.append(entry)
        return rest

    return beyond(expected, came), beyond(actual, wanted)


def _nearest(entry: Entry, candidates: Sequence[Entry], fields: Sequence[str]) -> Entry | None:
    """What probably came in place of an expected entry: one of the same key and window."""
    same = [
        candidate
        for candidate in candidates
        if candidate["key"] == entry["key"]
        and candidate["window"] == entry["window"]
        and bool(candidate.get("retraction")) == bool(entry.get("retraction"))
        and candidate.get("ts_ms") == entry.get("ts_ms")
    ]
    return min(
        same,
        key=lambda near: sum(
            canonical(near.get(name)) != canonical(entry[name]) for name in fields
        ),
        default=None,
    )


def _misplaced_retractions(panes: Sequence[Entry]) -> Iterator[str]:
    """Retractions that no pane follows which could have caused them."""
    for number, entry in enumerate(panes):
        if entry.get("retraction") and not any(
            _causes(later, entry) for later in panes[number + 1 :]
        ):
            yield (
                f"step {entry['step']}, key {_show(entry['key'])}, {_window(entry['window'])}: the "
                f"retraction of {entry['timing']} #{entry['index']} does not come before the pane "
                "that causes it"
            )


def _causes(pane: Entry, retraction: Entry) -> bool:
    if pane.get("retraction") or any(pane[name] != retraction[name] for name in ("step", "key")):
        return False
    new, old = pane["window"], retraction["window"]
    if "global" in (new, old):
        return bool(new == old)
    return bool(new[0] < old[1] and old[0] < new[1])


def _row_matches(entry: Entry, row: Entry) -> bool:
    if any(canonical(entry.get(name)) != canonical(row.get(name)) for name in ROW_FIELDS):
        return False
    return entry.get("reason") in (None, row.get("reason"))


def _row_text(row: Entry) -> str:
    reason = f" ({row['reason']})" if row.get("reason") else ""
    return (
        f"step {row['step']}: {row['kind']} {_show(row['key'])} {_show(row['value'])} in "
        f"{_show(row['window'])} at {_show(row['ts_ms'])}{reason}"
    )


def _name(word: str, entry: Entry) -> str:
    if word == "drop":
        return f"drop of {_show(entry['value'])}"
    words = "retraction of" if entry.get("retraction") else word
    return f"{words} {entry['timing']} #{entry['index']}"


def _text(entry: Entry, fields: Sequence[str]) -> str:
    parts = [f"{name} {_show(entry.get(name))}" for name in fields[3:]]
    return ("retraction " if entry.get("retraction") else "") + ", ".join(parts)


def _window(window: Any) -> str:
    return window if isinstance(window, str) else f"[{window[0]}, {window[1]})"


def _show(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
