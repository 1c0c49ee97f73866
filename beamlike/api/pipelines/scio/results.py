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
        found = [
            distribution_at_step.committed
            for distribution_at_step in self.distribution_at_steps(distribution).values()
        ]
        return _total(distribution.name, reduce(DistributionData.merged, found) if found else None)

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
        return _total(gauge.name, next((it.committed for it in found.values()), None))

    def counter_at_steps(self, counter: Counter) -> dict[str, MetricResult]:
        """What was counted, by step."""
        return self._at_steps("counters", counter, Counter)

    def distribution_at_steps(self, distribution: Distribution) -> dict[str, MetricResult]:
        """The numbers of a distribution, by step."""
        return self._at_steps("distributions", distribution, Distribution)

    def gauge_at_steps(self, gauge: Gauge) -> dict[str, MetricResult]:
        """The latest value of a gauge, by step."""
        return self._at_steps("gauges", gauge, Gauge)

    @property
    def all_counters(self) -> dict[MetricName, MetricResult]:
        """All counters of the run."""
        return self._all("counters", lambda name: self.counter(Counter(name)))

    @property
    def all_distributions(self) -> dict[MetricName, MetricResult]:
        """All distributions of the run."""
        return self._all("distributions", lambda name: self.distribution(Distribution(name)))

    @property
    def all_gauges(self) -> dict[MetricName, MetricResult]:
        """All gauges of the run, see `gauge`."""
        return self._all("gauges", lambda name: self.gauge(Gauge(name)))

    def _at_steps(self, kind: Any, metric: Any, wanted: Any) -> dict[str, MetricResult]:
        if not isinstance(metric, wanted):
            raise PipelineError(
                f"a {wanted.__name__.lower()} of a result is asked for by the metric itself, got "
                f'{metric!r}; write ScioMetrics.{wanted.__name__.lower()}("name")'
            )
        asked = MetricsFilter().with_name(metric.name.name)
        found = self.metrics().values(asked.with_namespace(metric.name.namespace))[kind]
        return {it.key.step: it for it in found}

    def _all(
        self, kind: Any, ask: Callable[[MetricName], MetricResult]
    ) -> dict[MetricName, MetricResult]:
        names = dict.fromkeys(it.key.metric for it in self.metrics().values()[kind])
        return {name: ask(name) for name in names}


def _named(namespace: str | type, name: str | None) -> tuple[str | type, Any]:
    return (_NAMESPACE, namespace) if name is None else (namespace, name)


def _total(name: MetricName, value: Any) -> MetricResult:
    return MetricResult(MetricKey("", name), value)
