"""Values in a column of a table, cut so that what differs between rows stays visible.

A value that fits is shown whole. Of one that does not fit

1. fields that are equal in all rows are left out, the longest first,
2. then the longest fields are cut, and the others stay whole,
3. and where two values that differ would still look the same, what they share is left out of their
   middle: each is shown by its end, or from just before they differ.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final

import attrs

from beamlike.model.fingerprint import on_one_line
from beamlike.viz.cells import columns, cut

_LEFT_OUT: Final = "..."
_LEAST_FIELD: Final = 8
_CONTEXT: Final = 2
"""What is shown of the shared text before the first difference."""
_DEEPEST: Final = 20
"""How often texts that are still equal are taken apart: of thousands not all can differ."""


class Column:
    """The values of one column, by row.

    Args:
        values: One for each row.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self._whole = [on_one_line(value) for value in values]
        self._fields = [_fields_of(*pair) for pair in zip(values, self._whole, strict=True)]
        self._equal = _equal_fields(self._fields)
        self._shown: dict[int, list[str]] = {}

    def show(self, row: int, room: int) -> str:
        """The value of a row in so many columns of the terminal."""
        if room not in self._shown:
            short = [self._short(at, room) for at in range(len(self._whole))]
            self._shown[room] = _apart(self._whole, short, room)
        return self._shown[room][row]

    def _short(self, row: int, room: int) -> str:
        whole, parts = self._whole[row], self._fields[row]
        if columns(whole) <= room or parts is None:
            return cut(whole, room)
        return parts.shorten(self._equal[parts.shape], room)


def cut_all(texts: Sequence[str], room: int) -> list[str]:
    """Texts cut to so many columns; those that differ look different where that can be.

    >>> cut_all(["customer-000017", "customer-000018", "guest"], 12)
    ['cust...00017', 'cust...00018', 'guest']
    """
    return _apart(texts, [cut(text, room) for text in texts], room)


# -- fields ----------------------------------------------------------------------------------


@attrs.frozen
class _Fields:
    """A value as its fields: ``opening``, names and texts, ``closing`` are its text."""

    opening: str
    names: tuple[str, ...]
    texts: tuple[str, ...]
    closing: str

    @property
    def shape(self) -> tuple[str, tuple[str, ...]]:
        return self.opening, self.names

    def render(self, left_out: Collection[int] = (), room: int | None = None) -> str:
        """The text without some fields, the others cut to so much room each."""
        shown: list[str] = []
        for at, (name, text) in enumerate(zip(self.names, self.texts, strict=True)):
            if at not in left_out:
                shown.append(name + (text if room is None else cut(text, room)))
            elif shown[-1:] != [_LEFT_OUT]:
                shown.append(_LEFT_OUT)
        return self.opening + ", ".join(shown) + self.closing

    def shorten(self, equal: Collection[int], room: int) -> str:
        """The text in so many columns.

        Args:
            equal: The fields that are the same in all rows.
            room: The columns.
        """
        left_out: set[int] = set()
        for at in sorted(equal, key=lambda at: (-columns(self.texts[at]), at)):
            if columns(self.render(left_out)) <= room:
                break
            left_out.add(at)
        for least in (room, *range(room, _LEAST_FIELD - 1, -1)):
            shown = self.render(left_out, least)
            if columns(shown) <= room:
                return shown
        return cut(shown, room)


def _fields_of(value: Any, whole: str) -> _Fields | None:
    """The fields of a value, if its text is made of them and of nothing else."""
    found = _named(value)
    if found is None:
        return None
    opening, named, closing = found
    names = tuple(name for name, _ in named)
    made = _Fields(opening, names, tuple(on_one_line(it) for _, it in named), closing)
    return made if made.render() == whole else None


