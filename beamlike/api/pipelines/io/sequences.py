"""Elements that come out of nothing: numbers, and impulses at regular times.

Source: Beam Python ``transforms.periodicsequence``, ``io.external.generate_sequence``.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import accumulate
from typing import Any, Final

import attrs

from beamlike.api.pipelines.elements import Create, FlatMap
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.reading import Instant, length, moment
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP, Timestamp
from beamlike.api.pipelines.python.window_fns import FixedWindows
from beamlike.api.pipelines.python.windowing import WindowInto
from beamlike.api.pipelines.python.windows import TimestampedValue
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.graph import ReadNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Arrive, ScriptStep

_MICROS: Final = 1_000_000
_MOST: Final = 1_000_000
"""Impulses of a pipeline: more would be kept in memory than anything needs."""


class RebaseMode(Enum):
    """Which times of an impulse count from now on."""

    REBASE_NONE = 0
    REBASE_ALL = 1
    REBASE_START = 2


class PeriodicImpulse(PTransform[Pipeline, PCollection[Any]]):
    """An element at regular times, from an instant up to another, as a stream.

        pipeline | PeriodicImpulse(0, 60, fire_interval=10)

    Nothing waits for the times to come: the clock of the pipeline moves on with each element, and
    the watermark too. So there must be an end.

    Args:
        start_timestamp: When the first one happens; by default when the pipeline is built.
        stop_timestamp: When none happens any more. By default as many happen as there are data.
        fire_interval: How far they are apart, seconds.
        apply_windowing: Whether each is in a window of its own; else all are in the global one.
        data: The elements, which begin anew at their end; pairs of a `Timestamp` and an element
            happen then, in any order: the watermark waits for those that are still to come. None:
            an element is its time, seconds, whole if the start and the interval are.
        rebase: Whether these times count from when the pipeline is built.

    Raises:
        PipelineError: There is no end, or there are too few data with times of their own.
        TimeError: A time cannot be read.
    """

    def __init__(
        self,
        start_timestamp: Instant | None = None,
        stop_timestamp: Instant = MAX_TIMESTAMP,
        fire_interval: float = 360.0,
        apply_windowing: bool = False,
        data: Sequence[Any] | None = None,
        rebase: RebaseMode = RebaseMode.REBASE_NONE,
    ) -> None:
        super().__init__()
        begin = start_timestamp if start_timestamp is not None else Timestamp.now()
        start = moment(begin, "PeriodicImpulse start_timestamp")
        stop = moment(stop_timestamp, "PeriodicImpulse stop_timestamp")
        self._interval = length(fire_interval, "PeriodicImpulse fire_interval")
        if self._interval <= 0:
            raise PipelineError(f"fire_interval must be more than 0, got {fire_interval!r}")
        if stop == MAX_TIMESTAMP and data:
            stop = start + len(data) * self._interval
        if stop == MAX_TIMESTAMP:
            raise PipelineError(
                "PeriodicImpulse needs an end here, because nothing sleeps; write "
                "stop_timestamp=..., or read a stream of Spark with FromDataFrame(...)"
            )
        if rebase is not RebaseMode.REBASE_NONE:
            now = Timestamp.now()
            stop = now + (stop - start) if rebase is RebaseMode.REBASE_ALL else stop
            start = now
        span = max(0, stop.micros - start.micros)
        self._count = -(-span // self._interval.micros)
        if self._count > _MOST:
            raise PipelineError(
                f"PeriodicImpulse would happen {self._count} times, and the most is {_MOST}; "
                "write a larger fire_interval=, or an earlier stop_timestamp="
            )
        self._start, self._data = start, data
        rebased = rebase is not RebaseMode.REBASE_NONE
        self._seconds = _Seconds(start if rebased else begin, fire_interval)
        self._windowed = apply_windowing
        if data and _has_times(data) and len(data) < self._count:
            raise PipelineError(
                f"data has {len(data)} elements with times of their own, and {self._count} happen "
                "until stop_timestamp; give more, or an earlier stop_timestamp="
            )

    def expand(self, given: Pipeline) -> PCollection[Any]:
        script = (*self._steps(), AdvanceWatermark(MAX_TIMESTAMP.instant_ms))
        node = ReadNode(given.label, (), script, bounded=False)
        impulses: PCollection[Any] = given.add(
            node, WindowingStrategy.unwindowed(), is_bounded=False
        )
        if not self._windowed:
            return impulses
        return impulses | "ApplyWindowing" >> WindowInto(FixedWindows(self._interval))

    def _steps(self) -> Iterator[ScriptStep]:
        elements = [self._element(number) for number in range(self._count)]
        # All are known: the watermark passes none of those that are still to come.
        times = accumulate((element.timestamp for element in reversed(elements)), min)
        earliest_to_come = [*times][::-1]
        watermark = None
        for number, element in enumerate(elements):
            if number:
                yield AdvanceClock(number * self._interval.micros // 1000)
            if watermark is None or earliest_to_come[number] > watermark:
                watermark = earliest_to_come[number]
                yield AdvanceWatermark(watermark)
            yield Arrive(((None, element),))

    def _element(self, number: int) -> Element:
        when = self._start + number * self._interval
        if self._data is None:
            return Element(self._seconds.of(number, when), when.instant_ms)
        value = self._data[number % len(self._data)]
        if _has_times(self._data):
            return Element(value[1], value[0].instant_ms)
        return Element(value, when.instant_ms)


@attrs.frozen
class _Seconds:
    """Regular times as numbers of seconds, of the type that a start and an interval have."""

    start: Any
    interval: Any

    def of(self, number: int, when: Timestamp) -> float:
        if isinstance(self.start, int | float) and isinstance(self.interval, int | float):
            return self.start + self.interval * number
        return when.micros / _MICROS


def _has_times(data: Sequence[Any]) -> bool:
    return isinstance(data[0], tuple) and isinstance(data[0][0], Timestamp)


class PeriodicSequence(PTransform[PCollection[Any], PCollection[Any]]):
    """For each triple of a start, an end and an interval the times between, as seconds.

    Nothing waits for the times to come.
    """

    def expand(self, given: PCollection[Any]) -> PCollection[Any]:
        return given | "GenSequence" >> ParDo(_Times())


class _Times(DoFn[Any, Any]):
    def process(self, element: Any) -> Iterator[Any]:
        start, stop, interval = element
        begin = moment(start, "PeriodicSequence start")
        end = moment(stop, "PeriodicSequence end")
        step = length(interval, "PeriodicSequence interval")
        if step <= 0 or end == MAX_TIMESTAMP:
            raise PipelineError(
                f"PeriodicSequence needs an end, and an interval of more than 0, got {element!r}"
            )
        for number in range(-(-max(0, end.micros - begin.micros) // step.micros)):
            when = begin + number * step
            yield TimestampedValue(_Seconds(start, interval).of(number, when), when)


class GenerateSequence(PTransform[Pipeline, PCollection[int]]):
    """The whole numbers from one up to another.

    Args:
        start: The first.
        stop: The first after the last.
        elements_per_period: For sequences without an end; refused.
        max_read_time: For such sequences, too; refused.
        expansion_service: Has no effect: there is no Java behind the transform.

    Raises:
        PipelineError: There is no end.
    """

    def __init__(
        self,
        start: int,
        stop: int | None = None,
        elements_per_period: int | None = None,
        max_read_time: int | None = None,
        expansion_service: Any = None,
    ) -> None:
        super().__init__()
        if stop is None or elements_per_period is not None or max_read_time is not None:
            raise PipelineError(
                "GenerateSequence needs an end here; write GenerateSequence(0, stop=100), or read "
                'a stream with FromDataFrame(spark.readStream.format("rate").load(), ...)'
            )
        self._bounds = start, stop

    def expand(self, given: Pipeline) -> PCollection[int]:
        return given | Create([self._bounds]) | FlatMap(_numbers)


def _numbers(bounds: tuple[int, int]) -> Iterable[int]:
    return range(*bounds)
