"""What is counted in a micro-batch, for the progress that Spark reports.

Spark cannot read batches, so counts travel in columns of their own: those of a grouping of rows in
a row for each shard, those of all nodes of a pipeline as a map in a row for each task of its last
stage. Spark adds them up as it hands these rows on.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Self

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.events import Drop, DropReason
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.runtime.clock import Jump, ShardStatus
from beamlike.runtime.logs import LONGEST_EXAMPLE, row_fields
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import BAD_ROWS, DROPPED_ROW, MARKS
from beamlike.safe_text import safe_text, short_repr

REJECTED: Final = "rejected"
"""The reason under which all drops that a query's author asked for are counted."""
COUNTED: Final = (
    *(("panes", timing.value) for timing in (Timing.EARLY, Timing.ON_TIME, Timing.LATE)),
    *(("dropped", reason) for reason in (*(known.value for known in DropReason), *BAD_ROWS)),
    ("dropped", REJECTED),
    ("retractions", ""),
)
"""What Spark's query progress counts: panes by timing, dropped elements by reason, and rows that
withdraw an earlier pane."""

_REASONS: Final = frozenset(reason for metric, reason in COUNTED if metric == "dropped")

STOOD: Final = (
    *("elements", "merges", "windows_open"),
    *("watermark", "deadline", "clock_deadline", "watermark_jump", "watermark_held"),
)
"""What the shards report of a step: of the first three the sum counts, of the others the least,
null if there is none. Only one shard reports a jump, or one that was held."""

METRICS: Final = (
    *(f"{metric}_{detail.lower()}" if detail else metric for metric, detail in COUNTED),
    *STOOD,
)
"""The names of the numbers of a tally in the progress, in their order."""

EXAMPLES: Final = ("drop_example", "jump_example")
"""The names of the texts of a tally in the progress: a dropped element, and a jump."""

TALLY_TYPE: Final = ", ".join(
    [*(f"{name} bigint" for name in METRICS), *(f"{name} string" for name in EXAMPLES)]
)
"""One tally as columns of SQL. Each task generates code that adds tallies up: for plain columns
that is much shorter than for a map."""

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
"""How many of `STOOD` are added up, from the first on. Of the others the least counts."""


@attrs.frozen
class Tally:
    """What a grouping or a node of a pipeline counted in a micro-batch, or a shard of it.

    Args:
        counts: How many panes and drops there were, in the order of `COUNTED`.
        stood: The values of `STOOD` after the step, in that order; None where one is not known.
        example: A dropped element, described; None if none was dropped.
        jump: The jump of the watermark, described; None if it did not jump.
    """

    counts: Sequence[int]
    stood: Sequence[int | None]
    example: str | None = None
    jump: str | None = None

    @classmethod
    def of(
        cls,
        resolution: Resolution,
        elements: int,
        drops: Iterable[tuple[Any, Drop]],
        panes: Sequence[PaneInfo] = (),
        status: ShardStatus | None = None,
        jump: Jump | None = None,
    ) -> Self:
        """Count what happened.

        Args:
            resolution: What the times of the drops count.
            elements: How many elements arrived.
            drops: What was dropped, by key.
            panes: The panes that came out.
            status: The status of the shard, if the node keeps windows.
            jump: The jump of the watermark, if it jumped.
        """
        counts: Counter[tuple[str, str]] = Counter()
        objects = {id(pane): pane for pane in panes}
        for address, count in Counter(map(id, panes)).items():  # one object for all of a firing
            counts["panes", objects[address].timing.value] += count
        example = None
        for key, drop in drops:
            counts["dropped", drop.reason.value] += drop.count
            if example is None:
                example = _in_words(key, drop, resolution)
        return cls._of(counts, elements, example, status, jump)

    @classmethod
    def of_rows(
        cls,
        plan: Plan,
        elements: int,
        tables: Iterable[pa.Table],
        status: ShardStatus,
        jump: Jump | None,
    ) -> Self:
        """Count the rows that come out of a shard.

        Args:
            plan: The grouping. Rows that an earlier grouping dropped were counted there.
            elements: How many rows arrived.
            tables: The rows that come out, see `beamlike.runtime.output`.
            status: The status of the shard.
        """
        counts: Counter[tuple[str, str]] = Counter()
        example = None
        for table in tables:
            row_kinds = pc.struct_field(table.column(MARKS), "kind")
            timings = pc.struct_field(table.column("pane"), "timing").filter(pc.is_null(row_kinds))
            for value_count in timings.value_counts().to_pylist():
                counts["panes", value_count["values"]] += value_count["counts"]
            counts["retractions", ""] += _withdrawing(table)
            dropped = pc.equal(row_kinds, DROPPED_ROW)
            if not pc.any(dropped).as_py():  # nearly always
                continue
            for row in row_fields(table.filter(dropped), list(plan.keys)):
                drop = row[MARKS]["dropped"]
                if drop["stage"] == plan.name:
                    reason = drop["reason"] if drop["reason"] in _REASONS else REJECTED
                    counts["dropped", reason] += drop["count"]
                    example = example or _row_in_words(plan, row)
        return cls._of(counts, elements, example, status, jump, plan.resolution)

    @classmethod
    def _of(
        cls,
        counts: Mapping[tuple[str, str], int],
        elements: int,
        example: str | None,
        status: ShardStatus | None,
        jump: Jump | None,
        unit: Resolution = MILLISECONDS,
    ) -> Self:
        stood: tuple[int | None, ...] = (elements, *(None for _ in STOOD[1:]))
        if status is not None:
            watermark = status.watermark
            stood = (
                elements,
                status.merges,
                status.windows_open,
                None if watermark == unit.earliest else unit.to_ms(watermark),
                None if status.deadline is None else unit.to_ms(status.deadline),
                None if status.clock_deadline is None else unit.to_ms(status.clock_deadline),
                None if jump is None or jump.held else jump.size,
                jump.size if jump is not None and jump.held else None,
            )
        in_words = None if jump is None else str(jump)
        return cls([counts.get(counted, 0) for counted in COUNTED], stood, example, in_words)

    @property
    def columns(self) -> tuple[int | str | None, ...]:
        """The values of `TALLY_TYPE`."""
        return (*self.counts, *self.stood, self.example, self.jump)

    def with_other(self, other: "Tally") -> "Tally":
        """This tally and another, added up."""
        pairs = zip(self.stood, other.stood, strict=True)
        known = [[number for number in pair if number is not None] for pair in pairs]
        return Tally(
            list(map(sum, zip(self.counts, other.counts, strict=True))),
            [
                (sum(its) if index < SUMS else min(its)) if its else None
                for index, its in enumerate(known)
            ],
            self.example or other.example,
            self.jump or other.jump,
        )


