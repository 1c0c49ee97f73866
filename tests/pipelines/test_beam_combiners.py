"""Beam's combine functions, its own shape of them, and what there is where nothing was."""

import gc
import math
from collections.abc import Iterable
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike import IntervalWindow
from beamlike.errors import BeamlikeError, PipelineError, TransformError
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MIN_TIMESTAMP
from beamlike.testing import TestStream, check_combine_fn
from tests.support.pipelines.results_of_runs import values
from tests.support.refusals import refusal
from tests.support.sums import AddedInSteps

combiners = beam.combiners


def of(transform: Any, *elements: Any) -> list[Any]:
    return values(beam.Pipeline() | beam.Create(elements) | transform)


class Average(beam.CombineFn[float, float]):
    """The mean as Beam's documentation writes it, with an accumulator that is changed in place."""

    def create_accumulator(self, *args: Any) -> list[float]:
        return [0.0, 0]

    def add_input(
        self, mutable_accumulator: list[float], element: float, *args: Any
    ) -> list[float]:  # type: ignore[override]
        mutable_accumulator[0] += element
        mutable_accumulator[1] += 1
        return mutable_accumulator

    def merge_accumulators(self, accumulators: Iterable[list[float]], *args: Any) -> list[float]:  # type: ignore[override]
        first, *rest = accumulators
        for total, number in rest:
            first[0] += total
            first[1] += number
        return first

    def extract_output(self, accumulator: list[float], *args: Any) -> float:  # type: ignore[override]
        total, number = accumulator
        return total / number if number else float(*args or [-1])


PAIRS = (("a", 3), ("b", 2), ("a", 1))


def test_each_combiner_by_key():
    assert of(combiners.Count.PerKey(), *PAIRS) == [("a", 2), ("b", 1)]
    assert of(combiners.Mean.PerKey(), *PAIRS) == [("a", 2.0), ("b", 2.0)]
    assert of(combiners.Sum.PerKey(), *PAIRS) == [("a", 4), ("b", 2)]
    assert of(combiners.Min.PerKey(), *PAIRS) == [("a", 1), ("b", 2)]
    assert of(combiners.Max.PerKey(), *PAIRS) == [("a", 3), ("b", 2)]
    assert of(combiners.Top.PerKey(1), *PAIRS) == [("a", [3]), ("b", [2])]
    assert of(combiners.Top.PerKey(1, reverse=True), *PAIRS) == [("a", [1]), ("b", [2])]
    assert of(combiners.Top.LargestPerKey(2), *PAIRS) == [("a", [3, 1]), ("b", [2])]
    assert of(combiners.Top.SmallestPerKey(2), *PAIRS) == [("a", [1, 3]), ("b", [2])]
    assert of(combiners.Sample.FixedSizePerKey(9), ("a", 1)) == [("a", [1])]
    timed = [beam.TimestampedValue(("a", n), f"00:00:0{n}") for n in (2, 3, 1)]
    assert of(combiners.Latest.PerKey(), *timed) == [("a", 3)]


def test_each_combiner_of_everything():
    assert of(combiners.Count.Globally(), "a", "b") == [2]
    assert of(combiners.Count.PerElement(), "a", "b", "a") == [("a", 2), ("b", 1)]
    assert of(combiners.Mean.Globally(), 1, 2) == [1.5]
    assert of(combiners.Sum.Globally(), 1, 2) == [3]
    assert of(combiners.Min.Globally(), 2, 1) == [1]
    assert of(combiners.Max.Globally(), 2, 1) == [2]
    assert of(combiners.Top.Of(2, key=len), "a", "ccc", "bb") == [["ccc", "bb"]]
    assert of(combiners.Top.Largest(1), 1, 5, 2) == [[5]]
    assert of(combiners.Top.Smallest(2), 5, 1, 2) == [[1, 2]]
    assert of(combiners.ToList(), 1, 1) == [[1, 1]]
    assert of(combiners.ToSet(), 1, 1) == [{1}]
    assert of(combiners.ToDict(), ("a", 1)) == [{"a": 1}]
    assert of(combiners.Latest.Globally(), 4) == [4]
    assert len(of(combiners.Sample.FixedSizeGlobally(2), *range(9))[0]) == 2


