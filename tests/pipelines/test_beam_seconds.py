"""In `beamlike.beam` numbers are seconds, and what comes out says its unit."""

import pickle
import warnings
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to, equal_to_per_window
from beamlike.beam.transforms.window import BoundedWindow, IntervalWindow, TimestampedValue
from beamlike.beam.utils.timestamp import MAX_TIMESTAMP, MIN_TIMESTAMP, Duration, Timestamp
from beamlike.errors import TimeError, TransformError, UnsupportedError, UnwiseStrategyWarning
from beamlike.scio import ScioContext
from beamlike.testing import TestStream, contain_in_any_order, expect, in_window
from tests.support.pipelines.results_of_runs import values


def stamped(*times: Any) -> Any:
    """Each time as an element that happens then."""
    return beam.Pipeline() | beam.Create([TimestampedValue(time, time) for time in times])


def test_every_spelling_of_a_duration_makes_the_same_windows() -> None:
    for size in (90, 90.0, Duration(90), timedelta(seconds=90), "90 s", "1m 30s"):
        assert beam.FixedWindows(size) == beam.FixedWindows(90)
        assert beam.WindowInto(beam.FixedWindows(size)).window_fn == bl.FixedWindows("90 s")
        assert beam.WindowInto(beam.SlidingWindows(size, 30, 10)).window_fn == (
            bl.SlidingWindows("90 s", "30 s", "10 s")
        )
        assert beam.WindowInto(beam.Sessions(size)).window_fn == bl.Sessions("90 s")
        assert beam.AfterProcessingTime(size) == bl.AfterProcessingTime("90 s")
        lateness = beam.WindowInto(beam.FixedWindows(60), allowed_lateness=size)
        assert lateness.parts["allowed_lateness"] == 90_000


def test_every_spelling_of_an_instant_is_the_same_time() -> None:
    ninety = datetime(1970, 1, 1, 0, 1, 30)
    for at in (90, 90.0, Timestamp(90), ninety, ninety.replace(tzinfo=UTC), "00:01:30"):
        assert TimestampedValue("a", at).timestamp == Timestamp(90)
        assert IntervalWindow(0, at) == IntervalWindow(0, 90)
        moved = beam.Pipeline() | beam.Create([at]) | beam.WithTimestamps(lambda it: it)
        (came,) = moved.pipeline.run().out_of(moved.edge)
        assert came.element.timestamp == 90_000


@pytest.mark.parametrize("host", ["memory", "local"])
def test_what_a_function_is_given_of_time_may_be_given_back(host: Any) -> None:
    def later(number: int, at: Any = beam.DoFn.TimestampParam) -> Any:
        assert isinstance(at, Timestamp)
        return TimestampedValue((number, at), at + 5)

    class Twice(beam.DoFn[Any, Any]):
        def process(
            self, element: Any, at: Any = beam.DoFn.TimestampParam, w: Any = beam.DoFn.WindowParam
        ) -> Any:
            yield TimestampedValue((*element, at), w.max_timestamp())
            yield beam.WindowedValue((*element, w), w.end, [w])

    found = (
        stamped(10, 20)
        | beam.Map(later)
        | beam.WindowInto(beam.FixedWindows(20))
        | beam.ParDo(Twice())
        | beam.Map(lambda it, at=beam.DoFn.TimestampParam: (*it, at))
    )
    assert values(found, host) == [
        (10, Timestamp(10), Timestamp(15), Timestamp(19.999)),
        (10, Timestamp(10), IntervalWindow(0, 20), Timestamp(20)),
        (20, Timestamp(20), Timestamp(25), Timestamp(39.999)),
        (20, Timestamp(20), IntervalWindow(20, 40), Timestamp(40)),
    ]


def test_an_event_time_that_is_finer_than_a_millisecond_is_rounded_down() -> None:
    times = stamped(1.0009, Timestamp(-1, micros=-1)) | beam.Map(
        lambda _, at=beam.DoFn.TimestampParam: at
    )
    assert values(times) == [Timestamp(1), Timestamp(-1, micros=-1000)]


def test_windows_of_no_length_are_refused() -> None:
    made: list[Any] = [
        lambda: beam.FixedWindows(0),
        lambda: beam.FixedWindows(-5),
        lambda: beam.SlidingWindows(-5, 5),
        lambda: beam.SlidingWindows(5, 0),
        lambda: beam.Sessions(0),
    ]
    for make in made:
        with pytest.raises(ValueError, match="must be strictly positive, got"):
            make()


