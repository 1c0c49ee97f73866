# ruff: noqa: B008 (that is how parameters ask)
"""States, and elements in order of event time, as Beam Java tests them.

Original: ``ParDoTest.StateTests`` and ``StatefulParDoEvaluatorFactoryTest`` of apache/beam.
"""

from typing import Any

import pytest
from states.cases import Cases
from test_pardo_timers import DISCARDING

import beamlike.beam as beam
from beamlike.beam import DoFn, window
from beamlike.beam.coders import PickleCoder, StrUtf8Coder, VarIntCoder
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms import userstate
from beamlike.beam.utils.timestamp import Timestamp
from beamlike.errors import PipelineError

case = Cases()
THREE = [("hello", 42), ("hello", 97), ("hello", 84)]


class Counting(DoFn):
    STATE = userstate.ReadModifyWriteStateSpec("foo", VarIntCoder())

    def process(self, element, state=DoFn.StateParam(STATE)):
        current = state.read() or 0
        yield current
        state.write(current + 1)


@case
def value_state_simple(p):
    assert_that(p | beam.Create(THREE) | beam.ParDo(Counting()), equal_to([0, 1, 2]))


@case
def value_state_fixed_windows(p):
    timed = [
        *(window.TimestampedValue(pair, at) for at, pair in zip((1, 3), THREE[:2], strict=True)),
        *(window.TimestampedValue(pair, at) for at, pair in zip((11, 13, 15), THREE, strict=True)),
    ]
    windowed = p | beam.Create(timed) | beam.WindowInto(window.FixedWindows(10))
    assert_that(windowed | beam.ParDo(Counting()), equal_to([0, 1, 0, 1, 2]))


@case
def value_state_same_id(p):
    """Two functions with a state of one name: each has its own."""
    keyed = p | beam.Create([("hello", 42), ("hello", 97)])
    second = keyed | beam.Map(lambda pair: ("sizzle", pair[1]))
    assert_that(keyed | "First" >> beam.ParDo(Counting()), equal_to([0, 1]), "first")
    assert_that(second | "Second" >> beam.ParDo(Counting()), equal_to([0, 1]), "second")


class Tagging(DoFn):
    STATE = userstate.ReadModifyWriteStateSpec("foo", VarIntCoder())

    def process(self, element, state=DoFn.StateParam(STATE)):
        current = state.read() or 0
        if current % 2:
            yield beam.pvalue.TaggedOutput("odd", current)
        else:
            yield current
        state.write(current + 1)


@case
def value_state_tagged_output(p):
    outputs = (
        p
        | beam.Create([*THREE, ("hello", 12)])
        | beam.ParDo(Tagging()).with_outputs("odd", main="even")
    )
    assert_that(outputs.even, equal_to([0, 2]), "even")
    assert_that(outputs.odd, equal_to([1, 3]), "odd")


class Buffering(DoFn):
    BAG = userstate.BagStateSpec("foo", VarIntCoder())

    def process(self, element, limit=4, bag=DoFn.StateParam(BAG)):
        assert bag.is_empty() == (bag.read() == [])
        bag.add(element[1])
        values = bag.read()
        if len(values) >= limit:
            yield sorted(values)
            bag.clear()


@case
def bag_state(p):
    given = p | beam.Create([*THREE, ("hello", 12)])
    assert_that(given | beam.ParDo(Buffering()), equal_to([[12, 42, 84, 97]]))


@case
def bag_state_side_input(p):
    """The side input says how many; the state is the main input's."""
    limit = p | "Limit" >> beam.Create([2])
    given = p | "Main" >> beam.Create([*THREE, ("hello", 12)])
    found = given | beam.ParDo(Buffering(), beam.pvalue.AsSingleton(limit))
    assert_that(found | beam.Map(len), equal_to([2, 2]))


class Sets(DoFn):
    SET = userstate.SetStateSpec("foo", VarIntCoder())

    def process(self, element, seen=DoFn.StateParam(SET)):
        known = seen.contains(element[1])
        assert seen.add_if_absent(element[1]) is not known
        if len(seen.read()) == 3:
            assert seen.contains(97)
            seen.remove(97)
            assert not seen.contains(97)
            yield sorted(seen.read())


@case
def set_state(p):
    given = p | beam.Create([("hello", 97), ("hello", 97), ("hello", 42), ("hello", 12)])
    assert_that(given | beam.ParDo(Sets()), equal_to([[12, 42]]))


