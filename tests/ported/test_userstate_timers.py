# ruff: noqa: B008 (that is how parameters ask)
"""The second half of `test_userstate`: timers, combining states and a join by hand.

Original: ``transforms/userstate_test.py`` of apache/beam at 002a370.
"""

from typing import Any

import pytest
from states.cases import Cases
from test_userstate import TWICE, keyed
from test_userstate import case as first_half

import beamlike.beam as beam
from beamlike.beam import DoFn, window
from beamlike.beam.coders import BytesCoder, IterableCoder, VarIntCoder
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms.combiners import CountCombineFn, ToListCombineFn
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.userstate import (
    BagStateSpec,
    CombiningValueStateSpec,
    TimerSpec,
    on_timer,
)

case = Cases()
case.builds.update(first_half.builds)


class GenerateRecords(DoFn):
    EMIT_TIMER = TimerSpec("emit_timer", TimeDomain.REAL_TIME)
    COUNT_STATE = CombiningValueStateSpec("count_state", VarIntCoder(), CountCombineFn())

    def __init__(self, frequency, total_records):
        self.total_records = total_records
        self.frequency = frequency

    def process(self, element, emit_timer=DoFn.TimerParam(EMIT_TIMER)):
        # Processing time timers should be set on ABSOLUTE TIME.
        emit_timer.set(self.frequency)
        yield element[1]

    @on_timer(EMIT_TIMER)
    def emit_values(
        self, emit_timer=DoFn.TimerParam(EMIT_TIMER), count_state=DoFn.StateParam(COUNT_STATE)
    ):
        count = count_state.read() or 0
        if self.total_records == count:
            return
        count_state.add(1)
        emit_timer.set(count + 1 + self.frequency)
        yield "value"


@case
def generate_sequence_with_realtime_timer(p):
    stream = TestStream().advance_watermark_to(0).add_elements([("key", 0)])
    for number in (1, 2, 3):
        stream = stream.advance_processing_time(1.001).add_elements([("key", number)])
    found = p | stream | beam.ParDo(GenerateRecords(1, 3))
    assert_that(found, equal_to([0, "value", 1, "value", 2, "value", 3]))


class CombiningFn(DoFn):
    BUFFER_STATE = CombiningValueStateSpec(
        "buffer", IterableCoder(VarIntCoder()), ToListCombineFn()
    )
    EXPIRY_TIMER = TimerSpec("expiry1", TimeDomain.WATERMARK)

    def process(
        self, element, buffer=DoFn.StateParam(BUFFER_STATE), timer1=DoFn.TimerParam(EXPIRY_TIMER)
    ):
        buffer.add(element[1])
        timer1.set(20)

    @on_timer(EXPIRY_TIMER)
    def expiry_callback(
        self, buffer=DoFn.StateParam(BUFFER_STATE), timer=DoFn.TimerParam(EXPIRY_TIMER)
    ):
        yield "".join(str(x) for x in sorted(buffer.read()))


@case
def simple_stateful_dofn_combining(p):
    found = p | TWICE | beam.Map(keyed) | beam.ParDo(CombiningFn())
    assert_that(found, equal_to(["123", "1234"]))


class ThreeTimersFn(DoFn):
    EMIT_TIMER_1 = TimerSpec("emit1", TimeDomain.WATERMARK)
    EMIT_TIMER_2 = TimerSpec("emit2", TimeDomain.WATERMARK)
    EMIT_TIMER_3 = TimerSpec("emit3", TimeDomain.WATERMARK)

    def process(
        self,
        element,
        timer1=DoFn.TimerParam(EMIT_TIMER_1),
        timer2=DoFn.TimerParam(EMIT_TIMER_2),
        timer3=DoFn.TimerParam(EMIT_TIMER_3),
    ):
        timer1.set(10)
        timer2.set(20)
        timer3.set(30)

    @on_timer(EMIT_TIMER_1)
    def emit_callback_1(self):
        yield "timer1"

    @on_timer(EMIT_TIMER_2)
    def emit_callback_2(self):
        yield "timer2"

    @on_timer(EMIT_TIMER_3)
    def emit_callback_3(self):
        yield "timer3"


class TimestampReifyingDoFn(DoFn):
    def process(self, element, ts=DoFn.TimestampParam):
        yield (element, int(ts))


