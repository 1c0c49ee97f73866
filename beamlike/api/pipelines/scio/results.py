"""Metrics in Scio's words: how they are made, and how the result of a run is asked for them.

Source: Scio ``ScioMetrics``, ``ScioResult``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce
from typing import Any, Final, Self

from beamlike.api.pipelines.metrics import (
    Counter,
    Distribution,
    Gauge,
    MetricKey,
    MetricName,
    MetricResult,
    MetricResults,
    Metrics,
    MetricsFilter,
)
from beamlike.errors import PipelineError
from beamlike.model.time import DurationLike
from beamlike.runtime.graph.metrics import DistributionData

_NAMESPACE: Final = "beamlike.scio"


class ScioMetrics:
    """Makes metrics. With one argument it is the name, with two the namespace comes first.

    >>> empty_lines = ScioMetrics.counter("empty lines")
    >>> lengths = ScioMetrics.distribution("words", "length of lines")
    """

    @staticmethod
    def counter(namespace: str | type, name: str | None = None) -> Counter:
        """A number that goes up and down."""
        return Metrics.counter(*_named(namespace, name))

    @staticmethod
    def distribution(namespace: str | type, name: str | None = None) -> Distribution:
        """Sum, number, least and greatest of some numbers."""
        return Metrics.distribution(*_named(namespace, name))

    @staticmethod
    def gauge(namespace: str | type, name: str | None = None) -> Gauge:
        """The latest of some values."""
        return Metrics.gauge(*_named(namespace, name))


class ScioResult(ABC):
    """What Scio asks the result of a run.

    Each metric comes as a `MetricResult`, whose ``committed`` is the value of all steps together.
    """

    @abstractmethod
    def metrics(self) -> MetricResults:
        """What the functions of the pipeline counted."""

    @abstractmethod
    def wait_until_finish(self, duration: DurationLike | None = None) -> str:
        """Wait for the end, or for so long; the state then."""

    def wait_until_done(self, duration: DurationLike | None = None) -> Self:
        """Wait for the end, or for so long."""
        self.wait_until_finish(duration)
        return self

    def counter(self, counter: Counter) -> MetricResult:
        """What was counted; 0 if nothing was."""
        counts = self.counter_at_steps(counter).values()
        return _total(counter.name, sum(count.committed for count in counts))

    def distribution(self, distribution: Distribution) -> MetricResult:
        """The numbers of a distribution; None if there are none."""
        at_steps = [
            result.committed for result in self.distribution_at_steps(distribution).values()
        ]
        return _total(distribution.name, reduce(DistributionData.merged, at_steps or [None]))

    def gauge(self, gauge: Gauge) -> MetricResult:
        """The latest value of a gauge; None if it was not set.

        Raises:
            PipelineError: Several steps set it, and the last one is not known.
        """
        found = self.gauge_at_steps(gauge)
        if len(found) > 1:
            raise PipelineError(
                f"the gauge {gauge.name.name!r} was set by several steps, {list(found)}, and which "
                "of them was the last is not known; ask gauge_at_steps(gauge)"
            )
        return _total(gauge.name, next((result.committed for result in found.values()), None))

    def counter_at_steps(self, counter: Counter) -> dict[str, MetricResult]:
        """What was counted, by step."""
        return self._at_steps(Counter, counter)

    def distribution_at_steps(self, distribution: Distribution) -> dict[str, MetricResult]:
        """The numbers of a distribution, by step."""
        return self._at_steps(Distribution, distribution)

    def gauge_at_steps(self, gauge: Gauge) -> dict[str, MetricResult]:
        """The latest value of a gauge, by step."""
        return self._at_steps(Gauge, gauge)

    @property
    def all_counters(self) -> dict[MetricName, MetricResult]:
        """All counters of the run."""
        return self._all(Counter, self.counter)

    @property
    def all_distributions(self) -> dict[MetricName, MetricResult]:
        """All distributions of the run."""
        return self._all(Distribution, self.distribution)

    @property
    def all_gauges(self) -> dict[MetricName, MetricResult]:
        """All gauges of the run, see `gauge`."""
        return self._all(Gauge, self.gauge)

    def _at_steps(self, cls: Any, metric: Any) -> dict[str, MetricResult]:
        if not isinstance(metric, cls):
            name = cls.__name__.lower()
            raise PipelineError(
                f"a {name} of a result is asked for by the metric itself, got {metric!r}; write "
                f'ScioMetrics.{name}("name")'
            )
        asked = MetricsFilter().with_name(metric.name.name)
        results = self.metrics().values(asked.with_namespace(metric.name.namespace))[cls.kind]
        return {result.key.step: result for result in results}

    def _all(
        self, cls: Any, total: Callable[[Any], MetricResult]
    ) -> dict[MetricName, MetricResult]:
        names = dict.fromkeys(result.key.metric for result in self.metrics().values()[cls.kind])
        return {name: total(cls(name)) for name in names}


def _named(namespace: str | type, name: str | None) -> tuple[str | type, Any]:
    return (_NAMESPACE, namespace) if name is None else (namespace, name)


def _total(name: MetricName, value: Any) -> MetricResult:
    return MetricResult(MetricKey("", name), value)
