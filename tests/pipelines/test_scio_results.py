"""Metrics in Scio's words, and what the result of a run is asked."""

from typing import Any

import pytest

from beamlike.errors import PipelineError
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


def test_a_metric_has_a_value_of_each_step():
    result = counted()

    def values(found: dict[str, Any]) -> dict[str, Any]:
        return {step: it.committed for step, it in found.items()}

    assert values(result.counter_at_steps(SUM)) == {"filter(small)": 6, "map(noted)": 3}
    assert {
        step: value.max for step, value in values(result.distribution_at_steps(SIZES)).items()
    } == {"filter(small)": 3, "map(noted)": 20}
    assert values(result.gauge_at_steps(LATEST)) == {"filter(small)": 3}


def test_all_metrics_are_found_by_their_names():
    result = counted()

    assert {(counter.namespace, counter.name) for counter in result.all_counters} == {
        ("beamlike.scio", "sum")
    }
    assert [counter.committed for counter in result.all_counters.values()] == [9]
    assert [
        (it.name, distribution.committed.count)
        for it, distribution in result.all_distributions.items()
    ] == [("sizes", 5)]
    assert [gauge.committed for gauge in result.all_gauges.values()] == [3]


def test_what_no_one_counted_is_nothing():
    result = ScioContext().run()

    assert result.counter(SUM).committed == 0
    assert result.distribution(SIZES).committed is None
    assert result.gauge(LATEST).committed is None
    assert result.counter_at_steps(SUM) == result.all_counters == {}


def test_a_gauge_of_several_steps_has_no_latest_value():
    def noted(number: int) -> int:
        LATEST.set(number)
        return number

    sc = ScioContext()
    sc.parallelize([1]).map(noted).map(noted)
    with pytest.raises(PipelineError, match=r"'latest' was set by several steps, .*gauge_at_steps"):
        sc.run().gauge(LATEST)


def test_a_metric_is_asked_for_by_itself():
    with pytest.raises(PipelineError, match=r"got 'sum'; write ScioMetrics.counter\("):
        ScioContext().run().counter("sum")  # type: ignore[arg-type]
