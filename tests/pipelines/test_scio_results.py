"""Metrics in Scio's words and of kinds of their own, and what the result of a run is asked."""

from typing import Any

import attrs
import pytest

from beamlike.errors import PipelineError
from beamlike.runtime.graph.metrics import MetricKey, MetricName, MetricsRecorder, record
from beamlike.scio import ScioContext, ScioMetrics, ScioResult

SUM = ScioMetrics.counter("sum")
SIZES = ScioMetrics.distribution("numbers", "sizes")
LATEST = ScioMetrics.gauge(ScioContext, "latest")


def counted() -> ScioResult:
    """The result of a run in which two steps count."""

    def small(number: int) -> bool:
        SUM.inc(number)
        SIZES.update(number)
        LATEST.set(number)
        return number <= 2

    def noted(number: int) -> int:
        SUM.inc(number)
        SIZES.update(10 * number)
        return number

    sc = ScioContext()
    sc.parallelize([1, 2, 3]).filter(small).map(noted)
    return sc.run().wait_until_done()


def test_a_metric_has_one_value_of_all_steps():
    result = counted()

    assert result.counter(SUM).committed == 1 + 2 + 3 + 1 + 2
    sizes = result.distribution(SIZES).committed
    assert (sizes.min, sizes.max, sizes.count, sizes.sum) == (1, 20, 5, 36)
    assert result.gauge(LATEST).committed == 3


def test_what_no_one_counted_is_nothing():
    result = ScioContext().run()

    assert result.counter(SUM).committed == 0
    assert result.distribution(SIZES).committed is None
    assert result.gauge(LATEST).committed is None


def test_a_gauge_of_several_steps_has_no_latest_value():
    def noted(number: int) -> int:
        LATEST.set(number)
        return number

    sc = ScioContext()
    sc.parallelize([1]).map(noted).map(noted)
    with pytest.raises(PipelineError, match=r"'latest' was set by several steps, .*query"):
        sc.run().gauge(LATEST)


def test_a_metric_is_asked_for_by_itself():
    with pytest.raises(PipelineError, match=r"got 'sum'; write ScioMetrics.counter\("):
        ScioContext().run().counter("sum")  # type: ignore[arg-type]


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
