"""Metrics of users' functions in a running pipeline: counters, distributions and gauges by step.

Source: Beam Python ``metrics.metricbase``, ``metrics.cells``.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from operator import add
from typing import Any, Final, Literal, Protocol

import attrs

MetricKind = Literal["counters", "distributions", "gauges", "cells"]
"""The attribute of `MetricsRecorder` for a kind of metric. ``cells`` are of kinds that combine
their parts themselves."""


@attrs.frozen(order=True)
class MetricName:
    """A metric's name and namespace."""

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
    """A summary of the numbers of a distribution."""

    sum: int | float
    count: int
    min: int | float
    max: int | float

    @classmethod
    def of(cls, value: int | float) -> "DistributionData":
        """The summary of one number."""
        return cls(value, 1, value, value)

    @property
    def mean(self) -> float:
        """The mean of the numbers."""
        return self.sum / self.count

    def merged(self, other: "DistributionData") -> "DistributionData":
        """The summary of the numbers of both."""
        return DistributionData(
            self.sum + other.sum,
            self.count + other.count,
            min(self.min, other.min),
            max(self.max, other.max),
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
    """Metrics of any other kind, which combine their parts themselves."""

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Inside the block, metrics belong to the transform with this label."""
        before = _current.set((self, label))
        try:
            yield
        finally:
            _current.reset(before)

    def merge(self, other: "MetricsRecorder", labels: Mapping[str, str] | None = None) -> None:
        """Take over what was recorded elsewhere, after what is here.

        Args:
            labels: What the steps are called here, by their names there; the others are left out.
        """
        for part in _TOGETHER:
            for key, value in getattr(other, part).items():
                label = key.step if labels is None else labels.get(key.step)
                if label is not None:
                    self.add(part, MetricKey(label, key.metric), value)

    def add(self, part: MetricKind, key: MetricKey, value: Any) -> None:
        """Add to a metric: a number to count, `DistributionData`, or the value of a gauge."""
        known = getattr(self, part)
        known[key] = _TOGETHER[part](known[key], value) if key in known else value


_TOGETHER: Final[Mapping[MetricKind, Callable[[Any, Any], Any]]] = {
    "counters": add,
    "distributions": DistributionData.merged,
    "gauges": lambda _, later: later,
    "cells": lambda cell, later: cell.combine(later),
}
"""How an earlier and a later part of a metric become one, by kind of metric."""

_current: ContextVar[tuple[MetricsRecorder, str] | None] = ContextVar("metrics", default=None)


def record(name: MetricName, part: MetricKind, value: Any) -> None:
    """Add to a metric of the step that is running, see `MetricsRecorder.add`. Without a running
    step nothing happens, as in Beam."""
    current = _current.get()
    if current is not None:
        recorder, label = current
        recorder.add(part, MetricKey(label, name), value)
