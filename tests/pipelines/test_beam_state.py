"""A function with a memory for each key and window, metrics, and what a run says of itself."""

from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.userstate import ReadModifyWriteStateSpec, TimerSpec, on_timer
from beamlike.errors import PipelineError, TransformError
from beamlike.testing import TestStream
from tests.support.pipelines.results_of_runs import values
from tests.support.refusals import refusal


class Numbered(beam.DoFn[Any, Any]):
    """Pairs with their number in key and window."""

    NUMBER = ReadModifyWriteStateSpec("number", beam.coders.VarIntCoder())

    def process(  # type: ignore[override]
        self,
        element: tuple[str, str],
        timestamp: Any = beam.DoFn.TimestampParam,
        number: Any = beam.DoFn.StateParam(NUMBER),  # noqa: B008
    ) -> Any:
        number.write((number.read() or 0) + 1)
        yield element[0], number.read(), element[1], timestamp


def stream() -> Any:
    return (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", "a"), ("m", "b"))
        .add_elements_at_time("00:00:20", ("k", "c"))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", ("k", "late"))
        .add_elements_at_time("00:01:10", ("k", "d"))
        .advance_watermark_to_infinity()
    )


def test_there_is_a_state_for_each_key_and_window_and_late_pairs_are_dropped():
    pipeline = beam.Pipeline()
    minutes = pipeline | stream() | beam.WindowInto(beam.FixedWindows("1 minute"))
    counted = minutes | "Number" >> beam.ParDo(Numbered())
    result = pipeline.run()
    assert [(came.step, came.element.value) for came in result.out_of(counted.edge)] == [
        (0, ("k", 1, "a", beam.Timestamp(10))),
        (0, ("m", 1, "b", beam.Timestamp(10))),
        (1, ("k", 2, "c", beam.Timestamp(20))),
        (4, ("k", 1, "d", beam.Timestamp(70))),
    ]
    (lost,) = result.lost
    assert (lost.label, lost.key, lost.drop.timestamp) == ("Number", "k", 30_000)


def test_what_a_pair_brings_out_is_in_its_window_at_its_time_and_of_its_pane():
    pipeline = beam.Pipeline()
    minutes = pipeline | stream() | beam.WindowInto(beam.FixedWindows("1 minute"))
    panes = minutes | beam.GroupByKey()
    counted = panes | beam.ParDo(Numbered())
    pipeline.keep(panes)
    result = pipeline.run()

    def places(pcoll: beam.PCollection[Any]) -> set[Any]:
        came = (it.element for it in result.out_of(pcoll.edge))
        return {(it.timestamp, it.windows, it.pane) for it in came}

    assert places(counted) == places(panes)
    assert {at for at, _, _ in places(counted)} == {59_999, 119_999}


def test_a_state_needs_windows_that_stay_as_they_are_and_pairs():
    words = beam.Pipeline() | beam.Create(["a"])
    with pytest.raises(PipelineError, match="'N': MergingWindowFn is not supported for stateful"):
        words | beam.WindowInto(beam.Sessions("1 minute")) | "N" >> beam.ParDo(Numbered())
    with pytest.raises(PipelineError, match="'N' with stateful DoFn must be key-value pairs, got"):
        values(words | "N" >> beam.ParDo(Numbered()))


class Counting(beam.DoFn[int, int]):
    """Counts what it sees in three ways."""

    seen = beam.Metrics.counter("numbers", "seen")
    size = beam.Metrics.distribution("numbers", "size")
    last = beam.Metrics.gauge("numbers", "last")

    def process(self, element: int):  # type: ignore[override, no-untyped-def]
        self.seen.inc()
        self.size.update(element)
        self.last.set(element)
        if element < 0:
            beam.Metrics.counter(Counting, "negative").inc(2)
        yield element


