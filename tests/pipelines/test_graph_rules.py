"""How a graph runs: names, bundles, watermarks, several sources, and one collection read twice."""

from collections.abc import Iterable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike import IntervalWindow
from beamlike.errors import PipelineError, TransformError
from beamlike.hosts.in_process import run_pipeline
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import Do, Edge, Node, ParDoNode, ReadNode, in_order
from beamlike.model.panes import NO_FIRING
from beamlike.model.resolution import Resolution
from beamlike.model.windows import GLOBAL_WINDOWS
from beamlike.runtime.graph.nodes import worker_of
from beamlike.testing import TestStream
from tests.support.pipelines.results_of_runs import values

MINUTE = 60_000


def steps(pcoll: beam.PCollection[Any]) -> list[tuple[int, Any]]:
    """Everything that comes out of a collection, with the step that brought each out."""
    return [(came.step, came.element.value) for came in pcoll.pipeline.run().out_of(pcoll.edge)]


def minutes(**parts: Any) -> beam.WindowInto:
    return beam.WindowInto(beam.FixedWindows("1 minute"), **parts)


# Names


class Twice(beam.PTransform[Any, Any]):
    """A composite that applies the same transforms two times, the second time under a name."""

    def expand(self, pcoll: beam.PCollection[int]) -> beam.PCollection[int]:
        return pcoll | beam.Map(int.__neg__) | "Again" >> beam.Map(int.__neg__)


def test_parts_of_a_composite_are_named_below_it_and_may_repeat_names_of_others():
    pipeline = beam.Pipeline()
    once = pipeline | beam.Create([1]) | Twice() | "Other" >> Twice()
    assert [node.label for node in pipeline.nodes] == [
        "Create",
        "Twice/Map(__neg__)",
        "Twice/Again",
        "Other/Map(__neg__)",
        "Other/Again",
    ]
    assert values(once) == [1]


def test_a_function_of_a_collection_is_a_transform_of_its_name():
    @beam.ptransform_fn
    def Times(pcoll: beam.PCollection[int], by: int) -> beam.PCollection[int]:
        return pcoll | beam.Map(lambda n: n * by)

    class Labelled(beam.PTransform[Any, Any]):
        def __init__(self) -> None:
            super().__init__("Its own name")

        def expand(self, pcoll: beam.PCollection[int]) -> beam.PCollection[int]:
            return pcoll | Times(2) | "Thrice" >> Times(by=3)

    times = beam.Pipeline() | beam.Create([1]) | Labelled()
    assert values(times) == [6]
    names = [node.label for node in times.pipeline.nodes[1:]]
    assert [name.partition("/Map")[0] for name in names] == [
        "Its own name/Times(2)",
        "Its own name/Thrice",
    ]


def test_a_transform_that_is_used_twice_needs_two_names_and_keeps_its_own():
    numbers = beam.Pipeline() | beam.Create([1])
    text = beam.Map(str)
    first, second = numbers | "One" >> text, numbers | "Two" >> text
    assert (text.label, values(first), values(second)) == ("Map(str)", ["1"], ["1"])


def test_a_transform_that_fails_to_apply_leaves_nothing_behind_so_that_it_can_be_tried_again():
    class Failing(beam.PTransform[Any, Any]):
        def __init__(self, fails: bool) -> None:
            self.fails = fails

        def expand(self, pcoll: beam.PCollection[int]) -> beam.PCollection[str]:
            text = pcoll | "Text" >> beam.Map(str)
            if self.fails:
                raise ValueError("not yet")
            return text

    numbers = beam.Pipeline() | beam.Create([1])
    with pytest.raises(ValueError, match="not yet"):
        numbers | "Do" >> Failing(True)
    assert [node.label for node in numbers.pipeline.nodes] == ["Create"]
    assert values(numbers | "Do" >> Failing(False)) == ["1"]


def test_what_is_no_transform_or_has_nothing_to_read_is_refused():
    pipeline = beam.Pipeline()
    numbers = pipeline | beam.Create([1])
    with pytest.raises(
        PipelineError, match=r"needs a transform such as Map\(f\), got .*GroupByKey\("
    ):
        numbers | beam.GroupByKey  # type: ignore[operator]
    with pytest.raises(PipelineError, match="'Flatten' was given collections of no pipeline"):
        () | beam.Flatten()
    with pytest.raises(PipelineError, match="'Flatten' needs several collections, got one"):
        numbers | beam.Flatten()  # type: ignore[operator]
    with pytest.raises(PipelineError, match="Twice2 does not say what it does: write def expand"):
        numbers | type("Twice2", (beam.PTransform,), {})()
    with pytest.raises(PipelineError, match="the name of a transform must be a text, got 3"):
        3 >> beam.Map(str)


