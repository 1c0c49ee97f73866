"""All streams of one key up to a bound, as a tree of the moves of watermark and clock.

A bound says how many events a stream has at most and which values they take; an element is an
event, however the elements are cut into bundles. All streams with the same moves, in the same
order, stand side by side in one node of the tree: their bundles differ, and the places of these.

What changes nothing is left out:

* The elements of a bundle come in order of time: their order decides nothing.
* Before the first element at most one move of each clock, the watermark first: a key that no
  element came for yet remembers nothing.
* The clock moves only where a trigger waits for it, and the end always follows, see `events.END`.
* Streams of several keys: a key does not see another one. Many streams are keys of one shard.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb, factorial

import attrs

from tests.exhaustive.events import Arrive, Clock, Event, Stream, Watermark


@attrs.frozen
class Alphabet:
    """The values that events take, each in rising order, and how many events there are at most."""

    times: tuple[int, ...]
    watermarks: tuple[int, ...]
    clocks: tuple[int, ...]
    events: int


@attrs.frozen
class Node:
    """Streams that have the same moves, and how many events each has.

    ``grown`` of them, the first ones, stand there also with each bundle that can come next.
    """

    moves: tuple[Watermark | Clock, ...]
    streams: tuple[Stream, ...]
    sizes: tuple[int, ...]
    grown: int = 0


@attrs.frozen
class Branch:
    """A step that leads from a node to another one.

    ``parents`` says for each stream of the new node which stream of the old one it continues, and
    ``event`` with what: a move for all of them, or for each a bundle or nothing.
    """

    node: Node
    parents: tuple[int, ...]
    event: Watermark | Clock | tuple[Arrive | None, ...]


def root() -> Node:
    """The stream in which nothing has happened."""
    return Node((), ((),), (0,))


def has_begun(stream: Stream) -> bool:
    """Whether an element has come."""
    return any(isinstance(event, Arrive) for event in stream)


def growth(alphabet: Alphabet, node: Node) -> Branch | None:
    """One more bundle, beside the streams of a node without it; None if there is no room for one.

    Once nothing grows any more, the node has all streams of its moves.
    """
    count = len(node.streams)
    pairs = [
        (index, Arrive(times))
        for index in range(node.grown, count)
        for length in range(1, alphabet.events - node.sizes[index] + 1)
        for times in combinations_with_replacement(alphabet.times, length)
    ]
    if not pairs:
        return None
    streams = tuple((*node.streams[at], bundle) for at, bundle in pairs)
    sizes = tuple(node.sizes[at] + len(bundle.times) for at, bundle in pairs)
    grown = Node(node.moves, node.streams + streams, node.sizes + sizes, count)
    parents = (*range(count), *(at for at, _ in pairs))
    return Branch(grown, parents, (*(None,) * count, *(bundle for _, bundle in pairs)))


def branches(alphabet: Alphabet, node: Node) -> Iterator[Branch]:
    """The moves on from a node that has grown, in a fixed order."""
    open_ = [index for index, size in enumerate(node.sizes) if size < alphabet.events]
    begun = [at for at in open_ if has_begun(node.streams[at])]
    for move, may_begin in _moves(alphabet, node.moves):
        going = open_ if may_begin else begun
        if going:
            streams = tuple((*node.streams[at], move) for at in going)
            sizes = tuple(node.sizes[at] + 1 for at in going)
            yield Branch(Node((*node.moves, move), streams, sizes), tuple(going), move)


def _moves(
    alphabet: Alphabet, made: Sequence[Watermark | Clock]
) -> Iterator[tuple[Watermark | Clock, bool]]:
    """The moves that may follow; and whether they may before the first element, too."""
    reached = max((move.to for move in made if isinstance(move, Watermark)), default=None)
    passed = max((move.to for move in made if isinstance(move, Clock)), default=None)
    for to in alphabet.watermarks:
        if reached is None or to > reached:
            yield Watermark(to), not made
    for to in alphabet.clocks:
        if passed is None or to > passed:
            yield Clock(to), passed is None


# -- how many there are ------------------------------------------------------------------------


def count_of(alphabet: Alphabet, least: int = 1) -> int:
    """How many streams of ``least`` events and more there are, by arithmetic.

    Choose how many elements, bundles and moves there are; the bundles; the values of the moves;
    the moves before the first element; and in what order moves and bundles come after it.
    """
    return sum(
        _bundlings(len(alphabet.times), elements, bundles)
        * comb(len(alphabet.watermarks), before[0] + marks)
        * comb(len(alphabet.clocks), before[1] + ticks)
        * _orders(bundles - 1, marks, ticks)
        for elements in range(1, alphabet.events + 1)
        for bundles in range(1, elements + 1)
        for before in ((0, 0), (0, 1), (1, 0), (1, 1))
        for marks in range(alphabet.events + 1)
        for ticks in range(alphabet.events + 1)
        if least <= elements + sum(before) + marks + ticks <= alphabet.events
    )


def _bundlings(values: int, elements: int, bundles: int) -> int:
    """In how many ways so many elements come in so many bundles."""
    if bundles == 0:
        return int(elements == 0)
    return sum(
        comb(first + values - 1, first) * _bundlings(values, elements - first, bundles - 1)
        for first in range(1, elements + 1)
    )


def _orders(*of_each: int) -> int:
    """The orders of so many things of each kind, where those of a kind are in order already."""
    orders = factorial(sum(of_each))
    for number in of_each:
        orders //= factorial(number)
    return orders


def events_of(stream: Stream) -> int:
    """How many events a stream has; each element is one."""
    return sum(len(event.times) if isinstance(event, Arrive) else 1 for event in stream)


def shown(stream: Sequence[Event]) -> str:
    """A stream in a line."""
    words = []
    for event in stream:
        match event:
            case Arrive(times):
                words.append("+" + ",".join(map(str, times)))
            case Watermark(to):
                words.append(f"watermark {to}")
            case Clock(to):
                words.append(f"clock {to}")
    return "; ".join(words)
