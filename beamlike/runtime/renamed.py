"""Columns of results that had other names before, refused by these."""

from collections.abc import Collection
from typing import Final

from beamlike.errors import ColumnError
from beamlike.runtime.output import SESSION_IDENTITY

_BEFORE: Final = dict.fromkeys(("session", "session_start", "session_end"), SESSION_IDENTITY)
"""The name today of columns by the names that they had."""


_WINDOW: Final = (
    "The start and the end of a session are those of its window: write window.start and window.end"
)


def check_renamed(
    place: str, name: object, columns: Collection[str], instead: str = _WINDOW
) -> None:
    """Refuse the old name of a column that is there under its new one.

    Args:
        place: Where the name stands; it opens the message.
        name: The name, or that of a field, ``session.start``.
        columns: The columns that there are.
        instead: What to do; it closes the message.

    Raises:
        ColumnError: With the new name.
    """
    if not isinstance(name, str) or name in columns:
        return
    column = name.partition(".")[0].strip("`")
    renamed = _BEFORE.get(column)
    if renamed is not None and column not in columns and renamed in columns:
        raise ColumnError(
            f"{place}: the column {column!r} is called {renamed!r} now, and is a text: it names a "
            f"session as that grows, and says no time. {instead}"
        )
