"""What groupings and nodes of a pipeline count, as metrics in the progress that Spark reports."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import attrs
from pyspark.sql import functions as F

from beamlike.runtime.tally import COUNTED, EXAMPLES, METRICS, SUMS, TALLIES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@attrs.frozen
class Observed:
    """A node whose tallies Spark reports.

    Args:
        keeps_windows: Whether it keeps windows. A source does not.
    """

    number: int
    name: str
    keeps_windows: bool


def observing(rows: "DataFrame", nodes: Iterable[Observed]) -> "DataFrame":
    """Rows whose tallies Spark reports in its progress: a metric for each node.

    Panes are counted by timing and drops by reason, at the node where they happened. ``elements``
    counts the rows that a grouping got, dropped ones too, and ``merges`` the live windows that
    became part of another.

    The others are not counts, and a source has none of them. ``windows_open`` are the windows that
    the shards keep, ``watermark`` is the least of their input watermarks (ms), ``deadline`` the
    least event time that a window waits for the watermark to pass (ms), and ``clock_deadline`` the
    same of processing time. They are null while there is none, and where no shard was stepped, as
    in a micro-batch that Spark makes for a watermark that nothing waits for. ``drop_example``
    describes one dropped element, with its key and window, null if none was dropped.
    ``watermark_jump`` is how far the watermark jumps because of the rows of this micro-batch (ms),
    see `beamlike.runtime.clock`, ``watermark_held`` how far it would without ``max_jump``, and
    ``jump_example`` from where to where and by which row; null if it does neither.
    """
    for node in nodes:
        rows = rows.observe(node.name, *_metrics(_of_map(node), keeps_windows=node.keeps_windows))
    return rows


def observing_columns(rows: "DataFrame", name: str) -> "DataFrame":
    """As `observing`, for the rows of one grouping with a tally in columns, see `TALLY_TYPE`."""
    columns = [F.col(name) for name in (*METRICS, *EXAMPLES)]
    return rows.observe(name, *_metrics(columns, keeps_windows=True))


def _of_map(node: Observed) -> list["Column"]:
    """The tally of a node, in the form that `_metrics` takes."""
    tally = F.try_element_at(F.col(TALLIES), F.lit(node.number))
    numbers = (F.get(tally.getField("counts"), F.lit(index)) for index in range(len(METRICS)))
    return [*numbers, tally.getField("example"), tally.getField("jump")]


def _metrics(tally: Sequence["Column"], *, keeps_windows: bool) -> Iterator["Column"]:
    """The aggregates over the tallies of all rows, whose columns are in the order of
    `TALLY_TYPE`."""
    for index, name in enumerate(METRICS if keeps_windows else METRICS[: len(COUNTED) + 1]):
        if index - len(COUNTED) >= SUMS:
            yield F.min(tally[index]).alias(name)
        elif name == "windows_open":  # null where no shard was stepped
            yield F.sum(tally[index]).alias(name)
        else:
            yield F.coalesce(F.sum(tally[index]), F.lit(0)).alias(name)
    for index, name in enumerate(EXAMPLES if keeps_windows else EXAMPLES[:1], len(METRICS)):
        yield F.max(tally[index]).alias(name)
