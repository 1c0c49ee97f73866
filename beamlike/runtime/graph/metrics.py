"""What users' functions count while a pipeline runs: counters, distributions and gauges by step.

Source: Beam Python ``metrics.metricbase``, ``metrics.cells``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import attrs


@attrs.frozen(order=True)
class MetricName:
    """A metric's name, and whose it is."""

    namespace: str
    name: str


@attrs.frozen(order=True)
class MetricKey:
    """A metric of one step of a pipeline.

    Args:
        step: The full label of the transform.
        metric: Its name.
    """

    step: str
    metric: MetricName


@attrs.frozen
class DistributionData:
    """What is kept of the numbers that a distribution was given."""

    sum: int | float
    count: int
    min: int | float
    max: int | float

    @property
    def mean(self) -> float:
        """Their mean."""
        return self.sum / self.count

    def merged(self, other: "DistributionData") -> "DistributionData":
        """Of all numbers of both."""
        return DistributionData(
            self.sum + other.sum,
            self.count + other.count,
            min(self.min, other.min),
            max(self.max, other.max),
        )

    def with_value(self, value: int | float) -> "DistributionData":
        """A copy with one more number."""
        return DistributionData(
            self.sum + value, self.count + 1, min(self.min, value), max(self.max, value)
        )


class Combinable(Protocol):
    """A part of a metric."""

    def combine(self, other: Any, /) -> "Combinable":
        """This part and a later one together."""


@attrs.define
class MetricsRecorder:
    """The metrics of one run."""

    counters: dict[MetricKey, int] = attrs.field(factory=dict)
    distributions: dict[MetricKey, DistributionData] = attrs.field(factory=dict)
    gauges: dict[MetricKey, Any] = attrs.field(factory=dict)
    cells: dict[MetricKey, Combinable] = attrs.field(factory=dict)
    """Metrics of any other kind, which say themselves how two become one."""

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Inside the block, metrics belong to the transform with this label."""
        before = _current.set((self, label))
        try:
            yield
        finally:
            _current.reset(before)

    def merge(self, other: "MetricsRecorder") -> None:
        """Take over what was recorded elsewhere, after what is here."""
        for key, by in other.counters.items():
            self.add(key, by)
        for key, data in other.distributions.items():
            known = self.distributions.get(key)
            self.distributions[key] = data if known is None else known.merged(data)
        self.gauges |= other.gauges
        for key, cell in other.cells.items():
            self.combine(key, cell)

    def by_step(self) -> "dict[str, MetricsRecorder]":
        """The metrics of each step apart."""
        found: dict[str, MetricsRecorder] = {}
        for part in ("counters", "distributions", "gauges", "cells"):
            for key, value in getattr(self, part).items():
                getattr(found.setdefault(key.step, MetricsRecorder()), part)[key] = value
        return found

    def of_step(self, label: str) -> "MetricsRecorder":
        """The same metrics as those of the step with this label."""

        def named(key: MetricKey) -> MetricKey:
            return MetricKey(label, key.metric)

        return MetricsRecorder(
            {named(key): count for key, count in self.counters.items()},
            {named(key): data for key, data in self.distributions.items()},
            {named(key): value for key, value in self.gauges.items()},
            {named(key): cell for key, cell in self.cells.items()},
        )

    def add(self, key: MetricKey, by: int) -> None:
        """Count."""
        self.counters[key] = self.counters.get(key, 0) + by

    def update(self, key: MetricKey, value: int | float) -> None:
        """One more number of a distribution."""
        known = self.distributions.get(key)
        first = DistributionData(value, 1, value, value)
        self.distributions[key] = first if known is None else known.with_value(value)

    def set(self, key: MetricKey, value: Any) -> None:
        """The value that a gauge has now."""
        self.gauges[key] = value

    def combine(self, key: MetricKey, cell: Combinable) -> None:
        """One more part of a metric that is neither of these."""
        known = self.cells.get(key)
        self.cells[key] = cell if known is None else known.combine(cell)


_current: ContextVar[tuple[MetricsRecorder, str] | None] = ContextVar("metrics", default=None)


def record(name: MetricName, how: Callable[[MetricsRecorder, MetricKey], None]) -> None:
    """Change a metric of the step that is running; nothing happens if none is, as in Beam."""
    current = _current.get()
    if current is not None:
        recorder, label = current
        how(recorder, MetricKey(label, name))