def test_windows_in_seconds_are_those_of_the_core() -> None:
    assert beam.FixedWindows(5, offset=12) == bl.FixedWindows("5 s", offset="2 s")
    assert beam.FixedWindows(5, Timestamp(-1)) == bl.FixedWindows("5 s", offset="4 s")
    assert beam.SlidingWindows(15, 5, offset=2) == bl.SlidingWindows("15 s", "5 s", offset="2 s")
    assert beam.Sessions(10) == bl.Sessions("10 s")
    assert beam.GlobalWindows() == bl.GlobalWindows()
    assert isinstance(bl.FixedWindows("1 minute"), beam.FixedWindows)
    assert not isinstance(beam.FixedWindows(1), beam.Sessions)


def test_windows_are_values_of_classes() -> None:
    first, second = IntervalWindow(0, 10), IntervalWindow(5, 15)
    assert first.intersects(second)
    assert first.union(second) == IntervalWindow(0, 15)
    assert (first.start, first.end, first.max_timestamp()) == (0, 10, Timestamp(9.999999))
    assert (repr(first), repr(beam.GlobalWindow())) == ("[0.0, 10.0)", "GlobalWindow")
    assert sorted([second, beam.GlobalWindow(), first]) == [first, second, beam.GlobalWindow()]
    assert isinstance(first, BoundedWindow)
    assert beam.GlobalWindow() is beam.GlobalWindow()
    assert beam.GlobalWindow() != IntervalWindow(MIN_TIMESTAMP, MAX_TIMESTAMP)
    for window in (first, beam.GlobalWindow()):
        assert pickle.loads(pickle.dumps(window)) == window

    class Named(IntervalWindow):
        pass

    assert Named(0, 10) != first
    assert TimestampedValue[int] is not None


def test_a_window_equals_the_one_of_this_package_with_the_same_bounds() -> None:
    mine, others = IntervalWindow(0, 10), bl.IntervalWindow("00:00:00", "00:00:10")
    assert mine == others
    assert others == mine
    assert {mine: "ten seconds"}[others] == "ten seconds"  # type: ignore[index]
    assert mine != bl.IntervalWindow(0, 10)
    assert beam.GlobalWindow() == bl.GlobalWindow()


def test_what_counts_milliseconds_stays_right_in_a_pipeline_of_beam() -> None:
    windowed = stamped(5, 70) | beam.WindowInto(
        bl.FixedWindows(60_000),
        trigger=bl.AfterWatermark(early=bl.AfterProcessingTime(5_000)),
        accumulation_mode="discarding",
        allowed_lateness=0,
    )
    shown = windowed | beam.Map(lambda at, window=beam.DoFn.WindowParam: (at, window))
    assert values(shown) == [(5, IntervalWindow(0, 60)), (70, IntervalWindow(60, 120))]

    class Bl(beam.DoFn[Any, Any]):
        def process(self, element: Any) -> Any:
            from beamlike.testing import TimestampedValue as InMillis

            yield InMillis(element, 90_000)

    times = stamped(5) | beam.ParDo(Bl()) | beam.Map(lambda _, at=beam.DoFn.TimestampParam: at)
    assert values(times) == [Timestamp(90)]


def test_beams_times_stay_right_elsewhere() -> None:
    assert bl.FixedWindows(Duration(60)) == bl.FixedWindows("1 minute")
    assert bl.IntervalWindow(Timestamp(0), Timestamp(10)) == bl.IntervalWindow(0, 10_000)
    sc = ScioContext()
    words = sc.parallelize_timestamped([beam.TimestampedValue("a", 5), ("b", Timestamp(7))])
    times = words.with_timestamp()
    sc.run()
    assert sc.pipeline.result is not None
    found = [came.element.value for came in sc.pipeline.result.out_of(times.edge)]
    assert found == [("a", 5_000), ("b", 7_000)]
    stream = TestStream().add_elements(TimestampedValue(("k", 1), 5))
    assert repr(stream) == "TestStream().add_elements_at_time(\"00:00:05\", ('k', 1))"


def test_matchers_take_windows_of_beam() -> None:
    with TestPipeline() as pipeline:
        times = [TimestampedValue(at, at) for at in (5, 70)]
        windowed = pipeline | beam.Create(times) | beam.WindowInto(beam.FixedWindows(60))
        expect(windowed).to(in_window(IntervalWindow(0, 60), contain_in_any_order([5])))
        per_window = equal_to_per_window(
            {IntervalWindow(0, 60): [5], IntervalWindow(60, 120): [70]}
        )
        assert_that(windowed, per_window)