def test_an_empty_name_is_none_at_all():
    assert ("" >> beam.Map(str)).label == "Map(str)"


def test_a_transform_is_applied_by_a_call_too():
    pipeline = beam.Pipeline()
    numbers = pipeline.apply(beam.Create([1]), label="Numbers")
    texts = numbers.apply(beam.Map(str), label="Texts")
    again = pipeline.apply(beam.Map(str), numbers)
    assert [*pipeline.tree.labels] == ["Numbers", "Texts", "Map(str)"]
    assert (values(texts), values(again)) == (["1"], ["1"])


def test_a_flatten_of_nothing_is_empty_where_it_has_a_pipeline():
    pipeline = beam.Pipeline()
    assert values(() | beam.Flatten(pipeline=pipeline)) == []


# Bundles


class Bundles(beam.DoFn[Any, Any]):
    """What comes together."""

    def start_bundle(self) -> None:
        self.bundle: list[Any] = []

    def process(self, element: Any, *args: Any, **kwargs: Any) -> None:
        self.bundle.append(element)

    def finish_bundle(self) -> Iterable[Windowed]:
        yield Windowed(self.bundle, 0)


def test_what_arrives_together_is_one_bundle_and_an_empty_step_is_none():
    pipeline = beam.Pipeline()
    stream = (
        TestStream()
        .add_elements("a", "b")
        .advance_watermark_to("00:01:00")
        .add_elements("c")
        .advance_processing_time("1 minute")
        .advance_watermark_to_infinity()
    )
    assert steps(pipeline | stream | beam.ParDo(Bundles())) == [(0, ["a", "b"]), (2, ["c"])]


def test_the_panes_that_one_watermark_lets_out_are_one_bundle():
    pipeline = beam.Pipeline()
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("a", 1), ("b", 2))
        .add_elements_at_time("00:01:10", ("a", 3))
        .advance_watermark_to("00:01:00")
        .advance_watermark_to_infinity()
    )
    bundles = pipeline | stream | minutes() | beam.GroupByKey() | beam.ParDo(Bundles())
    assert steps(bundles) == [(2, [("a", [1]), ("b", [2])]), (3, [("a", [3])])]


# Watermarks


def test_what_one_watermark_lets_out_is_on_time_for_the_next_grouping():
    pipeline = beam.Pipeline()
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", "a", "b", "a")
        .advance_watermark_to("00:01:00")
        .advance_watermark_to_infinity()
    )
    words = pipeline | stream | minutes() | beam.combiners.Count.PerElement()
    counts = words | beam.KvSwap() | beam.GroupByKey()
    (one, two) = pipeline.run().out_of(counts.edge)
    assert sorted([one.element.value, two.element.value]) == [(1, ["b"]), (2, ["a"])]
    assert {one.step, two.step} == {1}
    assert {one.element.pane.timing, two.element.pane.timing} == {beam.Timing.ON_TIME}


def test_a_stamp_before_the_end_of_the_window_holds_the_watermark_of_what_follows():
    pipeline = beam.Pipeline()
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", 1))
        .advance_watermark_to("00:00:59")
        .advance_watermark_to("00:01:00")
        .advance_watermark_to_infinity()
    )
    hours = (
        pipeline
        | stream
        | beam.WindowInto(
            beam.FixedWindows("1 minute"),
            timestamp_combiner=beam.TimestampCombiner.OUTPUT_AT_EARLIEST,
        )
        | beam.CombinePerKey(sum)
        | "Short" >> beam.WindowInto(beam.FixedWindows("20 s"))
        | beam.GroupByKey()
    )
    (came,) = pipeline.run().out_of(hours.edge)
    # Without the hold the watermark would have been past 00:00:20, and the element too late.
    assert (came.step, came.element.value) == (2, ("k", [1]))
    assert came.element.windows == (IntervalWindow(0, 20_000),)


def test_a_flatten_waits_for_the_slowest_of_its_sources():
    pipeline = beam.Pipeline()
    fast = (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", "fast"))
        .advance_watermark_to("00:10:00")
        .advance_watermark_to_infinity()
    )
    slow = (
        TestStream()
        .add_elements_at_time("00:00:20", ("k", "slow"))
        .advance_watermark_to("00:00:30")
        .add_elements_at_time("00:00:40", ("k", "on time"))
        .advance_watermark_to("00:01:00")
        .advance_watermark_to_infinity()
    )
    both = (pipeline | "Fast" >> fast, pipeline | "Slow" >> slow) | beam.Flatten()
    grouped = both | minutes() | beam.GroupByKey()
    # Steps take turns: 0 fast, 1 slow, 2 fast, 3 slow, 4 fast, 5 slow, 6 slow, 7 slow.
    assert steps(grouped) == [(6, ("k", ["fast", "slow", "on time"]))]
    assert pipeline.run().lost == ()


