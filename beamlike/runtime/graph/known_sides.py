"""Side inputs that are computed completely before the first element looks into them.

A side input that comes to an end by itself can be computed first. Then no element waits for it. If
none can come too late, either, the function needs no state, and is called where the elements are:
nothing is dealt out to shards, and no machine is asked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beamlike.errors import WindowingError
from beamlike.machine.events import Element
from beamlike.machine.failures import FunctionFailure
from beamlike.model.bundle import Bundle
from beamlike.model.column_bundle import ColumnBundle
from beamlike.model.graph import (
    Edge,
    KnownSideInputNode,
    Node,
    ReadNode,
    SideInputNode,
    in_order,
)
from beamlike.model.side_inputs import side_input_window
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import Window
from beamlike.runtime.graph.side_inputs import NOTHING_SEEN, batches, shown_panes
from beamlike.runtime.graph.worker import Contents, FunctionWorker
from beamlike.safe_text import USER_RAISED


def computable_first(ends: Sequence[Node]) -> list[SideInputNode]:
    """The nodes of a graph whose side inputs can be computed before it runs.

    Args:
        ends: The nodes that are to be reached.
    """
    nodes = in_order(ends)
    all_end = _all_end(nodes)
    chosen = [
        node
        for node in nodes
        if isinstance(node, SideInputNode)
        # Of a window that ends the watermark says when it is too late to look there.
        and (all_end or all(type(side.window_fn) is GlobalWindows for side in node.sides))
        and _all_end(in_order([edge.node for edge in node.sources[1:]]))
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
    """The nodes of a graph without those that only compute known side inputs."""
    left, ahead = set[Node](), [*ends]
    while ahead:
        node = ahead.pop()
        if node not in left:
            left.add(node)
            sources = node.sources[:1] if node in known_sides else node.sources
            ahead += (edge.node for edge in sources)
    return left


def _all_end(nodes: Sequence[Node]) -> bool:
    """Whether all sources among some nodes end by themselves."""
    return all(node.bounded for node in nodes if isinstance(node, ReadNode))


def known(
    node: SideInputNode, panes: Callable[[Edge], Sequence[bytes]], wire: Any
) -> KnownSideInputNode:
    """The node that replaces one whose side inputs are known.

    Args:
        panes: The output of a side input's edge, in batches of `beamlike.runtime.envelope`.
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


class KnownSideInputWorker(FunctionWorker):
    """Shows a function what each element sees of side inputs that do not change any more.

    All panes are there before the first element, and no element is too late to look there: of each
    side input it sees the latest pane of the side window, or nothing.
    """

    def __init__(self, node: KnownSideInputNode) -> None:
        super().__init__(node, node.look.do)
        self._known = node
        self._seen: dict[Window, Contents] = {}

    def looking(self, part: Bundle) -> Iterator[tuple[Contents, Bundle]]:
        if isinstance(part, ColumnBundle) and not isinstance(part.window, tuple):
            yield self._contents(part.window, part), part
            return
        for window, batch in batches(part):
            in_window = batch.bundle(window)
            yield self._contents(window, in_window), in_window

    def _contents(self, window: Window, part: Bundle) -> Contents:
        """What all elements of a window see: nothing new comes."""
        if window not in self._seen:
            latest, node = latest_of(self._known), self._known.look
            places = enumerate(self._side_window(window, side, part) for side in node.sides)
            self._seen[window] = tuple(latest.get(place, NOTHING_SEEN) for place in places)
        return self._seen[window]

    def _side_window(self, window: Window, side: WindowingStrategy, part: Bundle) -> Window:
        try:
            return side_input_window(window, side.window_fn)
        except WindowingError:
            raise
        except USER_RAISED as cause:
            first = Element(part.values[0], part.timestamps[0], window)
            failure = FunctionFailure.of(side.window_fn, "assign", cause, (first,), window)
            raise failure.error_in(self._known.resolution) from cause


def latest_of(node: KnownSideInputNode) -> Mapping[tuple[int, Window], Sequence[Any]]:
    """The items of the latest pane of each side window, by the number of the side input; read once
    by a process."""
    from beamlike.runtime.envelope import Envelope
    from beamlike.runtime.graph.mail import Parcel
    from beamlike.runtime.graph.side_contents import RECENT

    kept = None if node.wire.coders else RECENT.find(node.digest)
    if kept is None:
        kept = {
            (number, window): items
            for number, blobs in enumerate(node.panes)
            for panes in (Parcel([*map(Envelope.opened, blobs)]).unpacked(node.wire),)
            for window, _, items in shown_panes(panes)
        }
        if not node.wire.coders:
            size = sum(len(blob) for blobs in node.panes for blob in blobs)
            RECENT.keep(node.digest, kept, size)
    return kept