def _named(value: Any) -> tuple[str, list[tuple[str, Any]], str] | None:
    kind = type(value)
    opening = f"{kind.__qualname__}("
    if isinstance(value, Mapping):
        return "{", [(f"{on_one_line(name)}: ", it) for name, it in value.items()], "}"
    if isinstance(value, tuple):
        # Those of named tuples, and those of Spark's rows.
        names = getattr(value, "_fields", None) or getattr(value, "__fields__", None)
        if names is None:
            return "(", [("", it) for it in value], ")"
        return opening, [(f"{name}=", it) for name, it in zip(names, value, strict=False)], ")"
    if isinstance(value, type):
        return None
    if attrs.has(kind):
        return opening, _attributes(value, (it.name for it in attrs.fields(kind) if it.repr)), ")"
    if is_dataclass(value):
        return opening, _attributes(value, (it.name for it in fields(value) if it.repr)), ")"
    return None


def _attributes(value: Any, names: Iterator[str]) -> list[tuple[str, Any]]:
    return [(f"{name}=", getattr(value, name, None)) for name in names]


def _equal_fields(
    rows: Sequence[_Fields | None],
) -> dict[tuple[str, tuple[str, ...]], frozenset[int]]:
    """By the shape of values, the fields that are equal in all rows of several, unless all are."""
    seen: dict[tuple[str, tuple[str, ...]], list[_Fields]] = defaultdict(list)
    for row in rows:
        if row is not None:
            seen[row.shape].append(row)
    equal = {}
    for shape, alike in seen.items():
        same = [len(set(texts)) == 1 for texts in zip(*(it.texts for it in alike), strict=True)]
        differ = len(alike) > 1 and not all(same)
        equal[shape] = frozenset(at for at, it in enumerate(same) if it and differ)
    return equal


# -- texts that would look the same ------------------------------------------------------------


def _apart(whole: Sequence[str], short: Sequence[str], room: int) -> list[str]:
    """Short texts, without what they share where two that differ are the same.

    Args:
        whole: The texts.
        short: What is shown of them.
        room: The columns that there are.
    """
    found = dict(zip(whole, short, strict=True))
    count = Counter(found.values())
    for shown in [it for it, times in count.items() if times > 1]:
        alike = [text for text in found if found[text] == shown]
        found.update(zip(alike, _without_shared(alike, room), strict=True))
    return [found[text] for text in whole]


def _without_shared(texts: Sequence[str], room: int, depth: int = 0) -> list[str]:
    """Different texts by their ends; where these are equal too, from just before they differ."""
    head = cut(texts[0], room // 3 + len(_LEFT_OUT))
    ends = [_to_the_end(text, head, room) for text in texts]
    if len(set(ends)) == len(ends) or depth == _DEEPEST:
        return ends
    start = _start(texts, head, room)
    short = [
        cut(text if start is None or columns(text) <= room else head + text[start:], room)
        for text in texts
    ]
    groups: dict[str, list[str]] = defaultdict(list)
    for text, shown in zip(texts, short, strict=True):
        groups[shown].append(text)
    if len(groups) == 1:
        return short
    found: dict[str, str] = {}
    for shown, alike in groups.items():
        again = _without_shared(alike, room, depth + 1) if len(alike) > 1 else [shown]
        found.update(zip(alike, again, strict=True))
    return [found[text] for text in texts]


def _to_the_end(text: str, head: str, room: int) -> str:
    """A text as its head and as much of its end as there is room for."""
    if columns(text) <= room:
        return text
    start, left = len(text), room - columns(head)
    while start > 0 and (taken := columns(text[start - 1])) <= left:
        start, left = start - 1, left - taken
    return head + text[start:]


def _start(texts: Sequence[str], head: str, room: int) -> int | None:
    """From where texts continue after their head: before they differ, and as early as all fit.

    None if that is so near to the head that nothing can be left out.
    """
    least = len(head)  # what is left out is not shorter than the dots for it
    start = _shared(texts) - _CONTEXT
    if start <= least:
        return None
    while start > least and all(columns(head + text[start - 1 :]) <= room for text in texts):
        start -= 1
    return start


def _shared(texts: Sequence[str]) -> int:
    """How many characters all of them begin with."""
    pairs = zip(min(texts), max(texts), strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), len(min(texts)))
