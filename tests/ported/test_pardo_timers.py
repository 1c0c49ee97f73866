# ruff: noqa: B008 (that is how parameters ask)
"""Timers, as Beam Java tests them.

Original: ``ParDoTest.TimerTests``, ``TimerFamilyTests`` and ``OnWindowExpirationTests`` of
apache/beam. Where the original looks at values, event times are added. Absolute timers in
processing time are allowed there since 2.40, and here.
"""

from typing import Any

from states.cases import Cases

import beamlike.beam as beam
from beamlike.beam import DoFn, window
from beamlike.beam.coders import StrUtf8Coder, VarIntCoder
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms import userstate
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.utils.timestamp import MIN_TIMESTAMP, Timestamp
from beamlike.model.time import END_OF_GLOBAL_WINDOW

case = Cases()
DISCARDING = beam.AccumulationMode.DISCARDING
END = Timestamp.of_millis(END_OF_GLOBAL_WINDOW)
MS = 0.001


class _Reify(DoFn):
    def process(self, element, at=DoFn.TimestampParam):
        yield element, at


TIMED = beam.ParDo(_Reify())


def stream(*elements: Any) -> TestStream:
    return TestStream().advance_watermark_to(0).add_elements(list(elements))


class AtEndOfWindow(DoFn):
    TIMER = userstate.TimerSpec("foo", TimeDomain.WATERMARK)

    def process(self, element, timer=DoFn.TimerParam(TIMER), window=DoFn.WindowParam):
        timer.set(END if window == beam.window.GlobalWindow() else window.end - MS)
        yield 3

    @userstate.on_timer(TIMER)
    def on_foo(self):
        yield 42


@case
def event_time_timer_bounded(p):
    found = p | beam.Create([("hello", 37)]) | beam.ParDo(AtEndOfWindow()) | TIMED
    assert_that(found, equal_to([(3, MIN_TIMESTAMP), (42, END)]))


@case
def gbk_followed_by_user_timers(p):
    grouped = p | beam.Create([("hello", 37)]) | beam.GroupByKey()
    assert_that(grouped | beam.ParDo(AtEndOfWindow()), equal_to([3, 42]))


class InWindow(DoFn):
    TIMER = userstate.TimerSpec("foo", TimeDomain.WATERMARK)

    def process(self, element, timer=DoFn.TimerParam(TIMER), window=DoFn.WindowParam):
        timer.offset(1).set_relative()
        yield "first", window

    @userstate.on_timer(TIMER)
    def on_foo(self, window=DoFn.WindowParam):
        yield "second", window


@case
def timer_received_in_original_window(p):
    windowed = (
        p
        | beam.Create([("hello", 24)])
        | beam.Map(lambda pair: window.TimestampedValue(pair, 0.01))
        | beam.WindowInto(window.SlidingWindows(0.01, 0.005))
    )
    windows = [window.IntervalWindow(0.005, 0.015), window.IntervalWindow(0.01, 0.02)]
    expected = [(which, each) for each in windows for which in ("first", "second")]
    assert_that(windowed | beam.ParDo(InWindow()), equal_to(expected))


class Looping(DoFn):
    TIMER = userstate.TimerSpec("timer", TimeDomain.WATERMARK)
    COUNT = userstate.ReadModifyWriteStateSpec("count", VarIntCoder())

    def process(self, element, timer=DoFn.TimerParam(TIMER)):
        timer.offset(MS).set_relative()

    @userstate.on_timer(TIMER)
    def on_loop(self, count=DoFn.StateParam(COUNT), timer=DoFn.TimerParam(TIMER)):
        seen = count.read() or 0
        if seen < 5:
            yield seen
            count.write(seen + 1)
            timer.offset(MS).set_relative()


@case
def event_time_timer_loop(p):
    assert_that(p | beam.Create([("hello", 42)]) | beam.ParDo(Looping()), equal_to([0, 1, 2, 3, 4]))


class ManyKeys(DoFn):
    TIMER = userstate.TimerSpec("foo", TimeDomain.WATERMARK)
    NAME = userstate.ReadModifyWriteStateSpec("sizzle", StrUtf8Coder())

    def process(self, element, timer=DoFn.TimerParam(TIMER), name=DoFn.StateParam(NAME)):
        timer.set(END)
        name.write(element[0])
        yield element[0], element[1] + 5000

    @userstate.on_timer(TIMER)
    def on_foo(self, name=DoFn.StateParam(NAME)):
        yield name.read(), 4093


@case
def event_time_timer_multiple_keys(p):
    keys = [str(number) for number in range(50)]
    given = [(key, number) for number in range(15) for key in keys]
    expected = [(key, number + 5000) for key, number in given] + [(key, 4093) for key in keys]
    assert_that(p | beam.Create(given) | beam.ParDo(ManyKeys()), equal_to(expected))


class Relative(DoFn):
    """A timer a second after its clock, of either domain."""

    EVENT = userstate.TimerSpec("event", TimeDomain.WATERMARK)
    REAL = userstate.TimerSpec("real", TimeDomain.REAL_TIME)

    def __init__(self, domain):
        self.domain = domain

    def process(self, element, event=DoFn.TimerParam(EVENT), real=DoFn.TimerParam(REAL)):
        timer = event if self.domain == TimeDomain.WATERMARK else real
        timer.offset(1).set_relative()
        yield element[1]

    @userstate.on_timer(EVENT)
    def on_event(self):
        yield "timer_output"

    @userstate.on_timer(REAL)
    def on_real(self):
        yield "timer_output"


