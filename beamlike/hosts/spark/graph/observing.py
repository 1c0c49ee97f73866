"""What nodes of a pipeline count, as metrics in the progress that Spark reports."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import attrs
from pyspark.sql import functions as F

from beamlike.runtime.graph.tally import SUMS, TALLIES
from beamlike.runtime.row_metadata import COUNTED, STOOD

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Observed", "observing"]


@attrs.frozen
class Observed:
    """A node whose tallies Spark reports.

    Args:
        number: Its number.
        name: What its metric is called.
        keeps_windows: Whether it keeps any. A source does not.
    """

    number: int
    name: str
    keeps_windows: bool


def observing(rows: "DataFrame", nodes: Iterable[Observed]) -> "DataFrame":
    """The same rows, whose tallies Spark reports in its progress: a metric for each node.

    They have the names that those of `beamlike.hosts.spark.query.counters` have; a source has
    those that count, and none of where windows stand.

    Args:
        rows: Streaming, with the column of tallies.
        nodes: Of which nodes.
    """
    for node in nodes:
        rows = rows.observe(node.name, *_counters(node))
    return rows


def _counters(node: Observed) -> Iterator["Column"]:
    own = F.try_element_at(F.col(TALLIES), F.lit(node.number))
    counted = (f"{what}_{which.lower()}" if which else what for what, which in COUNTED)
    stood = STOOD if node.keeps_windows else STOOD[:1]
    for at, name in enumerate(chain(counted, stood)):
        count = F.get(own.getField("counts"), F.lit(at))
        if at - len(COUNTED) >= SUMS:
            yield F.min(count).alias(name)
        elif name == "windows_open":  # null where no shard was stepped
            yield F.sum(count).alias(name)
        else:
            yield F.coalesce(F.sum(count), F.lit(0)).alias(name)
    yield F.max(own.getField("example")).alias("drop_example")
    if node.keeps_windows:
        yield F.max(own.getField("jump")).alias("jump_example")
