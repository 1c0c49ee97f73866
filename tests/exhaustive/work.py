"""The pieces of the search, and how one of them is done."""

import time
from collections.abc import Iterator
from typing import Final

import attrs

from tests.exhaustive.laws import CHEAP, broken_laws
from tests.exhaustive.progress import Done, Piece
from tests.exhaustive.search import Difference, Reached, reached, search
from tests.exhaustive.strategies import STRATEGIES, deep, wide
from tests.exhaustive.streams import Alphabet, branches, count_of, root

__all__ = ["BOUNDS", "alphabet_of", "do", "pieces", "streams_in_all"]

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
    """All pieces; every strategy has its turn before any of them has a second.

    Neighbours are alike, so strategies that are far from each other come first: a search that ends
    early has seen some of each kind.
    """
    order = sorted(range(len(STRATEGIES)), key=lambda at: at * STRIDE % len(STRATEGIES))
    for bound in bounds:
        ways = [
            len(list(branches(alphabet_of(bound, at), root()))) for at in range(len(STRATEGIES))
        ]
        for turn in range(max(ways)):
            # The last way is the one that begins with elements; it has most of the streams.
            yield from (Piece(bound, ways[at] - 1 - turn, at) for at in order if turn < ways[at])


def streams_in_all(bounds: tuple[str, ...]) -> int:
    """How many streams the whole search has, by arithmetic."""
    return sum(
        count_of(alphabet_of(bound, at), least_of(bound, at))
        for bound in bounds
        if bound != "laws"
        for at in range(len(STRATEGIES))
    )


def check_cheaply(here: Reached) -> list[Difference]:
    """The laws that cost little."""
    return broken_laws(here, CHEAP)


def do(piece: Piece) -> Done:
    """Search a piece."""
    started = time.monotonic()
    strategy = STRATEGIES[piece.strategy]
    alphabet = alphabet_of(piece.bound, piece.strategy)
    if piece.bound == "laws":
        streams, differences = _laws(piece, alphabet)
    else:
        least = least_of(piece.bound, piece.strategy)
        found = search(strategy, alphabet, least=least, begin=piece.begin, check=check_cheaply)
        streams = found.streams
        differences = _smaller(piece, alphabet) if found.differences else ()
        differences = differences or found.differences
    seconds = round(time.monotonic() - started, 3)
    return Done(str(piece), streams, seconds, tuple(map(str, differences)))


def _smaller(piece: Piece, alphabet: Alphabet) -> tuple[Difference, ...]:
    """What differs in streams of fewer events, the fewest there are."""
    for events in range(1, alphabet.events):
        fewer = attrs.evolve(alphabet, events=events)
        found = search(STRATEGIES[piece.strategy], fewer, check=check_cheaply, enough=1)
        if found.differences:
            return found.differences
    return ()


def _laws(piece: Piece, alphabet: Alphabet) -> tuple[int, tuple[Difference, ...]]:
    streams = 0
    broken: list[Difference] = []
    for here in reached(STRATEGIES[piece.strategy], alphabet, piece.begin):
        streams += len(here.node.streams)
        broken += broken_laws(here)
    return streams, tuple(broken[:3])
