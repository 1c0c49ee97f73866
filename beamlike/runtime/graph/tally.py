"""What the nodes of a pipeline count in a micro-batch, for the progress that Spark reports.

A letter is opaque to Spark, so the counts of all nodes leave the pipeline in a small column beside
it, in a row for each task of the last stage. Spark adds them up while these rows pass by.
"""

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

import attrs
import pyarrow as pa

from beamlike.machine.events import Drop
from beamlike.machine.jumps import Jump
from beamlike.model.panes import PaneInfo
from beamlike.model.time import MIN_TIMESTAMP, show_instant
from beamlike.runtime.row_metadata import COUNTED, STOOD
from beamlike.runtime.store.index import ShardStatus

__all__ = ["SUMS", "TALLIES", "TALLIES_TYPE", "Tally", "tallies_array"]

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
SUMS: Final = 3
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
        standing: ShardStatus | None = None,
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
                (sum(its) if at < SUMS else min(its)) if its else None
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


def tallies_array(tallies: Mapping[int, Tally], rows: int = 1) -> pa.Array:
    """The column, in its Arrow type: all is in the first of its rows."""
    told = [
        (node, {"counts": [*it.counts, *it.stood], "example": it.example, "jump": it.jump})
        for node, it in tallies.items()
    ]
    return pa.array([told, *([None] * (rows - 1))], _ARROW)
