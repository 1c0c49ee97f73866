"""What is known of each run of a query, as the page gets it: in JSON."""

import json
from collections.abc import Mapping
from typing import Any, Final

import attrs

from beamlike.inspect.queries.progress import Counts, Progress
from beamlike.inspect.queries.records import GroupingTotal, QueryRecord, QueryRecords

BATCHES: Final = 200
"""Micro-batches of a query that are kept, one by one."""

QUERIES: Final = 20
"""Runs of queries that are kept. Those that ended first are forgotten first."""


class History(QueryRecords):
    """All that the page shows: so many micro-batches of so many runs of queries. Totals take all.

    Several threads may write and read it.
    """

    def __init__(self, batches: int = BATCHES, queries: int = QUERIES) -> None:
        super().__init__(queries, batches)

    def _place(self, query: str, run: str) -> str:
        return run

    def snapshot(self) -> tuple[int, str]:
        """The version, and all queries as a JSON array: those that started last come first."""
        with self._lock:
            queries = [_run(record) for record in reversed(self._records.values())]
            version = self._version
        return version, json.dumps(queries, allow_nan=False)


def _run(record: QueryRecord) -> dict[str, Any]:
    plain = ("query", "run", "name", "state", "since", "ended", "first", "batches", "rows")
    return {
        **{name: getattr(record, name) for name in plain},
        "problem": record.problem and attrs.asdict(record.problem),
        "groupings": [{"name": name, **_counted(of)} for name, of in record.groupings.items()],
        "recent": list(map(_batch, record.recent)),
    }


def _batch(progress: Progress) -> Mapping[str, Any]:
    fields = attrs.asdict(progress, recurse=False)
    for name in ("query", "run", "name"):
        del fields[name]
    status = ("windows_open", "watermark", "is_source")
    fields["groupings"] = {
        name: _counted(counts) | {field: getattr(counts, field) for field in status}
        for name, counts in progress.groupings.items()
    }
    return fields


def _counted(counts: Counts | GroupingTotal) -> dict[str, Any]:
    return {
        "panes": {timing.upper(): number for timing, number in counts.panes.items()},
        "dropped": {reason: number for reason, number in counts.dropped.items() if number},
    }
