"""Reports of a streaming query as Spark writes them, for tests of what reads them."""

import json
from collections.abc import Mapping
from typing import Any, Final

_COUNTED: Final = (
    *("panes_early", "panes_on_time", "panes_late"),
    *("dropped_expired", "dropped_closed", "dropped_failed", "dropped_null_key"),
    *("dropped_bad_key", "dropped_null_timestamp", "dropped_bad_timestamp"),
    *("dropped_far_future", "dropped_bad_value", "dropped_rejected"),
    *("retractions", "elements", "merges", "windows_open"),
)
_UNKNOWN: Final = ("watermark", "deadline", "clock_deadline", "drop_example")


def report(
    batch: int,
    *,
    query: str = "the query",
    run: str = "the run",
    name: str | None = "sales",
    rows: int = 10,
    took: int = 800,
    parts: Mapping[str, int] | None = None,
    watermark: str = "2020-01-01T00:00:00.000Z",
    newest: str | None = None,
    metrics: Mapping[str, Mapping[str, int | str | None]] | None = None,
    connect: bool = False,
) -> str:
    """The JSON of a ``StreamingQueryProgress``.

    Args:
        batch: Its number; it began so many seconds after the first of January 2026.
        query: The id of the query.
        run: The id of its run.
        name: The query's name.
        rows: Rows read.
        took: How long it took, ms.
        parts: What its time went to, ms.
        watermark: Spark's.
        newest: The greatest event time.
        metrics: What each grouping counts, by its name; what is left out is 0.
        connect: As Spark Connect writes it where a query is asked for ``recentProgress``: names and
            values apart.
    """
    nothing: dict[str, int | str | None] = {**dict.fromkeys(_COUNTED, 0), **dict.fromkeys(_UNKNOWN)}
    counted = {of: nothing | dict(its) for of, its in (metrics or {}).items()}
    times = {"watermark": watermark} | ({} if newest is None else {"max": newest})
    shown: dict[str, Any] = {
        "id": query,
        "runId": run,
        "name": name,
        "timestamp": f"2026-01-01T{batch // 3600:02}:{batch // 60 % 60:02}:{batch % 60:02}.000Z",
        "batchId": batch,
        "batchDuration": took,
        "numInputRows": rows,
        "inputRowsPerSecond": float(rows),
        "processedRowsPerSecond": rows * 1_000 / 800,
        "durationMs": {**(parts or {"addBatch": 600}), "triggerExecution": took},
        "eventTime": times,
        "stateOperators": [
            {
                "operatorName": "transformWithStateInPySparkExec",
                "numRowsTotal": 24,
                "memoryUsedBytes": 1_061_916,
                "customMetrics": {"rocksdbSstFileSize": 4_312, "rocksdbGetCount": 11},
            }
        ],
        "sources": [{"description": "FileStreamSource[in]", "numInputRows": rows}],
        "sink": {"description": "NoopTable", "numOutputRows": -1},
        "observedMetrics": {of: _apart(it) if connect else it for of, it in counted.items()},
    }
    return json.dumps(shown)


def _apart(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = [{"name": name, "type": "long", "nullable": True, "metadata": {}} for name in row]
    return {"values": list(row.values()), "schema": {"type": "struct", "fields": fields}}
