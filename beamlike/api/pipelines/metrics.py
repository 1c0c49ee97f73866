"""Metrics: what users' functions count, and how to query them in a result.

Source: Beam Python ``metrics.metric.Metrics``, ``MetricsFilter``, ``MetricResults``.
"""

from typing import Any, ClassVar, Literal, get_args

import attrs

from beamlike.api.pipelines.beams_own import OfBeamsSDK
from beamlike.errors import PipelineError
from beamlike.runtime.graph.metrics import (
    DistributionData,
    MetricKey,
    MetricName,
    MetricsRecorder,
    record,
)

__all__ = [
    "Counter",
    "Distribution",
    "DistributionData",
    "Gauge",
    "GaugeResult",
    "MetricKey",
    "MetricName",
    "MetricResult",
    "MetricResults",
    "Metrics",
    "MetricsFilter",
]

QueryKey = Literal["counters", "distributions", "gauges"]


@attrs.frozen
class Counter:
    """A number that goes up and down."""

    query_key: ClassVar[QueryKey] = "counters"
    name: MetricName

    def inc(self, n: int = 1) -> None:
        """Count ``n`` more."""
        record(self.name, self.query_key, n)

    def dec(self, n: int = 1) -> None:
        """Count ``n`` less."""
        self.inc(-n)


@attrs.frozen
class Distribution:
    """Sum, number, least and greatest of some numbers."""

    query_key: ClassVar[QueryKey] = "distributions"
    name: MetricName

    def update(self, value: int) -> None:
        """One more number."""
        record(self.name, self.query_key, DistributionData.of(value))


@attrs.frozen
class Gauge:
    """The latest of some values."""

    query_key: ClassVar[QueryKey] = "gauges"
    name: MetricName

    def set(self, value: Any) -> None:
        """The value now."""
        record(self.name, self.query_key, value)


class Metrics:
    """Makes metrics. They belong to the transform whose function changes them.

    A namespace is a text or a class, which stands for its name. Outside a pipeline nothing is
    counted.

    >>> Metrics.counter("words", "empty lines").inc()
    """

    @staticmethod
    def counter(namespace: str | type, name: str) -> Counter:
        """A number that goes up and down."""
        return Counter(_name(namespace, name))

    @staticmethod
    def distribution(namespace: str | type, name: str) -> Distribution:
        """Sum, number, least and greatest of some numbers."""
        return Distribution(_name(namespace, name))

    @staticmethod
    def gauge(namespace: str | type, name: str) -> Gauge:
        """The latest of some values."""
        return Gauge(_name(namespace, name))


def _name(namespace: str | type, name: str) -> MetricName:
    if isinstance(namespace, type):
        namespace = f"{namespace.__module__}.{namespace.__name__}"
    for argument, text in (("namespace", namespace), ("name", name)):
        if not isinstance(text, str) or not text:
            raise PipelineError(
                f"the {argument} of a metric must be a text, got {text!r}; write "
                'Metrics.counter("namespace", "name")'
            )
    return MetricName(namespace, name)


@attrs.frozen
class MetricsFilter:
    """Which metrics are asked for: all, or those with one of some names, namespaces and steps.

    A step is the label of a transform, or of a composite that it is a part of, with or without the
    labels of those around it.
    """

    with_names: ClassVar[Any] = OfBeamsSDK("MetricsFilter.with_names")
    with_namespaces: ClassVar[Any] = OfBeamsSDK("MetricsFilter.with_namespaces")
    with_steps: ClassVar[Any] = OfBeamsSDK("MetricsFilter.with_steps")

    names: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    steps: frozenset[str] = frozenset()

    def with_name(self, name: str) -> "MetricsFilter":
        """The filter, for metrics with this name too."""
        return attrs.evolve(self, names=self.names | {name})

    def with_namespace(self, namespace: str | type) -> "MetricsFilter":
        """The filter, for metrics with this namespace too."""
        known = self.namespaces | {_name(namespace, "any").namespace}
        return attrs.evolve(self, namespaces=known)

    def with_step(self, step: str) -> "MetricsFilter":
        """The filter, for metrics of this step too."""
        return attrs.evolve(self, steps=self.steps | {step})

    def matches(self, key: MetricKey) -> bool:
        """Whether a metric is asked for."""
        return (
            (not self.names or key.metric.name in self.names)
            and (not self.namespaces or key.metric.namespace in self.namespaces)
            and (not self.steps or any(f"/{step}/" in f"/{key.step}/" for step in self.steps))
        )


@attrs.frozen
class MetricResult:
    """A metric and its value: a number, a `DistributionData`, or a `GaugeResult`.

    Nothing runs twice here, so what was attempted is what was committed.
    """

    key: MetricKey
    committed: Any

    @property
    def attempted(self) -> Any:
        """The value with that of work that failed and was done again."""
        return self.committed

    @property
    def result(self) -> Any:
        """The value."""
        return self.committed


@attrs.frozen
class GaugeResult:
    """What a gauge was set to last. Source: Beam ``GaugeResult``.

    When that was is not kept.
    """

    value: Any


class MetricResults:
    """The metrics of a run."""

    COUNTERS: ClassVar[QueryKey] = "counters"
    DISTRIBUTIONS: ClassVar[QueryKey] = "distributions"
    GAUGES: ClassVar[QueryKey] = "gauges"

    def __init__(self, recorded: MetricsRecorder) -> None:
        self._recorded = recorded

    @staticmethod
    def matches(filter: MetricsFilter | None, metric_key: MetricKey) -> bool:
        """Whether a metric is asked for; all are without a filter."""
        return filter is None or filter.matches(metric_key)

    def query(self, filter: MetricsFilter | None = None) -> dict[QueryKey, list[MetricResult]]:
        """The metrics that a filter asks for, by kind, in the order of their steps and names."""
        results = self.values(filter)
        for number, gauge in enumerate(results["gauges"]):
            results["gauges"][number] = MetricResult(gauge.key, GaugeResult(gauge.committed))
        return results

    def values(self, filter: MetricsFilter | None = None) -> dict[QueryKey, list[MetricResult]]:
        """The metrics that a filter asks for, where a gauge is the value that it was set to."""
        return {
            name: [
                MetricResult(key, cells[key]) for key in sorted(cells) if self.matches(filter, key)
            ]
            for name in get_args(QueryKey)
            for cells in [getattr(self._recorded, name)]
        }