def test_a_source_that_ends_comes_first_and_holds_nothing_back():
    pipeline = beam.Pipeline()
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", "live"))
        .advance_watermark_to("00:01:00")
        .advance_watermark_to_infinity()
    )
    live = pipeline | "Live" >> stream
    history = pipeline | beam.Create([beam.TimestampedValue(("k", "old"), "00:00:05")])
    grouped = (live, history) | beam.Flatten() | minutes() | beam.GroupByKey()
    assert steps(grouped) == [(2, ("k", ["old", "live"]))]
    assert not grouped.is_bounded


def test_all_sources_share_one_clock():
    pipeline = beam.Pipeline()
    shown = TestStream().advance_processing_time("1 minute").advance_watermark_to_infinity()
    quiet = (
        TestStream()
        .add_elements(("k", 1))
        .advance_processing_time("30 s")
        .add_elements(("k", 2))
        .advance_watermark_to_infinity()
    )
    delayed = beam.WindowInto(
        beam.GlobalWindows(),
        trigger=beam.Repeatedly(beam.AfterProcessingTime("45 s")),
        accumulation_mode="discarding",
    )
    summed = pipeline | "Quiet" >> quiet | delayed | beam.CombinePerKey(sum)
    pipeline | "Shown" >> shown
    # 0 quiet: an element; 1 reported: a minute passes; 2 quiet: half a minute more, and so on.
    assert steps(summed) == [(1, ("k", 1)), (5, ("k", 2))]


def test_each_window_of_an_element_is_judged_for_lateness_by_itself():
    pipeline = beam.Pipeline()
    stream = (
        TestStream()
        .advance_watermark_to("00:02:00")
        .add_elements_at_time("00:01:30", ("k", 1))
        .advance_watermark_to_infinity()
    )
    sliding = beam.WindowInto(beam.SlidingWindows("2 minutes", "1 minute"))
    grouped = pipeline | stream | sliding | beam.GroupByKey()
    result = pipeline.run()
    (came,) = result.out_of(grouped.edge)
    assert came.element.windows == (IntervalWindow(MINUTE, 3 * MINUTE),)
    (lost,) = result.lost
    assert (lost.step, lost.label, lost.key) == (1, "GroupByKey", "k")
    assert lost.drop.window == IntervalWindow(0, 2 * MINUTE)


# The same collection several times


def test_a_collection_that_is_flattened_with_itself_comes_twice():
    pairs = beam.Pipeline() | beam.Create([("a", 1), ("b", 2)])
    assert values((pairs, pairs) | beam.Flatten()) == [("a", 1), ("b", 2), ("a", 1), ("b", 2)]


def test_many_read_one_collection_and_it_runs_once():
    ran: list[int] = []
    numbers = (
        beam.Pipeline() | beam.Create([1, 2]) | "Note" >> beam.Map(lambda n: ran.append(n) or n)
    )
    read = [numbers | f"Read{index}" >> beam.Map(lambda n, at=index: n * at) for index in range(3)]
    result = numbers.pipeline.run()
    assert [[came.element.value for came in result.out_of(each.edge)] for each in read] == [
        [0, 0],
        [1, 2],
        [2, 4],
    ]
    assert ran == [1, 2]


def test_a_collection_joined_with_itself_has_both_sides():
    pairs = beam.Pipeline() | beam.Create([("a", 1)])
    assert values({"left": pairs, "right": pairs} | beam.CoGroupByKey()) == [
        ("a", {"left": [1], "right": [1]})
    ]
    assert values((pairs, pairs) | "Tuple" >> beam.CoGroupByKey()) == [("a", ([1], [1]))]


def test_sessions_of_all_sides_of_a_join_merge_together():
    pipeline = beam.Pipeline()

    def timed(name: str, *instants: str) -> beam.PCollection[Any]:
        elements = [beam.TimestampedValue(("k", instant), instant) for instant in instants]
        windows = beam.WindowInto(beam.Sessions("1 minute"))
        return pipeline | name >> beam.Create(elements) | f"{name}Windows" >> windows

    sides = {"a": timed("A", "00:00:00", "00:01:30"), "b": timed("B", "00:00:45", "00:05:00")}
    joined = sides | beam.CoGroupByKey()
    found = [
        (came.element.value[1], came.element.windows[0].start, came.element.windows[0].end)
        for came in pipeline.run().out_of(joined.edge)
    ]
    assert found == [
        ({"a": ["00:00:00", "00:01:30"], "b": ["00:00:45"]}, 0, 150_000),
        ({"a": [], "b": ["00:05:00"]}, 300_000, 360_000),
    ]


