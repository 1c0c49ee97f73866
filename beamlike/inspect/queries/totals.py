"""What the micro-batches of all queries add up to.

A query goes by its id, which stays when it is started again from its checkpoint. Spark then may do
its last micro-batch once more, and reports it again: that counts once. A run that begins before the
last micro-batch has an earlier checkpoint, put back by a person: what it does is new, and counts.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.inspect.queries.progress import Counts, Progress

if TYPE_CHECKING:
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

QUERIES: Final = 100
"""Queries that are kept. Of those that have ended the one that ended first is forgotten first."""


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

    def has_counted(self, progress: Progress) -> bool:
        """Whether a micro-batch is reported once more, or was done once more after a restart."""
        if self.last is None:
            return False
        if progress.run == self.last.run:
            return progress.batch <= self.last.batch
        return progress.batch == self.last.batch

    def add(self, progress: Progress) -> None:
        self.batches += 1
        self.rows += progress.rows
        self.last = progress
        for name, counted in progress.groupings.items():
            self.groupings.setdefault(name, GroupingTotal()).add(counted)


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
            if query.has_counted(progress):
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
            over = [id for id, query in self._queries.items() if not query.running]
            for id in over[: max(len(self._queries) - QUERIES, 0)]:
                del self._queries[id]

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

    def collect(self) -> "list[CounterMetricFamily | GaugeMetricFamily]":
        """All metrics that have a sample as they are now, for ``prometheus_client``."""
        from prometheus_client import metrics_core

        with self._lock:
            queries = [
                ({"query": query.name, "id": id}, query) for id, query in self._queries.items()
            ]
            groupings = [
                (labels | {"grouping": name}, query, grouping)
                for labels, query in queries
                for name, grouping in query.groupings.items()
            ]
            families = [metric.family(metrics_core, queries) for metric in _OF_QUERIES]
            families += [metric.family(metrics_core, groupings) for metric in _OF_GROUPINGS]
            return [family for family in families if family.samples]


def _usual_name(query: str) -> str:
    return f"query {query[:8]}"


_Number = int | float | None
_UNITS: Final = ("seconds", "bytes")


@attrs.frozen
class _Metric:
    """A metric, and its number of a query, or of a query and a grouping; None for none.

    A counter only grows, a gauge goes up and down. With a ``label`` there are several numbers, by
    what the label says. The name ends in the unit, if there is one. What it is of may be an
    attribute of the grouping, or of the query.
    """

    family_class: str
    name: str
    help: str
    of: Callable[..., _Number | Mapping[str, _Number]] | str
    label: str = ""

    def family(self, kinds: Any, things: Iterable[tuple[Any, ...]]) -> Any:
        """Its numbers of all these, each of which comes after its labels."""
        of = self.of if callable(self.of) else _attribute(self.of)
        values = [(labels, of(*thing)) for labels, *thing in things]
        names = [*(values[0][0] if values else ()), *([self.label] if self.label else [])]
        unit = next((unit for unit in _UNITS if self.name.endswith(unit)), "")
        family = getattr(kinds, self.family_class)(self.name, self.help, labels=names, unit=unit)
        for labels, value in values:
            numbers = value.items() if isinstance(value, Mapping) else [(None, value)]
            for label_value, number in numbers:
                if number is not None:
                    label_values = [] if label_value is None else [label_value]
                    family.add_metric([*labels.values(), *label_values], number)
        return family


def _attribute(path: str) -> Callable[..., Any]:
    return lambda *thing: attrgetter(path)(thing[-1])


_counter = partial(_Metric, "CounterMetricFamily")
_gauge = partial(_Metric, "GaugeMetricFamily")


def _lag(now: int | None, instant: int | None) -> float | None:
    return None if now is None or instant is None else (now - instant) / 1_000


def _clock(query: _Query) -> int | None:
    """The clock at the end of the last micro-batch (epoch ms)."""
    last = query.last
    return None if last is None else last.began_ms + last.took


_OF_QUERIES: Final = (
    _gauge("beamlike_query_running", "1 while the query runs, else 0.", "running"),
    _gauge("beamlike_query_failed", "1 if the last run of the query has failed, else 0.", "failed"),
    _counter("beamlike_batches", "Micro-batches done.", "batches"),
    _counter(
        "beamlike_input_rows",
        "Rows read from all sources, with the ticks of queries that wait on processing time.",
        "rows",
    ),
    _gauge(
        "beamlike_batch_duration_seconds",
        "How long the last micro-batch took.",
        lambda query: query.last and query.last.took / 1_000,
    ),
    _gauge(
        "beamlike_state_rows",
        "Rows in the state store: blobs, each with many windows.",
        lambda query: query.last and query.last.state_rows,
    ),
    _gauge(
        "beamlike_state_bytes",
        "Size of the state store, in memory and in files.",
        lambda query: (
            query.last and {"memory": query.last.state_memory, "disk": query.last.state_disk}
        ),
        label="place",
    ),
)

_OF_GROUPINGS: Final = (
    _counter(
        "beamlike_elements", "Rows given to the grouping, dropped ones among them.", "elements"
    ),
    _counter("beamlike_panes", "Panes by timing.", "panes", label="timing"),
    _counter("beamlike_retractions", "Rows that withdraw an earlier pane.", "retractions"),
    _counter(
        "beamlike_dropped",
        "Dropped elements by reason, once for each window that did not take them.",
        "dropped",
        label="reason",
    ),
    _counter("beamlike_merges", "Live windows that became part of another.", "merges"),
    _gauge("beamlike_windows_open", "Windows that are kept.", "status.windows_open"),
    _gauge(
        "beamlike_watermark_seconds",
        "Input watermark of the grouping, in seconds since 1970.",
        lambda _, grouping: _lag(grouping.status.watermark, 0),
    ),
    _counter(
        "beamlike_watermark_jumps",
        "Micro-batches that moved the watermark so far at once that rows in between are too late.",
        "jumps",
    ),
    _counter(
        "beamlike_watermark_jumps_held",
        "Micro-batches with rows that max_jump kept from moving the watermark.",
        "held_jumps",
    ),
    _gauge(
        "beamlike_watermark_lag_seconds",
        "By how much the input watermark was behind the clock after the last micro-batch.",
        lambda query, grouping: _lag(_clock(query), grouping.status.watermark),
    ),
    _gauge(
        "beamlike_deadline_lag_seconds",
        "By how much the watermark, or the clock, is past the oldest deadline of an open window; "
        "below zero while nothing is due.",
        lambda query, grouping: {
            "event": _lag(grouping.status.watermark, grouping.status.deadline),
            "processing": _lag(_clock(query), grouping.status.clock_deadline),
        },
        label="clock",
    ),
)
