"""What comes out of a dialect: rows with bounds and timestamps as the system shows them."""

from typing import Any, Literal

import attrs

Kind = Literal["value", "tombstone", "retract", "late", "dropped", "watermark"]
"""``value``: a result. ``tombstone``: there is no longer a result of this key and window.
``retract``: the result with this value is withdrawn. ``late``: an element that came too late, where
the program asked for those. ``dropped``: one that got into no result. ``watermark``: one that is
passed on, in ``timestamp``."""

Bounds = tuple[int, int]
"""Start and end of a window (ms), as the system counts the end."""


@attrs.frozen
class Row:
    """One row of a dialect's output.

    ``value`` and ``timestamp`` (ms) are the element's own in rows of the kinds ``late`` and
    ``dropped``. ``window`` is ``"global"`` for a global window that the system shows; it and
    ``timestamp`` are None where the system has none. ``reason`` says why an element was dropped,
    or why a session ended. ``old`` is the result that this one replaces, where it is asked for.
    """

    kind: Kind
    key: Any
    value: Any
    window: Bounds | Literal["global"] | None
    timestamp: int | None
    reason: str | None = None
    old: Any = None
