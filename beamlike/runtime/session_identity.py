"""The column of results that names a session, and the names that it had before.

It is a text, so that it is not taken for times: a session keeps its identity as it grows.
"""

from collections.abc import Collection
from typing import Final

from beamlike.errors import ColumnError
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.windows import Window

SESSION_IDENTITY: Final = "session_identity"

_MICROS: Final = " us"

_BEFORE: Final = dict.fromkeys(("session", "session_start", "session_end"), SESSION_IDENTITY)
"""The name today of columns by the names that they had."""


_WINDOW: Final = (
    "The start and the end of a session are those of its window: write window.start and window.end"
)


def session_identity(session: Window, unit: Resolution) -> str:
    """The text of a session's identity: the bounds that it had in its first pane, in ticks."""
    return f"{session.start}..{session.end}{'' if unit is MILLISECONDS else _MICROS}"


def identity_bounds(identity: str) -> tuple[int, int]:
    """The bounds (us) that are in the text of an identity."""
    tick = 1 if identity.endswith(_MICROS) else MILLISECONDS.micros
    start, end = (int(bound) * tick for bound in identity.removesuffix(_MICROS).split(".."))
    return start, end


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
