# ruff: noqa: B008 (that is how Beam has it)
"""A scenario for each capability in the table of Beam's site, see `tests.beam_runner.capabilities`.

Where the table means streams, a TestStream is played, or the source has no end of its own.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.metrics import Metrics
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineState
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, userstate, window
from apache_beam.utils.timestamp import Duration, Timestamp

from beamlike.runners.beam import BeamlikeRunner, WriteRows

Build = Callable[[Any], tuple[Any, list[Any]]]
"""Makes a collection of a pipeline, and says what is in it."""

SHOWN: dict[str, Build] = {}


def shows(name: str) -> Callable[[Build], Build]:
    def keep(build: Build) -> Build:
        SHOWN[name] = build
        return build

    return keep


def at(seconds: float, value: Any) -> window.TimestampedValue:
    return window.TimestampedValue(value, seconds)


def timed(p: Any, *pairs: tuple[float, Any]) -> Any:
    """Elements with event times, of one key."""
    created = p | beam.Create([*pairs])
    return created | "Times" >> beam.MapTuple(lambda s, value: at(s, ("k", value)))


def windowed_lists(pcoll: Any, fn: Any, **options: Any) -> Any:
    """The values of each pane, in order."""
    windowed = pcoll | "Windows" >> beam.WindowInto(fn, **options)
    return windowed | beam.GroupByKey() | "Lists" >> beam.MapTuple(lambda key, vs: sorted(vs))


# -- what is being computed ------------------------------------------------------------------


@shows("ParDo")
def pardo(p: Any) -> Any:
    class Split(beam.DoFn):
        def process(self, line: str) -> Any:
            for word in line.split():
                yield beam.pvalue.TaggedOutput("long", word) if len(word) > 3 else word

    found = p | beam.Create(["tea and milk"]) | beam.ParDo(Split()).with_outputs("long", main="s")
    return (found.s | beam.Map(lambda w: w), found.long) | beam.Flatten(), ["tea", "and", "milk"]


@shows("GroupByKey")
def group_by_key(p: Any) -> Any:
    pairs = p | beam.Create([("a", 1), ("b", 2), ("a", 3)])
    grouped = pairs | beam.GroupByKey() | beam.MapTuple(lambda key, vs: (key, sorted(vs)))
    return grouped, [("a", [1, 3]), ("b", [2])]


@shows("Flatten")
def flatten(p: Any) -> Any:
    parts = p | "1" >> beam.Create([1]), p | "2" >> beam.Create([2]), p | "0" >> beam.Create([])
    return parts | beam.Flatten(), [1, 2]


@shows("Combine")
def combine(p: Any) -> Any:
    pairs = p | beam.Create([("a", 1), ("b", 2), ("a", 3)])
    by_key = pairs | beam.CombinePerKey(sum)
    total = pairs | beam.Values() | beam.CombineGlobally(sum)
    return (by_key, total) | beam.Flatten(), [("a", 4), ("b", 2), 6]


@shows("Composite transforms")
def composite(p: Any) -> Any:
    class Twice(beam.PTransform):
        def expand(self, pcoll: Any) -> Any:
            return pcoll | "One" >> beam.Map(lambda n: n + 1) | "Two" >> beam.Map(lambda n: n * 2)

    return p | beam.Create([1]) | "A" >> Twice() | "B" >> Twice(), [10]


@shows("Side inputs")
def side_inputs(p: Any) -> Any:
    prices = p | "Prices" >> beam.Create([("tea", 3), ("milk", 2)])
    sides = beam.pvalue.AsDict(prices), beam.pvalue.AsSingleton(p | "One" >> beam.Create([10]))
    items = p | "Items" >> beam.Create(["tea", "milk"])
    return items | beam.Map(lambda item, cost, factor: cost[item] * factor, *sides), [30, 20]


@shows("Source API")
def source(p: Any) -> Any:
    class Three(beam.io.iobase.BoundedSource):
        def get_range_tracker(self, start: Any, stop: Any) -> Any:
            return beam.io.range_trackers.OffsetRangeTracker(
                start or 0, 3 if stop is None else stop
            )

        def read(self, tracker: Any) -> Any:
            n = tracker.start_position()
            while tracker.try_claim(n):
                yield n
                n += 1

        def split(self, size: int, start: Any = None, stop: Any = None) -> Any:
            yield beam.io.iobase.SourceBundle(1, self, 0, 2)
            yield beam.io.iobase.SourceBundle(1, self, 2, 3)

        def estimate_size(self) -> int:
            return 3

    return p | beam.io.Read(Three()), [0, 1, 2]


@shows("Metrics")
def metrics(p: Any) -> Any:
    def counted(n: int) -> int:
        Metrics.counter("shop", "seen").inc()
        Metrics.distribution("shop", "sizes").update(n)
        Metrics.gauge("shop", "last").set(n)
        return n

    return p | beam.Create([1, 2]) | "Count" >> beam.Map(counted), [1, 2]


@shows("Stateful processing")
def states(p: Any) -> Any:
    class Keep(beam.DoFn):
        BAG = userstate.BagStateSpec("bag", beam.coders.VarIntCoder())
        SET = userstate.SetStateSpec("set", beam.coders.VarIntCoder())
        SUM = userstate.CombiningValueStateSpec("sum", sum)
        LAST = userstate.ReadModifyWriteStateSpec("last", beam.coders.VarIntCoder())

        def process(
            self,
            pair: Any,
            bag: Any = beam.DoFn.StateParam(BAG),
            seen: Any = beam.DoFn.StateParam(SET),
            total: Any = beam.DoFn.StateParam(SUM),
            last: Any = beam.DoFn.StateParam(LAST),
        ) -> Any:
            _, n = pair
            bag.add(n)
            seen.add(n)
            total.add(n)
            yield len([*bag.read()]), len([*seen.read()]), total.read(), last.read()
            last.write(n)

    stream = TestStream().add_elements([("k", 1)]).add_elements([("k", 1)])
    kept = p | stream.advance_watermark_to_infinity() | beam.ParDo(Keep())
    return kept, [(1, 1, 1, None), (2, 1, 2, 1)]


# -- splittable functions --------------------------------------------------------------------


class Offsets(beam.transforms.core.RestrictionProvider):
    def initial_restriction(self, count: int) -> OffsetRange:
        return OffsetRange(0, count)

    def create_tracker(self, restriction: OffsetRange) -> OffsetRestrictionTracker:
        return OffsetRestrictionTracker(restriction)

    def restriction_size(self, count: int, restriction: OffsetRange) -> int:
        return int(restriction.size())

    def truncate(self, count: int, restriction: OffsetRange) -> None:
        return None  # when it is drained


class Numbers(beam.DoFn):
    """The numbers below one, and with each what the side input holds."""

    def process(
        self, count: int, side: Any = 0, tracker: Any = beam.DoFn.RestrictionParam(Offsets())
    ) -> Any:
        n = tracker.current_restriction().start
        while tracker.try_claim(n):
            yield n + side
            n += 1


class OneByOne(beam.DoFn):
    """A number in each call; the rest is left for the next one."""

    def process(self, count: int, tracker: Any = beam.DoFn.RestrictionParam(Offsets())) -> Any:
        n = tracker.current_restriction().start
        if tracker.try_claim(n):
            yield n
            tracker.defer_remainder()


class Finalizing(beam.DoFn):
    """Says of each bundle that it may be finalized."""

    def process(
        self,
        count: int,
        bundle: Any = beam.DoFn.BundleFinalizerParam,
        tracker: Any = beam.DoFn.RestrictionParam(Offsets()),
    ) -> Any:
        bundle.register(lambda: Metrics.counter("bundles", "finalized").inc())
        for n in range(count):
            if tracker.try_claim(n):
                yield n


def unbounded(cls: Any) -> Any:
    """The function as one without an end of its own, with an estimator of the watermark."""

    class Unbounded(cls):  # type: ignore[misc]
        @beam.DoFn.unbounded_per_element()
        def process(
            self,
            count: int,
            side: Any = 0,
            tracker: Any = beam.DoFn.RestrictionParam(Offsets()),
            watermark: Any = beam.DoFn.WatermarkEstimatorParam(
                ManualWatermarkEstimator.default_provider()
            ),
        ) -> Any:
            n = tracker.current_restriction().start
            if cls is OneByOne:
                if tracker.try_claim(n):
                    watermark.set_watermark(Timestamp(n))
                    yield at(n, n)
                    tracker.defer_remainder(Duration(micros=100_000))
            else:
                while tracker.try_claim(n):
                    yield n + side
                    n += 1

    return Unbounded()


@shows("Base")
def splittable(p: Any) -> Any:
    return p | beam.Create([3]) | beam.ParDo(Numbers()), [0, 1, 2]


@shows("Side inputs of it")
def splittable_side(p: Any) -> Any:
    side = beam.pvalue.AsSingleton(p | "Side" >> beam.Create([10]))
    return p | beam.Create([2]) | beam.ParDo(Numbers(), side), [10, 11]


@shows("Checkpoints of its own")
def splittable_checkpoints(p: Any) -> Any:
    return p | beam.Create([3]) | beam.ParDo(OneByOne()), [0, 1, 2]


@shows("Bundle finalization")
def splittable_finalized(p: Any) -> Any:
    return p | beam.Create([3]) | beam.ParDo(Finalizing()), [0, 1, 2]


@shows("Unbounded base")
def unbounded_base(p: Any) -> Any:
    return p | beam.Create([3]) | beam.ParDo(unbounded(Numbers)), [0, 1, 2]


@shows("Unbounded side inputs")
def unbounded_side(p: Any) -> Any:
    side = beam.pvalue.AsSingleton(p | "Side" >> beam.Create([10]))
    return p | beam.Create([2]) | beam.ParDo(unbounded(Numbers), side), [10, 11]


@shows("Unbounded checkpoints")
def unbounded_checkpoints(p: Any) -> Any:
    numbers = p | beam.Create([4]) | beam.ParDo(unbounded(OneByOne))
    pairs = numbers | beam.Map(lambda n: ("k", n))
    return windowed_lists(pairs, window.FixedWindows(2)), [[0, 1], [2, 3]]


@shows("Unbounded bundle finalization")
def unbounded_finalized(p: Any) -> Any:
    class Finalized(beam.DoFn):
        @beam.DoFn.unbounded_per_element()
        def process(
            self,
            count: int,
            bundle: Any = beam.DoFn.BundleFinalizerParam,
            tracker: Any = beam.DoFn.RestrictionParam(Offsets()),
        ) -> Any:
            bundle.register(lambda: Metrics.counter("bundles", "finalized").inc())
            for n in range(count):
                if tracker.try_claim(n):
                    yield n

    return p | beam.Create([3]) | beam.ParDo(Finalized()), [0, 1, 2]


# -- windows ---------------------------------------------------------------------------------


@shows("Global windows")
def global_windows(p: Any) -> Any:
    return windowed_lists(timed(p, (1, 1), (99, 2)), window.GlobalWindows()), [[1, 2]]


@shows("Fixed windows")
def fixed_windows(p: Any) -> Any:
    return windowed_lists(timed(p, (1, 1), (9, 2), (10, 3)), window.FixedWindows(10)), [[1, 2], [3]]


@shows("Sliding windows")
def sliding_windows(p: Any) -> Any:
    pairs = timed(p, (1, 1), (6, 2))
    return windowed_lists(pairs, window.SlidingWindows(10, 5)), [[1], [1, 2], [2]]


@shows("Session windows")
def sessions(p: Any) -> Any:
    return windowed_lists(timed(p, (1, 1), (6, 2), (20, 3)), window.Sessions(10)), [[1, 2], [3]]


class Shelf(window.BoundedWindow):
    """A window of a class of its own."""

    def __init__(self, end: Any, name: str) -> None:
        super().__init__(end)
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shelf) and (self.end, self.name) == (other.end, other.name)

    def __hash__(self) -> int:
        return hash((self.end, self.name))


class ShelfCoder(beam.coders.Coder):  # type: ignore[misc]
    def encode(self, value: Shelf) -> bytes:
        return value.name.encode()

    def decode(self, encoded: bytes) -> Shelf:
        return Shelf(100, encoded.decode())

    def is_deterministic(self) -> bool:
        return True


class Shelves(window.NonMergingWindowFn):
    def assign(self, context: Any) -> list[Shelf]:
        return [Shelf(100, "even" if context.element[1] % 2 == 0 else "odd")]

    def get_window_coder(self) -> Any:
        return ShelfCoder()


@shows("Custom windows")
def custom_windows(p: Any) -> Any:
    return windowed_lists(timed(p, (1, 1), (2, 2), (3, 3)), Shelves()), [[1, 3], [2]]


class Neighbours(window.WindowFn):
    """Windows that overlap or touch are one."""

    def assign(self, context: Any) -> list[window.IntervalWindow]:
        return [window.IntervalWindow(context.timestamp, context.timestamp + 5)]

    def get_window_coder(self) -> Any:
        return beam.coders.coders.IntervalWindowCoder()

    def merge(self, context: Any) -> None:
        together: list[Any] = []
        for one in sorted(context.windows, key=lambda w: w.start):
            if together and one.start > max(w.end for w in together):
                self._join(context, together)
                together = []
            together.append(one)
        self._join(context, together)

    def _join(self, context: Any, together: list[Any]) -> None:
        if len(together) > 1:
            end = max(w.end for w in together)
            context.merge(together, window.IntervalWindow(together[0].start, end))


@shows("Custom merging windows")
def custom_merging_windows(p: Any) -> Any:
    pairs = timed(p, (0, 1), (5, 2), (10, 3), (16, 4))
    return windowed_lists(pairs, Neighbours()), [[1, 2, 3], [4]]


@shows("Timestamp control")
def timestamp_control(p: Any) -> Any:
    latest = timed(p, (3, 1), (7, 2)) | beam.WindowInto(
        window.FixedWindows(10), timestamp_combiner=window.TimestampCombiner.OUTPUT_AT_LATEST
    )
    times = beam.Map(lambda pair, t=beam.DoFn.TimestampParam: float(t))
    return latest | beam.GroupByKey() | times, [7.0]


# -- triggers --------------------------------------------------------------------------------

DISCARDING = trigger.AccumulationMode.DISCARDING
ACCUMULATING = trigger.AccumulationMode.ACCUMULATING


def panes(p: Any, stream: TestStream, fn: Any, mode: Any = DISCARDING, **options: Any) -> Any:
    return windowed_lists(
        p | stream.advance_watermark_to_infinity(),
        window.FixedWindows(10),
        trigger=fn,
        accumulation_mode=mode,
        **options,
    )


def stream() -> TestStream:
    return TestStream().advance_watermark_to(0)


@shows("Configurable triggering")
def configurable(p: Any) -> Any:
    elements = stream().add_elements([at(1, ("k", 1))]).add_elements([at(2, ("k", 2))])
    return panes(p, elements, trigger.AfterWatermark(early=trigger.AfterCount(1))), [[1], [2], []]


@shows("Event-time triggers")
def event_time(p: Any) -> Any:
    elements = stream().add_elements([at(1, ("k", 1))]).advance_watermark_to(10)
    elements = elements.add_elements([at(11, ("k", 2)), at(2, ("k", 3))])  # 3 is too late
    return panes(p, elements, trigger.AfterWatermark()), [[1], [2]]


@shows("Processing-time triggers")
def processing_time(p: Any) -> Any:
    elements = stream().add_elements([at(1, ("k", 1))]).advance_processing_time(10)
    elements = elements.add_elements([at(2, ("k", 2))])
    fn = trigger.AfterWatermark(early=trigger.AfterProcessingTime(5))
    return panes(p, elements, fn), [[1], [2]]


@shows("Count triggers")
def count(p: Any) -> Any:
    elements = stream()
    for n in range(5):
        elements = elements.add_elements([at(n, ("k", n))])
    return panes(p, elements, trigger.Repeatedly(trigger.AfterCount(2))), [[0, 1], [2, 3], [4]]


@shows("Composite triggers")
def composite_triggers(p: Any) -> Any:
    elements = stream()
    for n in range(3):
        elements = elements.add_elements([at(n, ("k", n))])
    first = trigger.AfterAny(trigger.AfterCount(2), trigger.AfterProcessingTime(100))
    both = trigger.AfterAll(trigger.AfterCount(1), trigger.AfterWatermark())
    return panes(p, elements, trigger.Repeatedly(trigger.AfterEach(first, both))), [[0, 1], [2]]


@shows("Allowed lateness")
def lateness(p: Any) -> Any:
    elements = stream().add_elements([at(1, ("k", 1))]).advance_watermark_to(12)
    elements = elements.add_elements([at(2, ("k", 2))]).advance_watermark_to(16)
    elements = elements.add_elements([at(3, ("k", 3))])  # too late
    fn = trigger.AfterWatermark(late=trigger.AfterCount(1))
    return panes(p, elements, fn, allowed_lateness=5), [[1], [2]]


@shows("Timers")
def timers(p: Any) -> Any:
    class Alarm(beam.DoFn):
        END = userstate.TimerSpec("end", userstate.TimeDomain.WATERMARK)
        SOON = userstate.TimerSpec("soon", userstate.TimeDomain.REAL_TIME)

        def process(
            self,
            pair: Any,
            end: Any = beam.DoFn.TimerParam(END),
            soon: Any = beam.DoFn.TimerParam(SOON),
        ) -> None:
            end.set(20)
            soon.set(5)

        @userstate.on_timer(END)
        def ended(self) -> Any:
            yield "end"

        @userstate.on_timer(SOON)
        def came(self) -> Any:
            yield "soon"

    elements = stream().add_elements([at(1, ("k", 1))]).advance_processing_time(10)
    elements = elements.advance_watermark_to(30).advance_watermark_to_infinity()
    return p | elements | beam.ParDo(Alarm()), ["soon", "end"]


@shows("Discarding")
def discarding(p: Any) -> Any:
    elements = stream().add_elements([at(1, ("k", 1))]).add_elements([at(2, ("k", 2))])
    return panes(p, elements, trigger.AfterWatermark(early=trigger.AfterCount(1))), [[1], [2], []]


@shows("Accumulating")
def accumulating(p: Any) -> Any:
    elements = stream().add_elements([at(1, ("k", 1))]).add_elements([at(2, ("k", 2))])
    fn = trigger.AfterWatermark(early=trigger.AfterCount(1))
    return panes(p, elements, fn, ACCUMULATING), [[1], [1, 2], [1, 2]]


@shows("Key-ordered delivery")
def key_ordered(p: Any) -> Any:
    class Numbered(beam.DoFn):
        LAST = userstate.ReadModifyWriteStateSpec("last", beam.coders.VarIntCoder())

        def process(self, pair: Any, last: Any = beam.DoFn.StateParam(LAST)) -> Any:
            key, n = pair
            yield key, n - (last.read() or 0)
            last.write(n)

    elements = stream()
    for n in range(1, 6):
        elements = elements.add_elements([("a", n), ("b", n)])
    steps = p | elements.advance_watermark_to_infinity() | beam.ParDo(Numbered())
    return steps, [(key, 1) for key in "ab" for _ in range(5)]


@shows("Drain")
def drain(p: Any) -> Any:
    """The source ends where it is, and windows come to their end with what has arrived."""
    numbers = p | beam.Create([10**9]) | beam.ParDo(unbounded(Numbers))
    both = (numbers, p | "There" >> beam.Create([7])) | beam.Flatten()
    return windowed_lists(both | beam.Map(lambda n: ("k", n)), window.FixedWindows(10)), [[7]]


@pytest.mark.parametrize("name", SHOWN)
def test_capability(name: str, host: str) -> None:
    p = beam.Pipeline(runner=BeamlikeRunner(host, is_drain=name == "Drain"))
    pcoll, expected = SHOWN[name](p)
    assert_that(pcoll, equal_to(expected))
    result = p.run()
    result.wait_until_finish()
    found = result.metrics().query()
    if name == "Metrics":
        (seen,), (sizes,), (last,) = (found[it] for it in ("counters", "distributions", "gauges"))
        assert (seen.committed, sizes.committed.sum) == (2, 3)
        assert last.committed.value in (1, 2)


@pytest.mark.parametrize("name", ["Checkpoint"])
def test_a_stream_goes_on_from_its_checkpoint(name: str, host: str, tmp_path: Path) -> None:
    if host != "spark":
        pytest.skip(f"{name}: what runs in this process ends with it")
    rows: dict[int, list[int]] = {}

    def write(frame: Any, number: int) -> None:
        rows[number] = [row.n for row in frame.collect()]

    def run() -> Any:
        options = PipelineOptions(["--shards=2", f"--checkpoint={tmp_path}/checkpoint"])
        p = beam.Pipeline(runner=BeamlikeRunner(host), options=options)
        numbers = p | beam.Create([40]) | beam.ParDo(unbounded(OneByOne))
        numbers | WriteRows("n long", write)
        return p.run()

    first = run()
    until = time.time() + 60
    while not any(rows.values()) and time.time() < until:
        time.sleep(0.2)
    assert first.cancel() == PipelineState.CANCELLED
    assert 0 < sum(map(len, rows.values())) < 40
    assert run().wait_until_finish() == PipelineState.DONE
    assert sorted(n for of_batch in rows.values() for n in of_batch) == [*range(40)]
