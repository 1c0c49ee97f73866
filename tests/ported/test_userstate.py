# ruff: noqa: B008 (that is how parameters ask)
"""Functions with states and timers, as Beam Python tests them.

Original: ``transforms/userstate_test.py`` of apache/beam at 002a370, without cases that
`test_pardo_states` and `test_pardo_timers` have from Beam Java: bags and sets that are cleared,
combining states, three timers. Of the order in which values come out it asserts that of a single
thread; here it is open. Timers here fire once the clock is past them, as in Beam Java; Beam
Python's fire when it has reached them. Only ``generate_sequence_with_realtime_timer`` can tell: its
clock moves a millisecond further.
"""

from collections.abc import Callable
from typing import Any

import pytest
from states.cases import Cases

import beamlike.beam as beam
from beamlike.beam import DoFn, window
from beamlike.beam.coders import BytesCoder, StrUtf8Coder, VarIntCoder
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms.combiners import CountCombineFn, TopCombineFn
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.userstate import (
    BagStateSpec,
    CombiningValueStateSpec,
    SetStateSpec,
    TimerSpec,
    get_dofn_specs,
    is_stateful_dofn,
    on_timer,
    validate_stateful_dofn,
)

case = Cases()


def keyed(value: Any) -> tuple[str, Any]:
    return "mykey", value


class StatefulFn(DoFn):
    BUFFER_STATE_1 = BagStateSpec("buffer", BytesCoder())
    BUFFER_STATE_2 = BagStateSpec("buffer2", VarIntCoder())
    EXPIRY_TIMER_1 = TimerSpec("expiry1", TimeDomain.WATERMARK)
    EXPIRY_TIMER_2 = TimerSpec("expiry2", TimeDomain.WATERMARK)
    EXPIRY_TIMER_3 = TimerSpec("expiry3", TimeDomain.WATERMARK)

    def process(
        self,
        element,
        t=DoFn.TimestampParam,
        buffer_1=DoFn.StateParam(BUFFER_STATE_1),
        buffer_2=DoFn.StateParam(BUFFER_STATE_2),
        timer_1=DoFn.TimerParam(EXPIRY_TIMER_1),
        timer_2=DoFn.TimerParam(EXPIRY_TIMER_2),
    ):
        yield element

    @on_timer(EXPIRY_TIMER_1)
    def on_expiry_1(
        self,
        window=DoFn.WindowParam,
        timestamp=DoFn.TimestampParam,
        key=DoFn.KeyParam,
        buffer=DoFn.StateParam(BUFFER_STATE_1),
        timer_3=DoFn.TimerParam(EXPIRY_TIMER_3),
    ):
        yield "expired1"

    @on_timer(EXPIRY_TIMER_2)
    def on_expiry_2(self, timer_2=DoFn.TimerParam(EXPIRY_TIMER_2)):
        yield "expired2"

    @on_timer(EXPIRY_TIMER_3)
    def on_expiry_3(self, buffer_2=DoFn.StateParam(BUFFER_STATE_2)):
        yield "expired3"


# -- InterfaceTest ---------------------------------------------------------------------------------


def test_spec_construction():
    BagStateSpec("statename", VarIntCoder())
    CombiningValueStateSpec("statename", VarIntCoder(), TopCombineFn(10))
    SetStateSpec("setstatename", VarIntCoder())
    TimerSpec("timer", TimeDomain.WATERMARK)
    TimerSpec("timer", TimeDomain.REAL_TIME)
    wrong: list[tuple[type[Exception], Callable[[], Any]]] = [
        (TypeError, lambda: BagStateSpec(123, VarIntCoder())),
        (TypeError, lambda: CombiningValueStateSpec(123, VarIntCoder(), TopCombineFn(10))),
        (TypeError, lambda: CombiningValueStateSpec("statename", VarIntCoder(), object())),
        (TypeError, lambda: SetStateSpec(123, VarIntCoder())),
        (TypeError, lambda: SetStateSpec("setstatename", object())),
        (ValueError, lambda: DoFn.TimerParam(BagStateSpec("elements", BytesCoder()))),
        (ValueError, lambda: TimerSpec("timer", "bogus_time_domain")),
        (ValueError, lambda: DoFn.StateParam(TimerSpec("timer", TimeDomain.WATERMARK))),
    ]
    for error, make in wrong:
        with pytest.raises(error):
            make()


