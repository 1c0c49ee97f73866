"""How a long text timeline gets short: what changes nothing is drawn together, the rest cut."""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from beamlike.model.fingerprint import how_many

_MARKS: Final = "xo*|"
"""What is drawn over what, the strongest first."""


@attrs.frozen
class Entry:
    """Some steps in a row, as they are drawn.

    ``row`` is what stands right of the gutter in the first line, ``below`` are the other lines.
    ``elements``, ``panes`` and ``drops`` are how many there were, ``moves`` how often a clock
    moved. ``first`` and ``last`` are steps; ``name`` is the first one's text in the gutter.
    """

    first: int
    last: int
    name: str
    row: str
    below: tuple[str, ...] = ()
    elements: int = 0
    moves: int = 0
    panes: int = 0
    drops: int = 0

    @property
    def quiet(self) -> bool:
        """Nothing came of it."""
        return not self.below and not self.drops


def thinned(entries: Sequence[Entry], most: int) -> Iterator[Entry | str]:
    """The entries to draw; texts stand for those that are left out.

    Args:
        entries: All of them.
        most: So many lines there may be. With half as many each step has its own; then those of
            which nothing came are drawn together; then the middle is left out.
    """
    shown = list(entries)
    if _lines(shown) > most // 2:
        shown = _together(shown)
    start = _within(shown, most // 2)
    end = max(len(shown) - _within(shown[::-1], most // 2), start)
    if _lines(shown) <= most or start == end:
        yield from shown
        return
    yield from shown[:start]
    yield _left_out(shown[start:end])
    yield from shown[end:]


def _lines(entries: Sequence[Entry]) -> int:
    return sum(1 + len(entry.below) for entry in entries)


def _within(entries: Sequence[Entry], lines: int) -> int:
    """How many of the first entries have no more lines than these; one at least."""
    for count, entry in enumerate(entries):
        lines -= 1 + len(entry.below)
        if lines < 0:
            return max(count, 1)
    return len(entries)


def _together(entries: Sequence[Entry]) -> list[Entry]:
    """Neighbours of one kind of which nothing came, as one."""
    joined: list[Entry] = []
    for entry in entries:
        before = joined[-1] if joined else None
        if before is None or not (before.quiet and entry.quiet and _alike(before, entry)):
            joined.append(entry)
        elif entry.moves:
            moves = before.moves + entry.moves
            joined[-1] = attrs.evolve(entry, first=before.first, moves=moves)
        else:
            elements = before.elements + entry.elements
            joined[-1] = attrs.evolve(
                before,
                last=entry.last,
                name=f"+ {elements} elements",
                row=_over(before.row, entry.row),
                elements=elements,
            )
    return joined


def _alike(one: Entry, other: Entry) -> bool:
    """Both elements, both the watermark, or both the clock."""
    return one.name.split(" ")[0] == other.name.split(" ")[0]


def _over(one: str, other: str) -> str:
    """Two rows as one; of two marks in a place, the stronger."""
    size = max(len(one), len(other))
    return "".join(
        next((mark for mark in _MARKS if mark in pair), max(pair))
        for pair in zip(one.ljust(size), other.ljust(size), strict=True)
    )


def _left_out(entries: Sequence[Entry]) -> str:
    counts = [
        (sum(entry.elements for entry in entries), "element"),
        (sum(entry.panes for entry in entries), "pane"),
        (sum(entry.drops for entry in entries), "drop"),
    ]
    left_out = ", ".join(how_many(count, noun) for count, noun in counts if count)
    steps = f"steps {entries[0].first} to {entries[-1].last}"
    return f"... {steps} left out{': ' + left_out if left_out else ''}"
