"""One key with everything: a session of very many elements, and very many sessions made one."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

import beamlike as bl
from beamlike.model.aggregates import Aggregate
from tests.endurance.report import Finding, figures_of
from tests.endurance.stream import Batch, numbers, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GAP = 1_000
_BATCHES = 10
_COUNTED: Mapping[str, Aggregate] = {"n": bl.count(), "total": bl.sum("value")}


def hot_key(spark: "SparkSession", home: Path, elements: int, *, lists: bool = False) -> Finding:
    """A session of one key that takes ``elements`` in ten micro-batches."""
    rows = elements // _BATCHES
    elements = rows * _BATCHES
    at = f"IF(value = {elements}, 86400000, value * 10 * {_GAP} DIV {elements})"
    aggregate = dict(_COUNTED)
    if lists:
        aggregate["values"] = bl.collect("value")
    found, batches = _run(spark, home, rows, at, elements, aggregate)
    wrong = _unless_one_session(found, elements)
    if lists and found and (sizes := [len(row["values"]) for row in found]) != [elements]:
        wrong.append(f"lists of {sizes} values came out, and it must be one of {elements:,}")
    kept = "kept one by one" if lists else "counted and added up"
    return Finding(f"{elements:,} elements of one key, {kept}", figures_of(batches), wrong)


def merged_at_once(spark: "SparkSession", home: Path, sessions: int) -> Finding:
    """``sessions`` of one key, and then as many events between them that make all of them one."""
    apart = _GAP + _GAP // 2
    at = f"""CASE WHEN value < {sessions} THEN value * {apart}
             WHEN value < {2 * sessions} THEN (value - {sessions}) * {apart} + {apart // 2}
             ELSE {sessions * apart + 864_000_000} END"""
    # The watermark must not end the first ones before the others come.
    found, batches = _run(
        spark, home, sessions, at, 2 * sessions, _COUNTED, watermark=sessions * apart + _GAP
    )
    wrong = _unless_one_session(found, 2 * sessions)
    if max(batch.windows_open for batch in batches) < sessions:
        wrong.append(f"there were never {sessions:,} sessions at once")
    return Finding(f"{sessions:,} sessions of one key merged at once", figures_of(batches), wrong)


def _run(
    spark: "SparkSession",
    home: Path,
    rows: int,
    at: str,
    last: int,
    aggregate: Mapping[str, Aggregate],
    watermark: int = 30_000,
) -> tuple[list[dict[str, object]], list[Batch]]:
    """The panes of the one key, and what was seen. The row ``last`` ends all but its own."""
    panes = bl.windowed(
        numbers(spark, rows, key=f"IF(value = {last}, 'the end', 'hot')", at=at, last=last),
        key="key",
        timestamp="at",
        watermark=watermark,
        window=bl.Sessions(_GAP),
        aggregate=aggregate,
        name="sessions",
    )
    writer = panes.writeStream.format("parquet").option("path", str(home / "out"))
    query = writer.option("checkpointLocation", str(home / "checkpoint")).start()
    full = last // rows

    def over(seen: list[Batch]) -> bool:
        return len(seen) > full and seen[-1].windows_open == 1

    batches = watched(query, "sessions", over)
    written = spark.read.parquet(str(home / "out")).where(F.col("key") == "hot")
    return [row.asDict() for row in written.collect()], batches


def _unless_one_session(found: list[dict[str, object]], elements: int) -> list[str]:
    """What is wrong unless one pane came out, with all elements, whose values count from 0."""
    panes = [(row["n"], row["total"]) for row in found]
    if panes == [(elements, elements * (elements - 1) // 2)]:
        return []
    return [f"{len(panes):,} panes came out, and it must be one of {elements:,}: {panes[:5]}"]
