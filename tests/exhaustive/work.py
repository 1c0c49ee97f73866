"""The chunks of the search: each strategy in each part; and how one of them is done."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from beamlike.hosts.garbage import paused_gc
from tests.exhaustive.engines import ENGINES
from tests.exhaustive.laws import CHEAP, LAWS, broken_laws, random_case_of
from tests.exhaustive.search import Difference, Reached, reached, search
from tests.exhaustive.strategies import STRATEGIES, deep, wide
from tests.exhaustive.streams import Alphabet, count_of
from tests.support.differential import LAWS as RANDOM_LAWS
from tests.support.differential import Case
from tests.support.laws import Broken
from tests.support.search import Chunk

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


def chunks(bounds: Sequence[str] = BOUNDS) -> Iterator[Chunk]:
    """Each strategy in each part.

    Neighbours are alike, so strategies that are far from each other come first: a search that ends
    early has seen some of each kind.
    """
    order = sorted(range(len(STRATEGIES)), key=lambda index: index * STRIDE % len(STRATEGIES))
    for bound in bounds:
        yield from (Chunk(bound, 0, range(number, number + 1)) for number in order)


def streams_in_all(bounds: Sequence[str]) -> int:
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


def check(chunk: Chunk, applied: Counter[str]) -> tuple[int, list[Difference | Broken[Case]]]:
    """Search a chunk: how many streams it has, and what differs."""
    (strategy,) = chunk.numbers
    with paused_gc():
        if chunk.part == "laws":
            return _check_laws(strategy, applied)
        return _compare(chunk.part, strategy, applied)


def _compare(
    bound: str, number: int, applied: Counter[str]
) -> tuple[int, list[Difference | Broken[Case]]]:
    alphabet, least = alphabet_of(bound, number), least_of(bound, number)
    found = search(STRATEGIES[number], alphabet, least=least, check=check_cheaply)
    applied.update(dict.fromkeys((*ENGINES, *CHEAP), found.streams))
    smaller = _smaller(number, alphabet) if found.differences else ()
    return found.streams, [*(smaller or found.differences)]


def _smaller(number: int, alphabet: Alphabet) -> Sequence[Difference]:
    """What differs in streams of fewer events, the fewest there are."""
    for events in range(1, alphabet.events):
        fewer = attrs.evolve(alphabet, events=events)
        found = search(STRATEGIES[number], fewer, check=check_cheaply, enough=1)
        if found.differences:
            return found.differences
    return ()


def _check_laws(number: int, applied: Counter[str]) -> tuple[int, list[Difference | Broken[Case]]]:
    streams = 0
    broken: list[Difference | Broken[Case]] = []
    for here in reached(STRATEGIES[number], alphabet_of("laws", number)):
        streams += len(here.streams)
        random_laws = Counter[str]()
        broken += [*broken_laws(here), *RANDOM_LAWS.broken(random_case_of(here), random_laws)]
        applied.update(dict.fromkeys((*LAWS, *random_laws), len(here.streams)))
    return streams, broken[:3]
