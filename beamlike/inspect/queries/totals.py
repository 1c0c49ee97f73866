"""What the micro-batches of all queries add up to, as metrics."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.inspect.queries.records import QueryRecord, QueryRecords

if TYPE_CHECKING:
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

QUERIES: Final = 100
"""Queries that are kept."""


class Totals(QueryRecords):
    """Counters and gauges of all queries. Several threads may write and read it."""

    def __init__(self) -> None:
        super().__init__(QUERIES, batches=1)

    def collect(self) -> "list[CounterMetricFamily | GaugeMetricFamily]":
        """All metrics that have a sample as they are now, for ``prometheus_client``."""
        from prometheus_client import metrics_core

        with self._lock:
            queries = [
                ({"query": query.name, "id": id}, query) for id, query in self._records.items()
            ]
            groupings = [
                (labels | {"grouping": name}, query, grouping)
                for labels, query in queries
                for name, grouping in query.groupings.items()
            ]
            families = [metric.family(metrics_core, queries) for metric in _OF_QUERIES]
            families += [metric.family(metrics_core, groupings) for metric in _OF_GROUPINGS]
            return [family for family in families if family.samples]


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


def _clock(query: QueryRecord) -> int | None:
    """The clock at the end of the last micro-batch (epoch ms)."""
    last = query.last
    return None if last is None else last.began_ms + last.took


_OF_QUERIES: Final = (
    _gauge(
        "beamlike_query_running",
        "1 while the query runs, else 0.",
        lambda query: query.state in ("starting", "running"),
    ),
    _gauge(
        "beamlike_query_failed",
        "1 if the last run of the query has failed, else 0.",
        lambda query: query.state == "failed",
    ),
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
