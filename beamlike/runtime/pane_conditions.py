"""Which panes a condition on rows leaves, for the few conditions that say it alone.

What a condition in other words leaves is not known, so it counts as one that says nothing of panes.
"""

from collections.abc import Iterator
from typing import Final

_CONDITIONS: Final = {
    "is_first": ("pane.is_first", "pane.index = 0"),
    "is_last": ("pane.is_last",),
    "on_time": ("pane.timing = 'ON_TIME'",),
}
"""Of each mark of `beamlike.model.repetition.Repetition` its conditions, in SQL."""

_COLUMNS: Final = {
    "is_first": ("pane['is_first']", "=(pane.index, 0)", "(pane.index == 0)"),
    "is_last": ("pane['is_last']",),
    "on_time": ("=(pane.timing, 'ON_TIME')", "(pane.timing == ON_TIME)"),
}
"""These conditions as columns show themselves, of classic Spark and of Spark Connect."""

_RETRACTION: Final = "retraction"
_NOT_ALL: Final = ("(", '"', "\\", "--", "/*", "||", " or ", "not ", "case ", "between ")
"""With one of these in it a condition may hold where one of its parts does not."""


def marks_of_all(condition: object) -> frozenset[str]:
    """The marks that every pane has for which a condition holds.

    One more, ``retraction``, says that the condition names the column for withdrawals.

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
    """The conditions that all have to hold; the whole one where that is not certain."""
    spaced_text = f" {' '.join(text.split())} "
    parts = spaced_text.split(" and ") if " and " in spaced_text else spaced_text.split(" AND ")
    is_open = any(part.count("'") % 2 for part in parts)  # in a text there may be anything
    doubtful = is_open or any(sign in spaced_text.lower() for sign in _NOT_ALL)
    yield from [spaced_text] if doubtful else parts


def _plain(condition: str) -> str:
    """A condition without blanks and letter case, in which names need no quotes."""
    return "".join(condition.split()).replace("`", "").lower()
