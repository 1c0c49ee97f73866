"""What lies in the folder that a pipeline goes on from: the query's own checkpoint, and beside it

- ``letters``, which the query reads like any other source. What comes to an end by itself, such as
  created elements, is put there once, before the first micro-batch; and so is the end of all
  input, when the pipeline is to drain.
- ``nodes``: the number and the label of each node. State goes by the number of its node, so that
  another pipeline would find none, or that of another node.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import attrs

from beamlike.errors import StateError
from beamlike.hosts.spark.graph.frames import ending
from beamlike.hosts.spark.graph.layers import STAGED, Layers
from beamlike.hosts.spark.graph.mail import Mail
from beamlike.hosts.spark.graph.query import LETTERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Checkpoint", "Known", "check_nodes", "nodes_of"]

_LINE = re.compile(r"(<lambda at [^:>]*):\d+>")


@attrs.frozen
class Known:
    """A node as a checkpoint knows it.

    Args:
        number: Its place in the pipeline.
        label: Its full label, without the lines of functions: these change when nothing else does.
        state: Whether it keeps state.
    """

    number: int
    label: str
    state: bool


def nodes_of(layers: Layers) -> list[Known]:
    """All nodes of a pipeline."""
    return [
        Known(at, _LINE.sub(r"\1>", node.label), isinstance(node, STAGED))
        for at, node in enumerate(layers.nodes)
    ]


def check_nodes(before: Sequence[Known], now: Sequence[Known], path: str) -> None:
    """Refuse a checkpoint whose state another pipeline has written.

    Only nodes that keep state decide.

    Args:
        before: The nodes of the pipeline that wrote it.
        now: Those of the pipeline that is to go on from it.
        path: Its folder.

    Raises:
        StateError: Naming each difference.
    """
    had, has = _keeping(before), _keeping(now)
    if had == has:
        return
    changes = [
        f"{label!r} was transform {had[label]} and is transform {has[label]}"
        for label in had
        if label in has and had[label] != has[label]
    ]
    changes += [f"{label!r} keeps state and was not there" for label in has if label not in had]
    changes += [f"{label!r} has state there and is gone" for label in had if label not in has]
    changes += _others("inserted", now, before)
    changes += _others("removed", before, now)
    raise StateError(
        f"the checkpoint {path!r} belongs to another pipeline and cannot be continued, because "
        "state is found by the place of its transform:\n  "
        + "\n  ".join(changes)
        + "\nRun the pipeline as it was, whose drain() brings its windows to their end, or start "
        "this one with a new checkpoint."
    )


def _keeping(nodes: Iterable[Known]) -> dict[str, int]:
    return {it.label: it.number for it in nodes if it.state}


def _others(what: str, here: Iterable[Known], there: Iterable[Known]) -> list[str]:
    known = {it.label for it in there}
    return [f"{what}: {it.label!r}" for it in here if not it.state and it.label not in known]


@attrs.frozen
class Checkpoint:
    """The folder of a pipeline.

    Args:
        spark: The session that reads and writes it.
        path: Its name.
        layers: The pipeline.
    """

    spark: "SparkSession"
    path: str
    layers: Layers

    @property
    def query(self) -> str:
        """The checkpoint of the query itself."""
        return f"{self.path}/query"

    @property
    def letters(self) -> str:
        """Where letters to the query are put."""
        return f"{self.path}/letters"

    @property
    def _nodes(self) -> str:
        return f"{self.path}/nodes"

    def prepare(self) -> None:
        """Have everything there before the query starts, or goes on.

        Raises:
            StateError: Another pipeline went on from it.
        """
        now = nodes_of(self.layers)
        before = None
        # A start that broke off may have left letters, all or some: no query has read them.
        if self._read(f"{self.query}/metadata") is None:
            self.send(*ending(self.layers), mode="overwrite")
        else:
            before = self._read(self._nodes)
        if before:
            check_nodes([Known(**json.loads(line)) for line in before], now, self.path)
        else:
            lines = [(json.dumps(attrs.asdict(node)),) for node in now]
            frame = self.spark.createDataFrame(lines, "value string").coalesce(1)
            frame.write.mode("overwrite").text(self._nodes)

    def send(
        self, told: Sequence[Mail], tables: Sequence["DataFrame"] = (), *, mode: str = "append"
    ) -> None:
        """Put letters into the folder: those of tables, and those told, in order, as one."""
        one = self.layers.dump(self.layers.load(map(self.layers.dump, told)))
        letter = self.spark.createDataFrame([(one,)], LETTERS).coalesce(1)
        all_letters = reduce(lambda some, more: some.unionByName(more), tables, letter)
        all_letters.write.mode(mode).parquet(self.letters)

    def _read(self, path: str) -> list[str] | None:
        """The lines of a text; None if there is none."""
        from pyspark.errors import AnalysisException

        try:
            return [str(row.value) for row in self.spark.read.text(path).collect()]
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            return None
