"""Nodes that pace those after them: an output goes through what follows before the next is made.

So a function can measure what its outputs cost, as Beam's fused stages let it.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from beamlike.model.bundle import Bundle
from beamlike.model.graph import FlattenNode, Node, ParDoNode, WindowNode
from beamlike.runtime.graph.metrics import MetricsRecorder
from beamlike.runtime.graph.worker import Tagged, Worker


def paced_by(node: Node, nodes: Iterable[Node]) -> list[Node]:
    """The nodes that an output of a node goes through at once: all that need no other input.

    A node that keeps state, or that paces others itself, takes everything of a step together.

    Args:
        node: The node that paces them.
        nodes: Those that may follow, in order.
    """
    paced = {node: None}
    for after in nodes:
        if (
            isinstance(after, ParDoNode | WindowNode | FlattenNode)
            and not (isinstance(after, ParDoNode) and after.do.paces)
            and all(edge.node in paced for edge in after.sources)
        ):
            paced[after] = None
    return [*paced][1:]


def taken(
    worker: Worker, bundles: Sequence[Bundle], metrics: MetricsRecorder, step: str
) -> Iterator[Tagged]:
    """What a worker makes of bundles: everything, or one output after the other if it paces.

    Args:
        worker: The worker.
        bundles: A bundle from each source.
        metrics: What its functions count.
        step: Its name there.
    """
    outputs = _from(worker, bundles)
    while True:
        with metrics.step(step), worker.errors_name_this_node():
            tagged = list(islice(outputs, 1 if worker.paces else None))
        if not tagged:
            return
        yield tagged


def _from(worker: Worker, bundles: Sequence[Bundle]) -> Tagged:
    yield from worker.take(bundles)