def test_nothing_at_all_has_a_value_in_the_global_window():
    for transform, nothing in (
        (combiners.Count.Globally(), 0),
        (combiners.Top.Of(3), []),
        (combiners.ToDict(), {}),
        (beam.CombineGlobally(sum), 0),
    ):
        pcoll = beam.Pipeline() | beam.Create([]) | transform
        (came,) = pcoll.pipeline.run().out_of(pcoll.edge)
        assert (came.element.value, came.element.timestamp) == (nothing, MIN_TIMESTAMP)
        assert of(transform.without_defaults()) == []


def test_the_mean_of_nothing_is_no_number_as_in_beam_python():
    pcoll = beam.Pipeline() | beam.Create([]) | combiners.Mean.Globally()
    (came,) = pcoll.pipeline.run().out_of(pcoll.edge)
    assert math.isnan(came.element.value)


def test_a_value_of_something_is_the_only_one_and_stands_at_the_end_of_its_window():
    pcoll = beam.Pipeline() | beam.Create([0]) | beam.CombineGlobally(sum)
    (came,) = pcoll.pipeline.run().out_of(pcoll.edge)
    assert (came.element.value, came.element.timestamp) == (0, END_OF_GLOBAL_WINDOW)


def test_a_function_that_has_no_value_of_nothing_is_reported_that_there_are_no_elements():
    assert of(beam.CombineGlobally(max), 2, 3) == [3]
    with pytest.raises(TransformError) as failure:
        of(beam.CombineGlobally(max))
    with pytest.raises(ValueError, match="empty") as of_python:
        max([])
    assert str(failure.value) == (
        f"'CombineGlobally(max)/InjectDefault' raised ValueError: {of_python.value}; "
        "there are no elements, and max knows no answer for that: write without_defaults(), or "
        "take a function that does for None at -infinity"
    )


class Strict(Average):
    """The mean of at least one number."""

    def extract_output(self, accumulator: list[float], *args: Any) -> float:  # type: ignore[override]
        return accumulator[0] / accumulator[1]


CALLS: list[str] = []


class Opened(Average):
    """A function that opens something before it is used, and closes it afterwards."""

    opened = False

    def setup(self, *args: Any, **kwargs: Any) -> None:
        self.opened = True
        CALLS.append(f"setup {args}")

    def add_input(self, mutable_accumulator: Any, element: float, *args: Any) -> Any:  # type: ignore[override]
        assert self.opened
        return super().add_input(mutable_accumulator, element, *args)

    def teardown(self, *args: Any, **kwargs: Any) -> None:
        self.opened = False
        CALLS.append(f"teardown {args}")


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize("transform", [beam.CombinePerKey, beam.CombineGlobally])
def test_a_copy_of_a_function_is_set_up_before_it_is_used_and_torn_down(transform: Any, host: str):
    CALLS.clear()
    pipeline = beam.Pipeline()
    pairs = [("a", 1.0), ("a", 3.0)] if transform is beam.CombinePerKey else [1.0, 3.0]
    _ = pipeline | beam.Create(pairs) | transform(Opened(), 7)
    pipeline.run(host=host)
    del pipeline, _
    gc.collect()
    assert CALLS
    assert sorted(CALLS) == ["setup (7,)"] * (len(CALLS) // 2) + ["teardown (7,)"] * (
        len(CALLS) // 2
    )
    assert CALLS[0] == "setup (7,)"


class OpenedAlone(AddedInSteps):
    """The shape of a combine function, with a ``setup`` and none of the other methods of Beam's."""

    opened = False

    def setup(self) -> None:
        self.opened = True

    def add_input(self, accumulator: int, element: int) -> int:
        assert self.opened
        return super().add_input(accumulator, element)


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_function_of_that_shape_may_have_a_setup_alone(host: Any):
    pipeline = beam.Pipeline()
    total = pipeline | beam.Create([1, 2]) | beam.CombineGlobally(OpenedAlone())
    result = pipeline.run(host=host)
    assert [came.element.value for came in result.out_of(total.edge)] == [3]


