# ruff: noqa: B008 (that is how parameters ask)
"""Functions with states and timers, as Beam Python tests them.

Original: ``transforms/userstate_test.py`` of apache/beam at 002a370. Of the order in which values
come out it asserts that of a single thread; here it is open. Timers here fire once the clock is
past them, as in Beam Java; Beam Python's fire when it has reached them. Only
``generate_sequence_with_realtime_timer`` can tell: its clock moves a millisecond further.
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
from beamlike.beam.transforms.combiners import TopCombineFn
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
        timer_1=DoFn.TimerParam(EXPIRY_TIMER_1),
        timer_2=DoFn.TimerParam(EXPIRY_TIMER_2),
        timer_3=DoFn.TimerParam(EXPIRY_TIMER_3),
    ):
        yield "expired1"

    @on_timer(EXPIRY_TIMER_2)
    def on_expiry_2(
        self,
        buffer=DoFn.StateParam(BUFFER_STATE_2),
        timer_2=DoFn.TimerParam(EXPIRY_TIMER_2),
        timer_3=DoFn.TimerParam(EXPIRY_TIMER_3),
    ):
        yield "expired2"

    @on_timer(EXPIRY_TIMER_3)
    def on_expiry_3(
        self,
        buffer_1=DoFn.StateParam(BUFFER_STATE_1),
        buffer_2=DoFn.StateParam(BUFFER_STATE_2),
        timer_3=DoFn.TimerParam(EXPIRY_TIMER_3),
    ):
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


TWICE = (
    TestStream()
    .advance_watermark_to(10)
    .add_elements([1, 2])
    .add_elements([3])
    .advance_watermark_to(25)
    .add_elements([4])
)


@case
def simple_stateful_dofn(p):
    found = p | TWICE | beam.Map(keyed) | beam.ParDo(SimpleFn())
    assert_that(found, equal_to([b"A1A2A3", b"A1A2A3A4"]))


class ClearingFn(DoFn):
    BAG_STATE = BagStateSpec("bag_state", StrUtf8Coder())
    EMIT_TIMER = TimerSpec("emit_timer", TimeDomain.WATERMARK)
    CLEAR_TIMER = TimerSpec("clear_timer", TimeDomain.WATERMARK)

    def process(
        self,
        element,
        bag_state=DoFn.StateParam(BAG_STATE),
        emit_timer=DoFn.TimerParam(EMIT_TIMER),
        clear_timer=DoFn.TimerParam(CLEAR_TIMER),
    ):
        bag_state.add(element[1])
        clear_timer.set(100)
        emit_timer.set(1000)

    @on_timer(EMIT_TIMER)
    def emit_values(self, bag_state=DoFn.StateParam(BAG_STATE)):
        yield from bag_state.read()
        yield "extra"

    @on_timer(CLEAR_TIMER)
    def clear_values(self, bag_state=DoFn.StateParam(BAG_STATE)):
        bag_state.clear()


ONCE = (
    TestStream().advance_watermark_to(0).add_elements([("key", "value")]).advance_watermark_to(100)
)


@case
def clearing_bag_state(p):
    assert_that(p | ONCE | beam.ParDo(ClearingFn()), equal_to(["extra"]))


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
    assert_that(p | ONCE | beam.ParDo(SetClearingFn()), equal_to(["different-value"]))


class SetSumFn(DoFn):
    SET_STATE = SetStateSpec("buffer", VarIntCoder())

    def process(self, element, set_state=DoFn.StateParam(SET_STATE)):
        set_state.add(element[1])
        yield sum(set_state.read())


@case
def stateful_set_state_portably(p):
    values = p | beam.Create([("key", n) for n in (1, 2, 3, 4, 3)], reshuffle=False)
    assert_that(values | beam.ParDo(SetSumFn()), equal_to([1, 3, 6, 10, 10]))


class FiveFn(DoFn):
    SET_STATE = SetStateSpec("buffer", VarIntCoder())
    EMIT_TIMER = TimerSpec("emit_timer", TimeDomain.WATERMARK)

    def process(
        self, element, seen=DoFn.StateParam(SET_STATE), emit_timer=DoFn.TimerParam(EMIT_TIMER)
    ):
        seen.add(element[1])
        if len(list(seen.read())) == 5:
            seen.clear()
            seen.add(100)
            emit_timer.set(1)

    @on_timer(EMIT_TIMER)
    def emit_values(self, set_state=DoFn.StateParam(SET_STATE)):
        yield sorted(set_state.read())


def five_in_a_second(p):
    return (
        p
        | beam.Create([("key", n) for n in range(1, 6)])
        | beam.Map(lambda t: window.TimestampedValue(t, 1))
        | beam.WindowInto(window.FixedWindows(1))
    )


@case
def stateful_set_state_clean_portably(p):
    assert_that(five_in_a_second(p) | beam.ParDo(FiveFn()), equal_to([[100]]))


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
    grouped = five_in_a_second(p) | beam.ParDo(FiveAgainFn()) | beam.GroupByKey()
    found = grouped | beam.Map(lambda x: (x[0], sorted(x[1])))
    assert_that(found, equal_to([("key", sorted(2 * [1, 2, 3, 4, 5]))]))
