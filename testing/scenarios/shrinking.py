"""Scripts that are no longer than what they show.

A delta debugger: pieces are left out as long as the script still shows what it is to show, first
large ones, then each element and each move of a clock alone.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).
"""

from collections.abc import Callable, Hashable, Iterator, Sequence

import attrs

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.runtime.script import Arrive, Script


@attrs.frozen(eq=False)
class _Arrival:
    """One element, and which bundle it came in."""

    bundle: int
    key: Hashable
    element: Element


_Piece = _Arrival | AdvanceWatermark | AdvanceClock


def shrunk(script: Script, shows: Callable[[Script], bool]) -> Script:
    """The script without what it does not need.

    Args:
        script: A script that shows something.
        shows: Whether another one still shows it. Elements stay in their bundles, and clocks never
            go back, because steps are only left out.

    Returns:
        A script of which nothing can be left out alone.
    """
    pieces = list(_pieces(script))
    size = len(pieces)
    while size:
        before = len(pieces)
        at = 0
        while at < len(pieces):
            shorter = [*pieces[:at], *pieces[at + size :]]
            if shows(_joined(shorter)):
                pieces = shorter
            else:
                at += size
        # Each piece alone is tried until none can go: one may need another only for a while.
        if size > 1 or len(pieces) == before:
            size //= 2
    return _joined(pieces)


def _pieces(script: Script) -> Iterator[_Piece]:
    for number, step in enumerate(script):
        if isinstance(step, Arrive):
            yield from (_Arrival(number, key, element) for key, element in step.elements)
        else:
            yield step


def _joined(pieces: Sequence[_Piece]) -> Script:
    script: list[Arrive | AdvanceWatermark | AdvanceClock] = []
    last: int | None = None
    for piece in pieces:
        if not isinstance(piece, _Arrival):
            script.append(piece)
            last = None
        elif piece.bundle == last and isinstance(script[-1], Arrive):
            script[-1] = Arrive((*script[-1].elements, (piece.key, piece.element)))
        else:
            script.append(Arrive(((piece.key, piece.element),)))
            last = piece.bundle
    return tuple(script)
