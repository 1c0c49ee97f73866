"""What a pipeline answers to what is wrong, and what it shows, in the words and types of Beam."""

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import beamlike.beam as beam
from beamlike.beam.coders import coders
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import TestWindowedValue, assert_that, equal_to, equal_to_per_window
from beamlike.beam.transforms import trigger, userstate, window
from beamlike.beam.utils import windowed_value
from beamlike.beam.utils.windowed_value import PaneInfo, PaneInfoTiming
from beamlike.errors import CoderError, PipelineError, TypeCheckError
from beamlike.model.panes import NO_FIRING
from tests.support.pipelines.results_of_runs import values
from tests.support.sums import AddedInSteps


class Nothing(beam.PTransform[Any, Any]):
    """Makes no collection."""

    def expand(self, given: Any) -> None:
        return None


class Nested(beam.PTransform[Any, Any]):
    def expand(self, given: Any) -> Any:
        return given | beam.Map(print)


VALUE = beam.DoFn.StateParam(userstate.ReadModifyWriteStateSpec("value", beam.coders.PickleCoder()))


class Last(beam.DoFn[Any, Any]):
    """Knows the last value of each key."""

    def process(self, element: Any, value: Any = VALUE) -> None:  # type: ignore[override]
        value.write(element)


def test_a_transform_of_no_output_is_answered_with_a_type_error() -> None:
    with pytest.raises(TypeCheckError, match=r"'Map\(str\)' was applied to the output of a transf"):
        beam.Pipeline() | Nothing() | beam.Map(str)


def test_what_is_no_collection_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="'Flatten' was given 'words'"):
        {"name": "words"} | beam.Flatten()  # type: ignore[operator]


def test_a_pipeline_in_place_of_a_collection_is_named_with_the_full_label() -> None:
    with pytest.raises(TypeError, match=r"'Nested/Map\(print\)' .* Got a PBegin/Pipeline instead"):
        beam.Pipeline() | Nested()


def test_a_state_needs_pairs_and_elements_are_declared_to_be_none() -> None:
    words = beam.Pipeline() | beam.Create([1, 2]) | beam.Map(str).with_output_types(str)
    with pytest.raises(ValueError, match=r"with stateful DoFn must be key-value pairs\. They are"):
        words | beam.ParDo(Last())


def test_a_number_of_buckets_is_refused_in_beams_words() -> None:
    with pytest.raises(ValueError, match="it has to be an integer greater than 0, got 0"):
        beam.Reshuffle(0)


def test_assertions_come_before_the_run() -> None:
    with beam.Pipeline() as pipeline:
        numbers = pipeline | beam.Create([1])
    with pytest.raises(RuntimeError, match="about a pipeline that has run already"):
        assert_that(numbers, equal_to([1]))


def test_elements_by_window_are_compared_in_beams_windows() -> None:
    matcher: Any = equal_to_per_window({beam.IntervalWindow(0, 60): [1]})
    minute = [beam.IntervalWindow(0, 60)]
    matcher([TestWindowedValue(1, 30, minute)])
    with pytest.raises(AssertionError, match="element 2 not found in window"):
        matcher([TestWindowedValue(2, 30, minute)])
    with pytest.raises(AssertionError, match=r"unmatched elements \[1\] in window"):
        matcher([])


def test_elements_that_are_created_keep_their_panes() -> None:
    late = PaneInfo(PaneInfoTiming.LATE, 1, 1, False, False)
    elements = [
        beam.WindowedValue("a", 5, [beam.GlobalWindow()], late),
        beam.TimestampedValue("b", 6),
        "c",
    ]
    with beam.Pipeline() as pipeline:
        made = pipeline | beam.Create(elements) | beam.Reshuffle()
    assert pipeline.result is not None
    found = [output.element for output in pipeline.result.out_of(made.edge)]
    assert [(it.value, it.pane) for it in found] == [
        ("a", late),
        ("b", NO_FIRING),
        ("c", NO_FIRING),
    ]
    assert [it.timestamp for it in found[:2]] == [5_000, 6_000]


def test_a_gauge_has_a_value() -> None:
    def last(number: int) -> None:
        beam.Metrics.gauge("numbers", "last").set(number)

    with beam.Pipeline() as pipeline:
        pipeline | beam.Create([1, 2]) | beam.Map(last)
    assert pipeline.result is not None
    (gauge,) = pipeline.result.metrics().query()["gauges"]
    assert (gauge.result.value, gauge.committed.value) == (2, 2)


