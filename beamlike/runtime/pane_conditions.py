"""Which panes pass a condition on rows, for a few conditions that are known by their text.

A condition in another form is taken for one that says nothing about panes.
"""

from collections.abc import Iterator
from typing import Final

_CONDITIONS: Final = {
    "is_first": ("pane.is_first", "pane.index = 0"),
    "is_last": ("pane.is_last",),
    "on_time": ("pane.timing = 'ON_TIME'",),
}
"""The conditions in SQL for each mark of `beamlike.model.repetition.Repetition`."""

_COLUMNS: Final = {
    "is_first": ("pane['is_first']", "=(pane.index, 0)", "(pane.index == 0)"),
    "is_last": ("pane['is_last']",),
    "on_time": ("=(pane.timing, 'ON_TIME')", "(pane.timing == ON_TIME)"),
}
"""The text of these conditions as columns, in classic Spark and in Spark Connect."""

_RETRACTION: Final = "retraction"
_NOT_ALL: Final = ("(", '"', "\\", "--", "/*", "||", " or ", "not ", "case ", "between ")
"""A condition with one of these in it may hold although one of its parts does not."""


def marks_of_all(condition: object) -> frozenset[str]:
    """The marks of every pane for which a condition holds.

    An additional mark, ``retraction``, says that the condition names the column for withdrawals.

    Args:
        condition: SQL, of which parts may be joined by ``and``, or a column of Spark.
    """
    text = str(condition)
    if isinstance(condition, str):
        parts, known = [*_all_of(text)], _CONDITIONS
    else:
        parts = [text.removeprefix("Column<'").removesuffix("'>")]
        known = {mark: (*_CONDITIONS[mark], *shown) for mark, shown in _COLUMNS.items()}
    marks = {
        mark
        for mark, conditions in known.items()
        if not {*map(_plain, conditions)}.isdisjoint(map(_plain, parts))
    }
    return frozenset(marks | {_RETRACTION} if _RETRACTION in text.lower() else marks)


def _all_of(text: str) -> Iterator[str]:
    """The parts of a condition that all have to hold; the whole condition if it cannot be split."""
    spaced_text = f" {' '.join(text.split())} "
    parts = spaced_text.split(" and ") if " and " in spaced_text else spaced_text.split(" AND ")
    is_open = any(part.count("'") % 2 for part in parts)  # in a text there may be anything
    doubtful = is_open or any(sign in spaced_text.lower() for sign in _NOT_ALL)
    yield from [spaced_text] if doubtful else parts


def _plain(condition: str) -> str:
    """A condition without blanks and letter case, in which names need no quotes."""
    return "".join(condition.split()).replace("`", "").lower()