class Shares(AddedInSteps, beam.CombineFn[float, float]):
    """What part of a sum one is: none of a sum of zero, from no elements or not."""

    def extract_output(self, accumulator: float) -> float:
        return 1 / accumulator


def test_a_pane_with_elements_whose_accumulator_is_that_of_none_is_not_called_empty():
    with pytest.raises(TransformError) as failure:
        of(beam.CombinePerKey(Shares()), ("a", 1.0), ("a", -1.0))
    assert str(failure.value) == (
        "'CombinePerKey(Shares())' raised ValueError: float division by zero; the pane may be "
        "empty, as an on-time pane may be when everything came out before it: say "
        'on_time_behavior="fire_if_non_empty" where the collection is windowed, or take a '
        "function that knows an answer for no values in Shares().extract_output for window "
        "global, key 'a'"
    )


@pytest.mark.parametrize(("fn", "is_empty"), [(max, "is empty"), (Strict(), "may be empty")])
def test_a_pane_that_is_empty_is_named_where_a_function_has_no_value_of_nothing(
    fn: Any, is_empty: str
):
    pipeline = beam.Pipeline()
    _ = (
        pipeline
        | TestStream().add_elements(3.0).advance_watermark_to_infinity()
        | beam.WindowInto(
            beam.GlobalWindows(),
            trigger=beam.AfterWatermark(early=beam.AfterCount(1)),
            accumulation_mode="discarding",
        )
        | "Most" >> beam.CombineGlobally(fn)
    )
    with pytest.raises(TransformError, match=r"'Most/PerKey' raised ValueError: .*; the pane") as f:
        pipeline.run()
    assert (
        f"; the pane {is_empty}, as an on-time pane may be when everything came out before it: say "
        'on_time_behavior="fire_if_non_empty" where the collection is windowed, or take a function '
        "that knows an answer for no values in "
    ) in str(f.value)


def test_a_trigger_in_the_global_window_leaves_out_the_default_once_something_came():
    pipeline = beam.Pipeline()
    counted = (
        pipeline
        | TestStream().add_elements("a").add_elements("b").advance_watermark_to_infinity()
        | beam.WindowInto(
            beam.GlobalWindows(),
            trigger=beam.Repeatedly(beam.AfterCount(1)),
            accumulation_mode="accumulating",
        )
        | combiners.Count.Globally()
    )
    assert values(counted) == [1, 2, 2]  # the last one as the window ends


@pytest.mark.parametrize(
    ("transform", "written"),
    [
        (beam.CombineGlobally(len), "CombineGlobally"),
        (combiners.Count.Globally(), "Count.Globally"),
        (combiners.Mean.Globally(), "Mean.Globally"),
        (combiners.Top.Of(3), "Top.Of"),
        (combiners.Top.Largest(3), "Top.Largest"),
        (combiners.Sample.FixedSizeGlobally(3), "Sample.FixedSizeGlobally"),
        (combiners.ToList(), "ToList"),
    ],
)
def test_other_windows_have_no_default_and_the_build_says_what_to_write(
    transform: Any, written: str
):
    minute = beam.WindowInto(beam.FixedWindows("1 minute"))
    words = beam.Pipeline() | beam.Create([beam.TimestampedValue(7, "00:00:10")]) | minute
    assert refusal(PipelineError, lambda: words | "All" >> transform) == (
        f"'All': Default values are not supported in {written} if the input is not windowed by "
        f"GlobalWindows, and it is by FixedWindows(1m); write {written}(...).without_defaults()"
    )
    assert len(values(words | "Some" >> transform.without_defaults())) == 1


def test_how_many_workers_share_the_work_changes_nothing():
    assert of(beam.CombineGlobally(sum).with_fanout(4), 1, 2) == [3]
    assert of(beam.CombinePerKey(sum).with_hot_key_fanout(4), *PAIRS) == [("a", 4), ("b", 2)]
    by_key = beam.CombinePerKey(sum).with_hot_key_fanout(lambda key: len(key))
    assert of(by_key, *PAIRS) == [("a", 4), ("b", 2)]
    with pytest.raises(PipelineError, match="with_fanout needs a number of 1 or more, got 0"):
        beam.CombineGlobally(sum).with_fanout(0)
    with pytest.raises(PipelineError, match=r"with_hot_key_fanout needs a number .*, got 'many'"):
        beam.CombinePerKey(sum).with_hot_key_fanout("many")  # type: ignore[arg-type]


