"""The search: every engine is walked along the tree of streams, and each node is compared."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs

from beamlike.model.strategy import WindowingStrategy
from tests.exhaustive.engines import ENGINES, MODEL, Engine, Rows, Walk
from tests.exhaustive.events import Clock, Row, Stream, Watermark
from tests.exhaustive.streams import Alphabet, Branch, Node, branches, root, shown

__all__ = ["Difference", "Found", "Reached", "reached", "search"]


@attrs.frozen
class Reached:
    """The streams of a node, and for each of them what the model says comes out of it."""

    strategy: WindowingStrategy
    node: Node
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
    begin: int | None = None,
    enough: int = 3,
) -> Found:
    """Compare the engines on every stream of an alphabet.

    Args:
        least: Streams of fewer events are passed through and not compared.
        check: What else is to hold of each node.
        begin: Only the streams that go this way from the root, by its number; None: all.
        enough: Stop after so many differences.
    """
    streams = 0
    differences: list[Difference] = []
    for node, walks, model in _nodes(strategy, alphabet, engines, begin):
        chosen = [at for at, size in enumerate(node.sizes) if size >= least]
        if not node.started or not chosen:
            continue
        outcomes = tuple(model.spread(chosen).outcomes())
        part = Node(
            node.moves,
            tuple(node.streams[at] for at in chosen),
            tuple(node.sizes[at] for at in chosen),
        )
        here = Reached(strategy, part, outcomes)
        for name, walk in walks.items():
            differences += unlike(here, name, walk.spread(chosen).outcomes())
        differences += check(here) if check else ()
        streams += len(chosen)
        if len(differences) >= enough:
            break
    return Found(streams, tuple(differences[:enough]))


def reached(
    strategy: WindowingStrategy, alphabet: Alphabet, begin: int | None = None
) -> Iterator[Reached]:
    """Every node of an alphabet, with what the model says."""
    for node, _, model in _nodes(strategy, alphabet, {}, begin):
        if node.started:
            yield Reached(strategy, node, tuple(model.outcomes()))


def unlike(here: Reached, name: str, outcomes: Sequence[Rows]) -> Iterator[Difference]:
    """The streams of which an engine says something else than the model."""
    for stream, rows, expected in zip(here.node.streams, outcomes, here.outcomes, strict=True):
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


def _nodes(
    strategy: WindowingStrategy,
    alphabet: Alphabet,
    engines: Mapping[str, Engine],
    begin: int | None,
) -> Iterator[tuple[Node, dict[str, Walk], Walk]]:
    """Every node of the tree, parents first, with each engine there and the model."""
    walks = {name: engine(strategy) for name, engine in engines.items()}
    waiting = [(root(), walks, MODEL(strategy))]
    while waiting:
        node, walks, model = waiting.pop()
        yield node, walks, model
        ways = list(branches(alphabet, node))
        if not node.moves and begin is not None:
            ways = ways[begin : begin + 1]
        waiting += [
            (
                way.node,
                {name: _walked(walk, way) for name, walk in walks.items()},
                _walked(model, way),
            )
            for way in reversed(ways)
        ]


def _walked(walk: Walk, way: Branch) -> Walk:
    there = walk.spread(way.parents)
    if isinstance(way.event, Watermark | Clock):
        return there.move(way.event)
    return there.arrive(way.event)
