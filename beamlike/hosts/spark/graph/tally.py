"""What the nodes of a pipeline count in a micro-batch, for the progress that Spark reports.

A letter is opaque to Spark, so the counts of all nodes leave the pipeline in a small column beside
it, in a row for each task of the last stage. Spark adds them up while these rows pass by.
"""

import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Self

import attrs
import pyarrow as pa

from beamlike.hosts.spark.index import Standing
from beamlike.hosts.spark.marks import COUNTED, STOOD
from beamlike.machine.events import Drop
from beamlike.machine.jumps import Jump
from beamlike.model.panes import PaneInfo
from beamlike.model.time import MIN_TIMESTAMP, show_instant

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["TALLIES", "TALLIES_TYPE", "Observed", "Tally", "observing", "tallies_array"]

TALLIES: Final = "tallies"
TALLIES_TYPE: Final = (
    f"{TALLIES} map<int, struct<counts: array<bigint>, example: string, jump: string>>"
)
"""By the number of the node: counts in the order of `COUNTED`, then of `STOOD`; a dropped element
in words, and a jump of the watermark."""

_ARROW: Final = pa.map_(
    pa.int32(),
    pa.struct([("counts", pa.list_(pa.int64())), ("example", pa.string()), ("jump", pa.string())]),
)
_SUMS: Final = 3
"""So many of `STOOD` are added up. Of the others the least counts."""
_EXAMPLE: Final = 300
"""Letters of an example at most: it stands in the query's progress, and in log lines."""


@attrs.frozen
class Tally:
    """What a node counted in a micro-batch, or a shard of it.

    Args:
        counts: How many panes and drops there were, in the order of `COUNTED`.
        stood: Where it stands then, in the order of `STOOD`; None for what it does not know.
        example: An element that it dropped, in words; None if it dropped none.
        jump: The jump that its watermark did, in words; None if it did none.
    """

    counts: Sequence[int]
    stood: Sequence[int | None]
    example: str | None = None
    jump: str | None = None

    @classmethod
    def of(
        cls,
        elements: int,
        drops: Iterable[tuple[Any, Drop]],
        panes: Iterable[PaneInfo] = (),
        standing: Standing | None = None,
        jump: Jump | None = None,
    ) -> Self:
        """Count what happened.

        Args:
            elements: How many elements it was given.
            drops: What it dropped, by key.
            panes: What came out.
            standing: Where it stands, if it keeps windows.
            jump: The jump that its watermark did, if it did one.
        """
        found: Counter[tuple[str, str]] = Counter()
        for info, count in Counter(panes).items():
            found["panes", info.timing.value] += count
        example = None
        for key, drop in drops:
            found["dropped", drop.reason.value] += drop.count
            if example is None:
                example = _in_words(key, drop)
        stood: tuple[int | None, ...] = (elements, *(None for _ in STOOD[1:]))
        if standing is not None:
            at = standing.watermark
            stood = (
                elements,
                standing.merges,
                standing.windows_open,
                None if at == MIN_TIMESTAMP else at,
                standing.deadline,
                standing.clock_deadline,
                None if jump is None else jump.size,
            )
        in_words = None if jump is None else str(jump)
        return cls([found[what] for what in COUNTED], stood, example, in_words)

    def with_other(self, other: "Tally") -> "Tally":
        """Both together."""
        pairs = zip(self.stood, other.stood, strict=True)
        known = [[it for it in pair if it is not None] for pair in pairs]
        return Tally(
            list(map(sum, zip(self.counts, other.counts, strict=True))),
            [
                (sum(its) if at < _SUMS else min(its)) if its else None
                for at, its in enumerate(known)
            ],
            self.example or other.example,
            self.jump or other.jump,
        )


def _in_words(key: Any, drop: Drop) -> str:
    """One dropped element: why, with which key, out of which window."""
    words = [drop.reason.value]
    if drop.window is not None:  # else it never had a key
        words += [f"key={reprlib.repr(key)}", f"window {drop.window}"]
    if drop.timestamp is not None:
        words.append(f"at {show_instant(drop.timestamp)}")
    return ", ".join(words)[:_EXAMPLE]


def tallies_array(tallies: Mapping[int, Tally]) -> pa.Array:
    """The only value of the column, in its Arrow type."""
    told = [
        (node, {"counts": [*it.counts, *it.stood], "example": it.example, "jump": it.jump})
        for node, it in tallies.items()
    ]
    return pa.array([told], _ARROW)


@attrs.frozen
class Observed:
    """A node whose tallies Spark is to tell.

    Args:
        number: Its number.
        name: What its metric is called.
        keeps_windows: Whether it keeps any. A source does not.
    """

    number: int
    name: str
    keeps_windows: bool


def observing(rows: "DataFrame", nodes: Iterable[Observed]) -> "DataFrame":
    """The same rows, whose tallies Spark tells in its progress: a metric for each node.

    They have the names that those of `beamlike.hosts.spark.query.counters` have; a source has
    those that count, and none of where windows stand.

    Args:
        rows: Streaming, with the column of tallies.
        nodes: Of which nodes.
    """
    for node in nodes:
        rows = rows.observe(node.name, *_counters(node))
    return rows


def _counters(node: Observed) -> "Iterator[Column]":
    from pyspark.sql import functions as F

    own = F.try_element_at(F.col(TALLIES), F.lit(node.number))
    counted = (f"{what}_{which.lower()}" if which else what for what, which in COUNTED)
    stood = STOOD if node.keeps_windows else STOOD[:1]
    for at, name in enumerate(chain(counted, stood)):
        count = F.get(own.getField("counts"), F.lit(at))
        if at - len(COUNTED) >= _SUMS:
            yield F.min(count).alias(name)
        elif name == "windows_open":  # null where no shard was stepped
            yield F.sum(count).alias(name)
        else:
            yield F.coalesce(F.sum(count), F.lit(0)).alias(name)
    yield F.max(own.getField("example")).alias("drop_example")
    if node.keeps_windows:
        yield F.max(own.getField("jump")).alias("jump_example")
