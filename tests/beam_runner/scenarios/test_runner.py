# ruff: noqa: B008 (that is how Beam has it)
"""The runner as its users see it: options, results, metrics, errors, streams in this process."""

import time
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.metrics import Metrics, MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineState, create_runner
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, userstate, window
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.utils.timestamp import Timestamp

import beamlike
from beamlike.errors import UnsupportedError
from beamlike.runners.beam import BeamlikeOptions, BeamlikeRunner


def test_beam_finds_it_by_its_name() -> None:
    assert beamlike.BeamlikeRunner is BeamlikeRunner
    assert isinstance(create_runner("beamlike.BeamlikeRunner"), BeamlikeRunner)
    options = PipelineOptions(["--runner=beamlike.BeamlikeRunner", "--beamlike_host=memory"])
    assert options.view_as(BeamlikeOptions).beamlike_host == "memory"
    with beam.Pipeline(options=options) as p:
        assert_that(p | beam.Create([1, 2]) | beam.Map(lambda n: n + 1), equal_to([2, 3]))
    assert type(p.result.state) is str
    assert p.result.state == PipelineState.DONE


def test_metrics_of_all_steps_are_in_the_result(host: str) -> None:
    class Counted(beam.DoFn):
        def process(self, n: int) -> Any:
            Metrics.counter("shop", "seen").inc()
            Metrics.distribution("shop", "sizes").update(n)
            Metrics.string_set("shop", "names").add(f"n{n % 2}")
            yield n

    p = beam.Pipeline(runner=BeamlikeRunner(host))
    p | beam.Create([1, 2, 3]) | "First" >> beam.ParDo(Counted()) | "Next" >> beam.ParDo(Counted())
    result = p.run()
    assert result.wait_until_finish() == PipelineState.DONE
    found = result.metrics().query(MetricsFilter().with_step("Next"))
    (seen,), (sizes,), (names,) = (
        found[kind] for kind in ("counters", "distributions", "string_sets")
    )
    assert (seen.key.step, seen.committed) == ("Next", 3)
    assert (sizes.committed.sum, sizes.committed.min, sizes.committed.max) == (6, 1, 3)
    assert set(names.committed) == {"n0", "n1"}
    assert len(result.metrics().query()["counters"]) == 2


def test_what_a_function_raises_is_raised_with_its_step_and_the_users_lines(host: str) -> None:
    def price(text: str) -> int:
        return int(text)

    p = beam.Pipeline(runner=BeamlikeRunner(host))
    p | beam.Create(["1", "tea"]) | "Prices" >> beam.Map(price)
    with pytest.raises(ValueError, match=r"'tea' \[while running 'Prices'\]") as raised:
        p.run()
    lines = "".join(map(str, raised.traceback)) + str(raised.value.__traceback__)
    assert "price" in str(raised.getrepr()) or "price" in lines


def test_a_transform_that_is_not_known_is_refused_by_label_and_urn() -> None:
    class Unknown(beam.PTransform):
        def expand(self, pcoll: Any) -> Any:
            return beam.pvalue.PCollection(pcoll.pipeline)

        def to_runner_api_parameter(self, context: Any) -> Any:
            return "acme:transform:teleport:v1", None

    p = beam.Pipeline(runner=BeamlikeRunner())
    p | beam.Create([1]) | "Beam me up" >> Unknown()
    with pytest.raises(UnsupportedError, match=r"'Beam me up'.*acme:transform:teleport:v1"):
        p.run()


def test_panes_of_a_test_stream_are_those_of_the_trigger(host: str) -> None:
    stream = (
        TestStream()
        .add_elements([window.TimestampedValue(("k", 1), 1)])
        .advance_processing_time(11)
        .add_elements([window.TimestampedValue(("k", 2), 2)])
        .advance_watermark_to(10)
        .add_elements([window.TimestampedValue(("k", 3), 3)])
        .advance_watermark_to_infinity()
    )
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        panes = (
            p
            | stream
            | beam.WindowInto(
                window.FixedWindows(10),
                trigger=trigger.AfterWatermark(
                    early=trigger.AfterProcessingTime(10), late=trigger.AfterCount(1)
                ),
                accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
                allowed_lateness=60,
            )
            | beam.CombinePerKey(sum)
            | beam.Map(lambda pair, pane=beam.DoFn.PaneInfoParam: (pair[1], pane.timing))
        )
        assert_that(panes, equal_to([(1, 0), (3, 1), (6, 2)]))  # early, on time, late


def test_a_periodic_impulse_gives_a_pane_each_second(host: str) -> None:
    """Its watermark moves while it runs: no pane waits for the end of the source."""
    start = int(time.time()) + 1

    def came(pair: Any) -> tuple[int, float]:
        return len(pair[1]), time.time() - start

    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        panes = (
            p
            | PeriodicImpulse(start, start + 3, 1)
            | beam.WindowInto(window.FixedWindows(1))
            | beam.Map(lambda n: ("k", n))
            | beam.GroupByKey()
            | beam.Map(came)
        )

        def check(found: list[tuple[int, float]]) -> None:
            assert [count for count, _ in found] == [1, 1, 1]
            first, second, third = (seconds for _, seconds in found)
            assert first < 0.9 < second < 1.9 < third < 2.9

        assert_that(panes, check)


