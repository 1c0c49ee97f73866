"""Scripts as mail: what each step sends into the query of several pipelines."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from beamlike.machine.input_clocks import ShardWatermark
from beamlike.model.graph import ReadNode
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.source_steps import steps_of


def mails_of(layers: Layers, *pipelines: Sequence[ReadNode]) -> Iterator[Mail]:
    """The mail that scripts send into a query, step by step.

    Args:
        layers: The graph of all pipelines together.
        pipelines: The sources of each pipeline. Step n of all pipelines is sent at once. A pipeline
            whose script is over gets nothing more.

    Raises:
        UnsupportedError: A source has no script.
        PipelineError: A coder does not bring an element back as it was.
    """
    for mails in zip_longest(*(_mails(layers, sources) for sources in pipelines)):
        together = Mail()
        for mail in mails:
            if mail is not None:
                together.bundles |= mail.bundles
                together.reached += mail.reached
                together.clock |= mail.clock
        yield together


def _mails(layers: Layers, sources: Sequence[ReadNode]) -> Iterator[Mail]:
    workers = {source: worker_of(source) for source in sources}
    for step in steps_of(workers):
        before = {source: worker.output_watermark for source, worker in workers.items()}
        assert step.source is not None, "a script is of a source"
        with workers[step.source].errors_name_this_node():
            tagged = list(workers[step.source].happen(step.events))
        mail = Mail(
            reached=[
                ShardWatermark(layers.number[source], 0, worker.output_watermark, before[source])
                for source, worker in workers.items()
            ],
            clock={layers.number[source]: step.clock for source in sources},
        )
        for tag, bundle in tagged:
            layers.put(mail, layers.number[step.source], tag, bundle)
        yield mail
