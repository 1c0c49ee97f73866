# ruff: noqa: B008 (that is how parameters ask)
"""Timers that say when what they bring out happens, families of timers, the end of windows.

Original: ``ParDoTest.TimerTests``, ``TimerFamilyTests`` and ``OnWindowExpirationTests`` of
apache/beam.
"""

from typing import Any

import pytest
from states.cases import Cases
from test_pardo_timers import DISCARDING, END, TIMED, stream

import beamlike.beam as beam
from beamlike.beam import DoFn, window
from beamlike.beam.coders import VarIntCoder
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.userstate import (
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
    on_window_expiration,
)
from beamlike.beam.utils.timestamp import Timestamp
from beamlike.errors import TransformError

case = Cases()


class OutputAt(DoFn):
    EVENT = TimerSpec("event", TimeDomain.WATERMARK)
    REAL = TimerSpec("real", TimeDomain.REAL_TIME)

    def process(self, element, event=DoFn.TimerParam(EVENT), real=DoFn.TimerParam(REAL)):
        event.set(10, output_timestamp=5)
        real.with_output_timestamp(3).offset(1).set_relative()

    @on_timer(EVENT)
    def on_event(self, at=DoFn.TimestampParam, fired=DoFn.FireTimestampParam):
        yield "event", at, fired

    @on_timer(REAL)
    def on_real(self, at=DoFn.TimestampParam, fired=DoFn.FireTimestampParam):
        yield "real", at, fired


@case
def output_timestamp(p):
    given = p | stream(("k", 0)).advance_processing_time(2).advance_watermark_to(11)
    found = given | beam.ParDo(OutputAt()) | TIMED
    expected = [("real", Timestamp(3), Timestamp(1)), ("event", Timestamp(5), Timestamp(10))]
    assert_that(found, equal_to([(it, it[1]) for it in expected]))


class SetAndCleared(DoFn):
    EVENT = TimerSpec("event", TimeDomain.WATERMARK)
    REAL = TimerSpec("real", TimeDomain.REAL_TIME)

    def process(self, element, event=DoFn.TimerParam(EVENT), real=DoFn.TimerParam(REAL)):
        for timer in (event, real):
            timer.clear()  # which is not set
            timer.offset(1).set_relative()
            if element[1] != "kept":
                timer.clear()
        yield element[1]

    @on_timer(EVENT)
    def on_event(self, key=DoFn.KeyParam):
        yield f"{key} event"

    @on_timer(REAL)
    def on_real(self, key=DoFn.KeyParam):
        yield f"{key} real"


@case
def set_and_clear_timers(p):
    given = stream(("a", "cleared"), ("b", "kept")).add_elements([("c", "kept")])
    given = given.add_elements([("c", "cleared")])  # cleared in another bundle than set
    given = given.advance_processing_time(2).advance_watermark_to(5)
    expected = ["cleared", "kept", "kept", "cleared", "b event", "b real"]
    assert_that(p | given | beam.ParDo(SetAndCleared()), equal_to(expected))


class NoOutputTimestamp(DoFn):
    TIMER = TimerSpec("timer", TimeDomain.WATERMARK)

    def process(self, element, timer=DoFn.TimerParam(TIMER)):
        timer.with_no_output_timestamp().set(10)
        yield element

    @on_timer(TIMER)
    def on_timer(self, at=DoFn.FireTimestampParam):
        assert at == 10
        return ()


@case
def no_output_timestamp_holds_nothing(p):
    """A grouping behind it is on time while the timer waits."""
    advance_watermark = stream(("k", 1)).advance_watermark_to(5).advance_watermark_to(20)
    counted = (
        p
        | advance_watermark
        | beam.WindowInto(window.FixedWindows(4), allowed_lateness=30, accumulation_mode=DISCARDING)
        | beam.ParDo(NoOutputTimestampInWindow())
        | beam.CombinePerKey(sum)
        | TIMED
    )
    assert_that(counted, equal_to([(("k", 1), Timestamp(3.999))]))


class NoOutputTimestampInWindow(NoOutputTimestamp):
    allowed_timestamp_skew = 100


# -- TimerFamilyTests ------------------------------------------------------------------------------