def test_metrics_belong_to_the_step_that_counts():
    pipeline = beam.Pipeline()
    numbers = pipeline | beam.Create([3, -1, 5])
    numbers | "All" >> beam.ParDo(Counting())
    numbers | beam.Filter(lambda n: n > 3) | "Large" >> beam.ParDo(Counting())
    metrics = pipeline.run().metrics()
    found = metrics.query()
    assert {
        (it.key.step, it.key.metric.namespace, it.key.metric.name): it.result
        for kind in found.values()
        for it in kind
    } == {
        ("All", "numbers", "seen"): 3,
        ("All", f"{__name__}.Counting", "negative"): 2,
        ("Large", "numbers", "seen"): 1,
        ("All", "numbers", "size"): beam.metrics.cells.DistributionData(
            sum=7, count=3, min=-1, max=5
        ),
        ("Large", "numbers", "size"): beam.metrics.cells.DistributionData(
            sum=5, count=1, min=5, max=5
        ),
        ("All", "numbers", "last"): beam.metrics.cells.GaugeResult(5),
        ("Large", "numbers", "last"): beam.metrics.cells.GaugeResult(5),
    }
    large = beam.MetricsFilter().with_step("Large").with_namespace("numbers")
    assert [it.committed for it in metrics.query(large)["counters"]] == [1]
    assert metrics.query(beam.MetricsFilter().with_name("no such"))["gauges"] == []
    negative = beam.MetricsFilter().with_namespace(Counting).with_name("negative").with_name("seen")
    assert [it.attempted for it in metrics.query(negative)["counters"]] == [2]


def test_metrics_of_combine_functions_and_of_composites():
    def total(numbers: list[int]) -> int:
        beam.Metrics.counter("sums", "made").inc()
        return sum(numbers)

    pipeline = beam.Pipeline()
    pipeline | beam.Create([1]) | "Total" >> beam.CombineGlobally(total)
    metrics = pipeline.run().metrics()
    (made,) = metrics.query(beam.MetricsFilter().with_step("Total"))["counters"]
    assert (made.key.step, made.result) == ("Total/PerKey", 1)
    assert metrics.query(beam.MetricsFilter().with_step("Tot"))["counters"] == []


def test_every_run_counts_anew_and_outside_of_a_run_nothing_is_counted():
    beam.Metrics.counter("numbers", "seen").dec()
    pipeline = beam.Pipeline()
    pipeline | beam.Create([1]) | beam.ParDo(Counting())
    for _ in range(2):
        (seen,) = pipeline.run().metrics().query()["counters"]
        assert seen.result == 1


def test_a_metric_needs_names():
    with pytest.raises(PipelineError, match="the name of a metric must be a text, got ''"):
        beam.Metrics.counter("namespace", "")


def test_a_pipeline_runs_at_the_end_of_its_block_and_says_that_it_is_done():
    with beam.Pipeline() as pipeline:
        numbers = pipeline | beam.Create([1])
        assert pipeline.result is None
    result = pipeline.result
    assert result is not None
    assert result.state == result.wait_until_finish() == result.cancel() == beam.PipelineState.DONE
    assert [came.element.value for came in result.outputs.out_of(numbers.edge)] == [1]


def test_a_block_that_fails_runs_nothing():
    pipeline = beam.Pipeline()
    with pytest.raises(PipelineError, match="named 'Create' is in this pipeline already"), pipeline:
        pipeline | beam.Create([1]) and pipeline | beam.Create([2])
    assert pipeline.result is None


class ForEver(beam.DoFn):
    """Sets its timer to where it was, each time that it is called."""

    AGAIN = TimerSpec("again", TimeDomain.WATERMARK)

    def process(
        self,
        pair: Any,
        at: Any = beam.DoFn.TimestampParam,
        again: Any = beam.DoFn.TimerParam(AGAIN),  # noqa: B008
    ) -> None:
        again.set(at)

    @on_timer(AGAIN)
    def on_again(
        self,
        at: Any = beam.DoFn.TimestampParam,
        again: Any = beam.DoFn.TimerParam(AGAIN),  # noqa: B008
    ) -> None:
        again.set(at)


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_timer_without_an_end_is_named_with_its_key_and_window(host: Any) -> None:
    pipeline = beam.Pipeline()
    minutes = pipeline | stream() | beam.WindowInto(beam.FixedWindows("1 minute"))
    _ = minutes | "Loop" >> beam.ParDo(ForEver())
    assert refusal(TransformError, lambda: pipeline.run(host=host)) == (
        "'Loop' raised UserStateError: the timer was set again, to no later an instant than it "
        "fired at, 100,000 times in one step; set it to a later instant each time, or not at all "
        "once there is nothing left to do in ForEver.on_again for the timer 'again' at 00:00:20 "
        "(20000 ms), window [00:00:00, 00:01:00), key 'k'"
    )