class Maps(DoFn):
    MAP = userstate.MapStateSpec("foo", StrUtf8Coder(), VarIntCoder())
    COUNT = userstate.CombiningValueStateSpec("count", sum)

    def process(self, element, mapped=DoFn.StateParam(MAP), count=DoFn.StateParam(COUNT)):
        _, (name, value) = element
        assert mapped.get(name, 0) == 0
        mapped.put(name, value)
        assert mapped.put_if_absent(name, 7) == value
        count.add(1)
        if count.read() >= 4:
            assert mapped.get("BadKey") is None
            assert mapped.contains("a")
            yield from mapped.items()
            mapped.remove("a")
            assert mapped.keys() == ["b", "c", "d"]
            assert mapped.values() == [42, 12, 1]


@case
def map_state(p):
    pairs = [("a", 97), ("b", 42), ("c", 12), ("d", 1)]
    given = p | beam.Create([("hello", pair) for pair in pairs])
    assert_that(given | beam.ParDo(Maps()), equal_to(pairs))


class MeanFn(beam.CombineFn):
    def create_accumulator(self):
        return [0, 0]

    def add_input(self, accumulator, element):
        accumulator[0] += element
        accumulator[1] += 1
        return accumulator

    def merge_accumulators(self, accumulators):
        return [sum(each) for each in zip(*accumulators, strict=True)]

    def extract_output(self, accumulator):
        return accumulator[0] / accumulator[1] if accumulator[1] else 0


class Combining(DoFn):
    MEAN = userstate.CombiningValueStateSpec("foo", PickleCoder(), MeanFn())

    def process(self, element, mean=DoFn.StateParam(MEAN)):
        mean.add(element[1])
        if abs(mean.read() - 0.5) < 0.001:
            yield "right on"


@case
def combining_state(p):
    given = p | beam.Create([("hello", 0.3), ("hello", 0.6), ("hello", 0.6)])
    assert_that(given | beam.ParDo(Combining()), equal_to(["right on"]))


class Lists(DoFn):
    LIST = userstate.OrderedListStateSpec("foo", StrUtf8Coder())

    def process(self, element, kept=DoFn.StateParam(LIST)):
        for at in (4, 1, 3, 2):
            kept.add((Timestamp(at), f"{element[1]}{at}"))
        yield kept.read()
        yield [value for _, value in kept.read_range(Timestamp(2), Timestamp(4))]
        kept.clear_range(Timestamp(0), Timestamp(3))
        yield [value for _, value in kept.read()]
        kept.clear()
        assert kept.is_empty()


@case
def ordered_list_state(p):
    found = p | beam.Create([("hello", "v")]) | beam.ParDo(Lists())
    everything = [(Timestamp(at), f"v{at}") for at in (1, 2, 3, 4)]
    assert_that(found, equal_to([everything, ["v2", "v3"], ["v3", "v4"]]))


class Concat(DoFn):
    STATE = userstate.ReadModifyWriteStateSpec("sum", StrUtf8Coder())

    @userstate.requires_time_sorted_input
    def process(self, element, state=DoFn.StateParam(STATE)):
        known = state.read()
        now = f"{element[1]}" if known is None else f"{known}:{element[1]}"
        yield now
        state.write(now)


def at(value: int, millis: int) -> Any:
    return window.TimestampedValue(("", value), Timestamp.of_millis(millis))


@case
def requires_time_sorted_input_bounded(p):
    given = p | beam.Create([at(1, 2), at(2, 1), at(3, 0)])
    assert_that(given | beam.ParDo(Concat()), equal_to(["3", "3:2", "3:2:1"]))


def late_stream() -> TestStream:
    one = Timestamp.of_millis(1)
    stream = TestStream().add_elements([at(1, 2)]).add_elements([at(2, 1)])
    return stream.advance_watermark_to(one).add_elements([at(3, 0)]).advance_watermark_to_infinity()


@case
def requires_time_sorted_input_with_late_data(p):
    assert_that(p | late_stream() | beam.ParDo(Concat()), equal_to(["2", "2:1"]))


@case
def requires_time_sorted_input_with_late_data_and_allowed_lateness(p):
    windowed = (
        p
        | late_stream()
        | beam.WindowInto(
            window.GlobalWindows(),
            allowed_lateness=0.002,
            trigger=beam.trigger.AfterWatermark(),
            accumulation_mode=DISCARDING,
        )
    )
    assert_that(windowed | beam.ParDo(Concat()), equal_to(["3", "3:2", "3:2:1"]))


def test_windows_that_merge_are_refused():
    pairs = beam.Pipeline() | beam.Create(THREE) | beam.WindowInto(window.Sessions(10))
    with pytest.raises(PipelineError, match="'S': MergingWindowFn is not supported for stateful"):
        pairs | "S" >> beam.ParDo(Counting())


test_ported, test_all_of_them_on_spark = case.tests()
