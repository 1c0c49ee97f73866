"""TestStream: what happens to a stage or a pipeline, told step by step, and then run.

Source: Beam Java ``TestStream.Builder``, Scio ``testStreamOf``, and the verbs
``addElementsAtTime`` and friends that mkuthan/stream-processing adds.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Never, NoReturn

import attrs

from beamlike.api.pipelines.collection import PCollection
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import TestStreamError
from beamlike.hosts.memory import run_in_memory
from beamlike.hosts.script import Arrive, Run, Script, ScriptStep
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, going_back
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.graph import Given
from beamlike.model.naming import by_name
from beamlike.model.options import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
    OnTimeBehavior,
    TimestampCombiner,
    Unchanged,
    option,
)
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import (
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    DurationLike,
    InstantLike,
    duration_ms,
    instant_ms,
)
from beamlike.model.triggers import Trigger
from beamlike.model.windowfns import WindowFn
from beamlike.testing.groupings import Asserted, ran_by_itself
from beamlike.testing.results import Results
from beamlike.testing.spelling import TimestampedValue, said_otherwise, script_code

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["FinishedTestStream", "TestStream", "test_stream_of"]

Host = Literal["memory", "spark"]


@attrs.frozen(repr=False)
class TestStream(PTransform[Pipeline, PCollection[Any]]):
    """A stream under construction. Every verb returns a new, longer stream.

    A prefix can be shared by many tests, because nothing ever changes it. The stream has to
    be finished by `advance_watermark_to_infinity` before it can be run, or feed a pipeline.

    Elements are of any kind where it feeds a pipeline, and ``(key, value)`` pairs where it is
    run by itself. ``steps`` has whole elements; the keys there mean nothing.

    >>> TestStream().add_elements_at_time("00:01:00", ("joe", "open app"))
    TestStream().add_elements_at_time("00:01:00", ('joe', 'open app'))
    """

    __test__: ClassVar[bool] = False  # the name starts with Test, but pytest must not collect it

    steps: Script = ()
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
        return self._arrive(instant_ms(time, "add_elements_at_time time"), elements)

    def advance_watermark_to(self, instant: InstantLike) -> "TestStream":
        """The input watermark becomes ``instant``. It may stand still, never go back.

        Raises:
            TestStreamError: The watermark would go back, or reach the end of time.
            TimeError: The instant cannot be read.
        """
        to = instant_ms(instant, "advance_watermark_to instant")
        move = AdvanceWatermark(to)
        refusal = going_back(move, self.watermark)
        if refusal is not None:
            raise TestStreamError(refusal)
        if to >= MAX_TIMESTAMP:
            raise TestStreamError(
                f"the watermark must stay before the end of time, {MAX_TIMESTAMP} ms, asked for "
                f"{to} ms; write advance_watermark_to_infinity()"
            )
        return TestStream((*self.steps, move))

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
        return TestStream((*self.steps, AdvanceClock(self.clock + by)))

    def advance_watermark_to_infinity(self) -> "FinishedTestStream":
        """Everything has been seen: every window comes to its end, and the stream to its."""
        return FinishedTestStream((*self.steps, AdvanceWatermark(MAX_TIMESTAMP)))

    def run(self, *_args: object, **_options: object) -> NoReturn:
        """Not yet.

        Raises:
            TestStreamError: Always. Only a finished stream can be run.
        """
        raise TestStreamError(
            "this stream is still open, and windows that are open would never come out; finish "
            "it with advance_watermark_to_infinity(), then run it"
        )

    def expand(self, given: Pipeline) -> PCollection[Any]:
        """Not yet.

        Raises:
            TestStreamError: Always. Only a finished stream can feed a pipeline.
        """
        raise _open_yet(given.label)

    def __rrshift__(self, label: str) -> NoReturn:
        """Not yet.

        Raises:
            TestStreamError: As `expand`.
        """
        raise _open_yet(label)

    def _arrive(self, default: int, elements: tuple[Any, ...]) -> "TestStream":
        if not elements:
            raise TestStreamError('no elements to add; write add_elements(("key", "value"))')
        if len(elements) == 1 and isinstance(elements[0], list):
            raise TestStreamError(
                f"elements are given one by one, got one list {elements[0]!r}; write "
                "add_elements(*elements), or, if the list is an element, "
                'add_elements(TimestampedValue([...], "00:01:00"))'
            )
        timed = tuple((None, _timed(element, default)) for element in elements)
        return TestStream((*self.steps, Arrive(timed)))

    def __repr__(self) -> str:
        return "TestStream()" + script_code(self.steps)


def _open_yet(label: str) -> TestStreamError:
    return TestStreamError(
        f"{label!r} is still open, and windows that are open would never come out; finish it with "
        "advance_watermark_to_infinity()"
    )


test_stream_of = TestStream
"""Scio's name for it: ``sc.test_stream(test_stream_of().add_elements("a")...)``."""


