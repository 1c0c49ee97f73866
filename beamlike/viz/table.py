"""Panes, drops and changes as tables: as text for tests and terminals, as HTML for notebooks."""

import html
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Final

from beamlike.machine.events import Drop, Pane
from beamlike.model.fingerprint import on_one_line, visible
from beamlike.model.time import show_duration, show_instant
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.script import Output
from beamlike.viz.cells import ShownColumn, aligned, column_widths, columns, cut

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
_MARKUP_CELL: Final = '<td style="text-align:left">{}</td>'
_MOST_ROWS: Final = 200
_DATE_WIDTH: Final = len("1970-01-01")
_YEAR_MS: Final = 31_536_000_000
_PLACES: Final = {
    **{(True, True): "only", (True, False): "first"},
    **{(False, True): "last", (False, False): ""},
}
"""By whether a pane is the first of its window, and whether it is the last."""


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
    shown = _OutputRows(outputs)
    rows = [(">" if row in marked else "", *shown.cells(row)) for row in range(len(outputs))]
    return _table(_HEADER, rows, shown.value, width)


def pane_markup(outputs: Sequence[Output]) -> str:
    """The `pane_table` as an HTML table, everything escaped, withdrawn values struck out.

    Of more than 200 rows the first 200, and how many more there are.
    """
    if not outputs:
        return f"<p>{html.escape(pane_table(outputs))}</p>"
    head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in _HEADER[1:])
    shown = _OutputRows(outputs[:_MOST_ROWS])
    body = "".join(map(shown.markup, range(len(shown.effects))))
    hidden = len(outputs) - _MOST_ROWS
    rest = f"<p>... and {hidden} more</p>" if hidden > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


class _OutputRows:
    """Outputs as rows of cells."""

    def __init__(self, outputs: Sequence[Output]) -> None:
        self.effects = [output.effect for output in outputs]
        self._steps = [str(output.step) for output in outputs]
        self._keys = ShownColumn([output.key for output in outputs])
        self._values = ShownColumn([effect.value for effect in self.effects])

    def cells(self, row: int) -> tuple[str, ...]:
        """All but the value."""
        effect, key = self.effects[row], self._keys.show(row, _KEY_WIDTH)
        window = "" if effect.window is None else show_window(effect.window)
        if isinstance(effect, Drop):
            facts = ("DROPPED", "", "", effect.reason.value)
        else:
            info = effect.info
            place = _PLACES[info.is_first, info.is_last]
            facts = (info.timing.value, str(info.index), str(info.nonspeculative_index), place)
        time = "" if effect.timestamp is None else _near(effect.timestamp, effect.window)
        return self._steps[row], key, window, *facts, time

    def value(self, row: int, room: int) -> str:
        """The value in so much room, and what there is to say about it."""
        effect, show = self.effects[row], partial(self._values.show, row)
        if isinstance(effect, Drop):
            return _lost(effect, show, room)
        return f"withdrawn: {show(room - 11)}" if effect.retraction else show(room)

    def markup(self, row: int) -> str:
        """The row in HTML."""
        effect = self.effects[row]
        value = f"<code>{html.escape(self.value(row, _MARKUP_WIDTH))}</code>"
        if isinstance(effect, Pane) and effect.retraction:
            value = f"<s>{value}</s>"
        cells = (*map(html.escape, self.cells(row)), value)
        return f"<tr>{''.join(map(_MARKUP_CELL.format, cells))}</tr>"


def change_table(changes: Sequence[tuple[int, Any, str, Window, Any]]) -> str:
    """Changes of a table, one line each: step, key, what happens, to which row, and its value."""
    if not changes:
        return "(nothing changed)"
    keys, values = (ShownColumn([change[column] for change in changes]) for column in (1, -1))
    rows = [
        ("", str(step), keys.show(index, _KEY_WIDTH), op, show_window(identity))
        for index, (step, _, op, identity, _) in enumerate(changes)
    ]

    def value(row: int, room: int) -> str:
        return "" if changes[row][2] == "delete" else values.show(row, room)

    return _table(_CHANGES_HEADER, rows, value, _WIDTH)


def _table(
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    value: Callable[[int, int], str],
    width: int,
) -> str:
    """Rows under a header. The last column, the value of row n in so much room, gets the rest."""
    *names, last = header
    widths = column_widths([names, *rows])
    room = max(_LEAST_VALUE_WIDTH, width - sum(widths) - 2 * len(widths))
    shown = [(*row, value(index, room)) for index, row in enumerate(rows)]
    return "\n".join(aligned([(*names, last), *shown]))


def shorten(value: Any, room: int) -> str:
    """The ``repr`` of a value on one line, cut to ``room`` columns with ``...`` at the end.

    >>> shorten(["open app", "close app"], 16)
    "['open app', ..."
    """
    return cut(on_one_line(value), room)


def lost_elements(drop: Drop, room: int) -> str:
    """What was dropped: the value of the element, or how many elements if that is all we know."""
    return _lost_value(drop, partial(shorten, drop.value), room)


def _lost_value(drop: Drop, show: Callable[[int], str], room: int) -> str:
    if drop.count == 1:
        return "an element" if drop.element is None else show(room)
    return f"{drop.count} elements"


def _lost(drop: Drop, show: Callable[[int], str], room: int) -> str:
    """What was dropped and why; ``show`` has the value in so much room."""
    value = partial(_lost_value, drop, show)
    if drop.error is not None:
        return f"{value(room)} ({cut(visible(' '.join(drop.error.split())), _ERROR_WIDTH)})"
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