@case
def simple_processing_time_timer(p):
    given = p | stream(("hello", 37)).advance_processing_time(2).advance_watermark_to_infinity()
    found = given | beam.ParDo(Relative(TimeDomain.REAL_TIME)) | TIMED
    # What it brings out happens when the element did.
    assert_that(found, equal_to([(37, Timestamp(0)), ("timer_output", Timestamp(0))]))


@case
def event_time_timer_unbounded(p):
    given = p | stream(("hello", 37)).advance_watermark_to(1).advance_watermark_to_infinity()
    found = given | beam.ParDo(Relative(TimeDomain.WATERMARK)) | TIMED
    assert_that(found, equal_to([(37, Timestamp(0)), ("timer_output", Timestamp(1))]))


def two_inputs() -> TestStream:
    return stream(("key", "input1")).add_elements([("key", "input2")])


@case
def processing_time_timer_can_be_reset(p):
    given = p | two_inputs().advance_processing_time(2).advance_watermark_to_infinity()
    found = given | beam.ParDo(Relative(TimeDomain.REAL_TIME))
    assert_that(found, equal_to(["input1", "input2", "timer_output"]))


@case
def event_time_timer_can_be_reset(p):
    found = p | two_inputs() | beam.ParDo(Relative(TimeDomain.WATERMARK))
    assert_that(found, equal_to(["input1", "input2", "timer_output"]))


class Aligned(DoFn):
    TIMER = userstate.TimerSpec("foo", TimeDomain.WATERMARK)

    def __init__(self, period, offset):
        self.period, self.offset = period, offset

    def process(self, element, timer=DoFn.TimerParam(TIMER), at=DoFn.TimestampParam):
        timer.align(self.period).offset(self.offset).set_relative()
        yield 3, at

    @userstate.on_timer(TIMER)
    def on_foo(self, at=DoFn.TimestampParam):
        yield 42, at


@case
def event_time_timer_align_unbounded(p):
    given = p | (
        TestStream()
        .advance_watermark_to(0.005)
        .add_elements([("hello", 37)])
        .advance_watermark_to(1.001)
        .advance_watermark_to_infinity()
    )
    found = given | beam.ParDo(Aligned(1, MS))
    assert_that(found, equal_to([(3, Timestamp(0.005)), (42, Timestamp(0.999))]))


@case
def event_time_timer_align_after_gc_time_unbounded(p):
    given = p | TestStream().advance_watermark_to(END).add_elements([("hello", 37)])
    assert_that(given | beam.ParDo(Aligned(86_400, 0)), equal_to([(3, END), (42, END)]))


class Ordered(DoFn):
    """Each element sets a timer that says what has been seen."""

    TIMER = userstate.TimerSpec("timer", TimeDomain.WATERMARK)
    BAG = userstate.BagStateSpec("bag", StrUtf8Coder())

    def process(
        self,
        element,
        at=DoFn.TimestampParam,
        bag=DoFn.StateParam(BAG),
        timer=DoFn.TimerParam(TIMER),
    ):
        bag.add(f"{element[1]}")
        timer.set(at + 1, dynamic_timer_tag=str(element[1]))

    @userstate.on_timer(TIMER)
    def on_fired(self, tag=DoFn.DynamicTimerTagParam, bag=DoFn.StateParam(BAG)):
        bag.add(f"timer {tag}")
        yield " ".join(bag.read())


@case
def event_time_timer_ordering(p):
    pairs = [window.TimestampedValue(("k", number), number) for number in (3, 1, 2)]
    found = p | stream(*pairs).advance_watermark_to_infinity() | beam.ParDo(Ordered())
    assert_that(
        found, equal_to(["3 1 2 timer 1", "3 1 2 timer 1 timer 2", "3 1 2 timer 1 timer 2 timer 3"])
    )


class EachOther(DoFn):
    """Two timers that set each other."""

    FIRST = userstate.TimerSpec("timer1", TimeDomain.WATERMARK)
    SECOND = userstate.TimerSpec("timer2", TimeDomain.WATERMARK)

    def process(self, element, first=DoFn.TimerParam(FIRST), second=DoFn.TimerParam(SECOND)):
        first.set(1)
        second.set(2)

    @userstate.on_timer(FIRST)
    def on_first(self, at=DoFn.TimestampParam, second=DoFn.TimerParam(SECOND)):
        if at < 5:
            second.set(at + 1)
        yield f"t1:{int(at)}"

    @userstate.on_timer(SECOND)
    def on_second(self, at=DoFn.TimestampParam, first=DoFn.TimerParam(FIRST)):
        if at < 5:
            first.set(at + 1)
        yield f"t2:{int(at)}"


@case
def two_timers_setting_each_other(p):
    found = p | stream(("k", 0)).advance_watermark_to(100) | beam.ParDo(EachOther())
    assert_that(found, equal_to(["t1:1", "t2:2", "t1:3", "t2:4", "t1:5"]))


test_ported, test_all_of_them_on_spark = case.tests(apart="processing_time_timer_can_be_reset")
