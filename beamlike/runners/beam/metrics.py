"""What users' functions count: from Beam's containers to a run's record, and to Beam's results."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Self

import attrs
from apache_beam.metrics.cells import DistributionResult, GaugeResult

from beamlike.runners.beam.sdk import (
    CounterFactory,
    MetricKey,
    MetricName,
    MetricResult,
    MetricResults,
    MetricsContainer,
    StateSampler,
    get_current_tracker,
    set_current_tracker,
)
from beamlike.runtime.graph.metrics import MetricName as Recorded
from beamlike.runtime.graph.metrics import MetricsRecorder, record

_SHOWN: Final[Mapping[str, Callable[[Any], Any]]] = {
    "counters": lambda cell: cell.value,
    "distributions": DistributionResult,
    "gauges": GaugeResult,
    "string_sets": lambda cell: set(cell.string_set),
    "bounded_tries": lambda cell: cell.as_trie().flattened() if hasattr(cell, "as_trie") else cell,
    "histograms": lambda cell: cell,
}
"""The fields of Beam's ``MetricUpdates``, which are the keys of a query, too, and how a query shows
what is in them."""


@attrs.frozen
class Count:
    """A counter."""

    value: int

    def combine(self, other: Self) -> "Count":
        """Both together."""
        return Count(self.value + other.value)


class Sampler:
    """Knows which of some steps runs, so that Beam's metrics find its container: inside of a
    ``with`` block, for the thread that entered it. States are not timed: no thread samples."""

    def __init__(self) -> None:
        self._before: list[Any] = []
        self.counters = CounterFactory()
        self.states = StateSampler("beamlike", self.counters, 0)
        self._containers: dict[str, Any] = {}

    def add(self, label: str, container: Any) -> None:
        """A step with its container."""
        self._containers[label] = container

    def __enter__(self) -> Self:
        self._before.append(get_current_tracker())
        set_current_tracker(self.states)
        return self

    def __exit__(self, *raised: object) -> None:
        set_current_tracker(self._before.pop())

    def state(self, label: str) -> Any:
        """The state of a step: inside of it, what is counted belongs to the step."""
        if label not in self._containers:
            self._containers[label] = MetricsContainer(label)
        container = self._containers[label]
        return self.states.scoped_state(label, "process", metrics_container=container)

    def flush(self) -> None:
        """Record what was counted since the last call for the node that runs."""
        for label in self._containers:
            self.flush_if_counted(label)

    def flush_if_counted(self, label: str) -> None:
        """Record what a step counted since the last call for the node that runs."""
        container = self._containers[label]
        if container.metrics:
            updates = container.get_cumulative()
            container.metrics = {}
            for field in _SHOWN:
                for key, data in getattr(updates, field).items():
                    cell = Count(data) if isinstance(data, int) else data
                    place = "\0".join((label, field, key.metric.namespace))
                    name = Recorded(place, key.metric.name)
                    record(name, "cells", cell)


class BeamMetricResults(MetricResults):  # type: ignore[misc]
    """The metrics of a run, as ``result.metrics()`` has them."""

    def __init__(self, recorders: Iterable[MetricsRecorder]) -> None:
        together = MetricsRecorder()
        for recorder in recorders:
            together.merge(recorder)
        cells: dict[tuple[str, str], Any] = {}
        for key, cell in together.cells.items():
            place = key.metric.namespace, key.metric.name
            cells[place] = cells[place].combine(cell) if place in cells else cell
        self._cells: Mapping[tuple[str, str], Any] = cells

    def query(self, filter: Any = None) -> dict[str, list[Any]]:
        """The metrics that a ``MetricsFilter`` lets through, by their type."""
        results: dict[str, list[Any]] = {field: [] for field in _SHOWN}
        for (place, name), cell in self._cells.items():
            label, field, namespace = place.split("\0", 2)
            key = MetricKey(label, MetricName(namespace, name))
            if self.matches(filter, key):
                value = _SHOWN[field](cell)
                results[field].append(MetricResult(key, value, value))
        return results
