"""Panes and drops as a plain text table, for failures of tests and for terminals."""

from collections.abc import Collection, Sequence
from typing import Any, Final

import attrs

from beamlike.hosts.script import Output
from beamlike.machine.events import Drop
from beamlike.model.panes import PaneInfo
from beamlike.model.time import show_duration, show_instant
from beamlike.model.windows import IntervalWindow, Window

__all__ = ["pane_table", "shorten"]

_HEADER: Final = ("", "step", "key", "window", "timing", "#", "ns", "place", "timestamp", "value")
_WIDTH: Final = 100
_KEY_WIDTH: Final = 14
_LEAST_VALUE_WIDTH: Final = 30
_DATE_WIDTH: Final = len("1970-01-01")


def pane_table(outputs: Sequence[Output], marked: Collection[int] = ()) -> str:
    """All outputs in order of emission, one line each, about 100 characters wide.

    ``#`` is the index of the pane, ``ns`` its nonspeculative index. ``place`` says ``first``,
    ``last``, or ``only`` for a pane that is both. A drop shows the element's value and time,
    the window that refused it, the reason for it, and by how much the element missed it.

    Args:
        outputs: Panes and drops.
        marked: Positions in ``outputs`` of the rows to mark with ``>``.
    """
    if not outputs:
        return "(nothing came out, nothing was dropped)"
    rows: list[tuple[str, ...]] = [_HEADER[:-1]]
    rows += [(">" if at in marked else "", *_cells(output)) for at, output in enumerate(outputs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = max(_LEAST_VALUE_WIDTH, _WIDTH - sum(widths) - 2 * len(widths))
    values = [_HEADER[-1], *(_value(output, room) for output in outputs)]
    return "\n".join(
        "  ".join([*map(str.ljust, row, widths), value]).rstrip()
        for row, value in zip(rows, values, strict=True)
    )


def shorten(value: Any, room: int) -> str:
    """The ``repr`` of a value, cut to ``room`` characters with ``...`` at the end.

    >>> shorten(["open app", "close app"], 16)
    "['open app', ..."
    """
    text = repr(value)
    return text if len(text) <= room else text[: room - 3] + "..."


@attrs.frozen
class _Several:
    """Elements of which only the number is left."""

    count: int

    def __repr__(self) -> str:
        return "an element" if self.count == 1 else f"{self.count} elements"


def _cells(output: Output) -> tuple[str, ...]:
    effect = output.effect
    window = "" if effect.window is None else _show_window(effect.window)
    start = (str(output.step), shorten(output.key, _KEY_WIDTH), window)
    if isinstance(effect, Drop):
        at = "" if effect.timestamp is None else _near(effect.timestamp, effect.window)
        return (*start, "DROPPED", "", "", effect.reason.value, at)
    info = effect.info
    return (
        *start,
        info.timing.value,
        str(info.index),
        str(info.nonspeculative_index),
        _place(info),
        _near(effect.timestamp, effect.window),
    )


def _place(info: PaneInfo) -> str:
    if info.is_first and info.is_last:
        return "only"
    return "first" if info.is_first else "last" if info.is_last else ""


def _value(output: Output, room: int) -> str:
    effect = output.effect
    if isinstance(effect, Drop):
        value = effect.value if effect.count == 1 else _Several(effect.count)
        if effect.error is not None:
            return shorten(value, room // 3) + f" ({effect.error})"
        if effect.missed_by is None:
            return shorten(value, room)
        joining = f", nearly joined {_show_window(effect.nearly)}" if effect.nearly else ""
        missed = f" (missed by {show_duration(effect.missed_by)}{joining})"
        return shorten(value, room - len(missed)) + missed
    if effect.retraction:
        return f"withdrawn: {shorten(effect.value, room - 11)}"
    return shorten(effect.value, room)


def _show_window(window: Window) -> str:
    if not isinstance(window, IntervalWindow):
        return str(window)
    return f"[{show_instant(window.start)}, {_after(window.start, window.end)})"


def _near(timestamp: int, window: Window | None) -> str:
    """An instant beside its window, which has shown the date already."""
    if not isinstance(window, IntervalWindow):
        return show_instant(timestamp)
    return _after(window.start, timestamp)


def _after(start: int, instant: int) -> str:
    """An instant without its date if that is the date of ``start``."""
    before, text = show_instant(start), show_instant(instant)
    has_date = text[4:5] == "-" and text[:_DATE_WIDTH] == before[:_DATE_WIDTH]
    return text[_DATE_WIDTH + 1 :] if has_date else text
