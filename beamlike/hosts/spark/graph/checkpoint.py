"""The folder from which a pipeline restarts. It holds the query's own checkpoint, and

- ``letters``: batches of `beamlike.runtime.envelope`, which the query reads like any other source.
  Sources that come to an end by themselves, such as created elements, are written there once,
  before the first micro-batch; and so is the end of all input when the pipeline is drained.
- ``nodes``: the number and the label of each node, and for nodes with state the words that the
  state depends on. State is saved under the number of its node. So without this check another
  pipeline would find no state, or that of another node.
"""

import json
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import attrs

from beamlike.errors import StateError
from beamlike.hosts.spark.graph.frames import ending
from beamlike.hosts.spark.graph.stages import MESSAGE
from beamlike.model.graph import StatefulNode
from beamlike.runtime.changes import check_layout, refused, unnumbered
from beamlike.runtime.graph.layer_work import Layer
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.options import BUCKETS, SHARDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ADVICE = (
    "\nRun the pipeline as it was, whose drain() brings its windows to their end, or start this "
    "one with a new checkpoint."
)


@attrs.frozen
class Known:
    """A node as a checkpoint knows it.

    Args:
        label: Its full label, without the line numbers of functions, which change easily.
        words: What its state depends on, see `Plan.identity`; empty if it keeps none, or if that
            was not noted.
    """

    number: int
    label: str
    state: bool
    words: Mapping[str, str] = attrs.field(factory=dict)


def nodes_of(layers: Layers, shards: int = SHARDS) -> list[Known]:
    """All nodes of a pipeline whose keys are spread over ``shards`` groups of Spark."""
    identities = {
        number: placed.stage.plan.identity
        for layer in range(1, layers.depth + 1)
        for number, placed in Layer(Spread(layers, shards, BUCKETS), layer).stages.items()
    }
    return [
        Known(
            index, unnumbered(node.label), isinstance(node, StatefulNode), identities.get(index, {})
        )
        for index, node in enumerate(layers.nodes)
    ]


def nodes_in(lines: Iterable[str], path: str) -> list[Known]:
    """The nodes in the lines of a checkpoint.

    Args:
        lines: The lines of the file ``nodes``.
    """
    nodes = []
    for number, line in enumerate(lines, 1):
        try:
            node = Known(**json.loads(line))
        except (TypeError, ValueError, RecursionError) as error:
            raise _no_node(line, number, path, f"{type(error).__name__}: {error}") from error
        parts = [node.number, node.label, node.state, node.words]
        if [*map(type, parts)] != [int, str, bool, dict] or {*map(type, node.words.values())} - {
            str
        }:
            expected = "a number, a label, true or false, and words were expected"
            raise _no_node(line, number, path, expected)
        nodes.append(node)
    return nodes


def _no_node(line: str, number: int, path: str, why: str) -> StateError:
    return StateError(
        f"line {number} of {path}/nodes has no transform: {reprlib.repr(line)} ({why}); the "
        "checkpoint is damaged: continue from a copy of it, or start with a new one"
    )


def check_nodes(before: Sequence[Known], now: Sequence[Known], path: str) -> None:
    """Refuse a checkpoint with state of another pipeline.

    Only nodes that keep state are compared. What may change in such a node is in
    `beamlike.runtime.changes`.
    """
    had, has = _keeping(before), _keeping(now)
    if had == has:
        _check_words(before, now, path)
        return
    changes = [
        f"{label!r} was transform {had[label]} and is transform {has[label]}"
        for label in had
        if label in has and had[label] != has[label]
    ]
    changes += [f"{label!r} keeps state and was not there" for label in has if label not in had]
    changes += [f"{label!r} has state there and is gone" for label in had if label not in has]
    changes += _stateless_changes("inserted", now, before)
    changes += _stateless_changes("removed", before, now)
    raise StateError(
        f"the checkpoint {path!r} belongs to another pipeline and cannot be continued, because "
        "state is found by the place of its transform:\n  " + "\n  ".join(changes) + _ADVICE
    )


def _check_words(before: Sequence[Known], now: Sequence[Known], path: str) -> None:
    identities, changes = {node.number: node.words for node in before}, list[str]()
    for node in now:
        had = identities.get(node.number)
        if node.words and had:
            check_layout(had, node.words)
            changes += (f"{node.label!r}, {change}" for change in refused(had, node.words))
    if changes:
        raise StateError(
            f"the checkpoint {path!r} has state that this pipeline cannot continue:\n  "
            + "\n  ".join(changes)
            + _ADVICE
        )


def _keeping(nodes: Iterable[Known]) -> dict[str, int]:
    return {node.label: node.number for node in nodes if node.state}


def _stateless_changes(
    change: str, knowns: Iterable[Known], counterparts: Iterable[Known]
) -> list[str]:
    known = {node.label for node in counterparts}
    return [
        f"{change}: {node.label!r}" for node in knowns if not node.state and node.label not in known
    ]


@attrs.frozen
class PipelineCheckpoint:
    """The folder of a pipeline.

    Args:
        shards: The groups of Spark that share the keys of a layer.
    """

    spark: "SparkSession"
    path: str
    layers: Layers
    shards: int = SHARDS

    @property
    def query(self) -> str:
        """The checkpoint of the query itself."""
        return f"{self.path}/query"

    @property
    def messages(self) -> str:
        """The folder from which the query reads messages."""
        return f"{self.path}/letters"

    @property
    def _nodes(self) -> str:
        return f"{self.path}/nodes"

    def prepare(self) -> None:
        """Create whatever has to be there before the query starts or restarts."""
        now = nodes_of(self.layers, self.shards)
        before = None
        # A start that broke off may have left messages, all or some: no query has read them.
        if self._read(f"{self.query}/metadata") is None:
            self.send(*ending(self.layers), mode="overwrite")
        else:
            before = self._read(self._nodes)
        if before:
            check_nodes(nodes_in(before, self.path), now, self.path)
        lines = [json.dumps(attrs.asdict(node)) for node in now]
        if before is None or sorted(before) != sorted(lines):
            frame = self.spark.createDataFrame(
                [(line,) for line in lines], "value string"
            ).coalesce(1)
            frame.write.mode("overwrite").text(self._nodes)

    def send(
        self, mails: Sequence[Mail], tables: Sequence["DataFrame"] = (), *, mode: str = "append"
    ) -> None:
        """Write batches for the query: those of DataFrames, and mail in its order."""
        sent = self.layers.sent
        blobs = [(blob,) for place, mail in enumerate(mails) for blob in sent(mail, place)]
        message = self.spark.createDataFrame(blobs, MESSAGE).coalesce(1)
        together = reduce(lambda rows, other: rows.unionByName(other), tables, message)
        together.write.mode(mode).parquet(self.messages)

    def _read(self, path: str) -> list[str] | None:
        """The lines of a file; None if there is none."""
        from pyspark.errors import AnalysisException

        try:
            return [str(row.value) for row in self.spark.read.text(path).collect()]
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            return None
