"""What users' functions count while a pipeline runs: counters, distributions and gauges by step.

Source: Beam Python ``metrics.metricbase``, ``metrics.cells``.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from operator import add
from typing import Any, Final, Literal, Protocol

import attrs

MetricKind = Literal["counters", "distributions", "gauges", "cells"]
"""The attribute of `MetricsRecorder` that holds a metric; any other kind says itself how two parts
become one."""


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

    @classmethod
    def of(cls, value: int | float) -> "DistributionData":
        """Of one number."""
        return cls(value, 1, value, value)

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
        """One more part of a metric: a number to count, `DistributionData`, or what it is now."""
        known = getattr(self, part)
        known[key] = _TOGETHER[part](known[key], value) if key in known else value


_TOGETHER: Final[Mapping[MetricKind, Callable[[Any, Any], Any]]] = {
    "counters": add,
    "distributions": DistributionData.merged,
    "gauges": lambda _, later: later,
    "cells": lambda cell, later: cell.combine(later),
}
"""How two parts of a metric become one, by the attribute of `MetricsRecorder`, in their order."""

_current: ContextVar[tuple[MetricsRecorder, str] | None] = ContextVar("metrics", default=None)


def record(name: MetricName, part: MetricKind, value: Any) -> None:
    """One more part of a metric of the step that is running, see `MetricsRecorder.add`; nothing
    happens if none is, as in Beam."""
    current = _current.get()
    if current is not None:
        recorder, label = current
        recorder.add(part, MetricKey(label, name), value)
