"""What Beam gives to methods and functions of users, and asks them for."""

from collections.abc import Iterable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.coders import coders
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import BeamAssertException, has_at_least_one
from beamlike.beam.transforms.window import (
    GlobalWindow,
    IntervalWindow,
    NonMergingWindowFn,
    TimestampedValue,
    WindowFn,
)
from beamlike.beam.utils.timestamp import Timestamp
from beamlike.beam.utils.windowed_value import PaneInfo
from beamlike.errors import CoderError, PipelineError, TestStreamError
from tests.support.pipelines.results_of_runs import values


def stamped(*times: Any) -> Any:
    """Elements that are the seconds at which they happen."""
    return beam.Pipeline() | beam.Create([TimestampedValue(time, time) for time in times])


class FirstHalf(NonMergingWindowFn):
    """The first half of the window that an element is in."""

    def assign(self, context: WindowFn.AssignContext) -> list[IntervalWindow]:
        window = context.window
        assert window is not None
        if isinstance(window, GlobalWindow):
            return [IntervalWindow(0, 1)]
        half = (window.end - window.start).micros // 2
        return [IntervalWindow(window.start, Timestamp(micros=window.start.micros + half))]

    def get_window_coder(self) -> Any:
        return coders.IntervalWindowCoder()


window_of = beam.Map(lambda at, window=beam.DoFn.WindowParam: (at, window))


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_window_function_sees_each_window_that_an_element_is_in(host: Any) -> None:
    sliding = stamped(5) | beam.WindowInto(beam.SlidingWindows(10, 5))
    halves = sliding | "Halves" >> beam.WindowInto(FirstHalf()) | window_of
    assert values(halves, host) == [(5, IntervalWindow(5, 10)), (5, IntervalWindow(0, 5))]


def test_before_any_windowing_a_window_function_sees_the_global_window() -> None:
    assert values(stamped(5) | beam.WindowInto(FirstHalf()) | window_of) == [
        (5, IntervalWindow(0, 1))
    ]


@pytest.mark.parametrize("host", ["memory", "local"])
def test_windows_that_merge_are_assigned_by_the_window_before(host: Any) -> None:
    class FromItsStart(WindowFn):
        def assign(self, context: Any, /) -> Any:
            return [IntervalWindow(context.window.start, context.timestamp + 1)]

        def merge(self, context: Any, /) -> None:
            of_start: dict[Any, list[Any]] = {}
            for window in context.windows:
                of_start.setdefault(window.start, []).append(window)
            for windows in of_start.values():
                if len(windows) > 1:
                    context.merge(windows, max(windows))

        def get_window_coder(self) -> Any:
            return coders.IntervalWindowCoder()

    grouped = (
        stamped(2, 7, 13)
        | beam.Map(lambda at: ("k", at))
        | beam.WindowInto(beam.FixedWindows(10))
        | "Again" >> beam.WindowInto(FromItsStart())
        | beam.GroupByKey()
        | beam.MapTuple(lambda key, them, window=beam.DoFn.WindowParam: (sorted(them), window))
    )
    assert sorted(values(grouped, host)) == [
        ([2, 7], IntervalWindow(0, 8)),
        ([13], IntervalWindow(10, 14)),
    ]


def test_a_criterion_is_given_element_timestamp_window_and_pane() -> None:
    seen = []

    def is_late(element: Any, timestamp: Any, window: Any, pane: Any) -> bool:
        seen.append((element, timestamp, window, pane))
        return bool(element == 70)

    with TestPipeline() as pipeline:
        times = [TimestampedValue(at, at) for at in (5, 70)]
        windowed = pipeline | beam.Create(times) | beam.WindowInto(beam.FixedWindows(60))
        has_at_least_one(windowed, is_late)
        has_at_least_one(windowed, lambda e, t, w, p: w == IntervalWindow(60, 120), "again")
    assert [it[:3] for it in seen] == [
        (5, Timestamp(5), IntervalWindow(0, 60)),
        (70, Timestamp(70), IntervalWindow(60, 120)),
    ]
    assert all(isinstance(pane, PaneInfo) for *_, pane in seen)


