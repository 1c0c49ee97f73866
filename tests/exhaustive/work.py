"""The pieces of the search, and how one of them is done."""

import time
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from beamlike.hosts.garbage import paused_gc
from tests.exhaustive.laws import CHEAP, broken_laws
from tests.exhaustive.progress import Done, Piece
from tests.exhaustive.search import Difference, Reached, reached, search
from tests.exhaustive.strategies import STRATEGIES, deep, wide
from tests.exhaustive.streams import Alphabet, count_of

BOUNDS: Final = ("wide", "deep", "laws")
"""``wide``: up to four events over all values. ``deep``: five and six events over few values, those
of fewer are wide ones. ``laws``: up to three events over all values, with the laws."""

LAW_EVENTS: Final = 3

STRIDE: Final = 101


def alphabet_of(bound: str, strategy: int, most: int | None = None) -> Alphabet:
    """The values and the bound of a part of the search; ``most`` events if that is fewer."""
    chosen = STRATEGIES[strategy]
    alphabet = deep(chosen) if bound == "deep" else wide(chosen)
    events = LAW_EVENTS if bound == "laws" else alphabet.events
    return attrs.evolve(alphabet, events=events if most is None else min(events, most))


def least_of(bound: str, strategy: int) -> int:
    """The fewest events of a stream that is compared."""
    return wide(STRATEGIES[strategy]).events + 1 if bound == "deep" else 1


def pieces(bounds: tuple[str, ...] = BOUNDS) -> Iterator[Piece]:
    """All pieces: each strategy in each part.

    Neighbours are alike, so strategies that are far from each other come first: a search that ends
    early has seen some of each kind.
    """
    order = sorted(range(len(STRATEGIES)), key=lambda index: index * STRIDE % len(STRATEGIES))
    for bound in bounds:
        yield from (Piece(bound, at) for at in order)


def streams_in_all(bounds: tuple[str, ...]) -> int:
    """How many streams the whole search has, by arithmetic."""
    return sum(
        count_of(alphabet_of(bound, index), least_of(bound, index))
        for bound in bounds
        if bound != "laws"
        for index in range(len(STRATEGIES))
    )


def check_cheaply(here: Reached) -> list[Difference]:
    """The laws that cost little."""
    return broken_laws(here, CHEAP)


def do(piece: Piece) -> Done:
    """Search a piece."""
    started = time.monotonic()
    with paused_gc():
        streams, differences = _laws(piece) if piece.bound == "laws" else _compared(piece)
    seconds = round(time.monotonic() - started, 3)
    return Done(str(piece), streams, seconds, tuple(map(str, differences)))


def _compared(piece: Piece) -> tuple[int, Sequence[Difference]]:
    strategy = STRATEGIES[piece.strategy]
    alphabet = alphabet_of(piece.bound, piece.strategy)
    least = least_of(piece.bound, piece.strategy)
    found = search(strategy, alphabet, least=least, check=check_cheaply)
    smaller = _smaller(piece, alphabet) if found.differences else ()
    return found.streams, smaller or found.differences


def _smaller(piece: Piece, alphabet: Alphabet) -> Sequence[Difference]:
    """What differs in streams of fewer events, the fewest there are."""
    for events in range(1, alphabet.events):
        fewer = attrs.evolve(alphabet, events=events)
        found = search(STRATEGIES[piece.strategy], fewer, check=check_cheaply, enough=1)
        if found.differences:
            return found.differences
    return ()


def _laws(piece: Piece) -> tuple[int, Sequence[Difference]]:
    streams = 0
    broken: list[Difference] = []
    alphabet = alphabet_of(piece.bound, piece.strategy)
    for here in reached(STRATEGIES[piece.strategy], alphabet):
        streams += len(here.streams)
        broken += broken_laws(here)
    return streams, broken[:3]
