"""TestStream: what happens to a stage or a pipeline, step by step.

Source: Beam Java ``TestStream.Builder``, Scio ``testStreamOf``, and the verbs
``addElementsAtTime`` and friends that mkuthan/stream-processing adds.
"""

from typing import Any, ClassVar, Never, NoReturn

import attrs

from beamlike.api.pipelines.dofn import Timestamped
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import TestStreamError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, refuse_going_back
from beamlike.model.time import (
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    DurationLike,
    InstantLike,
    duration_ms,
    instant_ms,
)
from beamlike.runtime.script import Arrive, Script, ScriptStep
from beamlike.testing.spelling import duration_refused, instant_refused, said_otherwise, script_code
from beamlike.testing.streams.finished import FinishedTestStream


@attrs.frozen(repr=False)
class TestStream(PTransform[Pipeline, PCollection[Any]]):
    """A stream under construction. Every verb returns a new, longer stream.

    A prefix can be shared by many tests, because nothing ever changes it. The stream has to
    be finished by `advance_watermark_to_infinity` before it can be run, or feed a pipeline.

    A number that is a time or a duration counts milliseconds. Beam Python counts seconds, so a
    pipeline in its words refuses a stream with a bare number other than 0; one in Scio's takes it.

    Elements are of any kind where it feeds a pipeline, and ``(key, value)`` pairs where it is
    run by itself. ``steps`` has whole elements; the keys there mean nothing.

    >>> TestStream().add_elements_at_time("00:01:00", ("joe", "open app"))
    TestStream().add_elements_at_time("00:01:00", ('joe', 'open app'))
    """

    __test__: ClassVar[bool] = False  # the name starts with Test, but pytest must not collect it

    steps: Script = ()
    without_unit: str = attrs.field(default="", eq=False)
    """Why no pipeline of Beam's can take this: the first bare number in it; "" if there is none."""
    watermark: int = attrs.field(default=MIN_TIMESTAMP, init=False)
    clock: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        for step in self.steps:
            if isinstance(step, AdvanceWatermark):
                object.__setattr__(self, "watermark", step.to)
            elif isinstance(step, AdvanceClock):
                object.__setattr__(self, "clock", step.to)

    def add_elements(self, *elements: Any, **unknown: Never) -> "TestStream":
        """Elements that arrive together, as ONE bundle for each key.

        Args:
            elements: Each happens at the stream's current watermark (the minimum timestamp at
                first), if it is no ``TimestampedValue(element, "00:01:00")``.

        Raises:
            TestStreamError: No elements, a timestamp at the end of time, or an argument of Beam
                Python's that is not here.
        """
        for name in unknown:
            raise TestStreamError(said_otherwise(name, unknown[name], elements))
        return self._arrive(self.watermark, elements)

    def add_elements_at_watermark_time(self, *elements: Any) -> "TestStream":
        """Elements that happen at the stream's current watermark, like `add_elements`."""
        return self._arrive(self.watermark, elements)

    def add_elements_at_minimum_time(self, *elements: Any) -> "TestStream":
        """Elements that happen at the minimum timestamp, wherever the watermark stands.

        Raises:
            TestStreamError: As `add_elements`.
        """
        return self._arrive(MIN_TIMESTAMP, elements)

    def add_elements_at_time(self, time: InstantLike, *elements: Any) -> "TestStream":
        """Elements that all happen at ``time`` and arrive together, as ONE bundle for each key.

        The time may lie behind the watermark: that is how late data is made.

        Raises:
            TestStreamError: As `add_elements`.
            TimeError: The time cannot be read.
        """
        argument = "add_elements_at_time time"
        return self._arrive(instant_ms(time, argument), elements, instant_refused(time, argument))

    def advance_watermark_to(self, instant: InstantLike) -> "TestStream":
        """The input watermark becomes ``instant``. It may stand still, never go back.

        Raises:
            TestStreamError: The watermark would go back, or reach the end of time.
            TimeError: The instant cannot be read.
        """
        to = instant_ms(instant, "advance_watermark_to instant")
        move = AdvanceWatermark(to)
        refuse_going_back(move, self.watermark, error=TestStreamError)
        if to >= MAX_TIMESTAMP:
            raise TestStreamError(
                f"the watermark must stay before the end of time, {MAX_TIMESTAMP} ms, asked for "
                f"{to} ms; write advance_watermark_to_infinity()"
            )
        return self._and(move, refusal=instant_refused(instant, "advance_watermark_to instant"))

    def advance_processing_time(self, duration: DurationLike) -> "TestStream":
        """The clock moves on by ``duration``, more than 0. It stands at 0 at first.

        Raises:
            TestStreamError: The duration is 0.
            TimeError: The duration cannot be read, or is negative.
        """
        by = duration_ms(duration, "advance_processing_time duration")
        if by == 0:
            raise TestStreamError(
                f"advance_processing_time must move the clock by more than 0 ms, got {duration!r}"
            )
        without_unit = duration_refused(duration, "advance_processing_time duration")
        return self._and(AdvanceClock(self.clock + by), refusal=without_unit)

    def at_processing_time(self, instant: InstantLike) -> "TestStream":
        """What follows happens when the clock reads ``instant``. It may stand still, never go back.

        The clock stands at 00:00:00 at first, so that it can be read as a time of day.

        Raises:
            TestStreamError: The clock would go back.
            TimeError: The instant cannot be read.

        >>> TestStream().at_processing_time("00:05:19").clock
        319000
        """
        to = instant_ms(instant, "at_processing_time instant")
        move = AdvanceClock(to)
        refuse_going_back(move, self.clock, error=TestStreamError)
        moves = [] if to == self.clock else [move]
        return self._and(*moves, refusal=instant_refused(instant, "at_processing_time instant"))

    def advance_watermark_to_infinity(self) -> FinishedTestStream:
        """Everything has been seen: every window comes to its end, and the stream to its."""
        return FinishedTestStream((*self.steps, AdvanceWatermark(MAX_TIMESTAMP)), self.without_unit)

    def run(self, *_args: object, **_options: object) -> NoReturn:
        """Not yet.

        Raises:
            TestStreamError: Always. Only a finished stream can be run.
        """
        raise TestStreamError(
            "this stream is still open, and windows that are open would never come out; finish "
            "it with advance_watermark_to_infinity(), then run it"
        )

    def expand(self, pipeline: Pipeline) -> PCollection[Any]:
        """Not yet.

        Raises:
            TestStreamError: Always. Only a finished stream can feed a pipeline.
        """
        raise _open_yet(pipeline.label)

    def __rrshift__(self, label: str) -> NoReturn:
        """Not yet."""
        raise _open_yet(label)

    def _arrive(self, default: int, elements: tuple[Any, ...], refusal: str = "") -> "TestStream":
        if not elements:
            raise TestStreamError('no elements to add; write add_elements(("key", "value"))')
        if len(elements) == 1 and isinstance(elements[0], list):
            raise TestStreamError(
                f"elements are given one by one, got one list {elements[0]!r}; write "
                "add_elements(*elements), or, if the list is an element, "
                'add_elements(TimestampedValue([...], "00:01:00"))'
            )
        timed = tuple((None, _timed(element, default)) for element in elements)
        return self._and(Arrive(timed), refusal=refusal)

    def _and(self, *steps: ScriptStep, refusal: str) -> "TestStream":
        return TestStream((*self.steps, *steps), self.without_unit or refusal)

    def __repr__(self) -> str:
        return "TestStream()" + script_code(self.steps)


def _open_yet(label: str) -> TestStreamError:
    return TestStreamError(
        f"{label!r} is still open, and windows that are open would never come out; finish it with "
        "advance_watermark_to_infinity()"
    )


def _timed(item: Any, default: int) -> Element:
    timed = isinstance(item, Timestamped)
    value, timestamp = (item.value, item.millis) if timed else (item, default)
    if timestamp >= MAX_TIMESTAMP:
        raise TestStreamError(
            f"an element must happen before the end of time, {MAX_TIMESTAMP} ms, "
            f"got {timestamp} ms for {value!r}"
        )
    return Element(value, timestamp)


test_stream_of = TestStream
"""Scio's name for it: ``sc.test_stream(test_stream_of().add_elements("a")...)``."""
