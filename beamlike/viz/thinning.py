"""How a long text timeline gets short: its middle is left out, and counted."""

from collections.abc import Iterator, Sequence

import attrs

from beamlike.model.fingerprint import how_many


@attrs.frozen
class Entry:
    """A step as it is drawn.

    ``row`` is what stands right of the gutter in the first line, ``below`` are the other lines.
    ``elements``, ``panes`` and ``drops`` are how many there were. ``name`` is the text in the
    gutter.
    """

    step: int
    name: str
    row: str
    below: tuple[str, ...] = ()
    elements: int = 0
    panes: int = 0
    drops: int = 0


def thinned(entries: Sequence[Entry], most: int) -> Iterator[Entry | str]:
    """The entries to draw; a text stands for those that are left out."""
    shown = list(entries)
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


def _left_out(entries: Sequence[Entry]) -> str:
    counts = [
        (sum(entry.elements for entry in entries), "element"),
        (sum(entry.panes for entry in entries), "pane"),
        (sum(entry.drops for entry in entries), "drop"),
    ]
    left_out = ", ".join(how_many(count, noun) for count, noun in counts if count)
    steps = f"steps {entries[0].step} to {entries[-1].step}"
    return f"... {steps} left out{': ' + left_out if left_out else ''}"
