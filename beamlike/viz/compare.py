"""Several strategies over one stream, side by side: what each brings out, and where they differ."""

import textwrap
from collections.abc import Hashable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.events import Drop, Effect
from beamlike.model.fingerprint import how_many
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import show_duration, show_instant
from beamlike.model.windows import Window
from beamlike.runtime.script import Output
from beamlike.viz.cells import ShownColumn, columns, cut, padded
from beamlike.viz.key_history import KeyHistory
from beamlike.viz.moments import busiest
from beamlike.viz.recording import Recording
from beamlike.viz.run_index import identity, is_same_pane
from beamlike.viz.sentences import wrapped
from beamlike.viz.staging import scenes_of_histories
from beamlike.viz.table import lost_elements, show_window

if TYPE_CHECKING:
    from beamlike.viz.picture import Picture

_WIDTH: Final = 100
_NARROWEST: Final = 24
"""Columns that a strategy needs beside others; with less they stand below one another."""
_KEY_WIDTH: Final = 14
_MOST_LINES: Final = 4
_MOST_COLUMNS: Final = 3
_PICTURE_WIDTH: Final = 1400
"""Of the pictures side by side (pixels)."""
_SAME: Final = "="
_NOTHING: Final = "-"


@attrs.frozen
class ComparedOutputs:
    """What came out for one window of one key in one step.

    Args:
        step: The step of the script.
        key: The key.
        window: The window; None for an element that never got as far as a window.
        cells: The pane or the drop of each strategy, in their order; None if there was none.
        differs: Whether the strategies do not agree.
    """

    step: int
    key: Any
    window: Window | None
    cells: tuple[Effect | None, ...]
    differs: bool


