"""What is known of each query: its last micro-batches, and what all of them add up to.

A query goes by its id, which stays when it is started again from its checkpoint. Spark then may do
its last micro-batch once more, and reports it again: that counts once. A run that begins before the
last micro-batch has an earlier checkpoint, put back by a person: what it does is new, and counts.
"""

import threading
from collections import Counter, deque
from typing import Final, Literal

import attrs

from beamlike.inspect.queries.progress import Counts, Problem, Progress

State = Literal["starting", "running", "stopped", "failed"]
_STATUS: Final = ("windows_open", "watermark", "deadline", "clock_deadline")


@attrs.define
class GroupingTotal:
    """What a grouping counted since it is known, and its status: the `Counts` of its last report,
    of which only the fields of `_STATUS` outlast a micro-batch that did not step it."""

    elements: int = 0
    panes: Counter[str] = attrs.field(factory=Counter)
    retractions: int = 0
    dropped: Counter[str] = attrs.field(factory=Counter)
    merges: int = 0
    jumps: int = 0
    held_jumps: int = 0
    status: Counts = attrs.field(factory=lambda: Counts({}, {}))

    def add(self, counted: Counts) -> None:
        """Take a micro-batch in. A grouping that it did not step keeps its status."""
        self.elements += counted.elements
        self.panes.update(counted.panes)
        self.retractions += counted.retractions
        self.dropped.update(counted.dropped)
        self.merges += counted.merges
        self.jumps += counted.jump is not None
        self.held_jumps += counted.held is not None
        is_stepped = counted.windows_open is not None
        kept = {} if is_stepped else {name: getattr(self.status, name) for name in _STATUS}
        self.status = attrs.evolve(counted, **kept)


@attrs.define
class QueryRecord:
    """One query, or one run of it. Instants are epoch ms; ``recent`` are its last micro-batches,
    and ``first`` is the number of the first one that is known."""

    query: str
    run: str
    name: str
    since: int
    recent: deque[Progress]
    state: State = "starting"
    problem: Problem | None = None
    ended: int | None = None
    first: int | None = None
    batches: int = 0
    rows: int = 0
    groupings: dict[str, GroupingTotal] = attrs.field(factory=dict)

    @property
    def last(self) -> Progress | None:
        """Its last micro-batch."""
        return self.recent[-1] if self.recent else None

    def add(self, progress: Progress) -> bool:
        """Count a micro-batch; False if it counts for nothing."""
        if not progress.ran:
            return False  # while it waits for data Spark reports the number of a batch to come
        if self.last is None:
            self.first = progress.batch
        elif progress.batch == self.last.batch:
            return False  # reported once more, or done once more after a restart
        elif progress.run == self.last.run and progress.batch < self.last.batch:
            return False
        self.batches += 1
        self.rows += progress.rows
        for name, counts in progress.groupings.items():
            self.groupings.setdefault(name, GroupingTotal()).add(counts)
        # A grouping that the report leaves out has counted nothing.
        groupings = {
            name: total.status
            if name in progress.groupings
            else attrs.evolve(total.status, panes={}, dropped={})
            for name, total in self.groupings.items()
        }
        self.recent.append(attrs.evolve(progress, groupings=groupings))
        return True


class QueryRecords:
    """A record of each query. Several threads may write and read them.

    Args:
        most: So many are kept. Of those that have ended the one that ended first is forgotten
            first, when another one starts.
        batches: So many micro-batches of each are kept one by one.
    """

    def __init__(self, most: int, batches: int) -> None:
        self._most, self._batches = most, batches
        self._records: dict[str, QueryRecord] = {}
        self._version = 0
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """Another number after each change."""
        with self._lock:
            return self._version

    def started(self, query: str, run: str, name: str | None, clock: int) -> bool:
        """A query has started, at this clock (epoch ms); whether it had been here before."""
        with self._lock:
            is_known = self._place(query, run) in self._records
            self._record(query, run, name, clock)
            return is_known

    def progressed(self, progress: Progress) -> bool:
        """A micro-batch is done; whether it is a new one, which counts."""
        with self._lock:
            record = self._record(progress.query, progress.run, progress.name, progress.began_ms)
            if record.state == "starting":
                record.state = "running"
            return record.add(progress)

    def ended(self, query: str, run: str, exception: str | None, clock: int) -> None:
        """A run of a query has stopped, or failed with these words, at this clock (epoch ms)."""
        with self._lock:
            known = self._records.get(self._place(query, run))
            if known is not None and known.run != run:
                return  # another run of it has begun
            record = self._record(query, run, None, clock)
            record.state = "failed" if exception else "stopped"
            record.problem = Problem.of(exception) if exception else None
            record.ended = clock

    def name_of(self, query: str, run: str) -> str:
        """What a query is called that is known."""
        with self._lock:
            return self._records[self._place(query, run)].name

    def _place(self, query: str, run: str) -> str:
        """What has a record of its own."""
        return query

    def _record(self, query: str, run: str, name: str | None, clock: int) -> QueryRecord:
        self._version += 1
        place = self._place(query, run)
        record = self._records.get(place)
        if record is None:
            self._forget()
            recent = deque[Progress](maxlen=self._batches)
            record = QueryRecord(query, run, name or f"query {query[:8]}", clock, recent)
            self._records[place] = record
        elif record.run != run:
            record.run, record.state, record.problem, record.ended = run, "starting", None, None
        if name:
            record.name = name
        return record

    def _forget(self) -> None:
        """Make room for one more."""
        records = self._records.items()
        over = sorted((of.ended, place) for place, of in records if of.ended is not None)
        for _, place in over[: max(len(records) + 1 - self._most, 0)]:
            del self._records[place]
