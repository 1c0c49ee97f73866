# ruff: noqa: B008 (that is how Beam has it)
"""Windows that are more than bounds, and times finer than milliseconds."""

from typing import Any

import apache_beam as beam
from apache_beam import coders
from apache_beam.pvalue import AsList
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import window
from apache_beam.utils.timestamp import Timestamp

from beamlike.runners.beam import BeamlikeRunner


def at(seconds: float, value: Any) -> window.TimestampedValue:
    return window.TimestampedValue(value, seconds)


class Shift(window.BoundedWindow):
    """A window of a class of its own: hours of a day that a team works."""

    def __init__(self, end: float, team: str) -> None:
        super().__init__(end)
        self.team = team

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shift) and (self.end, self.team) == (other.end, other.team)

    def __hash__(self) -> int:
        return hash((self.end, self.team))

    def __repr__(self) -> str:
        return f"{self.team} until {self.end}"


class ShiftCoder(coders.Coder):
    def encode(self, value: Shift) -> bytes:
        return f"{value.end.micros},{value.team}".encode()

    def decode(self, encoded: bytes) -> Shift:
        micros, team = encoded.decode().split(",")
        return Shift(Timestamp(micros=int(micros)), team)

    def is_deterministic(self) -> bool:
        return True


class Shifts(window.NonMergingWindowFn):
    """Each element in the shift of its team: two that end together are two windows."""

    def assign(self, context: Any) -> list[Shift]:
        return [Shift((context.timestamp.micros // 10_000_000 + 1) * 10, context.element[1])]

    def get_window_coder(self) -> ShiftCoder:
        return ShiftCoder()


def test_windows_of_a_class_of_their_own_that_end_together_are_apart(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        done = (
            p
            | beam.Create([at(1, ("k", "red")), at(2, ("k", "blue")), at(3, ("k", "red"))])
            | beam.Map(lambda element: element)
            | beam.WindowInto(Shifts())
            | beam.GroupByKey()
            | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (pair[0], sorted(pair[1]), repr(w)))
        )
        red = ("k", ["red", "red"], "red until Timestamp(10)")
        assert_that(done, equal_to([red, ("k", ["blue"], "blue until Timestamp(10)")]))


def test_a_function_with_states_keeps_them_for_each_such_window(host: str) -> None:
    class Count(beam.DoFn):
        SEEN = beam.transforms.userstate.CombiningValueStateSpec("seen", sum)

        def process(self, pair: Any, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:
            seen.add(1)
            yield pair[1], seen.read()

    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        done = (
            p
            | beam.Create([at(1, ("k", "red")), at(2, ("k", "blue")), at(3, ("k", "red"))])
            | beam.Map(lambda element: element).with_output_types(tuple[str, str])
            | beam.WindowInto(Shifts())
            | beam.ParDo(Count())
        )
        assert_that(done, equal_to([("red", 1), ("blue", 1), ("red", 2)]))


class Instants(window.NonMergingWindowFn):
    """Windows without any length."""

    def assign(self, context: Any) -> list[window.IntervalWindow]:
        return [window.IntervalWindow(context.timestamp, context.timestamp)]

    def get_window_coder(self) -> Any:
        return coders.coders.IntervalWindowCoder()


def test_windows_may_have_no_length(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        done = (
            p
            | beam.Create([at(5, ("k", 1)), at(5, ("k", 2)), at(6, ("k", 3))])
            | beam.Map(lambda element: element)
            | beam.WindowInto(Instants())
            | beam.GroupByKey()
            | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (sorted(pair[1]), w.start, w.end))
        )
        five, six = Timestamp(5), Timestamp(6)
        assert_that(done, equal_to([([1, 2], five, five), ([3], six, six)]))


class Halved(window.NonMergingWindowFn):
    """The first half of the window that an element is in so far."""

    def assign(self, context: Any) -> list[window.IntervalWindow]:
        start, end = context.window.start, context.window.end
        return [window.IntervalWindow(start, start + (end - start).micros / 2e6)]

    def get_window_coder(self) -> Any:
        return coders.coders.IntervalWindowCoder()


def test_a_window_function_sees_the_window_before(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        done = (
            p
            | beam.Create([at(5, "a"), at(15, "b")])
            | "Tens" >> beam.WindowInto(window.FixedWindows(10))
            | "Halves" >> beam.WindowInto(Halved())
            | beam.Map(lambda value, w=beam.DoFn.WindowParam: (value, float(w.start), float(w.end)))
        )
        assert_that(done, equal_to([("a", 0.0, 5.0), ("b", 10.0, 15.0)]))


def test_a_side_input_says_itself_which_window_is_seen(host: str) -> None:
    """The window before that of the element, which has ended when the element comes."""

    class Before(AsList):
        def __init__(self, pcoll: Any) -> None:
            super().__init__(pcoll)
            tens = window.FixedWindows(10)
            self._window_mapping_fn = lambda main: tens.assign(
                window.WindowFn.AssignContext(main.start.predecessor())
            )[0]

    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        sides = p | "Sides" >> beam.Create([at(1, "first"), at(11, "second"), at(21, "third")])
        sides |= "Tens" >> beam.WindowInto(window.FixedWindows(10))
        mains = p | beam.Create([at(12, "a"), at(25, "b"), at(3, "c")])
        mains |= "Main tens" >> beam.WindowInto(window.FixedWindows(10))
        seen = mains | beam.Map(lambda value, side: (value, side), Before(sides))
        assert_that(seen, equal_to([("a", ["first"]), ("b", ["second"]), ("c", [])]))


def test_times_are_microseconds(host: str) -> None:
    """59.999 and 59.999999 are two times, and so are the bounds of windows."""
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        done = (
            p
            | beam.Create([59.999, 59.999999, 60.000001])
            | beam.Map(lambda seconds: window.TimestampedValue(("k", seconds), seconds))
            | beam.WindowInto(window.FixedWindows(0.0005))
            | beam.GroupByKey()
            | beam.Map(
                lambda pair, w=beam.DoFn.WindowParam, t=beam.DoFn.TimestampParam: (
                    *pair[1],
                    w.start.micros,
                    t.micros,
                )
            )
        )
        assert_that(
            done,
            equal_to(
                [
                    (59.999, 59_999_000, 59_999_499),
                    (59.999999, 59_999_500, 59_999_999),
                    (60.000001, 60_000_000, 60_000_499),
                ]
            ),
        )


def test_elements_without_a_timestamp_have_their_windows_at_the_beginning_of_time(host: str):
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        done = (
            p
            | beam.Create([("k", 1)])
            | beam.WindowInto(window.FixedWindows(60))
            | beam.GroupByKey()
            | beam.Map(
                lambda pair, w=beam.DoFn.WindowParam, t=beam.DoFn.TimestampParam: (
                    w
                    == window.FixedWindows(60).assign(
                        window.WindowFn.AssignContext(window.MIN_TIMESTAMP)
                    )[0],
                    t == w.max_timestamp(),
                )
            )
        )
        assert_that(done, equal_to([(True, True)]))


def test_a_test_stream_keeps_microseconds(host: str) -> None:
    stream = (
        TestStream()
        .add_elements([window.TimestampedValue(("k", 1), 59.9999)])
        .advance_watermark_to(60)
        .add_elements([window.TimestampedValue(("k", 2), 59.99996)])
        .advance_watermark_to_infinity()
    )
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        done = (
            p
            | stream
            | beam.WindowInto(window.FixedWindows(0.0001))
            | beam.GroupByKey()
            | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (*pair[1], w.start.micros))
        )
        assert_that(done, equal_to([(1, 59_999_900)]))  # 2 came when its window had ended