def test_a_default_of_an_unbounded_collection_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    stream = TestStream().add_elements([1]).advance_watermark_to_infinity()
    often = beam.WindowInto(
        beam.GlobalWindows(),
        trigger=beam.Repeatedly(beam.AfterCount(1)),
        accumulation_mode=beam.AccumulationMode.DISCARDING,
    )
    windowed = beam.Pipeline() | stream | often
    with caplog.at_level(logging.ERROR):
        windowed | "No" >> beam.CombineGlobally(sum).without_defaults()
        assert not caplog.records
        windowed | "Sum" >> beam.CombineGlobally(sum)
    assert "elements in unbounded collections with a trigger" in caplog.text


def test_one_trigger_among_several_does_what_it_does_alone() -> None:
    stream = TestStream().advance_watermark_to(0)
    for index in range(1, 4):
        stream = stream.add_elements([index])
    early = beam.AfterWatermark(early=beam.AfterAll(beam.AfterCount(1)))
    with beam.Pipeline() as pipeline:
        sums = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | beam.WindowInto(beam.GlobalWindows(), trigger=early, accumulation_mode="accumulating")
            | beam.CombineGlobally(sum).without_defaults()
        )
    assert pipeline.result is not None
    assert [it.element.value for it in pipeline.result.out_of(sums.edge)] == [1, 3, 6, 6]


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_pane_has_the_arguments_of_beams_in_their_order(host: Any) -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([("tea", 1)])
    before = pairs | "Before" >> beam.Map(lambda _, pane=beam.DoFn.PaneInfoParam: pane)
    after = pairs | beam.GroupByKey() | beam.Map(lambda _, pane=beam.DoFn.PaneInfoParam: pane)
    result = pipeline.run(host=host)

    on_time = windowed_value.PaneInfo(True, True, windowed_value.PaneInfoTiming.ON_TIME, 0, 0)
    assert [came.element.value for it in (before, after) for came in result.out_of(it.edge)] == [
        windowed_value.PANE_INFO_UNKNOWN,
        on_time,
    ]
    assert isinstance(on_time, beam.PaneInfo)


@pytest.mark.parametrize("host", ["memory", "local"])
def test_the_last_instant_of_the_global_window_is_the_same_in_and_out(host: Any) -> None:
    last = window.GlobalWindow().max_timestamp()
    pipeline = beam.Pipeline()
    times = (
        pipeline
        | beam.Create([beam.TimestampedValue(("tea", 1), last)])
        | beam.GroupByKey()
        | beam.Map(lambda _, at=beam.DoFn.TimestampParam: at)
    )
    assert values(times, host) == [last]


def test_modules_show_what_is_in_them() -> None:
    assert vars(window)["FixedWindows"] is beam.FixedWindows
    assert vars(trigger)["AfterCount"] is beam.AfterCount


def test_a_pipeline_names_its_runner() -> None:
    assert type(beam.Pipeline().runner).__name__ == "DirectRunner"
    assert type(beam.Pipeline("SparkRunner").runner).__name__ == "SparkRunner"


def test_what_comes_before_the_first_element_is_refused() -> None:
    class Early(beam.DoFn):
        def start_bundle(self) -> Any:
            return [1]

        def process(self, element: Any) -> Any:
            yield element

    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([1]) | "Early" >> beam.ParDo(Early())
    with pytest.raises(RuntimeError, match=r"'Early': start_bundle gave \[1\], and nothing can"):
        pipeline.run()


def test_a_function_that_lists_arrays_gives_each_of_them() -> None:
    pipeline = beam.Pipeline()
    arrays = pipeline | beam.Create([3]) | beam.FlatMap(lambda size: np.arange(size))
    assert values(arrays) == [0, 1, 2]


class Named(beam.DoFn[Any, Any]):
    def default_label(self) -> str:
        return "by name"

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        yield element


class NamedSum(AddedInSteps, beam.CombineFn[Any, Any]):
    def default_label(self) -> str:
        return "all of them"


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

    numbered = (
        (beam.Pipeline() | beam.Create([1])) | beam.ParDo(Numbered(1)) | beam.ParDo(Numbered(2))
    )
    assert str(numbered.edge.node.label) == "ParDo(number 2)"


def test_a_label_that_is_not_a_text_is_refused() -> None:
    class Unnamed(Named):
        def default_label(self) -> Any:
            return 7

    with pytest.raises(PipelineError, match=r"default_label of Unnamed returned 7; return a text"):
        (beam.Pipeline() | beam.Create([1])) | beam.ParDo(Unnamed())


def test_a_coder_of_whole_numbers_has_the_bytes_of_beam_and_refuses_what_does_not_fit() -> None:
    coder = coders.VarIntCoder()
    encoded = {0: "00", 127: "7f", 300: "ac02", -1: "ffffffffffffffffff01"}
    assert {value: coder.encode(value).hex() for value in encoded} == encoded
    assert [coder.decode(coder.encode(value)) for value in encoded] == [*encoded]
    with pytest.raises(CoderError, match=f"^VarIntCoder takes numbers of 64 bits, got {2**63}$"):
        coder.encode(2**63)
