"""Scripts that are no longer than what they show.

A delta debugger: pieces are left out as long as the script still shows what it is to show, first
large ones, then each element and each move of a clock alone.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.runtime.script import Arrive, Script

_Piece = tuple[int, tuple[Hashable, Element] | AdvanceWatermark | AdvanceClock]
"""An element or a move of a clock, and the number of its step."""


def shrunk(script: Script, shows: Callable[[Script], bool]) -> Script:
    """A script of which nothing can be left out alone, for it to show what it shows.

    Elements stay in their bundles, and clocks never go back, because steps are only left out.
    """
    pieces = list(_pieces(script))
    size = len(pieces)
    while size:
        before = len(pieces)
        start = 0
        while start < len(pieces):
            shorter = [*pieces[:start], *pieces[start + size :]]
            if shows(_joined(shorter)):
                pieces = shorter
            else:
                start += size
        # Each piece alone is tried until none can go: one may need another only for a while.
        if size > 1 or len(pieces) == before:
            size //= 2
    return _joined(pieces)


def _pieces(script: Script) -> Iterator[_Piece]:
    for number, step in enumerate(script):
        for part in step.elements if isinstance(step, Arrive) else (step,):
            yield number, part


def _joined(pieces: Sequence[_Piece]) -> Script:
    script: list[Arrive | AdvanceWatermark | AdvanceClock] = []
    for _, step in groupby(pieces, key=itemgetter(0)):
        parts = [part for _, part in step]
        elements = [part for part in parts if isinstance(part, tuple)]
        moves = [part for part in parts if not isinstance(part, tuple)]
        script += [Arrive(tuple(elements))] if elements else moves
    return tuple(script)
