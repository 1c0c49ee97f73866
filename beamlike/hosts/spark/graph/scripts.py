"""Scripts as messages: what each step sends into the query of some pipelines."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from beamlike.model.graph import Edge, Node, ReadNode, in_order
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.messages import Messages, Reached
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.scripts import steps_of


def edges_of(ends: Sequence[Node], wanted: Sequence[Edge]) -> list[Edge]:
    """The outputs of a graph: those that are read, the main ones, and the wanted ones."""
    nodes = in_order(ends)
    read = [edge for node in nodes for edge in node.sources]
    return list(dict.fromkeys([*map(Edge, nodes), *read, *wanted]))


def messages_of(layers: Layers, *pipelines: Sequence[ReadNode]) -> Iterator[Messages]:
    """What the scripts of some sources send into the query, step by step.

    Args:
        layers: Of all pipelines together.
        pipelines: The sources of each. They are independent: step n of all of them is one message.
            Nothing happens to one whose script is over.

    Raises:
        UnsupportedError: A source has no script.
        PipelineError: An element of theirs does not come back from its coder.
    """
    for messages in zip_longest(*(_messages(layers, sources) for sources in pipelines)):
        together = Messages()
        for message in messages:
            if message is not None:
                together.out |= message.out
                together.reached += message.reached
                together.clock |= message.clock
        yield together


def _messages(layers: Layers, sources: Sequence[ReadNode]) -> Iterator[Messages]:
    workers = {source: worker_of(source) for source in sources}
    for step in steps_of(workers):
        before = {source: worker.output_watermark for source, worker in workers.items()}
        with workers[step.source].blamed():
            found = list(workers[step.source].happen(step.events))
        mail = Messages(
            reached=[
                Reached(layers.number[source], 0, worker.output_watermark, before[source])
                for source, worker in workers.items()
            ],
            clock={layers.number[source]: step.clock for source in sources},
        )
        for tag, bundle in found:
            mail.out[layers.number[step.source], tag].extend(bundle)
        yield mail