def test_collections_whose_windows_do_not_fit_are_not_flattened_and_both_are_named():
    words = beam.Pipeline() | beam.Create([1])
    short, long = words | minutes(), words | "Long" >> beam.WindowInto(beam.FixedWindows("1 h"))
    with pytest.raises(PipelineError, match=r"'Flatten': Inputs .*'WindowInto'> has .*'Long'> has"):
        (short, long) | beam.Flatten()


# Groupings that cannot be


def test_what_beam_refuses_to_group_is_refused_by_the_name_of_the_transform():
    pipeline = beam.Pipeline()
    endless = pipeline | "S" >> TestStream().advance_watermark_to_infinity()
    with pytest.raises(PipelineError, match=r"^'Endless': GroupByKey cannot be applied to an"):
        endless | "Endless" >> beam.GroupByKey()
    once = endless | beam.WindowInto(
        beam.GlobalWindows(), trigger=beam.AfterCount(2), accumulation_mode="discarding"
    )
    with pytest.raises(PipelineError, match=r"'Once': Unsafe trigger: .* write Repeatedly\("):
        once | "Once" >> beam.GroupByKey()
    with pytest.raises(PipelineError, match=r"'Bare': trigger .* requires that the accum"):
        endless | "Bare" >> beam.WindowInto(beam.GlobalWindows(), trigger=beam.AfterCount(2))
    retracting = endless | "R" >> minutes(accumulation_mode="retracting", allowed_lateness="1 h")
    with pytest.raises(PipelineError, match="'Back': panes that withdraw earlier ones"):
        retracting | "Back" >> beam.GroupByKey()


def test_an_element_that_cannot_be_grouped_is_shown_with_the_fix():
    numbers = beam.Pipeline() | beam.Create([3])
    with pytest.raises(PipelineError, match=r"'G' groups pairs of key and value, and got 3; make"):
        values(numbers | "G" >> beam.GroupByKey())
    arrays = beam.Pipeline() | beam.Create([(bytearray(b"a"), 2)])
    with pytest.raises(PipelineError, match=r"'G'.* is a bytearray, which has no determin"):
        values(arrays | "G" >> beam.GroupByKey())


def test_a_window_function_that_fails_names_the_transform_and_the_element():
    failing = beam.WindowInto(beam.window.Sessions(lambda value: 1 // value))  # type: ignore[arg-type]
    with pytest.raises(TransformError, match=r"'W' raised ZeroDivisionError: .* the element 0 at"):
        values(beam.Pipeline() | beam.Create([0]) | "W" >> failing)


# The graph itself


class Same(Do):
    def process(self, element: Windowed) -> Iterable[tuple[str, Windowed]]:
        return [("", element)]


class Raising(Do):
    def process(self, element: Windowed) -> Iterable[tuple[str, Windowed]]:
        raise ValueError("not today")


@pytest.mark.parametrize("resolution", Resolution)
def test_an_error_shows_the_instant_of_its_element_whatever_the_graph_counts(
    resolution: Resolution,
) -> None:
    start = ReadNode("start", (), (), bounded=True, resolution=resolution)
    node = ParDoNode("node", (Edge(start),), Raising(), resolution=resolution)
    window = GLOBAL_WINDOWS[resolution]
    tea = Windowed("tea", resolution.from_ms(5_000), (window,), NO_FIRING)

    with pytest.raises(TransformError, match=r"not today for 'tea' at 00:00:05\n"):
        [*worker_of(node).take([Bundle.of([tea])])]


def test_a_pipeline_may_be_longer_than_the_stack_is_deep():
    node: Node = ReadNode("start", (), (), bounded=True)
    for index in range(3_000):
        node = ParDoNode(str(index), (Edge(node),), Same())
    labels = [each.label for each in in_order([node])]
    assert labels == ["start", *map(str, range(3_000))]
    assert run_pipeline([node]).came == {}
    assert "'2999'" in repr(Edge(node))


def test_only_what_an_end_reads_is_in_order_and_once():
    start = ReadNode("start", (), (), bounded=True)
    left, right = (
        ParDoNode("left", (Edge(start),), Same()),
        ParDoNode("right", (Edge(start),), Same()),
    )
    both = ParDoNode("both", (Edge(right), Edge(left)), Same())
    assert [node.label for node in in_order([both])] == ["start", "right", "left", "both"]
    assert [node.label for node in in_order([left, both])] == ["start", "left", "right", "both"]
