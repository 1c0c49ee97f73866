"""What is known of each query: its last micro-batches, and what all of them add up to."""

import json
import threading
from collections import deque
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final, Literal

import attrs

from beamlike.inspect.queries.progress import Counts, Problem, Progress
from beamlike.inspect.queries.totals import GroupingTotal

BATCHES: Final = 200
"""Micro-batches of a query that are kept, one by one."""

QUERIES: Final = 20
"""Runs of queries that are kept. Those that ended first are forgotten first."""

State = Literal["starting", "running", "stopped", "failed"]


@attrs.define
class _RunHistory:
    """One run of a query."""

    query: str
    run: str
    name: str | None
    since: int
    recent: deque[Progress]
    state: State = "starting"
    problem: Problem | None = None
    ended: int | None = None
    first: int | None = None
    batches: int = 0
    rows: int = 0
    totals: dict[str, GroupingTotal] = attrs.field(factory=dict)

    def add(self, progress: Progress) -> None:
        if not progress.ran:
            return  # while it waits for data Spark reports the number of a batch to come
        if self.recent and progress.batch <= self.recent[-1].batch:
            return  # Spark repeats the last report while nothing happens
        if self.first is None:
            self.first = progress.batch
        self.name = self.name or progress.name
        self.batches += 1
        self.rows += progress.rows
        for name, counts in progress.groupings.items():
            self.totals.setdefault(name, GroupingTotal()).add(counts)
        # A grouping that the report leaves out has counted nothing.
        groupings = {
            name: total.status
            if name in progress.groupings
            else attrs.evolve(total.status, panes={}, dropped={})
            for name, total in self.totals.items()
        }
        self.recent.append(attrs.evolve(progress, groupings=groupings))

    def snapshot(self) -> dict[str, Any]:
        plain = ("query", "run", "state", "since", "ended", "first", "batches", "rows")
        return {
            **{name: getattr(self, name) for name in plain},
            "name": self.name or f"query {self.query[:8]}",
            "problem": self.problem and attrs.asdict(self.problem),
            "groupings": [{"name": name, **_counted(total)} for name, total in self.totals.items()],
            "recent": [_batch(progress) for progress in self.recent],
        }


class History:
    """All that the page shows: so many micro-batches of so many runs of queries. Totals take all.

    Several threads may write and read it.
    """

    def __init__(self, batches: int = BATCHES, queries: int = QUERIES) -> None:
        self._batches, self._queries = batches, queries
        self._runs: dict[str, _RunHistory] = {}
        self._version = 0
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """Another number after each change."""
        with self._lock:
            return self._version

    def started(self, query: str, run: str, name: str | None, clock: int) -> None:
        """A query has started, at this clock (epoch ms)."""
        with self._lock:
            self._run(query, run, name, clock)

    def progressed(self, progress: Progress) -> None:
        """A micro-batch is done. One that is known already counts once."""
        with self._lock:
            run = self._run(progress.query, progress.run, progress.name, progress.began_ms)
            run.add(progress)
            if run.state == "starting":
                run.state = "running"

    def ended(self, query: str, run: str, exception: str | None, clock: int) -> None:
        """A query has stopped, or failed with these words, at this clock (epoch ms)."""
        with self._lock:
            known = self._run(query, run, None, clock)
            known.state = "failed" if exception else "stopped"
            known.problem = Problem.of(exception) if exception else None
            known.ended = clock

    def _run(self, query: str, run: str, name: str | None, clock: int) -> _RunHistory:
        self._version += 1
        if run not in self._runs:
            over = [run for run in self._runs.values() if run.ended is not None]
            over.sort(key=attrgetter("ended"))
            for oldest in over[: max(len(self._runs) + 1 - self._queries, 0)]:
                del self._runs[oldest.run]
            self._runs[run] = _RunHistory(query, run, name, clock, deque(maxlen=self._batches))
        return self._runs[run]

    def snapshot(self) -> tuple[int, str]:
        """The version, and all queries as a JSON array: those that started last come first."""
        with self._lock:
            queries = [run.snapshot() for run in reversed(self._runs.values())]
            version = self._version
        return version, json.dumps(queries, allow_nan=False)


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
