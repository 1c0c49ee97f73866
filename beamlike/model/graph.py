"""A pipeline as a graph: what is applied to what. Values only; hosts run it.

A node makes elements out of the elements of the nodes before it. Each of its outputs has a tag;
most have one output, `MAIN`.
"""

from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.model.bundle import BUNDLE_SIZE, Bundle, Windowed
from beamlike.model.combine import CombineFn
from beamlike.model.options import MAX_FAILURES
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.stateful import Lifecycle, StatefulFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import WindowFn
from beamlike.safe_text import USER_RAISED

MAIN: Final = ""
"""The tag of the output that has no other name."""


class RaisedFor(Exception):
    """A function raised for an element; its ``__cause__`` is what it raised."""

    def __init__(self, element: Windowed) -> None:
        super().__init__(element)
        self.element = element


class Do(Lifecycle):
    """A function over elements, one by one, with the lifecycle of Beam's ``DoFn``.

    Elements are given to it in bundles. It returns the tag of an output and an element for each
    element that it brings out.
    """

    @property
    def pane_marks(self) -> frozenset[str]:
        """Marks such as ``is_last`` that every pane has which gets through.

        See `beamlike.model.repetition.Repetition`.
        """
        return frozenset()

    @property
    def changes_elements(self) -> bool:
        """Whether it may change the objects that it is given, and so gets copies of those that
        something else holds, too."""
        return True

    def see(self, contents: Sequence[Sequence[Any]]) -> None:
        """The next elements see these side inputs: the items of each, in the order of the node."""

    def process(self, element: Windowed) -> Iterable[tuple[str, Windowed]]:
        """What one element becomes, of a function whose `run` does not take whole bundles."""
        raise AssertionError("bundles are run")

    def run(self, bundle: Bundle) -> Iterable[tuple[str, Bundle]]:
        """What all elements of a bundle become: for each output its elements, in order.

        Raises:
            RaisedFor: The function raised for an element.
        """
        count = 0
        outputs: dict[str, Bundle] = {}
        for tag, output in self._outputs_of(bundle):
            outputs.setdefault(tag, Bundle()).append(output)
            count += 1
            if count == BUNDLE_SIZE:
                yield from outputs.items()
                outputs, count = {}, 0
        yield from outputs.items()

    def _outputs_of(self, bundle: Bundle) -> Iterator[tuple[str, Windowed]]:
        for element in bundle:
            try:
                yield from self.process(element)
            except USER_RAISED as cause:
                raise RaisedFor(element) from cause