def test_stateful_dofn_detection():
    assert not is_stateful_dofn(DoFn())
    assert is_stateful_dofn(StatefulFn())


def test_good_signatures():
    fn = StatefulFn()
    validate_stateful_dofn(fn)
    assert get_dofn_specs(fn) == (
        {fn.BUFFER_STATE_1, fn.BUFFER_STATE_2},
        {fn.EXPIRY_TIMER_1, fn.EXPIRY_TIMER_2, fn.EXPIRY_TIMER_3},
    )


def test_bad_signatures():
    state, timer = BagStateSpec("buffer", BytesCoder()), TimerSpec("t", TimeDomain.WATERMARK)

    class StateTwice(DoFn):
        def process(self, element, b1=DoFn.StateParam(state), b2=DoFn.StateParam(state)):
            yield element

    class TimerTwice(DoFn):
        def process(self, element, t1=DoFn.TimerParam(timer), t2=DoFn.TimerParam(timer)):
            yield element

    class StateTwiceInCallback(DoFn):
        EXPIRY_1 = TimerSpec("expiry1", TimeDomain.WATERMARK)

        @on_timer(EXPIRY_1)
        def expiry(self, b1=DoFn.StateParam(state), b2=DoFn.StateParam(state)):
            yield "expired"

    for bad, named in (
        (StateTwice(), r"StateParam\(buffer\)"),
        (TimerTwice(), r"TimerParam\(t\)"),
        (StateTwiceInCallback(), r"StateParam\(buffer\)"),
    ):
        with pytest.raises(ValueError, match=rf"has duplicate \w+ method parameters: {named}"):
            validate_stateful_dofn(bad)


def test_validation_typos():
    first, second = (TimerSpec(name, TimeDomain.WATERMARK) for name in ("expiry1", "expiry2"))

    @on_timer(first)
    def on_expiry_1(self):
        yield "expired1"

    with pytest.raises(ValueError, match=r"callbacks registered for TimerSpec\(expiry1\)"):
        on_timer(first)(lambda self: ())

    class Overwritten(DoFn):
        T1, T2 = (TimerSpec(name, TimeDomain.WATERMARK) for name in ("expiry1", "expiry2"))

        def process(self, element, timer1=DoFn.TimerParam(T1), timer2=DoFn.TimerParam(T2)):
            pass

        @on_timer(T1)
        def on_expiry_1(self):
            yield "expired1"

        @on_timer(T2)
        def on_expiry_1(self):  # noqa: F811
            yield "expired2"

    with pytest.raises(
        ValueError,
        match=r"The on_timer callback for TimerSpec\(expiry1\) is not the specified .on_expiry_1 "
        r"method for DoFn .*Overwritten.* \(perhaps it was overwritten\?\)",
    ):
        validate_stateful_dofn(Overwritten())

    class Forgotten(DoFn):
        def process(self, element, timer2=DoFn.TimerParam(second)):
            pass

    with pytest.raises(ValueError, match=r"without an associated on_timer callback: TimerSpec\(e"):
        validate_stateful_dofn(Forgotten())


def test_stateful_dofn_nonkeyed_input():
    values = beam.Pipeline() | beam.Create([1, 2, 3])
    with pytest.raises(
        ValueError,
        match="Input elements to the transform 'Keyless' with stateful DoFn must be key-value",
    ):
        (values | "Keyless" >> beam.ParDo(StatefulFn())).pipeline.run()


# -- StatefulDoFnOnDirectRunnerTest ----------------------------------------------------------------


class SimpleFn(DoFn):
    BUFFER_STATE = BagStateSpec("buffer", BytesCoder())
    EXPIRY_TIMER = TimerSpec("expiry", TimeDomain.WATERMARK)

    def process(
        self, element, buffer=DoFn.StateParam(BUFFER_STATE), timer1=DoFn.TimerParam(EXPIRY_TIMER)
    ):
        buffer.add(b"A" + str(element[1]).encode("latin1"))
        timer1.set(20)

    @on_timer(EXPIRY_TIMER)
    def expiry_callback(
        self, buffer=DoFn.StateParam(BUFFER_STATE), timer=DoFn.TimerParam(EXPIRY_TIMER)
    ):
        yield b"".join(sorted(buffer.read()))


