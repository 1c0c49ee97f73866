"""The tree of streams: all of them, each once, as many as arithmetic says."""

from itertools import pairwise, product

import pytest

from tests.exhaustive.events import Arrive, Clock, Event, Stream, Watermark
from tests.exhaustive.streams import (
    Alphabet,
    Node,
    branches,
    count_of,
    events_of,
    growth,
    has_begun,
    root,
)


def all_streams(alphabet: Alphabet) -> list[Stream]:
    """Every stream of the tree that has an element."""
    waiting: list[Node] = [root()]
    found: list[Stream] = []
    while waiting:
        node = waiting.pop()
        while (more := growth(alphabet, node)) is not None:
            node = more.node
        found += filter(has_begun, node.streams)
        waiting += [branch.node for branch in branches(alphabet, node)]
    return found


def by_hand(alphabet: Alphabet) -> set[Stream]:
    """The same in another way: everything that can be written down, less what is left out."""
    bundles = [
        Arrive(times)
        for length in range(1, alphabet.events + 1)
        for times in product(alphabet.times, repeat=length)
        if list(times) == sorted(times)
    ]
    events: list[Event] = [
        *bundles,
        *map(Watermark, alphabet.watermarks),
        *map(Clock, alphabet.clocks),
    ]
    written = (
        stream
        for length in range(1, alphabet.events + 1)
        for stream in product(events, repeat=length)
        if events_of(stream) <= alphabet.events
    )
    return {stream for stream in written if _is_kept(stream)}


def _is_kept(stream: Stream) -> bool:
    starts = [index for index, event in enumerate(stream) if isinstance(event, Arrive)]
    if not starts or not (_rises(stream, Watermark) and _rises(stream, Clock)):
        return False
    kinds = [type(event) for event in stream[: starts[0]]]
    return kinds in ([], [Watermark], [Clock], [Watermark, Clock])


def _rises(stream: Stream, kind: type[Watermark] | type[Clock]) -> bool:
    moves = [event.to for event in stream if isinstance(event, kind)]
    return all(before < after for before, after in pairwise(moves))


ALPHABETS = [
    Alphabet((0,), (), (), 3),
    Alphabet((0, 9), (10,), (), 3),
    Alphabet((0,), (9, 10), (2, 3), 4),
    Alphabet((0, 9), (9, 10), (1, 2), 3),
    Alphabet((0, 9, 10), (10, 11), (), 3),
    Alphabet((0, 9), (10,), (2,), 4),
]


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=str)
def test_no_stream_is_missing_and_none_comes_twice(alphabet: Alphabet) -> None:
    streams = all_streams(alphabet)

    assert set(streams) == by_hand(alphabet)
    assert len(streams) == len(set(streams)) == count_of(alphabet)


def test_every_stream_of_two_events() -> None:
    assert sorted(all_streams(Alphabet((0, 9), (10,), (), 2)), key=repr) == sorted(
        [
            (Arrive((0,)),),
            (Arrive((9,)),),
            (Arrive((0, 0)),),
            (Arrive((0, 9)),),
            (Arrive((9, 9)),),
            (Arrive((0,)), Arrive((0,))),
            (Arrive((0,)), Arrive((9,))),
            (Arrive((9,)), Arrive((0,))),
            (Arrive((9,)), Arrive((9,))),
            (Arrive((0,)), Watermark(10)),
            (Arrive((9,)), Watermark(10)),
            (Watermark(10), Arrive((0,))),
            (Watermark(10), Arrive((9,))),
        ],
        key=repr,
    )


def test_streams_of_five_events_and_more_are_counted_by_themselves() -> None:
    alphabet = Alphabet((0, 9), (10, 11), (2,), 5)

    assert count_of(alphabet, least=5) == sum(
        events_of(stream) == 5 for stream in all_streams(alphabet)
    )


def test_streams_with_the_same_moves_stand_side_by_side() -> None:
    alphabet = Alphabet((0,), (10,), (), 2)
    none, one = root(), growth(alphabet, root())
    assert one is not None
    both = growth(alphabet, one.node)
    assert both is not None
    last = both.node

    assert none.streams == ((),)
    assert one.node.streams == ((), (Arrive((0,)),), (Arrive((0, 0)),))
    assert (one.parents, one.event) == ((0, 0, 0), (None, Arrive((0,)), Arrive((0, 0))))
    assert last.streams == (*one.node.streams, (Arrive((0,)), Arrive((0,))))
    assert growth(alphabet, last) is None
    (way,) = branches(alphabet, last)
    assert (way.parents, way.event) == ((0, 1), Watermark(10))
    assert way.node.streams == ((Watermark(10),), (Arrive((0,)), Watermark(10)))
