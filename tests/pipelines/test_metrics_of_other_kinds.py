"""Metrics that are neither counters nor distributions nor gauges say themselves what two become."""

from typing import Any

import attrs

from beamlike.runtime.graph.metrics import MetricKey, MetricName, MetricsRecorder, record


@attrs.frozen
class Names:
    """The names that were seen."""

    seen: frozenset[str]

    def combine(self, other: Any, /) -> "Names":
        return Names(self.seen | other.seen)


def noted(recorder: MetricsRecorder, step: str, *names: str) -> None:
    with recorder.step(step):
        for name in names:
            cell = Names(frozenset({name}))
            record(MetricName("shop", "names"), "cells", cell)


def key(step: str) -> MetricKey:
    return MetricKey(step, MetricName("shop", "names"))


def test_parts_of_a_step_are_combined_also_those_of_other_processes() -> None:
    first, second = MetricsRecorder(), MetricsRecorder()
    noted(first, "0", "tea", "milk")
    noted(second, "0", "salt")
    noted(second, "1", "soup")
    first.merge(second)
    zero, one = Names(frozenset({"tea", "milk", "salt"})), Names(frozenset({"soup"}))
    assert first.cells == {key("0"): zero, key("1"): one}
    of_pipeline = MetricsRecorder()
    of_pipeline.merge(first, {"0": "Orders"})
    assert of_pipeline.cells == {key("Orders"): zero}
