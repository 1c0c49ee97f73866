"""Side inputs of which everything is known before the first element looks there.

A side input that comes to an end by itself can be computed first. Then no element waits for it. If
none can come too late, either, the function needs no state, and is called where the elements are:
nothing is dealt out to shards. What an element sees is what the machine of the side input says.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from beamlike.model.bundle import Bundle, Spans
from beamlike.model.column_bundle import ColumnBundle
from beamlike.model.copies import own_copies
from beamlike.model.graph import (
    Edge,
    KnownSideInputNode,
    Node,
    ReadNode,
    SideInputNode,
    in_order,
)
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import Window
from beamlike.runtime.graph.side_inputs import SideBatch, SideInputWorker, batches
from beamlike.runtime.graph.worker import Contents, Tagged


def computable_first(
    ends: Sequence[Node], comes_to_end: Callable[[ReadNode], bool]
) -> list[SideInputNode]:
    """The nodes of a graph whose side inputs can be computed before it runs.

    Args:
        ends: The nodes that are to be reached.
        comes_to_end: Whether a source ends by itself.
    """
    nodes = in_order(ends)
    all_end = all(comes_to_end(node) for node in nodes if isinstance(node, ReadNode))
    chosen = [
        node
        for node in nodes
        if isinstance(node, SideInputNode)
        # Of a window that ends the watermark says when it is too late to look there.
        and (all_end or all(type(side.window_fn) is GlobalWindows for side in node.sides))
        and all(_ends(edge, comes_to_end) for edge in node.sources[1:])
    ]
    while chosen:
        left = _left(ends, chosen)
        # What both need is computed once: a function that counts would count twice.
        alone = [
            node
            for node in chosen
            if node in left and left.isdisjoint(in_order([edge.node for edge in node.sources[1:]]))
        ]
        if alone == chosen:
            break
        chosen = alone
    return chosen


def _left(ends: Sequence[Node], known_sides: Sequence[SideInputNode]) -> set[Node]:
    """The nodes of a graph, without those that only make side inputs that are known."""
    left, ahead = set[Node](), [*ends]
    while ahead:
        node = ahead.pop()
        if node not in left:
            left.add(node)
            sources = node.sources[:1] if node in known_sides else node.sources
            ahead += (edge.node for edge in sources)
    return left


def _ends(edge: Edge, comes_to_end: Callable[[ReadNode], bool]) -> bool:
    return all(comes_to_end(node) for node in in_order([edge.node]) if isinstance(node, ReadNode))


def known(
    node: SideInputNode, panes: Callable[[Edge], Sequence[bytes]], wire: Any
) -> KnownSideInputNode:
    """What stands in place of a node whose side inputs are known.

    Args:
        panes: What came out of the edge of a side input, in batches of
            `beamlike.runtime.envelope`.
        wire: How their values are bytes.
    """
    from beamlike.runtime.store.blobs import digest_of

    main, *sides = node.sources
    blobs = tuple(tuple(map(bytes, panes(edge))) for edge in sides)
    numbered = ((number, blob) for number, of_side in enumerate(blobs) for blob in of_side)
    digest = digest_of(*(b"%d %d " % (number, len(blob)) + blob for number, blob in numbered))
    return KnownSideInputNode(
        node.label, (main,), node, blobs, digest, wire, resolution=node.resolution
    )


class KnownSideInputWorker(SideInputWorker):
    """Shows a function what each element sees of side inputs that do not change any more."""

    def __init__(self, node: KnownSideInputNode) -> None:
        super().__init__(node.look)
        self._known = node
        self._seen: dict[Window, Contents] = {}
        self._has_panes = False

    @property
    def takes_parts(self) -> bool:
        return True

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        (bundle,) = bundles
        parts = bundle.parts()
        if self.shares_elements and self.node.do.changes_elements:
            parts = [part.with_values(own_copies(part.values)) for part in parts]
        if not self._has_panes:
            self._take_panes()
        return self._function.run(pair for part in parts for pair in self._looking(part))

    def advance_sources(self, watermarks: Sequence[int]) -> Tagged:
        return ()

    def _take_panes(self) -> None:
        """Let the machines come to the end of their side inputs."""
        sides = panes_of(self._known)
        for _ in super().take([Bundle(), *sides]):
            raise AssertionError("there are no elements yet")
        end = self.node.resolution.end_of_time
        for _ in super().advance_sources([self.watermark, *(end for _ in sides)]):
            raise AssertionError("there are no elements yet")
        self._has_panes = True

    def _looking(self, part: Bundle) -> Iterator[tuple[Contents, Bundle]]:
        """The elements, by window, each with what they see."""
        if isinstance(part, ColumnBundle) and not isinstance(part.window, tuple):
            first = SideBatch(part.values[:1], [int(part.times[0])], part.panes[:1])
            yield self._contents(part.window, first), part
            return
        for window, batch in batches(part):
            spans = Spans.all_in(window, len(batch.values))
            in_window = Bundle(batch.values, batch.timestamps, spans, batch.panes)
            first = SideBatch(batch.values[:1], batch.timestamps[:1], batch.panes[:1])
            yield self._contents(window, first), in_window

    def _contents(self, window: Window, first: SideBatch) -> Contents:
        """What all elements of a window see, by the first of them: nothing new comes."""
        if window not in self._seen:
            waiting = [(window, first)]
            for number in range(len(self.machines)):
                waiting = self._let_out(number, [], waiting)
            ((_, batch),) = waiting  # else it waits, or is too late
            self._seen[window] = self._latest.seen_by(window, batch).seen
        return self._seen[window]


def panes_of(node: KnownSideInputNode) -> Sequence[Bundle]:
    """The panes of each side input, read once by a process."""
    from beamlike.runtime.envelope import Envelope
    from beamlike.runtime.graph.mail import Parcel
    from beamlike.runtime.graph.side_contents import RECENT

    kept: Sequence[Bundle] | None = None if node.wire.coders else RECENT.find(node.digest)
    if kept is None:
        parcels = [Parcel([*map(Envelope.opened, blobs)]) for blobs in node.panes]
        kept = [Bundle.of(parcel.unpacked(node.wire)) for parcel in parcels]
        if not node.wire.coders:
            size = sum(len(blob) for blobs in node.panes for blob in blobs)
            RECENT.keep(node.digest, kept, size)
    return kept
