"""So many windows open at once: filled, touched, and then all closed by one row."""

from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

import beamlike as bl
from tests.endurance.report import Finding, figures_of
from tests.endurance.stream import Batch, numbers, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILLING, _TOUCHING = 20, 5
"""Micro-batches."""
_TOUCHED = 5
"""One row in so many of the touching ones."""


def open_windows(spark: "SparkSession", home: Path, windows: int) -> Finding:
    """``windows`` sessions of as many keys. Some get a second event, and a row ends them all."""
    rows = windows // _FILLING
    windows = rows * _FILLING
    last = rows * (_FILLING + _TOUCHING)
    stream = numbers(
        spark,
        rows,
        # 7,919 is prime, so that keys which are touched are spread, and none is touched twice.
        key=f"""CASE WHEN value = {last} THEN 'the end'
                ELSE concat('key-', IF(value < {windows}, value, value * 7919 % {windows})) END""",
        at=f"IF(value = {last}, 86400000, value DIV {rows} * 10000 + value % 10000)",
        last=last,
    )
    fed = stream.where(f"value < {windows} OR value % {_TOUCHED} = 0 OR value = {last}")
    panes = bl.windowed(
        fed,
        key="key",
        timestamp="at",
        watermark="30 seconds",
        window=bl.Sessions("1 hour"),
        aggregate={"n": bl.count()},
        name="sessions",
    )
    writer = panes.writeStream.format("parquet").option("path", str(home / "out"))
    query = writer.option("checkpointLocation", str(home / "checkpoint")).start()

    def over(seen: list[Batch]) -> bool:
        # The row that ends all leaves its own session, which nothing ends.
        return len(seen) > _FILLING + _TOUCHING and seen[-1].windows_open == 1

    batches = watched(query, "sessions", over)
    found = spark.read.parquet(str(home / "out")).agg(F.count("*"), F.sum("n")).first()
    assert found is not None, "an aggregation without keys has one row"
    touches = len(range(windows, last, 1)) // _TOUCHED
    wrong = []
    if tuple(found) != (windows, windows + touches):
        wrong.append(
            f"{found[0]:,} panes with {found[1]:,} elements came out, and it must be {windows:,} "
            f"with {windows + touches:,}"
        )
    if max(batch.windows_open for batch in batches) < windows:
        wrong.append(f"there were never {windows:,} windows open at once")
    touching = batches[_FILLING : _FILLING + _TOUCHING]
    closing = max(batches[_FILLING + _TOUCHING :], key=lambda batch: batch.took_ms)
    return Finding(
        f"{windows:,} open windows",
        {
            **figures_of(batches),
            "elements": f"{windows + touches:,}",
            "batches that open windows, longest": _seconds(batches[:_FILLING]),
            f"batches that touch {rows // _TOUCHED:,}, longest": _seconds(touching),
            "batch that closes all": _seconds([closing]),
        },
        wrong,
    )


def _seconds(batches: list[Batch]) -> str:
    return f"{max(batch.took_ms for batch in batches) / 1000:.2f} s"
