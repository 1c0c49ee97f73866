"""What the micro-batches of all queries add up to.

A query goes by its id, which stays when it is started again from its checkpoint. Spark then may do
its last micro-batch once more, and reports it again: each number of a micro-batch counts once.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import attrs

from beamlike.inspect.metrics.families import Family, Sample
from beamlike.inspect.queries.progress import Counts, Progress

QUERIES: Final = 100
"""Queries that are kept. Of those that have ended the one that ended first is forgotten first."""


@attrs.define
class GroupingTotal:
    """What a grouping counted since it is known, and its status."""

    elements: int = 0
    panes: Counter[str] = attrs.field(factory=Counter)
    retractions: int = 0
    dropped: Counter[str] = attrs.field(factory=Counter)
    merges: int = 0
    jumps: int = 0
    stands: Counts = attrs.field(factory=lambda: Counts({}, {}))

    def add(self, counted: Counts) -> None:
        self.elements += counted.elements
        self.panes.update(counted.panes)
        self.retractions += counted.retractions
        self.dropped.update(counted.dropped)
        self.merges += counted.merges
        self.jumps += counted.jump is not None
        if counted.windows_open is not None:
            self.stands = counted  # one that was not stepped keeps its status


@attrs.define
class _Query:
    """One query, over all of its runs."""

    name: str
    run: str
    running: bool = True
    failed: bool = False
    batches: int = 0
    rows: int = 0
    groupings: dict[str, GroupingTotal] = attrs.field(factory=dict)
    last: Progress | None = None

    def add(self, progress: Progress) -> None:
        self.batches += 1
        self.rows += progress.rows
        self.last = progress
        for name, counted in progress.groupings.items():
            self.groupings.setdefault(name, GroupingTotal()).add(counted)


_Of = Callable[[_Query], "int | float | None"]
_OfGrouping = Callable[[_Query, GroupingTotal], "int | float | None"]


class Totals:
    """Counters and gauges of all queries. Several threads may write and read it."""

    def __init__(self) -> None:
        self._queries: dict[str, _Query] = {}
        self._lock = threading.Lock()

    def started(self, query: str, run: str, name: str | None) -> bool:
        """A query has started; whether it had been here before."""
        with self._lock:
            known = self._queries.get(query)
            self._of(query, run, name)
            return known is not None

    def progressed(self, progress: Progress) -> bool:
        """A micro-batch is done; whether it is a new one, which counts."""
        with self._lock:
            query = self._of(progress.query, progress.run, progress.name)
            if not progress.ran:
                return False  # while it waits for data Spark reports the number of a batch to come
            if query.last is not None and progress.batch <= query.last.batch:
                return False
            query.add(progress)
            return True

    def ended(self, query: str, run: str, failed: bool) -> None:
        """A run of a query is over."""
        with self._lock:
            known = self._queries.get(query)
            if known is None or known.run != run:
                return  # another run of it has begun
            known.running, known.failed = False, failed
            self._queries[query] = self._queries.pop(query)  # the last that ended
            over = [of for of, it in self._queries.items() if not it.running]
            for of in over[: max(len(self._queries) - QUERIES, 0)]:
                del self._queries[of]

    def name_of(self, query: str) -> str:
        """What a query is called."""
        with self._lock:
            known = self._queries.get(query)
            return _usual_name(query) if known is None else known.name

    def _of(self, query: str, run: str, name: str | None) -> _Query:
        known = self._queries.get(query)
        if known is None:
            known = self._queries[query] = _Query(name or _usual_name(query), run)
        elif known.run != run:
            known.run, known.running, known.failed = run, True, False
        if name:
            known.name = name
        return known

    # -- metrics -------------------------------------------------------------------------

    def families(self) -> list[Family]:
        """All metrics as they are now."""
        with self._lock:
            return [*self._of_queries(), *self._of_groupings()]

    def _of_queries(self) -> Iterator[Family]:
        def one(of: _Of) -> tuple[Sample, ...]:
            found = ((self._labels(it), of(query)) for it, query in self._queries.items())
            return tuple(Sample(labels, value) for labels, value in found if value is not None)

        yield Family(
            "beamlike_query_running",
            "gauge",
            "1 while the query runs, else 0.",
            one(lambda query: int(query.running)),
        )
        yield Family(
            "beamlike_query_failed",
            "gauge",
            "1 if the last run of the query has failed, else 0.",
            one(lambda query: int(query.failed)),
        )
        yield Family(
            "beamlike_batches", "counter", "Micro-batches done.", one(lambda query: query.batches)
        )
        yield Family(
            "beamlike_input_rows",
            "counter",
            "Rows read from all sources, with the ticks of queries that wait on processing time.",
            one(lambda query: query.rows),
        )
        yield Family(
            "beamlike_batch_duration_seconds",
            "gauge",
            "How long the last micro-batch took.",
            one(lambda query: _last(query, lambda it: it.took / 1_000)),
            "seconds",
        )
        yield Family(
            "beamlike_state_rows",
            "gauge",
            "Rows in the state store: blobs, each with many windows.",
            one(lambda query: _last(query, lambda it: it.state_rows)),
        )
        memory = one(lambda query: _last(query, lambda it: it.state_memory))
        disk = one(lambda query: _last(query, lambda it: it.state_disk))
        places = (("memory", memory), ("disk", disk))
        yield Family(
            "beamlike_state_bytes",
            "gauge",
            "Size of the state store, in memory and in files.",
            tuple(
                Sample({**it.labels, "place": place}, it.value)
                for place, samples in places
                for it in samples
            ),
            "bytes",
        )

    def _of_groupings(self) -> Iterator[Family]:
        def one(of: _OfGrouping) -> tuple[Sample, ...]:
            found = (
                (self._labels(it, name), of(query, grouping))
                for it, query in self._queries.items()
                for name, grouping in query.groupings.items()
            )
            return tuple(Sample(labels, value) for labels, value in found if value is not None)

        def each(
            label: str, of: Callable[[GroupingTotal], Mapping[str, int]]
        ) -> tuple[Sample, ...]:
            return tuple(
                Sample(self._labels(it, name) | {label: which}, value)
                for it, query in self._queries.items()
                for name, grouping in query.groupings.items()
                for which, value in of(grouping).items()
            )

        yield Family(
            "beamlike_elements",
            "counter",
            "Rows given to the grouping, dropped ones among them.",
            one(lambda _, it: it.elements),
        )
        yield Family(
            "beamlike_panes", "counter", "Panes by timing.", each("timing", lambda it: it.panes)
        )
        yield Family(
            "beamlike_retractions",
            "counter",
            "Rows that withdraw an earlier pane.",
            one(lambda _, it: it.retractions),
        )
        yield Family(
            "beamlike_dropped",
            "counter",
            "Dropped elements by reason, once for each window that did not take them.",
            each("reason", lambda it: it.dropped),
        )
        yield Family(
            "beamlike_merges",
            "counter",
            "Live windows that became part of another.",
            one(lambda _, it: it.merges),
        )
        yield Family(
            "beamlike_windows_open",
            "gauge",
            "Windows that are kept.",
            one(lambda _, it: it.stands.windows_open),
        )
        yield Family(
            "beamlike_watermark_seconds",
            "gauge",
            "Input watermark of the grouping, in seconds since 1970.",
            one(lambda _, it: _seconds(it.stands.watermark)),
            "seconds",
        )
        yield Family(
            "beamlike_watermark_jumps",
            "counter",
            "Micro-batches that moved the watermark so far at once that rows in between are too "
            "late.",
            one(lambda _, it: it.jumps),
        )
        yield Family(
            "beamlike_watermark_lag_seconds",
            "gauge",
            "By how much the input watermark was behind the clock after the last micro-batch.",
            one(lambda query, it: _lag(_clock(query), it.stands.watermark)),
            "seconds",
        )
        yield Family(
            "beamlike_deadline_lag_seconds",
            "gauge",
            "By how much the watermark, or the clock, is past the oldest deadline of an open "
            "window; below zero while nothing is due.",
            _by_clock("event", one(lambda _, it: _lag(it.stands.watermark, it.stands.deadline)))
            + _by_clock(
                "processing",
                one(lambda query, it: _lag(_clock(query), it.stands.clock_deadline)),
            ),
            "seconds",
        )

    def _labels(self, query: str, grouping: str | None = None) -> dict[str, str]:
        labels = {"query": self._queries[query].name, "id": query}
        return labels if grouping is None else labels | {"grouping": grouping}


def _by_clock(clock: str, samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    return tuple(Sample({**it.labels, "clock": clock}, it.value) for it in samples)


def _usual_name(query: str) -> str:
    return f"query {query[:8]}"


def _seconds(instant: int | None) -> float | None:
    return None if instant is None else instant / 1_000


def _lag(now: int | None, instant: int | None) -> float | None:
    return None if now is None or instant is None else (now - instant) / 1_000


def _last(query: _Query, of: Callable[[Progress], int | float | None]) -> int | float | None:
    """A number of the last micro-batch."""
    return None if query.last is None else of(query.last)


def _clock(query: _Query) -> int | None:
    """The clock at the end of the last micro-batch (epoch ms)."""
    last = query.last
    return None if last is None else last.at + last.took
