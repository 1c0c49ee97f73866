"""Values in a column of a table, cut so that those that differ look different where that can be.

A value that fits is shown whole, and the end of a longer one is left out. Where two values that
differ would then look the same, what is left out is their middle.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from beamlike.model.fingerprint import on_one_line
from beamlike.viz.cells import columns, cut

_LEFT_OUT: Final = "..."


class Column:
    """The values of one column, by row.

    Args:
        values: One for each row.
    """

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