@attrs.frozen
class Comparison:
    """Runs over the same script. ``str`` of it is a table of at most 100 columns and a summary.

    Args:
        recordings: The runs by name, in the order in which they were given. The others are
            measured against the first.
        rows: Everything that came out of any of them, in order.
    """

    recordings: Mapping[str, Recording]
    rows: tuple[ComparedOutputs, ...]

    @property
    def differences(self) -> tuple[ComparedOutputs, ...]:
        """The rows in which the strategies do not agree."""
        return tuple(row for row in self.rows if row.differs)

    @property
    def summary(self) -> tuple[str, ...]:
        """A line for each strategy but the first: what it brings out more, or less, or otherwise.

        As ``with an hour more: 2 more panes, 1 drop less``.
        """
        return tuple(
            f"with {name}: {self._against_first(index)}"
            for index, name in enumerate(self.recordings)
            if index
        )

    def _against_first(self, at: int) -> str:
        counted = []
        for kind in ("pane", "withdrawal", "drop"):
            mine = [
                row
                for row in self.rows
                if kind in (_kind_of_effect(row.cells[0]), _kind_of_effect(row.cells[at]))
            ]
            lost = sum(row.cells[at] is None for row in mine)
            new = sum(row.cells[0] is None for row in mine)
            other = sum(not _is_same(row.cells[0], row.cells[at]) for row in mine) - lost - new
            if new > lost:
                counted.append(how_many(new - lost, f"more {kind}"))
            elif lost > new:
                counted.append(f"{how_many(lost - new, kind)} less")
            for number, how in ((min(new, lost), "elsewhere"), (other, "not the same")):
                if number:
                    counted.append(f"{how_many(number, kind)} {how}")
        return ", ".join(counted) or "nothing differs"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """A notebook shows the text."""
        printer.text(str(self))

    def figure(self, key: Any = None, *, dark: bool = False) -> "Picture":
        """The strategies as pictures side by side, with the same times across and upwards.

        Args:
            key: The key to draw; None for the one with the most elements and panes.

        Raises:
            RecordingError: There is no such key, or nothing happened at all.
        """
        from beamlike.viz.picture import figure, known_keys

        every = list(self.recordings.values())
        keys = known_keys(every[0].run, key)
        (shown,) = busiest(every[0].run, keys, 1)
        lines = list(self._strategies())
        if len(keys) > 1:
            lines.append(f"the busiest of {len(keys)} keys; name one to draw another")
        scenes = scenes_of_histories(
            [KeyHistory(it.of_key(shown).moments, it.strategy, shown) for it in every]
        )
        named = [
            attrs.evolve(scene, title=name, note="")
            for name, scene in zip(self.recordings, scenes, strict=True)
        ]
        columns = 2 if len(every) in (2, 4) else _MOST_COLUMNS
        style: dict[str, Any] = {"columns": columns, "width": _PICTURE_WIDTH, "dark": dark}
        return figure(named, "\n".join(lines), title=scenes[0].title, **style)

    def draw(self, path: "str | Path", key: Any = None, *, dark: bool = False) -> None:
        """Write the picture of `figure` to a file; its ending is the format: svg, png or gif.

        Args:
            path: Where to.
            key: As for `figure`.
            dark: As for `figure`.

        Raises:
            RecordingError: As `figure`, or the ending is not one of these.
            EnvironmentProblem: As `Picture.save`.
        """
        self.figure(key, dark=dark).save(path)

    def _strategies(self) -> Iterator[str]:
        """A line for each: the first one in full, of the others what is different."""
        strategies = [recording.strategy for recording in self.recordings.values()]
        for index, (name, strategy) in enumerate(zip(self.recordings, strategies, strict=True)):
            yield f"{name}: {_changes(strategies[0], strategy) if index else strategy}"

    def __str__(self) -> str:
        lines = [it for line in self._strategies() for it in wrapped(line, "", "  ")]
        table = self._table() if self.rows else ["(nothing came out, nothing was dropped)"]
        return "\n".join([*lines, "", *table, "", *self.summary])

    # -- the table -------------------------------------------------------------------------

    def _table(self) -> list[str]:
        names = list(self.recordings)
        header = ("", "step", "key", "window")
        keys = ShownColumn([row.key for row in self.rows])
        places = [
            (
                "!" if row.differs else "",
                str(row.step),
                keys.show(index, _KEY_WIDTH),
                show_window(row.window) if row.window is not None else "",
            )
            for index, row in enumerate(self.rows)
        ]
        widths = [max(map(columns, column)) for column in zip(header, *places, strict=True)]
        room = (_WIDTH - sum(widths) - 2 * len(widths) - 2 * (len(names) - 1)) // len(names)
        starts = ["  ".join(map(padded, place, widths)) for place in (header, *places)]
        if room < _NARROWEST:
            return list(self._stacked(names, starts))
        return list(self._side_by_side(names, starts, room))

    def _side_by_side(self, names: list[str], starts: list[str], room: int) -> Iterator[str]:
        yield _line(starts[0], [cut(name, room) for name in names], room)
        for start, row in zip(starts[1:], self.rows, strict=True):
            cells = [_text(cell) for cell in row.cells]
            if not row.differs:
                cells = [cells[0], *[_SAME] * (len(names) - 1)]
            shown = [_set(cell, room) for cell in cells]
            for index, parts in enumerate(zip_longest(*shown, fillvalue="")):
                yield _line(" " * columns(start) if index else start, list(parts), room)
            if len(set(map(tuple, shown))) < len(set(cells)):  # what differs was cut off
                yield from self._cells_below(names, row)

    def _stacked(self, names: list[str], starts: list[str]) -> Iterator[str]:
        yield starts[0].rstrip()
        for start, row in zip(starts[1:], self.rows, strict=True):
            yield start.rstrip()
            if row.differs:
                yield from self._cells_below(names, row)
            else:
                yield f"     all: {cut(_text(row.cells[0]), _WIDTH - 10)}"

    def _cells_below(self, names: list[str], row: ComparedOutputs) -> Iterator[str]:
        width = min(max(map(columns, names)), _NARROWEST)
        for name, cell in zip(names, row.cells, strict=True):
            shown = cut(name, width)
            before = " " * (5 + width - columns(shown))
            yield f"{before}{shown}: {cut(_text(cell), _WIDTH - width - 7)}"


