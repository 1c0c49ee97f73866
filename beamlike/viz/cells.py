"""Texts in the columns of a terminal: most characters take one, ideographs and emoji two, accents
that combine with the character before them none.

A value that fits is shown whole, and the end of a longer one is left out. Where two values that
differ would then look the same, what is left out is their middle.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final
from unicodedata import category, east_asian_width

from beamlike.model.fingerprint import on_one_line


def columns(text: str) -> int:
    """How many columns a text takes.

    >>> columns("tea"), columns("お茶"), columns("the\\u0301")
    (3, 4, 3)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def padded(text: str, width: int) -> str:
    """A text with spaces after it, so that it takes ``width`` columns; a longer one as it is."""
    return text + " " * (width - columns(text))


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """How many columns of the terminal the widest cell of each column takes."""
    return [max(map(columns, column)) for column in zip(*rows, strict=True)]


def aligned(rows: Sequence[Sequence[str]], numbers: Collection[str] = ()) -> Iterator[str]:
    """Rows under a header, in columns two spaces apart. Those of these names hold numbers.

    >>> list(aligned([("key", "new"), ("ann", "7"), ("bob", "12")], ["new"]))
    ['key  new', 'ann    7', 'bob   12']
    """
    widths = column_widths(rows)
    for row in rows:
        cells = [
            cell.rjust(width) if name in numbers else padded(cell, width)
            for cell, width, name in zip(row, widths, rows[0], strict=True)
        ]
        yield "  ".join(cells).rstrip()


def named_facts(named: Mapping[str, str], indent: int = 2) -> Iterator[str]:
    """A line for each name and what it stands for, in two columns.

    >>> list(named_facts({"size": "7 bytes", "stage": "first"}))
    ['  size   7 bytes', '  stage  first']
    """
    yield from (" " * indent + line for line in aligned(list(named.items())))


def cut(text: str, room: int) -> str:
    """A text cut to ``room`` columns, with ``...`` at the end if something is left out.

    >>> cut("green tea", 8), cut("お茶とお菓子", 8)
    ('green...', 'お茶...')
    """
    if columns(text) <= room:
        return text
    kept, taken = "", 3
    for character in text:
        taken += _columns(character)
        if taken > room:
            break
        kept += character
    return kept + "..."


def cells(text: str) -> list[str]:
    """A text as what each column shows; the second column of a wide character shows nothing more.

    >>> cells("a茶")
    ['a', '茶', '']
    """
    shown: list[str] = []
    for character in text:
        width = _columns(character)
        if width == 0 and shown:
            shown[-1 if shown[-1] else -2] += character
        else:
            shown += [character, ""][: max(width, 1)]
    return shown


def _columns(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


_LEFT_OUT: Final = "..."


class ShownColumn:
    """The values of one column, by row."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._texts = [on_one_line(value) for value in values]
        self._shown: dict[int, list[str]] = {}

    def show(self, row: int, room: int) -> str:
        """The value of a row in so many columns of the terminal."""
        if room not in self._shown:
            self._shown[room] = cut_all(self._texts, room)
        return self._shown[room][row]


def cut_all(texts: Sequence[str], room: int) -> list[str]:
    """Texts cut to so many columns; those that differ look different where that can be.

    >>> cut_all(["customer-000017", "customer-000018", "guest"], 12)
    ['cust...00017', 'cust...00018', 'guest']
    """
    short = {text: cut(text, room) for text in texts}
    alike = Counter(short.values())
    return [
        short[text] if alike[short[text]] == 1 else _without_middle(text, room) for text in texts
    ]


def _without_middle(text: str, room: int) -> str:
    """A text as its head and as much of its end as there is room for."""
    if columns(text) <= room:
        return text
    head = cut(text, room // 3 + len(_LEFT_OUT))
    start, left = len(text), room - columns(head)
    while start > 0 and (taken := columns(text[start - 1])) <= left:
        start, left = start - 1, left - taken
    return head + text[start:]
