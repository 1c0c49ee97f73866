"""The search: every engine is walked along the tree of streams, and each node is compared."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Self

import attrs

from beamlike.model.strategy import WindowingStrategy
from tests.exhaustive.engines import ENGINES, MODEL, Engine, Rows, Walk
from tests.exhaustive.events import Clock, Row, Stream, Watermark
from tests.exhaustive.streams import (
    Alphabet,
    Branch,
    Node,
    branches,
    growth,
    has_begun,
    root,
    shown,
)


@attrs.frozen
class Reached:
    """The streams of a node, and for each of them what the model says comes out of it."""

    strategy: WindowingStrategy
    streams: tuple[Stream, ...]
    outcomes: tuple[Rows, ...]


@attrs.frozen
class Difference:
    """A stream that an engine plays otherwise than the model, or that breaks a law."""

    strategy: WindowingStrategy
    stream: Stream
    what: str
    missing: tuple[Row, ...] = ()
    unexpected: tuple[Row, ...] = ()
    sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.what}: {self.strategy}", f"  {shown(self.stream)}"]
        lines += [f"  missing: {row}" for row in self.missing]
        lines += [f"  unexpected: {row}" for row in self.unexpected]
        return "\n".join([*lines, *(f"  {sentence}" for sentence in self.sentences)])


@attrs.frozen
class Found:
    """How many streams were compared, and where they differ."""

    streams: int
    differences: tuple[Difference, ...]


Check = Callable[[Reached], Iterable[Difference]]


def search(
    strategy: WindowingStrategy,
    alphabet: Alphabet,
    *,
    least: int = 1,
    engines: Mapping[str, Engine] = ENGINES,
    check: Check | None = None,
    enough: int = 3,
) -> Found:
    """Compare the engines on every stream of an alphabet.

    Args:
        least: Streams of fewer events are passed through and not compared.
        check: What else is to hold of each node.
        enough: Stop after so many differences.
    """
    streams = 0
    differences: list[Difference] = []
    for place in _places(alphabet, _Place.at_root(strategy, engines)):
        chosen = place.begun(least)
        if not chosen:
            continue
        here = place.reached(strategy, chosen)
        for name, walk in place.walks.items():
            differences += unlike(here, name, walk.outcomes(chosen))
        differences += check(here) if check else ()
        streams += len(chosen)
        if len(differences) >= enough:
            break
    return Found(streams, tuple(differences[:enough]))


def reached(strategy: WindowingStrategy, alphabet: Alphabet) -> Iterator[Reached]:
    """Every node of an alphabet, with what the model says."""
    for place in _places(alphabet, _Place.at_root(strategy, {})):
        chosen = place.begun()
        if chosen:
            yield place.reached(strategy, chosen)


def unlike(here: Reached, name: str, outcomes: Sequence[Rows]) -> Iterator[Difference]:
    """The streams of which an engine says something else than the model."""
    for stream, rows, expected in zip(here.streams, outcomes, here.outcomes, strict=True):
        # Within a step windows come in no promised order.
        if tuple(rows) == tuple(expected) or Counter(rows) == Counter(expected):
            continue
        missing, unexpected = Counter(expected), Counter(rows)
        yield Difference(
            here.strategy,
            stream,
            name,
            tuple((missing - unexpected).elements()),
            tuple((unexpected - missing).elements()),
        )


@attrs.frozen
class _Place:
    """A node of the tree, with each engine there and the model."""

    node: Node
    walks: Mapping[str, Walk]
    model: Walk

    @classmethod
    def at_root(cls, strategy: WindowingStrategy, engines: Mapping[str, Engine]) -> Self:
        walks = {name: engine(strategy) for name, engine in engines.items()}
        return cls(root(), walks, MODEL(strategy))

    def begun(self, least: int = 1) -> list[int]:
        """The places of the streams with elements that have so many events."""
        pairs = enumerate(zip(self.node.streams, self.node.sizes, strict=True))
        return [at for at, (one, size) in pairs if size >= least and has_begun(one)]

    def reached(self, strategy: WindowingStrategy, chosen: Sequence[int]) -> "Reached":
        streams = tuple([self.node.streams[at] for at in chosen])
        return Reached(strategy, streams, tuple(self.model.outcomes(chosen)))

    def then(self, way: Branch) -> "_Place":
        walks = {name: _walked(walk, way) for name, walk in self.walks.items()}
        return _Place(way.node, walks, _walked(self.model, way))


def _places(alphabet: Alphabet, place: _Place) -> Iterator[_Place]:
    """A node with all of its streams, and every node after it."""
    while (way := growth(alphabet, place.node)) is not None:
        place = place.then(way)
    yield place
    for way in branches(alphabet, place.node):
        yield from _places(alphabet, place.then(way))


def _walked(walk: Walk, way: Branch) -> Walk:
    there = walk.spread(way.parents)
    if isinstance(way.event, Watermark | Clock):
        return there.move(way.event)
    return there.arrive(way.event)