def _in_words(key: Any, drop: Drop, resolution: Resolution) -> str:
    """A dropped element for people: why it was dropped, its key, its window."""
    details = [drop.reason.value]
    if drop.window is not None:  # else it never had a key
        details += [f"key={short_repr(key)}", f"window {resolution.show_window(drop.window)}"]
    if drop.timestamp is not None:
        details.append(f"at {resolution.show_instant(drop.timestamp)}")
    return safe_text(", ".join(details))[:LONGEST_EXAMPLE]


def _withdrawing(table: pa.Table) -> int:
    """How many of the rows withdraw an earlier pane, in whichever rendering."""
    # A user's column may have the same name, but none of these comes after the pane's.
    added = table.column_names[table.column_names.index("pane") + 1 :]
    if "retraction" in added:
        return pc.sum(table.column("retraction")).as_py() or 0
    if "change" in added:
        return pc.sum(pc.equal(table.column("change"), "delete")).as_py() or 0
    return 0


def _row_in_words(plan: Plan, row: Mapping[str, Any]) -> str:
    """A dropped row for people, see `_in_words`. Its key has named columns."""
    dropped = row[MARKS]["dropped"]
    details = [dropped["reason"]]
    details += (f"{name}={short_repr(row[name])}" for name in plan.keys)
    if dropped["window"]:
        start, end = map(_instant, dropped["window"].values())
        details.append(f"window [{start}, {end})")
    if dropped["timestamp"]:
        details.append(f"at {_instant(dropped['timestamp'])}")
    if dropped["error"]:
        details.append(dropped["error"])
    return safe_text(", ".join(details))[:LONGEST_EXAMPLE]


def _instant(instant: datetime | None) -> str:
    return "?" if instant is None else instant.isoformat()


def tallies_table(tallies: Mapping[int, Tally]) -> pa.Table:
    """What nodes counted, as columns."""
    numbers, texts = pa.list_(pa.int64()), pa.string()
    types = {"counts": numbers, "stood": numbers, "example": texts, "jump": texts}
    columns = {
        name: pa.array([getattr(tally, name) for tally in tallies.values()], dtype)
        for name, dtype in types.items()
    }
    return pa.table({"of": pa.array(tallies, pa.int32()), **columns})


def tallies_in(table: pa.Table) -> Iterator[tuple[int, Tally]]:
    """What `tallies_table` made columns of."""
    columns = (column.to_pylist() for column in table.columns)
    return ((of, Tally(*parts)) for of, *parts in zip(*columns, strict=True))


def tallies_array(tallies: Mapping[int, Tally] | None, rows: int = 1) -> pa.Array:
    """The column `TALLIES`: all tallies are in its first row, if it has rows."""
    if tallies is None:
        return pa.nulls(rows, _ARROW)
    first = [
        (
            node,
            {"counts": [*tally.counts, *tally.stood], "example": tally.example, "jump": tally.jump},
        )
        for node, tally in tallies.items()
    ]
    return pa.array([first, *([None] * (rows - 1))], _ARROW)