def test_a_default_can_be_asked_for_again():
    assert of(beam.CombineGlobally(sum).without_defaults().with_defaults()) == [0]
    assert of(combiners.Count.Globally().with_defaults(False)) == []


def test_any_elements_as_they_are():
    assert of(combiners.Sample.Any(2), 5, 5, 5) == [5, 5]
    assert sorted(of(combiners.Sample.Any(9), 3, 5)) == [3, 5]
    assert of(combiners.Sample.Any(0), 5) == []
    with pytest.raises(PipelineError, match=r"^Sample\.Any n "):
        combiners.Sample.Any(-1)


def test_a_combine_function_in_beams_shape_keeps_the_laws_although_it_changes_accumulators():
    combine = beam.CombinePerKey(Average()).combine
    check_combine_fn(combine, [1.0, 2.0, 5.0, 2.0])
    check_combine_fn(Average(), [1.0, 2.0, 5.0, 2.0])


class Newest(Average):
    """Not a combine function: what is merged first is forgotten."""

    def merge_accumulators(self, accumulators: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        return list(accumulators)[-1]


def test_the_check_names_what_is_wrong_with_a_combine_function_in_beams_shape():
    with pytest.raises(AssertionError, match=r"^Newest\(\) breaks 3 laws of combine functions"):
        check_combine_fn(Newest(), [1.0, 2.0])
    with pytest.raises(BeamlikeError, match=r"got <class '.*Newest'>; write Newest\(\)$"):
        check_combine_fn(Newest, [1.0])  # type: ignore[arg-type]


def test_a_combine_function_in_beams_shape_is_an_aggregate_of_a_data_frame():
    fn = bl.combine(Average(), "points").fn

    parts = [fn.add(fn.create(), [1.0], [0]), fn.add(fn.create(), [4.0], [0])]

    assert fn.extract(fn.merge(*parts)) == 2.5
    assert refusal(BeamlikeError, lambda: bl.combine(Average, "points")) == (
        f"combine fn must be a combine function, got {Average!r}; write Average()"
    )


def test_a_combine_function_in_beams_shape_by_key_globally_of_lists_and_with_arguments():
    pairs = [("a", 1.0), ("a", 2.0)]
    assert of(beam.CombinePerKey(Average()), *pairs) == [("a", 1.5)]
    assert of(beam.CombineGlobally(Average()), 1.0, 4.0) == [2.5]
    assert of(beam.CombineGlobally(Average(), 9)) == [9.0]
    assert of(beam.CombineValues(Average()), ("a", [1.0, 3.0])) == [("a", 2.0)]
    assert of(beam.CombineValues(sum), ("a", [1, 3])) == [("a", 4)]


def test_sessions_that_merge_merge_their_accumulators():
    pipeline = beam.Pipeline()
    timed = [("a", 1.0, "00:00:00"), ("a", 3.0, "00:01:30"), ("a", 8.0, "00:00:45")]
    merged = (
        pipeline
        | TestStream()
        .add_elements(*(beam.TimestampedValue((key, n), when) for key, n, when in timed[:2]))
        .add_elements_at_time("00:00:45", ("a", 8.0))
        .advance_watermark_to_infinity()
        | beam.WindowInto(beam.Sessions("1 minute"))
        | beam.CombinePerKey(Average())
    )
    (came,) = pipeline.run().out_of(merged.edge)
    assert came.element.value == ("a", 4.0)
    assert came.element.windows == (IntervalWindow(0, 150_000),)


def test_anything_with_the_four_methods_is_a_combine_function():
    class Shaped(AddedInSteps):
        def extract_output(self, accumulator: int) -> str:
            return f"={accumulator}"

    assert of(beam.CombineGlobally(Shaped()), 1, 2) == ["=3"]  # type: ignore[call-overload]
    assert of(beam.CombinePerKey(set), ("a", 1), ("a", 1)) == [("a", {1})]


def test_what_is_no_combine_function_is_refused_when_it_is_made():
    with pytest.raises(PipelineError, match=r"write CombinePerKey\(Average\(\)\)"):
        beam.CombinePerKey(Average)
    with pytest.raises(PipelineError, match=r"write CombineGlobally\(MeanCombineFn\(\)\)"):
        beam.CombineGlobally(combiners.MeanCombineFn)
    with pytest.raises(PipelineError, match="needs a combine function or a function, got 3"):
        beam.CombinePerKey(3)  # type: ignore[call-overload]
    with pytest.raises(PipelineError, match=r"cannot give arguments to Mean\(\)"):
        beam.CombinePerKey(combiners.MeanCombineFn(), 3)  # type: ignore[call-overload]


def least_above(values: list[int], bound: int, step: int = 1) -> int:
    """A function of all values and of more."""
    return min((value for value in values if value > bound), default=bound) * step


def test_a_combine_function_is_given_side_inputs():
    pipeline = beam.Pipeline()
    bound = beam.AsSingleton(pipeline | "Bound" >> beam.Create([2]))
    step = beam.AsSingleton(pipeline | "Step" >> beam.Create([10]))
    pairs = pipeline | beam.Create([("a", 1), ("a", 3), ("a", 5), ("b", 1)])
    by_key = pairs | beam.CombinePerKey(least_above, bound, step=step)
    overall = pairs | beam.Values() | beam.CombineGlobally(least_above, bound)
    nothing = (
        pairs
        | "NoValues" >> beam.Values()
        | beam.Filter(lambda _: False)
        | "Nothing" >> beam.CombineGlobally(least_above, bound, step=step)
    )
    lists = pairs | beam.GroupByKey() | beam.CombineValues(least_above, bound)
    result = pipeline.run()
    assert [
        sorted(came.element.value for came in result.out_of(it.edge))
        for it in (by_key, overall, nothing, lists)
    ] == [[("a", 30), ("b", 20)], [3], [20], [("a", 3), ("b", 2)]]


def test_a_combine_function_that_fails_names_the_transform_and_the_key():
    with pytest.raises(TransformError, match=r"'Sum' raised TypeError: .* in sum for .* 'a'"):
        of("Sum" >> beam.CombinePerKey(sum), ("a", "text"))


def distinct(*, lateness: str) -> list[Any]:
    """What comes out of Distinct, with early panes, and when."""
    pipeline = beam.Pipeline()
    once = (
        pipeline
        | TestStream()
        .add_elements_at_time("00:00:10", "a", "b", "a")
        .add_elements_at_time("00:00:20", "a")
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", "a", "c")
        .add_elements_at_time("00:01:10", "a")
        .advance_watermark_to_infinity()
        | beam.WindowInto(
            beam.FixedWindows("1 minute"),
            trigger=beam.AfterWatermark(early=beam.AfterCount(1), late=beam.AfterCount(1)),
            accumulation_mode="accumulating",
            allowed_lateness=lateness,
        )
        | beam.Distinct()
    )
    return [
        (came.step, came.element.value, came.element.windows[0].start)
        for came in pipeline.run().out_of(once.edge)
    ]


def test_distinct_elements_come_out_with_the_first_pane_of_each_window_only():
    assert distinct(lateness="1 minute") == [
        (0, "a", 0),
        (0, "b", 0),
        (3, "c", 0),
        (4, "a", 60_000),
    ]


def test_distinct_refuses_sessions_whose_elements_would_come_out_again():
    words = beam.Pipeline() | beam.Create(["a"])
    sessions = beam.WindowInto(beam.Sessions("1 minute"))
    late = beam.WindowInto(allowed_lateness="1 h", accumulation_mode="discarding")
    assert values(words | sessions | beam.Distinct()) == ["a"]
    with pytest.raises(PipelineError, match="'D': Distinct does not support merging windowing"):
        words | "S" >> sessions | "L" >> late | "D" >> beam.Distinct()