class _Played(PTransform[Pipeline, PCollection[Any]]):
    """The source of a pipeline that plays a script."""

    def __init__(self, steps: Script) -> None:
        self.steps = steps

    @property
    def default_label(self) -> str:
        return "TestStream"

    def expand(self, given: Pipeline) -> PCollection[Any]:
        node = Given(given.label, (), self.steps, bounded=False)
        return given.add(node, WindowingStrategy.unwindowed(), is_bounded=False)


@attrs.frozen(repr=False)
class FinishedTestStream(PTransform[Pipeline, PCollection[Any]]):
    """A stream that reached the end of time. It cannot be added to, only run.

    ``pipeline | stream`` and ``pipeline | "name" >> stream`` make it a source of a pipeline.
    Of several streams each has a watermark of its own, and they take turns, a step each.
    """

    steps: Script

    @by_name("run", TestStreamError, window="window=FixedWindows(...)")
    def run(
        self,
        *,
        window: WindowFn,
        trigger: Trigger | None = None,
        accumulation: AccumulationMode | str | None = None,
        allowed_lateness: DurationLike | None = None,
        timestamp_combiner: TimestampCombiner | str = TimestampCombiner.END_OF_WINDOW,
        closing_behavior: ClosingBehavior | str = ClosingBehavior.FIRE_IF_NON_EMPTY,
        on_time_behavior: OnTimeBehavior | str = OnTimeBehavior.FIRE_ALWAYS,
        late_check: LateCheck | str = LateCheck.ASSIGNED,
        unchanged: Unchanged | str = Unchanged.RE_EMIT,
        on_error: OnFailure | str = OnFailure.FAIL,
        aggregate: CombineFn | None = None,
        host: Host = "memory",
        spark: "SparkSession | None" = None,
        allow_unsafe_trigger: bool = False,
    ) -> Results:
        """Group the stream by key and window, and keep everything that comes out.

        Processing time is the stream's own; no clock of the computer has a say.

        Args:
            window: How elements are assigned to windows.
            trigger: When panes are emitted; None is the default trigger.
            accumulation: Whether a pane holds what is new or everything so far. Must be said
                where a window may emit several panes.
            allowed_lateness: How far the watermark may pass the end of a window before data
                for it is dropped. Must be said with a trigger outside the global window.
            timestamp_combiner: Which event time a pane is stamped with.
            closing_behavior: Whether an empty last pane is emitted.
            on_time_behavior: Whether an empty on-time pane is emitted.
            late_check: What decides that an element is too late; Beam's way by default.
            unchanged: Whether a pane with an unchanged value comes out again, where panes are
                withdrawn.
            on_error: What to do when a function of the window function or of the aggregate
                raises: ``"fail"``, or ``"drop"`` what it raised for.
            aggregate: How a pane's elements become its value; `Collect` by default.
            host: ``"memory"``, in this process, or ``"spark"``, a real streaming query.
            spark: The session for host ``"spark"``; None takes the active one or starts one.
            allow_unsafe_trigger: Take the strategy as it is, without the checks that a
                pipeline makes: triggers that finish and lose data among them.

        Raises:
            TestStreamError: An element is no (key, value) pair, or its key cannot be hashed.
            WindowingError: The parts do not go together; the message says what to change.
            UserFunctionError: A function of the window function or of the aggregate raised.
            UnsafeTriggerError: The trigger can finish and lose data.
            TestStreamError: An argument is not known or not given by name, the host is unknown,
                the aggregate is no combine function, or a Spark session was given to the memory
                host.
        """
        combine = Collect() if aggregate is None else aggregate
        if not isinstance(combine, CombineFn):
            hint = f"; write {combine.__name__}()" if isinstance(combine, type) else ""
            raise TestStreamError(
                "aggregate must be a combine function such as Count() of beamlike.model.combine, "
                f"got {combine!r}{hint}"
            )
        if allow_unsafe_trigger:
            strategy = WindowingStrategy(
                window,
                trigger,
                AccumulationMode.DISCARDING if accumulation is None else accumulation,
                0 if allowed_lateness is None else allowed_lateness,
                timestamp_combiner,
                closing_behavior,
                on_time_behavior,
                late_check,
                unchanged,
            )
        else:
            strategy = WindowingStrategy.declared(
                window,
                trigger=trigger,
                accumulation=accumulation,
                allowed_lateness=allowed_lateness,
                timestamp_combiner=timestamp_combiner,
                closing_behavior=closing_behavior,
                on_time_behavior=on_time_behavior,
                late_check=late_check,
                unchanged=unchanged,
                unbounded=True,
            )
        failing = option(OnFailure, on_error, "on_error")
        script = tuple(_keyed(step) for step in self.steps)
        run = _run_on(host, strategy, combine, script, failing, spark)
        ran_by_itself(Asserted("", run, strategy, combine))
        return Results(run, strategy, combine)

    @property
    def default_label(self) -> str:
        return "TestStream"

    def expand(self, given: Pipeline) -> PCollection[Any]:
        """The source of a pipeline that plays this stream."""
        return _Played(self.steps).expand(given)

    def __rrshift__(self, label: str) -> PTransform[Pipeline, PCollection[Any]]:  # type: ignore[override]
        """A source of a pipeline under a name: ``"name" >> stream``."""
        return label >> _Played(self.steps)

    def __repr__(self) -> str:
        return f"TestStream(){script_code(self.steps[:-1])}.advance_watermark_to_infinity()"


