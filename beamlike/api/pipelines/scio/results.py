"""Metrics in Scio's words: how they are made, and how the result of a run is asked for them.

Source: Scio ``ScioMetrics``, ``ScioResult``.
"""

from abc import ABC, abstractmethod
from functools import reduce
from typing import Any, Final, Self

from beamlike.api.pipelines.metrics import (
    Counter,
    Distribution,
    Gauge,
    MetricKey,
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
        return _total(counter, sum(self._by_step(Counter, counter).values()))

    def distribution(self, distribution: Distribution) -> MetricResult:
        """The numbers of a distribution; None if there are none."""
        numbers = [*self._by_step(Distribution, distribution).values()]
        return _total(distribution, reduce(DistributionData.merged, numbers or [None]))

    def gauge(self, gauge: Gauge) -> MetricResult:
        """The latest value of a gauge; None if it was not set.

        Raises:
            PipelineError: Several steps set it, and the last one is not known.
        """
        by_step = self._by_step(Gauge, gauge)
        if len(by_step) > 1:
            raise PipelineError(
                f"the gauge {gauge.name.name!r} was set by several steps, {list(by_step)}, and "
                "which of them was the last is not known; ask metrics().query(filter) for each"
            )
        return _total(gauge, next(iter(by_step.values()), None))

    def _by_step(self, cls: Any, metric: Any) -> dict[str, Any]:
        """What each step counted."""
        if not isinstance(metric, cls):
            name = cls.__name__.lower()
            raise PipelineError(
                f"a {name} of a result is asked for by the metric itself, got {metric!r}; write "
                f'ScioMetrics.{name}("name")'
            )
        asked = MetricsFilter().with_name(metric.name.name)
        results = self.metrics().values(asked.with_namespace(metric.name.namespace))[cls.query_key]
        return {result.key.step: result.committed for result in results}


def _named(namespace: str | type, name: str | None) -> tuple[str | type, Any]:
    return (_NAMESPACE, namespace) if name is None else (namespace, name)


def _total(metric: Any, value: Any) -> MetricResult:
    return MetricResult(MetricKey("", metric.name), value)