class Family(DoFn):
    EVENT = TimerSpec("event", TimeDomain.WATERMARK)
    REAL = TimerSpec("real", TimeDomain.REAL_TIME)

    def process(self, element, event=DoFn.TimerParam(EVENT), real=DoFn.TimerParam(REAL)):
        event.set(1, dynamic_timer_tag="timer1")
        event.set(2, dynamic_timer_tag="timer2")
        event.set(3, dynamic_timer_tag="timer3")
        event.clear(dynamic_timer_tag="timer3")
        real.offset(1).set_relative("timer1")
        yield "process"

    @on_timer(EVENT)
    def on_event(self, tag=DoFn.DynamicTimerTagParam, at=DoFn.TimestampParam):
        yield f"event {tag} {int(at)}"

    @on_timer(REAL)
    def on_real(self, tag=DoFn.DynamicTimerTagParam):
        yield f"real {tag}"


@case
def timer_families(p):
    given = p | stream(("k", 0)).advance_processing_time(2).advance_watermark_to(10)
    expected = ["process", "real timer1", "event timer1 1", "event timer2 2"]
    assert_that(given | beam.ParDo(Family()), equal_to(expected))


# -- OnWindowExpirationTests -----------------------------------------------------------------------


class Expiring(DoFn):
    COUNT = ReadModifyWriteStateSpec("count", VarIntCoder())

    def process(self, element, count=DoFn.StateParam(COUNT)):
        count.write((count.read() or 0) + element[1])

    @on_window_expiration
    def on_expiration(self, key=DoFn.KeyParam, count=DoFn.StateParam(COUNT)):
        yield key, count.read()


@case
def on_window_expiration_simple_bounded(p):
    found = p | beam.Create([("hello", 7), ("hello", 10)]) | beam.ParDo(Expiring()) | TIMED
    assert_that(found, equal_to([(("hello", 17), END)]))


@case
def on_window_expiration_simple_unbounded(p):
    advance_watermark = (
        stream(("hello", 7), ("hi", 1)).add_elements([("hello", 10)]).advance_watermark_to(20)
    )
    windowed = (
        p
        | advance_watermark
        | beam.WindowInto(window.FixedWindows(10), allowed_lateness=5, accumulation_mode=DISCARDING)
    )
    found = windowed | beam.ParDo(Expiring()) | TIMED
    timestamp = Timestamp(9.999)
    assert_that(found, equal_to([(("hello", 17), timestamp), (("hi", 1), timestamp)]))


# -- what is refused -------------------------------------------------------------------------------


class OutOfBounds(DoFn):
    TIMER = TimerSpec("foo", TimeDomain.WATERMARK)
    REAL = TimerSpec("bar", TimeDomain.REAL_TIME)

    def __init__(self, how):
        self.how = how

    def process(self, element, event=DoFn.TimerParam(TIMER), real=DoFn.TimerParam(REAL)):
        if self.how == "target":
            event.set(10.001)
        elif self.how == "hold":
            event.set(9, output_timestamp=10)
        elif self.how == "past":
            event.set(9, output_timestamp=-1)
        else:
            real.set(1, output_timestamp=10)

    @on_timer(TIMER)
    def on_foo(self):
        return ()

    @on_timer(REAL)
    def on_bar(self):
        return ()


REFUSALS = {
    "target": "set an event-time timer 'foo' with a firing timestamp of 00:00:10.001 that is after",
    "hold": "set an event-time timer 'foo' with an output timestamp of 00:00:10 that is after",
    "past": "Cannot output timer 'foo' with output timestamp 1969-12-31 23:59:59",
    "real": "set a processing-time timer 'bar' with an output timestamp of 00:00:10 that is after",
}


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize("how", REFUSALS)
def test_out_of_bounds_timers(how: str, host: Any) -> None:
    pipeline = beam.Pipeline()
    windowed = pipeline | stream(("k", 0)) | beam.WindowInto(window.FixedWindows(10))
    windowed | "Bounds" >> beam.ParDo(OutOfBounds(how))
    with pytest.raises(TransformError) as refused:
        pipeline.run(host=host)
    problem, place = REFUSALS[how], "the element ('k', 0) at 00:00:00 (0 ms), window"
    assert problem in refused.value.problem
    assert refused.value.place == f"{place} [00:00:00, 00:00:10), key 'k'"


test_ported, test_all_of_them_on_spark = case.tests(apart="set_and_clear_timers")