def test_a_trigger_of_processing_time_waits_from_the_first_element_on(host: str) -> None:
    """Also for one that comes as the pipeline starts."""
    start = int(time.time()) + 1

    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        panes = (
            p
            | PeriodicImpulse(start - 1, start + 4, 1)
            | beam.WindowInto(
                window.GlobalWindows(),
                trigger=trigger.Repeatedly(trigger.AfterProcessingTime(2)),
                accumulation_mode=trigger.AccumulationMode.DISCARDING,
            )
            | beam.Map(lambda n: ("k", n))
            | beam.GroupByKey()
            | beam.MapTuple(lambda key, values: len(list(values)))
        )

        def check(counts: list[int]) -> None:
            assert sum(counts) == 5
            assert counts[0] > 1

        assert_that(panes, check)


class Numbers(beam.DoFn):
    """Numbers without an end of their own in one call: it never asks for a rest itself."""

    class Provider(beam.transforms.core.RestrictionProvider):
        def initial_restriction(self, count: int) -> Any:
            return beam.io.restriction_trackers.OffsetRange(0, count)

        def create_tracker(self, restriction: Any) -> Any:
            return beam.io.restriction_trackers.OffsetRestrictionTracker(restriction)

        def restriction_size(self, count: int, restriction: Any) -> int:
            return int(restriction.size())

        def truncate(self, count: int, restriction: Any) -> None:
            return None

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        count: int,
        tracker: Any = beam.DoFn.RestrictionParam(Provider()),
        watermark: Any = beam.DoFn.WatermarkEstimatorParam(
            ManualWatermarkEstimator.default_provider()
        ),
    ) -> Any:
        n = tracker.current_restriction().start
        while tracker.try_claim(n):
            watermark.set_watermark(Timestamp(n))
            yield window.TimestampedValue(n, n)
            n += 1


def test_a_call_of_a_splittable_function_ends_after_many_outputs(host: str) -> None:
    """Windows end while it goes on, and each number comes once."""
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        counts = (
            p
            | beam.Create([25_000])
            | beam.ParDo(Numbers())
            | beam.WindowInto(window.FixedWindows(10_000))
            | beam.Map(lambda n: ("k", n))
            | beam.CombinePerKey(beam.combiners.CountCombineFn())
            | beam.Values()
        )
        assert_that(counts, equal_to([10_000, 10_000, 5_000]))


def test_a_drain_lets_a_splittable_function_end_where_it_is(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host, is_drain=True)) as p:
        assert_that(p | beam.Create([10**9]) | beam.ParDo(Numbers()), equal_to([]))


def test_states_and_timers_of_a_window(host: str) -> None:
    class Receipt(beam.DoFn):
        ITEMS = userstate.BagStateSpec("items", beam.coders.StrUtf8Coder())
        CLOSE = userstate.TimerSpec("close", userstate.TimeDomain.WATERMARK)

        def process(
            self,
            pair: Any,
            items: Any = beam.DoFn.StateParam(ITEMS),
            close: Any = beam.DoFn.TimerParam(CLOSE),
            w: Any = beam.DoFn.WindowParam,
        ) -> None:
            items.add(pair[1])
            close.set(w.end)

        @userstate.on_timer(CLOSE)
        def closed(
            self, items: Any = beam.DoFn.StateParam(ITEMS), key: Any = beam.DoFn.KeyParam
        ) -> Any:
            yield key, sorted(items.read())

    bought = [(1, "tea"), (2, "milk"), (11, "salt")]
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        receipts = (
            p
            | beam.Create(bought)
            | beam.MapTuple(lambda s, item: window.TimestampedValue(("table 3", item), s))
            | beam.WindowInto(window.FixedWindows(10))
            | beam.ParDo(Receipt())
        )
        assert_that(receipts, equal_to([("table 3", ["milk", "tea"]), ("table 3", ["salt"])]))


def test_functions_that_read_the_same_grouping_all_run(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        grouped = p | beam.Create([("k", 1), ("k", 2)]) | beam.GroupByKey()
        sums = grouped | "Sum" >> beam.MapTuple(lambda key, values: sum(values))
        counts = grouped | "Count" >> beam.MapTuple(lambda key, values: len(list(values)))
        assert_that(sums, equal_to([3]), "sums")
        assert_that(counts, equal_to([2]), "counts")
        assert_that(grouped | beam.Keys(), equal_to(["k"]), "keys")


def test_a_trigger_of_processing_time_fires_at_its_delay_as_in_beam_python(host: str) -> None:
    stream = (
        TestStream()
        .advance_watermark_to(0)
        .add_elements([("k", 1)])
        .advance_processing_time(5)
        .add_elements([("k", 2)])
        .advance_processing_time(4.999)
        .advance_watermark_to(10)
        .advance_watermark_to_infinity()
    )
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        panes = (
            p
            | stream
            | beam.WindowInto(
                window.FixedWindows(10),
                trigger=trigger.AfterWatermark(early=trigger.AfterProcessingTime(5)),
                accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
            )
            | beam.GroupByKey()
            | beam.MapTuple(lambda key, values: sorted(values))
        )
        assert_that(panes, equal_to([[1], [1, 2]]))