def _run_on(
    host: Host,
    strategy: WindowingStrategy,
    combine: CombineFn,
    script: Script,
    on_error: OnFailure,
    spark: "SparkSession | None",
) -> Run:
    if host == "memory":
        if spark is not None:
            raise TestStreamError(
                'a Spark session was given, but the host is "memory"; add host="spark"'
            )
        return run_in_memory(Grouping(strategy, combine, on_error), script)
    if host == "spark":
        from beamlike.hosts.spark.replay import run_on_spark

        return run_on_spark(strategy, combine, script, spark, on_error=on_error)
    raise TestStreamError(f'host must be "memory" or "spark", got {host!r}')


def _timed(given: Any, default: int) -> Element:
    timed = isinstance(given, TimestampedValue)
    value, timestamp = (given.value, given.timestamp) if timed else (given, default)
    if timestamp >= MAX_TIMESTAMP:
        raise TestStreamError(
            f"an element must happen before the end of time, {MAX_TIMESTAMP} ms, "
            f"got {timestamp} ms for {value!r}"
        )
    return Element(value, timestamp)


def _keyed(step: ScriptStep) -> ScriptStep:
    """A step whose elements are grouped by their keys."""
    if not isinstance(step, Arrive):
        return step
    return Arrive(tuple(_pair(element) for _, element in step.elements))


def _pair(element: Element) -> tuple[Hashable, Element]:
    pair = element.value
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TestStreamError(
            f"a stream that is run by itself has (key, value) pairs, got {pair!r}; write "
            '("joe", "open app") or TimestampedValue(("joe", "open app"), "00:01:00"), or give '
            "the stream to a pipeline"
        )
    key, value = pair
    try:
        hash(key)
    except TypeError:
        raise TestStreamError(
            f"the key of an element must be hashable, got {key!r} in {pair!r}; "
            "write a tuple instead of a list"
        ) from None
    return key, Element(value, element.timestamp)
