"""TestStream: what happens to a stage, told step by step, and then run on a host.

Source: Beam Java ``TestStream.Builder``, Scio ``testStreamOf``, and the verbs
``addElementsAtTime`` and friends that mkuthan/stream-processing adds.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import attrs

from beamlike.errors import TestStreamError
from beamlike.hosts.memory import run_in_memory
from beamlike.hosts.script import Arrive, Run, Script, ScriptStep
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, going_back
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CombineFn
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
    show_duration,
)
from beamlike.model.triggers import Trigger
from beamlike.model.windowfns import WindowFn
from beamlike.testing.results import Results
from beamlike.testing.spelling import TimestampedValue, instant_code

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["FinishedTestStream", "TestStream"]

Host = Literal["memory", "spark"]


@attrs.frozen(repr=False)
class TestStream:
    """A stream under construction. Every verb returns a new, longer stream.

    A prefix can be shared by many tests, because nothing ever changes it. The stream has to
    be finished by `advance_watermark_to_infinity` before it can be run.

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

    def add_elements(self, *elements: Any) -> "TestStream":
        """Elements that arrive together, as ONE bundle for each key.

        Args:
            elements: Each a ``(key, value)`` pair, which happens at the stream's current
                watermark (the minimum timestamp at first), or a
                ``TimestampedValue((key, value), "00:01:00")``.

        Raises:
            TestStreamError: No elements, an element that is no pair, a key that cannot be
                hashed, or a timestamp at the end of time.
        """
        return self._arrive(self.watermark, elements)

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

    def _arrive(self, default: int, elements: tuple[Any, ...]) -> "TestStream":
        if not elements:
            raise TestStreamError('no elements to add; write add_elements(("key", "value"))')
        return TestStream((*self.steps, Arrive(tuple(_keyed(e, default) for e in elements))))

    def __repr__(self) -> str:
        return "TestStream()" + _verbs(self.steps)


@attrs.frozen(repr=False)
class FinishedTestStream:
    """A stream that reached the end of time. It cannot be added to, only run."""

    steps: Script

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
            WindowingError: The parts do not go together; the message says what to change.
            UserFunctionError: A function of the window function or of the aggregate raised.
            UnsafeTriggerError: The trigger can finish and lose data.
            TestStreamError: The host is unknown, the aggregate is no combine function, or a
                Spark session was given to the memory host.
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
        run = _run_on(host, strategy, combine, self.steps, failing, spark)
        return Results(run, strategy, combine)

    def __repr__(self) -> str:
        return f"TestStream(){_verbs(self.steps[:-1])}.advance_watermark_to_infinity()"


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


def _keyed(element: Any, default: int) -> tuple[Hashable, Element]:
    timed = isinstance(element, TimestampedValue)
    pair, timestamp = (element.value, element.timestamp) if timed else (element, default)
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TestStreamError(
            f"an element must be a (key, value) pair, got {element!r}; write "
            '("joe", "open app") or TimestampedValue(("joe", "open app"), "00:01:00")'
        )
    key, value = pair
    try:
        hash(key)
    except TypeError:
        raise TestStreamError(
            f"the key of an element must be hashable, got {key!r} in {element!r}; "
            "write a tuple instead of a list"
        ) from None
    if timestamp >= MAX_TIMESTAMP:
        raise TestStreamError(
            f"an element must happen before the end of time, {MAX_TIMESTAMP} ms, "
            f"got {timestamp} ms for {pair!r}"
        )
    return key, Element(value, timestamp)


def _verbs(steps: tuple[ScriptStep, ...]) -> str:
    """The steps as the calls that make them."""
    calls, clock = [], 0
    for step in steps:
        match step:
            case Arrive(elements):
                calls.append(_arrival(elements))
            case AdvanceWatermark(to):
                calls.append(f".advance_watermark_to({instant_code(to)})")
            case AdvanceClock(to):
                calls.append(f'.advance_processing_time("{show_duration(to - clock)}")')
                clock = to
    return "".join(calls)


def _arrival(elements: tuple[tuple[Hashable, Element], ...]) -> str:
    times = {element.timestamp for _, element in elements}
    pairs = [((key, element.value), element.timestamp) for key, element in elements]
    if len(times) > 1:
        parts = [f"TimestampedValue({pair!r}, {instant_code(at)})" for pair, at in pairs]
        return f".add_elements({', '.join(parts)})"
    parts = [instant_code(at) for at in times] + [repr(pair) for pair, _ in pairs]
    return f".add_elements_at_time({', '.join(parts)})"