@attrs.frozen
class Thirds(bl.WindowFn):
    """Three seconds, then two, then all."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[Any, ...]:
        if timestamp >= 5_000:
            return (bl.GLOBAL_WINDOW,)
        return (bl.IntervalWindow(*((0, 3_000) if timestamp < 3_000 else (3_000, 5_000))),)


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_window_function_of_ones_own_counts_milliseconds(host: Any) -> None:
    grouped = (
        stamped(0, 2, 3, 4, 7)
        | beam.Map(lambda at: ("k", at))
        | beam.WindowInto(Thirds())
        | beam.GroupByKey()
        | beam.MapTuple(lambda key, them, window=beam.DoFn.WindowParam: (sorted(them), window))
    )
    assert sorted(values(grouped, host)) == [
        ([0, 2], IntervalWindow(0, 3)),
        ([3, 4], IntervalWindow(3, 5)),
        ([7], beam.GlobalWindow()),
    ]


def test_a_class_below_beams_windows_is_for_beams_own_sdk() -> None:
    class Shifted(beam.FixedWindows):
        pass

    with pytest.raises(UnsupportedError, match=r"^a class below FixedWindows is for Beam's own"):
        Shifted(10)


def test_what_windows_do_by_default_is_as_in_beam_python_and_lateness_stays_as_in_java() -> None:
    before = stamped(1) | "Before" >> beam.WindowInto(
        beam.FixedWindows(60),
        trigger=beam.Repeatedly(beam.AfterCount(1)),
        accumulation_mode=beam.AccumulationMode.ACCUMULATING,
        timestamp_combiner=beam.TimestampCombiner.OUTPUT_AT_EARLIEST,
        allowed_lateness=30,
    )
    after = before | "After" >> beam.WindowInto(beam.FixedWindows(10))
    assert after.windowing == bl.WindowingStrategy(bl.FixedWindows("10 s"), allowed_lateness="30 s")
    # Without windows the rest stays, as in Beam Java.
    kept = before | "Kept" >> beam.WindowInto(allowed_lateness=60)
    assert (kept.windowing.trigger, kept.windowing.allowed_lateness) == (
        before.windowing.trigger,
        60_000,
    )


def test_what_beam_java_asks_for_is_a_warning() -> None:
    words = stamped(1)
    with pytest.warns(UnwiseStrategyWarning, match="'Early': no allowed lateness is given"):
        early = words | "Early" >> beam.WindowInto(
            beam.FixedWindows(60),
            trigger=beam.AfterWatermark(early=beam.AfterCount(1)),
            accumulation_mode="discarding",
        )
    assert early.windowing.allowed_lateness == 0
    with pytest.warns(UnwiseStrategyWarning, match="'Late': a late pane holds what came since"):
        late = words | "Late" >> beam.WindowInto(beam.FixedWindows(60), allowed_lateness=30)
    assert late.windowing.accumulation is bl.AccumulationMode.DISCARDING
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = words | "Plain" >> beam.WindowInto(beam.FixedWindows(60))
        _ = words | "Global" >> beam.WindowInto(
            beam.GlobalWindows(),
            trigger=beam.Repeatedly(beam.AfterCount(1)),
            accumulation_mode="discarding",
        )


def test_the_skew_of_a_do_fn_is_in_seconds() -> None:
    class Back(beam.DoFn[Any, Any]):
        allowed_timestamp_skew = 30

        def process(self, element: Any) -> Any:
            yield TimestampedValue(element, element - 30)

    shown = beam.Map(lambda _, at=beam.DoFn.TimestampParam: at)
    assert values(stamped(60) | beam.ParDo(Back()) | shown) == [Timestamp(30)]


def test_a_time_that_is_none_names_the_transform() -> None:
    with pytest.raises(TransformError) as failure:
        values(stamped(1) | "Stamp" >> beam.Map(lambda it: TimestampedValue(it, "soon")))
    assert str(failure.value) == (
        "'Stamp' raised TimeTypeError: TimestampedValue timestamp is not an instant: 'soon'; write "
        '90 (seconds), Timestamp(90), a datetime, "2013-01-01T06:00:00Z" or "00:01:30" for 1 at '
        "00:00:01"
    )
    with pytest.raises(TimeError, match="TimestampedValue timestamp must lie between"):
        TimestampedValue("a", MAX_TIMESTAMP + 1)


def test_times_and_windows_are_keys() -> None:
    for host in ("memory", "local"):
        counted = (
            stamped(5, 15, 17)
            | beam.WindowInto(beam.FixedWindows(10))
            | beam.Map(lambda at, window=beam.DoFn.WindowParam: ((window, window.start), 1))
            | "All" >> beam.WindowInto(beam.GlobalWindows())
            | beam.CombinePerKey(sum)
        )
        assert sorted(values(counted, host)) == [
            ((IntervalWindow(0, 10), Timestamp(0)), 1),
            ((IntervalWindow(10, 20), Timestamp(10)), 2),
        ]


def test_reified_windows_of_an_assertion_are_beams() -> None:
    from beamlike.beam.testing.util import TestWindowedValue

    with TestPipeline() as pipeline:
        windowed = (
            pipeline
            | beam.Create([TimestampedValue("a", 5)])
            | beam.WindowInto(beam.FixedWindows(10))
        )
        wanted = [TestWindowedValue("a", 5, [IntervalWindow(0, 10)])]
        assert_that(windowed, equal_to(wanted), reify_windows=True)
