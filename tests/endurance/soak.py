"""The same load for a long time: what comes is all accounted for, and nothing stays behind."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F

import beamlike as bl
from beamlike.runtime.options import SHARDS
from tests.endurance.memory import heap_used
from tests.endurance.report import Finding, figures_of
from tests.endurance.stream import Batch, numbers, watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ADVANCE: Final = 60_000
"""Event time in a micro-batch, ms."""
_KEYS: Final = 4
"""A key has so many events and is never seen again."""
_GAP, _LATENESS, _DELAY = 600_000, 300_000, 30_000
_LATE: Final = 97
"""One event in so many comes an hour late, with a key of its own."""
_LONG: Final = 300
"""Micro-batches after which memory is judged. Until then Java and the workers still warm up."""
_SLACK: Final = 48 << 20
"""Bytes by which memory may grow and still be called flat; and a tenth."""
_TIMERS_OF_A_SHARD: Final = 2


def soak(
    spark: "SparkSession", home: Path, batches: int, rows: int, every: str = "1 second"
) -> Finding:
    """Sessions with early, on-time, late and retracting panes, ``rows`` in each micro-batch."""
    last = batches * rows
    stream = numbers(
        spark,
        rows,
        key=f"""CASE WHEN value = {last} THEN 'the end'
                WHEN value % {_LATE} = 0 THEN concat('late-', value)
                ELSE concat('key-', value DIV {rows}, '-', value % {rows // _KEYS}) END""",
        at=f"""IF(value = {last}, {batches * _ADVANCE + 86_400_000},
                value * {_ADVANCE} DIV {rows} - IF(value % {_LATE} = 0, 3600000, 0))""",
        last=last,
    )
    shown = bl.windowed(
        stream,
        key="key",
        timestamp="at",
        watermark=_DELAY,
        window=bl.Sessions(_GAP),
        trigger=bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness=_LATENESS,
        aggregate={"n": bl.count()},
        output="all",
        name="sessions",
    )
    counted = {"elements": 0, "dropped": 0, "panes": 0}

    def count(rows_: "DataFrame", batch: int) -> None:
        found = rows_.agg(
            F.coalesce(F.sum(F.expr("IF(retraction, -n, n)")), F.lit(0)),
            F.count("dropped"),
            F.count("pane"),
        ).first()
        assert found is not None, "an aggregation without keys has one row"
        for name, number in zip(counted, found, strict=True):
            counted[name] += number

    writer = shown.writeStream.foreachBatch(count).trigger(processingTime=every)
    query = writer.option("checkpointLocation", str(home / "checkpoint")).start()
    heap: list[int] = []

    def over(seen: list[Batch]) -> bool:
        if len(seen) >= (len(heap) + 1) * batches / 12 and len(heap) < 12:
            heap.append(heap_used(spark))
        return len(seen) > batches and seen[-1].windows_open == 1

    seen = watched(query, "sessions", over)
    wrong = [*_miscounted(counted, batches, rows), *_left_behind(spark, home)]
    resident = [batch.memory for batch in seen[:batches]]
    grown = {
        "Java's heap in use": heap,
        "Java": [it.java for it in resident],
        "the largest worker": [it.worker for it in resident],
    }
    quarters = {name: growth(sizes) for name, sizes in grown.items()}
    if batches >= _LONG:
        wrong += [
            f"{name} grew from {_mib(before)} to {_mib(after)} from the second to the last quarter"
            for name, (before, after) in quarters.items()
            if after > before * 1.1 + _SLACK
        ]
    return Finding(
        f"{batches:,} micro-batches of {rows:,} events",
        {
            **figures_of(seen),
            "elements": f"{last + 1:,}",
            "panes and retractions": f"{counted['panes']:,}",
            "dropped": f"{counted['dropped']:,}",
            "windows open, second and last quarter": _quarters(
                [batch.windows_open for batch in seen[:batches]]
            ),
            **{
                f"{name}, second and last quarter": f"{_mib(before)}, {_mib(after)}"
                for name, (before, after) in quarters.items()
            },
        },
        wrong,
    )


def _miscounted(counted: dict[str, int], batches: int, rows: int) -> list[str]:
    """Every element is in the last pane of its window, or dropped. The last row's never ends."""
    late = _late(batches, rows)
    expected = {"elements": batches * rows - late, "dropped": late}
    return [
        f"{number:,} {name} came out, and it must be {expected[name]:,}"
        for name, number in counted.items()
        if name in expected and number != expected[name]
    ]


def _late(batches: int, rows: int) -> int:
    """How many elements are dropped: all that come late, but for those of the first micro-batch.

    Elements are judged by all micro-batches before their own, and the first has none. An hour is
    far more than the gap and the lateness, so that no other rule is asked.
    """
    return len(range(0, batches * rows, _LATE)) - len(range(0, rows, _LATE))


def _left_behind(spark: "SparkSession", home: Path) -> list[str]:
    """What is stored when all is over but one window, and what timers wait."""
    state = bl.open_state(spark, home / "checkpoint")
    wrong = []
    keys = state.stage("sessions").windows.column("key").to_pylist()
    if keys != ["the end"]:
        wrong.append(f"{len(keys)} windows are stored at the end, and it must be that of 'the end'")
    timers: Any = (
        spark.read.format("statestore")
        .option("path", str(home / "checkpoint"))
        .option("readRegisteredTimers", True)
        .load()
        .count()
    )
    if timers > SHARDS * _TIMERS_OF_A_SHARD:
        wrong.append(f"{timers:,} timers wait, and it must be at most one or two of each shard")
    return wrong


def growth(sizes: Sequence[int]) -> tuple[float, float]:
    quarter = max(1, len(sizes) // 4)
    return median(sizes[quarter : 2 * quarter] or sizes), median(sizes[-quarter:])


def _quarters(numbers_: Sequence[int]) -> str:
    before, after = growth(numbers_)
    return f"{before:,.0f}, {after:,.0f}"


def _mib(size: float) -> str:
    return f"{size / 2**20:,.0f} MiB"