@attrs.frozen(eq=False)
class Node(ABC):
    """One step of a pipeline. Two nodes are never equal.

    Args:
        label: Its full name in the pipeline, unique there.
        sources: What it reads, in order.
        resolution: What its times count. All nodes of a graph count the same: their windows,
            strategies, scripts and elements, too.
    """

    label: str
    sources: tuple["Edge", ...] = attrs.field(repr=False)
    resolution: Resolution = attrs.field(default=MILLISECONDS, kw_only=True, repr=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Of the nodes that say what of them travels.
        for name, value in state.items():
            object.__setattr__(self, name, value)


@attrs.frozen
class Edge:
    """One output of a node."""

    node: Node = attrs.field(repr=lambda node: repr(node.label))
    tag: str = MAIN


@attrs.frozen(eq=False)
class ReadNode(Node):
    """A source: elements from outside. A host knows where they come from.

    Args:
        origin: What the host reads: elements, a script, a DataFrame.
        bounded: Whether it comes to an end by itself.
    """

    origin: Any
    bounded: bool

    def __getstate__(self) -> dict[str, Any]:
        # What the driver reads from stays with it: workers are sent the elements.
        kept = {"label": self.label, "bounded": self.bounded, "resolution": self.resolution}
        return {**kept, "sources": (), "origin": None}


@attrs.frozen(eq=False)
class ParDoNode(Node):
    """A function over each element. Source: Beam ``ParDo``."""

    do: Do


@attrs.frozen(eq=False)
class WindowNode(Node):
    """Elements put into windows by their timestamps. Source: Beam ``Window.into``."""

    window_fn: WindowFn


@attrs.frozen
class Fanout:
    """Over how many tasks the values of a key are spread and combined before they meet.

    Args:
        ways: How many, 1 or more; or a function from the key to that number. Those of a key with 1
            go straight to its shard.

    Source: Beam ``CombinePerKey.with_hot_key_fanout``.
    """

    ways: int | Callable[[Any], int]

    def of_key(self, key: Any) -> int:
        """Over how many tasks those of this key are spread."""
        return self.ways(key) if callable(self.ways) else self.ways


@attrs.frozen(eq=False)
class StatefulNode(Node):
    """A node that keeps state.

    Args:
        plan: How its shards do it (`beamlike.runtime.plan.Plan`), where that is known already; None
            in a pipeline, whose host makes the plan.
    """

    plan: Any = attrs.field(default=None, kw_only=True, repr=False)


@attrs.frozen(eq=False)
class GroupNode(StatefulNode):
    """Pairs of key and value, grouped by key and window. Source: Beam ``Combine.perKey``.

    Args:
        strategy: How.
        combine: How the values of a pane become one.
        value_type: The type of all values, if it is declared.
        fanout: How values are combined on their way, where a user asks for it. Values are combined
            early then also where last digits of results may depend on it.
        assigns: Whether the window function of the strategy puts elements into windows in the
            grouping itself. An element that comes in another window than the global one keeps it.
        drops_failures: Whether what a function of the user's raises for is dropped; else it fails
            the run.
        max_failures: The greatest share of elements or panes that may fail, where that is dropped.
    """

    strategy: WindowingStrategy
    combine: CombineFn
    value_type: type | None = None
    fanout: Fanout | None = None
    assigns: bool = False
    drops_failures: bool = False
    max_failures: float = MAX_FAILURES


@attrs.frozen(eq=False)
class FlattenNode(Node):
    """Elements of several sources in one stream. Source: Beam ``Flatten``."""


@attrs.frozen(eq=False)
class SideInputNode(StatefulNode):
    """A function over each element of the first source that looks into the others, side inputs.

    The other sources have lists: the panes of a grouping of all elements under one key. An element
    waits until there is something to see of each.

    Args:
        main: The windowing of the first source.
        sides: The windowing of each side input.
        do: The function. `Do.see` gives it the side inputs.

    Source: Beam ``ParDo.withSideInputs``.
    """

    main: WindowingStrategy
    sides: tuple[WindowingStrategy, ...]
    do: Do


@attrs.frozen(eq=False)
class KnownSideInputNode(Node):
    """A function that looks into side inputs of which everything is known before it runs.

    Nothing waits for them, and nothing comes too late to look there: it keeps no state.

    Args:
        look: The node in whose place this one is. It reads the first of its sources alone.
        panes: The panes of each side input, as `beamlike.runtime.graph.known_sides` has them.
        digest: What names them in the memory of a process.
        wire: How their values are bytes (`beamlike.runtime.graph.wire.Wire`).
    """

    look: SideInputNode
    panes: tuple[tuple[bytes, ...], ...] = attrs.field(repr=False)
    digest: str
    wire: Any = attrs.field(repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # Workers call the function; what it would read is here.
        state = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        return state | {"look": attrs.evolve(self.look, sources=())}


@attrs.frozen(eq=False)
class StatefulParDoNode(StatefulNode):
    """Pairs of key and value, given to a function with states and timers.

    Source: Beam's stateful ``ParDo``.

    Args:
        windowing: The windows that the pairs are in, and how late they may come.
        fn: The function.
        tagged: Whether an element comes out as a pair of the tag of its output and its value.
        drops_failures: Whether what the function raises for is dropped; else it fails the run.
        max_failures: The greatest share of its calls that may fail, where that is dropped.
    """

    windowing: WindowingStrategy
    fn: StatefulFn
    tagged: bool = False
    drops_failures: bool = False
    max_failures: float = MAX_FAILURES


def in_order(ends: Sequence[Node]) -> list[Node]:
    """These nodes and all that they read, each after its sources, in a stable order."""
    ordered: dict[Node, None] = {}
    for end in ends:
        # A pipeline may be longer than Python's stack is deep.
        todo: list[tuple[Node, bool]] = [(end, False)]
        while todo:
            node, is_ready = todo.pop()
            if node in ordered:
                continue
            if is_ready:
                ordered[node] = None
            else:
                todo.append((node, True))
                todo += [(edge.node, False) for edge in reversed(node.sources)]
    return list(ordered)


def rebuilt(ends: Sequence[Node], substitutes: Mapping[Node, Node]) -> dict[Node, Node]:
    """What stands for each node that is before these ends: itself, where nothing before it has
    changed. Substitutes of some read nodes of the graph as it was."""
    new: dict[Node, Node] = {}
    for node in in_order(ends):
        base = substitutes.get(node, node)
        sources = tuple(Edge(new[edge.node], edge.tag) for edge in base.sources)
        new[node] = base if sources == base.sources else attrs.evolve(base, sources=sources)
    return new


def ways_back(node: Node, is_end: Callable[[Node], bool]) -> Iterator[tuple[Node, frozenset[str]]]:
    """The nearest nodes of some sort on all ways back from a node, the node itself among them.

    What an element sees in a side input makes no more elements of it: these ways are left out. Each
    comes with the marks that every pane has which gets from there to the node.
    """
    # A pipeline may be longer than Python's stack is deep.
    todo: list[tuple[Node, frozenset[str]]] = [(node, frozenset())]
    seen: set[tuple[Node, frozenset[str]]] = set()
    while todo:
        before, marks = todo.pop()
        if (before, marks) in seen:
            continue
        seen.add((before, marks))
        if is_end(before):
            yield before, marks
            continue
        sources = before.sources
        if isinstance(before, ParDoNode | SideInputNode):
            sources, marks = sources[:1], marks | before.do.pane_marks
        todo += [(source.node, marks) for source in reversed(sources)]