def test_a_criterion_that_nothing_meets_fails() -> None:
    with (
        pytest.raises(AssertionError, match="nothing matches criterion"),
        TestPipeline() as pipeline,
    ):
        has_at_least_one(pipeline | beam.Create([1, 2]), lambda e, t, w, p: e > 2)


def test_a_criterion_that_raises_says_so() -> None:
    with pytest.raises(ZeroDivisionError, match="division by zero"), TestPipeline() as pipeline:
        has_at_least_one(pipeline | beam.Create([0]), lambda e, t, w, p: 1 / e)


def test_a_criterion_that_does_not_take_all_four_is_refused() -> None:
    pipeline = TestPipeline()
    with pytest.raises(TestStreamError) as refusal:
        has_at_least_one(pipeline | beam.Create([1]), lambda e: True)  # type: ignore[misc,arg-type]
    assert str(refusal.value) == (
        "has_at_least_one calls its criterion with an element, its timestamp, its window and its "
        "pane; write lambda element, timestamp, window, pane: ..."
    )
    assert BeamAssertException is not None


class Named(beam.DoFn[Any, Any]):
    def default_label(self) -> str:
        return "by name"

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        yield element


class NamedSum(beam.CombineFn[Any, Any]):
    def default_label(self) -> str:
        return "all of them"

    def create_accumulator(self, *args: Any, **kwargs: Any) -> int:
        return 0

    def add_input(self, mutable_accumulator: int, element: int, *args: Any, **kw: Any) -> int:
        return mutable_accumulator + element

    def merge_accumulators(self, accumulators: Any, *args: Any, **kwargs: Any) -> int:
        return sum(accumulators)

    def extract_output(self, accumulator: int, *args: Any, **kwargs: Any) -> int:
        return accumulator


class NamedPart(beam.PartitionFn):
    def default_label(self) -> str:
        return "even or odd"

    def partition_for(self, element: int, num_partitions: int, *args: Any, **kwargs: Any) -> int:
        return element % num_partitions


def test_functions_of_users_say_their_labels() -> None:
    assert beam.ParDo(Named()).label == "ParDo(by name)"
    assert beam.ParDo(Named()).with_outputs("other").label == "ParDo(by name)"
    assert beam.ParDo(Named()).with_exception_handling().label == "ParDo(by name)"
    assert beam.CombineGlobally(NamedSum()).label == "CombineGlobally(all of them)"
    assert beam.CombinePerKey(NamedSum()).label == "CombinePerKey(all of them)"
    assert beam.Partition(NamedPart(), 2).label == "Partition(even or odd)"

    class Plain(beam.DoFn[Any, Any]):
        def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
            yield element

    assert beam.ParDo(Plain()).label == "ParDo(Plain)"
    assert Plain().default_label() == "Plain"


def test_two_functions_of_a_class_with_labels_of_their_own_need_no_names() -> None:
    class Numbered(Named):
        def __init__(self, number: int) -> None:
            self.number = number

        def default_label(self) -> str:
            return f"number {self.number}"

    numbered = stamped(1) | beam.ParDo(Numbered(1)) | beam.ParDo(Numbered(2))
    assert str(numbered.edge.node.label) == "ParDo(number 2)"


def test_a_label_that_is_not_a_text_is_refused() -> None:
    class Unnamed(Named):
        def default_label(self) -> Any:
            return 7

    with pytest.raises(PipelineError, match=r"default_label of Unnamed returned 7; return a text"):
        stamped(1) | beam.ParDo(Unnamed())


def test_a_coder_of_whole_numbers_has_the_bytes_of_beam_and_refuses_what_does_not_fit() -> None:
    coder = coders.VarIntCoder()
    encoded = {0: "00", 127: "7f", 300: "ac02", -1: "ffffffffffffffffff01"}
    assert {value: coder.encode(value).hex() for value in encoded} == encoded
    assert [coder.decode(coder.encode(value)) for value in encoded] == [*encoded]
    with pytest.raises(CoderError, match=f"^VarIntCoder takes numbers of 64 bits, got {2**63}$"):
        coder.encode(2**63)
