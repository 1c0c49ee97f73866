"""Several strategies over one stream, side by side: what each brings out, and where they differ."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.events import Drop, Effect
from beamlike.model.fingerprint import how_many
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import show_duration, show_instant
from beamlike.model.windows import Window
from beamlike.palette.colours import DARK, LIGHT
from beamlike.runtime.script import Output
from beamlike.viz.cells import ShownColumn, column_widths, columns, cut, padded
from beamlike.viz.key_history import KeyHistory
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

    def _against_first(self, index: int) -> str:
        counted = []
        for noun in ("pane", "withdrawal", "drop"):
            pairs = [(row.cells[0], row.cells[index]) for row in self.rows]
            pairs = [pair for pair in pairs if noun in map(_noun, pair)]
            lost = sum(other is None for _, other in pairs)
            new = sum(first is None for first, _ in pairs)
            changed = sum(not _is_same(*pair) for pair in pairs) - lost - new
            if new > lost:
                counted.append(how_many(new - lost, f"more {noun}"))
            elif lost > new:
                counted.append(f"{how_many(lost - new, noun)} less")
            for number, how in ((min(new, lost), "elsewhere"), (changed, "not the same")):
                if number:
                    counted.append(f"{how_many(number, noun)} {how}")
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
        from beamlike.viz.picture import Picture, shown_keys

        first, *_ = recordings = list(self.recordings.values())
        (shown,) = shown_keys(first.by_key, key, 1)
        lines, count = list(self._strategies()), len(first.keys)
        if key is None and count > 1:
            lines.append(f"the busiest of {count} keys; name one to draw another")
        scenes = scenes_of_histories(
            [KeyHistory(run.of_key(shown).moments, run.strategy, shown) for run in recordings]
        )
        named = [
            attrs.evolve(scene, title=name, note="")
            for name, scene in zip(self.recordings, scenes, strict=True)
        ]
        columns = 2 if len(recordings) in (2, 4) else _MOST_COLUMNS
        style: dict[str, Any] = {"columns": columns, "width": _PICTURE_WIDTH}
        style |= {"title": scenes[0].title, "palette": DARK if dark else LIGHT}
        return Picture(named, "\n".join(lines), **style)

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
        lines = [part for line in self._strategies() for part in wrapped(line, "", "  ")]
        table = self._table() if self.rows else ["(nothing came out, nothing was dropped)"]
        return "\n".join([*lines, "", *table, "", *self.summary])

    # -- the table -------------------------------------------------------------------------

    def _table(self) -> Iterator[str]:
        names = list(self.recordings)
        keys = ShownColumn([row.key for row in self.rows])
        places = [("", "step", "key", "window")]
        for index, row in enumerate(self.rows):
            window = "" if row.window is None else show_window(row.window)
            mark = "!" if row.differs else ""
            places.append((mark, str(row.step), keys.show(index, _KEY_WIDTH), window))
        widths = column_widths(places)
        room = (_WIDTH - sum(widths) - 2 * len(widths) - 2 * (len(names) - 1)) // len(names)
        header, *starts = ("  ".join(map(padded, place, widths)) for place in places)
        fits_side_by_side = room >= _NARROWEST
        yield _line(header, [cut(name, room) for name in names] if fits_side_by_side else [], room)
        for start, row in zip(starts, self.rows, strict=True):
            cells = [_text(cell) for cell in row.cells]
            if fits_side_by_side:
                yield from self._side_by_side(start, row, cells, room)
                continue
            yield start.rstrip()
            if row.differs:
                yield from self._below(cells)
            else:
                yield f"     all: {cut(cells[0], _WIDTH - 10)}"

    def _side_by_side(
        self, start: str, row: ComparedOutputs, cells: list[str], room: int
    ) -> Iterator[str]:
        if not row.differs:
            cells = [cells[0], *[_SAME] * (len(cells) - 1)]
        style: dict[str, Any] = {"placeholder": " ...", "break_on_hyphens": False}
        shown = [wrap(cell, room, max_lines=_MOST_LINES, **style) for cell in cells]
        for index, parts in enumerate(zip_longest(*shown, fillvalue="")):
            yield _line(" " * columns(start) if index else start, list(parts), room)
        if len(set(map(tuple, shown))) < len(set(cells)):  # what differs was cut off
            yield from self._below(map(_text, row.cells))

    def _below(self, cells: Iterable[str]) -> Iterator[str]:
        width = min(max(map(columns, self.recordings)), _NARROWEST)
        for name, cell in zip(self.recordings, cells, strict=True):
            shown = cut(name, width)
            indent = " " * (5 + width - columns(shown))
            yield f"{indent}{shown}: {cut(cell, _WIDTH - width - 7)}"


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
    first, *other_recordings = recordings.items()
    for name, other in other_recordings:
        if other.run.script != first[1].run.script:
            raise RecordingError(
                f"only runs of the same script can be compared, and {name!r} has another than "
                f"{first[0]!r}; run both strategies over one stream"
            )
    outputs: dict[Hashable, list[Output | None]] = {}
    emitted: dict[int, list[list[Hashable]]] = {}
    for index, recording in enumerate(recordings.values()):
        seen: Counter[Hashable] = Counter()
        for output in recording.run.outputs:
            place = _place(output)
            seen[place] += 1
            row = (place, seen[place])
            outputs.setdefault(row, [None] * len(recordings))[index] = output
            emitted.setdefault(output.step, [[] for _ in recordings])[index].append(row)
    rows: list[ComparedOutputs] = []
    for _, of_step in sorted(emitted.items()):
        # In the order of the one that emits most: it may withdraw a pane before it fires the next.
        by_number = sorted(of_step, key=len, reverse=True)
        rows += [_row(outputs[row]) for row in dict.fromkeys(chain.from_iterable(by_number))]
    return Comparison(dict(recordings), tuple(rows))


def _place(output: Output) -> Hashable:
    """What belongs together has the same place."""
    effect = output.effect
    lost = (effect.timestamp, repr(effect.value)) if isinstance(effect, Drop) else None
    return output.step, identity(output.key), effect.window, _noun(effect), lost


def _row(outputs: Sequence[Output | None]) -> ComparedOutputs:
    known = next(filter(None, outputs))
    cells = tuple(None if output is None else output.effect for output in outputs)
    differs = not all(_is_same(cells[0], cell) for cell in cells[1:])
    return ComparedOutputs(known.step, known.key, known.effect.window, cells, differs)


def _noun(effect: Effect | None) -> str:
    if effect is None:
        return ""
    if isinstance(effect, Drop):
        return "drop"
    return "withdrawal" if effect.retraction else "pane"


def _is_same(first: Effect | None, other: Effect | None) -> bool:
    if first is None or other is None:
        return first is other
    if isinstance(first, Drop) or isinstance(other, Drop):
        return isinstance(first, Drop) and isinstance(other, Drop) and first.reason is other.reason
    return is_same_pane(first, other)


# -- words -------------------------------------------------------------------------------------


def _text(effect: Effect | None) -> str:
    if effect is None:
        return "-"
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
        name, value = part.name, getattr(other, part.name)
        if part.eq and name != "resolution" and getattr(first, name) != value:
            shown = repr(value.value) if hasattr(value, "value") else str(value)
            shown = show_duration(value) if name == "allowed_lateness" else shown
            changed.append(f"{'window' if name == 'window_fn' else name}={shown}")
    return f"the same with {', '.join(changed)}" if changed else "the same windowing"


def _line(start: str, cells: list[str], room: int) -> str:
    return "  ".join([start, *(padded(cell, room) for cell in cells)]).rstrip()