AT_10 = TestStream().advance_watermark_to(10).add_elements([1])


@case
def timer_output_timestamp(p):
    fired = p | AT_10 | beam.Map(keyed) | beam.ParDo(ThreeTimersFn())
    found = fired | beam.ParDo(TimestampReifyingDoFn())
    assert_that(found, equal_to([("timer1", 10), ("timer2", 20), ("timer3", 30)]))


class WindowedTimerFn(DoFn):
    EMIT_TIMER_1 = TimerSpec("emit1", TimeDomain.WATERMARK)

    def process(self, element, timer1=DoFn.TimerParam(EMIT_TIMER_1)):
        timer1.set(10)

    @on_timer(EMIT_TIMER_1)
    def emit_callback_1(self, window=DoFn.WindowParam, ts=DoFn.TimestampParam, key=DoFn.KeyParam):
        yield (f"timer1-{key}", int(ts), int(window.start), int(window.end))


@case
def timer_output_timestamp_and_window(p):
    windowed = (
        p
        | AT_10
        | beam.Map(keyed)
        | "window_into"
        >> beam.WindowInto(
            window.FixedWindows(5), accumulation_mode=beam.AccumulationMode.DISCARDING
        )
    )
    found = windowed | beam.ParDo(WindowedTimerFn())
    assert_that(found, equal_to([("timer1-mykey", 10, 10, 15)]))


class IndexAssigningStatefulDoFn(DoFn):
    INDEX_STATE = CombiningValueStateSpec("index", sum)

    def process(self, element, state=DoFn.StateParam(INDEX_STATE)):
        yield (element[1], state.read())
        state.add(1)


@case
def index_assignment(p):
    stream = TestStream().advance_watermark_to(10).add_elements(["A"]).add_elements(["B"])
    stream = stream.add_elements(["C"]).advance_watermark_to(25).add_elements(["D"])
    found = p | stream | beam.Map(keyed) | beam.ParDo(IndexAssigningStatefulDoFn())
    assert_that(found, equal_to([("A", 0), ("B", 1), ("C", 2), ("D", 3)]))


class HashJoinStatefulDoFn(DoFn):
    BUFFER_STATE = BagStateSpec("buffer", BytesCoder())
    UNMATCHED_TIMER = TimerSpec("unmatched", TimeDomain.WATERMARK)

    def process(
        self, element, state=DoFn.StateParam(BUFFER_STATE), timer=DoFn.TimerParam(UNMATCHED_TIMER)
    ):
        key, value = element
        existing_values = list(state.read())
        if not existing_values:
            state.add(value)
            timer.set(100)
        else:
            yield b"Record<%s,%s,%s>" % (key, existing_values[0], value)
            state.clear()
            timer.clear()

    @on_timer(UNMATCHED_TIMER)
    def expiry_callback(self, state=DoFn.StateParam(BUFFER_STATE)):
        buffered = list(state.read())
        assert len(buffered) == 1, buffered
        state.clear()
        yield b"Unmatched<%s>" % (buffered[0],)


@case
def hash_join(p):
    stream = (
        TestStream()
        .advance_watermark_to(10)
        .add_elements([(b"A", b"a"), (b"B", b"b")])
        .add_elements([(b"A", b"aa"), (b"C", b"c")])
        .advance_watermark_to(25)
        .add_elements([(b"A", b"aaa"), (b"B", b"bb")])
        .add_elements([(b"D", b"d")])
        .add_elements([(b"D", b"dd")])
        .add_elements([(b"D", b"ddd")])
        .add_elements([(b"D", b"dddd")])
        .advance_watermark_to(125)
        .add_elements([(b"C", b"cc")])
    )
    expected = [
        b"Record<A,a,aa>",
        b"Record<B,b,bb>",
        b"Record<D,d,dd>",
        b"Record<D,ddd,dddd>",
        b"Unmatched<aaa>",
        b"Unmatched<c>",
        b"Unmatched<cc>",
    ]
    assert_that(p | stream | beam.ParDo(HashJoinStatefulDoFn()), equal_to(expected))


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize("name", case.builds)
def test_ported(name: str, host: Any) -> None:
    case.run(name, host)


@pytest.mark.spark
@pytest.mark.nightly
def test_all_of_them_on_spark(spark: Any) -> None:
    case.run_side_by_side(spark)
