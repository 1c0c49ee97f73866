"""Panes, drops and changes as tables: as text for tests and terminals, as HTML for notebooks."""

import html
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Final

from beamlike.machine.events import Drop, Pane
from beamlike.model.fingerprint import on_one_line, visible
from beamlike.model.panes import PaneInfo
from beamlike.model.time import show_duration, show_instant
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.script import Output
from beamlike.viz.cells import ShownColumn, columns, cut, padded

_HEADER: Final = ("", "step", "key", "window", "timing", "#", "ns", "place", "timestamp", "value")
_CHANGES_HEADER: Final = ("", "step", "key", "op", "identity", "value")
_WIDTH: Final = 100
_KEY_WIDTH: Final = 14
_LEAST_VALUE_WIDTH: Final = 30
_LEAST_LOST_WIDTH: Final = 12
_ERROR_WIDTH: Final = 90
_LONG_NOTE_WIDTH: Final = 90
"""What went wrong is worth a long line, and so is what was nearly joined."""
_MARKUP_WIDTH: Final = 200
_MOST_ROWS: Final = 200
_DATE_WIDTH: Final = len("1970-01-01")
_YEAR_MS: Final = 31_536_000_000


def show_clock(milliseconds: int) -> str:
    """A reading of processing time: how long since the start, or an instant if it began elsewhere.

    >>> show_clock(93_600_000), show_clock(1_577_836_800_000)
    ('1d 2h', '2020-01-01 00:00:00')
    """
    if 0 <= milliseconds < _YEAR_MS:
        return show_duration(milliseconds)
    return show_instant(milliseconds)


def pane_table(outputs: Sequence[Output], marked: Collection[int] = (), width: int = _WIDTH) -> str:
    """All outputs in order of emission, one line each, about ``width`` columns wide.

    ``#`` is the index of the pane, ``ns`` its nonspeculative index. ``place`` says ``first``,
    ``last``, or ``only`` for a pane that is both. A drop shows the element's value and time,
    the window that refused it, the reason for it, and by how much the element missed it or what
    was raised for it. Long keys and values are cut so that those that differ look different, see
    `beamlike.viz.cells`.

    Args:
        outputs: Panes and drops.
        marked: Positions in ``outputs`` of the rows to mark with ``>``.
        width: The columns of the terminal.
    """
    if not outputs:
        return "(nothing came out, nothing was dropped)"
    keys, values = _keys(outputs), _values(outputs)
    rows = [
        (">" if index in marked else "", *_cells(output, keys.show(index, _KEY_WIDTH)))
        for index, output in enumerate(outputs)
    ]
    return _table(_HEADER, rows, partial(_value, outputs, values), width)


def pane_markup(outputs: Sequence[Output]) -> str:
    """The `pane_table` as an HTML table, everything escaped, withdrawn values struck out.

    Of more than 200 rows the first 200, and how many more there are.
    """
    if not outputs:
        return f"<p>{html.escape(pane_table(outputs))}</p>"
    head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in _HEADER[1:])
    shown = outputs[:_MOST_ROWS]
    keys, values = _keys(shown), _values(shown)
    body = "".join(
        _markup_row(
            output, keys.show(index, _KEY_WIDTH), _value(shown, values, index, _MARKUP_WIDTH)
        )
        for index, output in enumerate(shown)
    )
    more = len(outputs) - _MOST_ROWS
    rest = f"<p>... and {more} more</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _keys(outputs: Sequence[Output]) -> ShownColumn:
    return ShownColumn([output.key for output in outputs])


def _values(outputs: Sequence[Output]) -> ShownColumn:
    return ShownColumn([output.effect.value for output in outputs])


def _markup_row(output: Output, key: str, shown: str) -> str:
    cells = [html.escape(cell) for cell in _cells(output, key)]
    cells += [""] * (len(_HEADER) - 2 - len(cells))
    value = f"<code>{html.escape(shown)}</code>"
    if isinstance(output.effect, Pane) and output.effect.retraction:
        value = f"<s>{value}</s>"
    row = "".join(f'<td style="text-align:left">{cell}</td>' for cell in (*cells, value))
    return f"<tr>{row}</tr>"


def change_table(changes: Sequence[tuple[int, Any, str, Window, Any]]) -> str:
    """Changes of a table, one line each: step, key, what happens, to which row, and its value."""
    if not changes:
        return "(nothing changed)"
    keys, values = (
        ShownColumn([change[1] for change in changes]),
        ShownColumn([change[-1] for change in changes]),
    )
    rows = [
        ("", str(step), keys.show(index, _KEY_WIDTH), op, show_window(identity))
        for index, (step, _, op, identity, _) in enumerate(changes)
    ]

    def value(at: int, room: int) -> str:
        return "" if changes[at][2] == "delete" else values.show(at, room)

    return _table(_CHANGES_HEADER, rows, value, _WIDTH)


def _table(
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    value: Callable[[int, int], str],
    width: int,
) -> str:
    """Rows under a header. The last column, the value of row n in so much room, gets the rest."""
    every = [header[:-1], *rows]
    widths = [max(map(columns, column)) for column in zip(*every, strict=True)]
    room = max(_LEAST_VALUE_WIDTH, width - sum(widths) - 2 * len(widths))
    values = [header[-1], *(value(index, room) for index in range(len(rows)))]
    return "\n".join(
        "  ".join([*map(padded, row, widths), shown]).rstrip()
        for row, shown in zip(every, values, strict=True)
    )


def shorten(value: Any, room: int) -> str:
    """The ``repr`` of a value on one line, cut to ``room`` columns with ``...`` at the end.

    >>> shorten(["open app", "close app"], 16)
    "['open app', ..."
    """
    return cut(on_one_line(value), room)


def lost_elements(drop: Drop, room: int) -> str:
    """What was dropped: the value of the element, or how many elements if that is all we know."""
    return shorten(drop.value, room) if _has_element(drop) else _how_many(drop)


def _has_element(drop: Drop) -> bool:
    return drop.count == 1 and drop.element is not None


def _how_many(drop: Drop) -> str:
    return "an element" if drop.count == 1 else f"{drop.count} elements"


def _cells(output: Output, key: str) -> tuple[str, ...]:
    effect = output.effect
    window = "" if effect.window is None else show_window(effect.window)
    start = (str(output.step), key, window)
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


def _value(outputs: Sequence[Output], values: ShownColumn, row: int, room: int) -> str:
    effect = outputs[row].effect
    if isinstance(effect, Drop):
        return _lost(effect, partial(values.show, row), room)
    if effect.retraction:
        return f"withdrawn: {values.show(row, room - 11)}"
    return values.show(row, room)


def _lost(drop: Drop, show: Callable[[int], str], room: int) -> str:
    """What was dropped and why; ``show`` has the value in so much room."""

    def value(room: int) -> str:
        return show(room) if _has_element(drop) else _how_many(drop)

    if drop.error is not None:
        why = cut(visible(" ".join(drop.error.split())), _ERROR_WIDTH)
        return f"{value(room)} ({why})"
    if drop.missed_by is None:
        return value(room)
    missed = f"missed by {show_duration(drop.missed_by)}"
    joining = f", nearly joined {show_window(drop.nearest_session)}" if drop.nearest_session else ""
    # The value comes first: a note that would push it out is cut.
    note = f" ({missed}{joining})"
    if columns(value(room)) + len(note) <= (_LONG_NOTE_WIDTH if joining else room):
        return value(room) + note
    note = f" ({missed})"
    return value(max(room - len(note), _LEAST_LOST_WIDTH)) + note


def show_window(window: Window) -> str:
    """A window by its times, the date shown once."""
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