def compare(recordings: Mapping[str, Recording]) -> Comparison:
    """Put runs of the same script side by side.

    Panes belong together if they are of the same step, key and window, and drops if they are of
    the same element and window.

    Args:
        recordings: Two or more, each under a name.

    Raises:
        RecordingError: There are not two, or their scripts are not the same.
    """
    if len(recordings) < 2:
        raise RecordingError(
            f"compare needs two recordings or more, got {len(recordings)}; give each a name"
        )
    first, *others = recordings.items()
    for name, other in others:
        if other.run.script != first[1].run.script:
            raise RecordingError(
                f"only runs of the same script can be compared, and {name!r} has another than "
                f"{first[0]!r}; run both strategies over one stream"
            )
    cells: dict[Hashable, list[Output | None]] = {}
    emitted: dict[int, list[list[Hashable]]] = {}
    for index, recording in enumerate(recordings.values()):
        seen: dict[Hashable, int] = {}
        for output in recording.run.outputs:
            place = _place(output)
            seen[place] = seen.get(place, 0) + 1
            each = (place, seen[place])
            cells.setdefault(each, [None] * len(recordings))[index] = output
            emitted.setdefault(output.step, [[] for _ in recordings])[index].append(each)
    rows = (_row(cells[each]) for step in sorted(emitted) for each in _in_order(emitted[step]))
    return Comparison(dict(recordings), tuple(rows))


def _in_order(emitted: list[list[Hashable]]) -> Iterator[Hashable]:
    """What strategies emit in a step, in the order of the one that emits most: it may withdraw a
    pane before it fires the next one."""
    by_number = sorted(emitted, key=len, reverse=True)
    return iter(dict.fromkeys(each for own in by_number for each in own))


def _place(output: Output) -> Hashable:
    """What belongs together has the same place."""
    effect = output.effect
    lost = (effect.timestamp, repr(effect.value)) if isinstance(effect, Drop) else None
    return output.step, identity(output.key), effect.window, _kind_of_effect(effect), lost


def _row(outputs: list[Output | None]) -> ComparedOutputs:
    known = next(output for output in outputs if output is not None)
    cells = tuple(None if output is None else output.effect for output in outputs)
    differs = not all(_is_same(cells[0], cell) for cell in cells[1:])
    return ComparedOutputs(known.step, known.key, known.effect.window, cells, differs)


def _kind_of_effect(effect: Effect | None) -> str:
    if effect is None:
        return ""
    if isinstance(effect, Drop):
        return "drop"
    return "withdrawal" if effect.retraction else "pane"


def _is_same(one: Effect | None, other: Effect | None) -> bool:
    if one is None or other is None:
        return one is other
    if isinstance(one, Drop) or isinstance(other, Drop):
        return isinstance(one, Drop) and isinstance(other, Drop) and one.reason is other.reason
    return is_same_pane(one, other)


# -- words -------------------------------------------------------------------------------------


def _text(effect: Effect | None) -> str:
    if effect is None:
        return _NOTHING
    if isinstance(effect, Drop):
        missed = f" by {show_duration(effect.missed_by)}" if effect.missed_by is not None else ""
        return f"dropped, {effect.reason.value}{missed}: {lost_elements(effect, _WIDTH)}"
    info = effect.info
    text = f"{info.timing.value} {info.index}{' last' * info.is_last}: {effect.value!r}"
    text = f"withdrawn {text}" if effect.retraction else text
    if effect.window.max_timestamp != effect.timestamp:
        text += f" at {show_instant(effect.timestamp)}"
    return text


def _changes(first: WindowingStrategy, other: WindowingStrategy) -> str:
    """What is different in a strategy, as the arguments that say so."""
    changed = []
    for part in attrs.fields(WindowingStrategy):
        value = getattr(other, part.name)
        if not part.eq or part.name == "resolution" or getattr(first, part.name) == value:
            continue
        if part.name == "allowed_lateness":
            shown = show_duration(value)
        else:
            shown = repr(value.value) if hasattr(value, "value") else str(value)
        changed.append(f"{'window' if part.name == 'window_fn' else part.name}={shown}")
    return f"the same with {', '.join(changed)}" if changed else "the same windowing"


def _line(start: str, cells: list[str], room: int) -> str:
    return "  ".join([start, *(padded(cell, room) for cell in cells)]).rstrip()


def _set(text: str, room: int) -> list[str]:
    """A text in a column."""
    return textwrap.wrap(
        text, room, max_lines=_MOST_LINES, placeholder=" ...", break_on_hyphens=False
    )
