"""Input for the benchmarks: Parquet files, one for each micro-batch."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["BATCH_SPAN", "SCHEMA", "write_batches"]

SCHEMA = "key string, ts timestamp, v long"
BATCH_SPAN = 300_000
"""Event time that a batch covers, ms."""
DISORDER = 30_000
START = 1_700_000_000_000


def write_batches(home: Path, batches: int, events: int, keys: int) -> None:
    """``batches`` files of ``events`` rows over ``keys`` uniform keys, up to 30 s out of order."""
    dice = np.random.default_rng(7)
    for batch in range(batches):
        offsets = np.sort(dice.integers(0, BATCH_SPAN, events))
        times = START + batch * BATCH_SPAN + offsets - dice.integers(0, DISORDER, events)
        # Spark joins sessions exactly one gap apart and Beam does not. No two multiples of 7 ms
        # are 2 minutes apart, so both find the same sessions.
        times -= times % 7
        table = pa.table(
            {
                "key": pa.array([f"user-{key}" for key in dice.integers(0, keys, events)]),
                "ts": pa.array(times, pa.int64()).cast(pa.timestamp("ms", "UTC")),
                "v": pa.array(dice.integers(0, 100, events), pa.int64()),
            }
        )
        path = home / f"{batch:04}.parquet"
        pq.write_table(table, path)
        os.utime(path, (START // 1000 + batch,) * 2)  # the file source reads the oldest first
