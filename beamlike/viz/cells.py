"""Texts in the columns of a terminal: most characters take one, ideographs and emoji two, accents
that combine with the character before them none."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from unicodedata import category, east_asian_width


def columns(text: str) -> int:
    """How many columns a text takes.

    >>> columns("tea"), columns("お茶"), columns("the\\u0301")
    (3, 4, 3)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def padded(text: str, width: int) -> str:
    """A text with spaces after it, so that it takes ``width`` columns; a longer one as it is."""
    return text + " " * (width - columns(text))


def aligned(rows: Sequence[Sequence[str]], numbers: Collection[str] = ()) -> Iterator[str]:
    """Rows under a header, in columns two spaces apart. Those of these names hold numbers.

    >>> list(aligned([("key", "new"), ("ann", "7"), ("bob", "12")], ["new"]))
    ['key  new', 'ann    7', 'bob   12']
    """
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
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
            at = len(shown) - 1 if shown[-1] else len(shown) - 2
            shown[at] += character
        else:
            shown += [character, ""][: max(width, 1)]
    return shown


def _columns(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1