@case
def simple_stateful_dofn(p):
    stream = TestStream().advance_watermark_to(10).add_elements([1, 2]).add_elements([3])
    stream = stream.advance_watermark_to(25).add_elements([4])
    found = p | stream | beam.Map(keyed) | beam.ParDo(SimpleFn())
    assert_that(found, equal_to([b"A1A2A3", b"A1A2A3A4"]))


class SetFn(DoFn):
    BUFFER_STATE = SetStateSpec("buffer", VarIntCoder())
    EXPIRY_TIMER = TimerSpec("expiry", TimeDomain.WATERMARK)

    def process(
        self, element, buffer=DoFn.StateParam(BUFFER_STATE), timer1=DoFn.TimerParam(EXPIRY_TIMER)
    ):
        buffer.add(element[1])
        timer1.set(20)

    @on_timer(EXPIRY_TIMER)
    def expiry_callback(self, buffer=DoFn.StateParam(BUFFER_STATE)):
        yield sorted(buffer.read())


@case
def simple_set_stateful_dofn(p):
    stream = TestStream().advance_watermark_to(10).add_elements([1, 2, 3]).add_elements([2])
    found = p | stream.advance_watermark_to(24) | beam.Map(keyed) | beam.ParDo(SetFn())
    assert_that(found, equal_to([[1, 2, 3]]))


class SetClearingFn(DoFn):
    SET_STATE = SetStateSpec("buffer", StrUtf8Coder())
    EMIT_TIMER = TimerSpec("emit_timer", TimeDomain.WATERMARK)
    CLEAR_TIMER = TimerSpec("clear_timer", TimeDomain.WATERMARK)

    def process(
        self,
        element,
        set_state=DoFn.StateParam(SET_STATE),
        emit_timer=DoFn.TimerParam(EMIT_TIMER),
        clear_timer=DoFn.TimerParam(CLEAR_TIMER),
    ):
        set_state.add(element[1])
        clear_timer.set(100)
        emit_timer.set(1000)

    @on_timer(EMIT_TIMER)
    def emit_values(self, set_state=DoFn.StateParam(SET_STATE)):
        yield from set_state.read()

    @on_timer(CLEAR_TIMER)
    def clear_values(self, set_state=DoFn.StateParam(SET_STATE)):
        set_state.clear()
        set_state.add("different-value")


@case
def clearing_set_state(p):
    stream = TestStream().advance_watermark_to(0).add_elements([("key", "value")])
    found = p | stream.advance_watermark_to(100) | beam.ParDo(SetClearingFn())
    assert_that(found, equal_to(["different-value"]))


class FiveAgainFn(DoFn):
    SET_STATE = SetStateSpec("buffer", VarIntCoder())
    EMIT_TIMER = TimerSpec("emit_timer", TimeDomain.WATERMARK)

    def process(
        self, element, seen=DoFn.StateParam(SET_STATE), emit_timer=DoFn.TimerParam(EMIT_TIMER)
    ):
        seen.add(element[1])
        if len(list(seen.read())) == 5:
            emit_timer.set(1)
        yield element

    @on_timer(EMIT_TIMER)
    def emit_values(self, set_state=DoFn.StateParam(SET_STATE)):
        return [("key", i) for i in set_state.read()]


@case
def stateful_sum_then_gbk(p):
    windowed = (
        p
        | beam.Create([("key", n) for n in range(1, 6)])
        | beam.Map(lambda t: window.TimestampedValue(t, 1))
        | beam.WindowInto(window.FixedWindows(1))
    )
    grouped = windowed | beam.ParDo(FiveAgainFn()) | beam.GroupByKey()
    found = grouped | beam.Map(lambda x: (x[0], sorted(x[1])))
    assert_that(found, equal_to([("key", sorted(2 * [1, 2, 3, 4, 5]))]))


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
        | TestStream().advance_watermark_to(10).add_elements([1])
        | beam.Map(keyed)
        | "window_into"
        >> beam.WindowInto(
            window.FixedWindows(5), accumulation_mode=beam.AccumulationMode.DISCARDING
        )
    )
    assert_that(windowed | beam.ParDo(WindowedTimerFn()), equal_to([("timer1-mykey", 10, 10, 15)]))


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


test_ported, test_all_of_them_on_spark = case.tests()
