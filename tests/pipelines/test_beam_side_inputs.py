"""Side inputs: what a function sees of another collection, in which window, and when."""

import pickle
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, UnwiseStrategyWarning
from beamlike.testing import TestStream
from tests.support.pipelines.results_of_runs import values


def pair(element: Any, seen: Any) -> tuple[Any, Any]:
    return element, seen


def seen_by(element: Any, view: Any, *items: Any) -> list[Any]:
    """What one element sees of some items."""
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> beam.Create(items)
    return values(pipeline | beam.Create([element]) | beam.Map(pair, view(side)))


def test_every_kind_of_view():
    assert seen_by("x", beam.AsSingleton, 5) == [("x", 5)]
    assert seen_by("x", beam.AsList, 1, 2) == [("x", [1, 2])]
    assert seen_by("x", beam.AsIter, 1, 2) == [("x", [1, 2])]
    assert seen_by("x", beam.AsDict, ("a", 1), ("b", 2)) == [("x", {"a": 1, "b": 2})]
    assert seen_by("x", beam.AsMultiMap, ("a", 1), ("a", 2)) == [("x", {"a": [1, 2]})]


def test_a_multi_map_has_an_empty_list_for_a_key_that_is_not_there():
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> beam.Create([("a", 1), ("a", 2)])

    def looked_up(key: str, found: Any) -> tuple[str, list[int], bool]:
        return key, sorted(found[key]), key in found

    keys = pipeline | beam.Create(["a", "b"])
    assert values(keys | beam.Map(looked_up, beam.AsMultiMap(side))) == [
        ("a", [1, 2], True),
        ("b", [], False),
    ]


def test_a_view_of_nothing():
    assert seen_by("x", beam.AsList) == [("x", [])]
    assert seen_by("x", beam.AsDict) == [("x", {})]
    assert seen_by("x", lambda side: beam.AsSingleton(side, default_value=None)) == [("x", None)]
    [(_, nothing)] = seen_by("x", beam.AsSingleton)
    assert isinstance(nothing, beam.pvalue.EmptySideInput)


def test_a_singleton_of_several_shows_two_of_them():
    with pytest.raises(PipelineError, match=r"'Side'> has 3 elements in the window, .* 7 and 8;"):
        seen_by("x", beam.AsSingleton, 7, 8, 9)


def test_a_mapping_has_one_value_of_a_key_and_is_made_of_pairs():
    [(_, found)] = seen_by("x", beam.AsDict, ("a", 1), ("a", 2))
    assert found in ({"a": 1}, {"a": 2})
    with pytest.raises(PipelineError, match=r"AsDict needs pairs of key and value, and .* has 3"):
        seen_by("x", beam.AsDict, 3)


def test_several_views_by_place_and_by_name_for_every_transform():
    pipeline = beam.Pipeline()
    letters = pipeline | "L" >> beam.Create(["a", "b"])
    one = pipeline | "O" >> beam.Create([1])
    table = pipeline | "T" >> beam.Create([("a", 10), ("b", 20)])

    def shown(letter: str, by: str, d: dict[str, int], *, plus: int) -> int:
        return d[letter] + plus + len(by)

    args, kwargs = ("..", beam.AsDict(table)), {"plus": beam.AsSingleton(one)}
    assert values(letters | beam.Map(shown, *args, **kwargs)) == [13, 23]
    flat = letters | beam.FlatMap(lambda letter, n, d: [d[letter]] * n, 2, beam.AsDict(table))
    assert values(flat) == [10, 10, 20, 20]
    assert values(letters | beam.Filter(lambda x, d: d[x] > 15, d=beam.AsDict(table))) == ["b"]
    keyed = letters | beam.WithKeys(lambda x, d: d[x], beam.AsDict(table))
    assert values(keyed) == [(10, "a"), (20, "b")]
    low, high = letters | beam.Partition(lambda x, n, d: d[x] > 15, 2, beam.AsDict(table))
    assert (values(low), values(high)) == (["a"], ["b"])


def test_a_collection_looks_into_itself():
    pcoll = beam.Pipeline() | beam.Create([3, 4])
    assert values(pcoll | beam.Map(lambda x, all_of: x / sum(all_of), beam.AsList(pcoll))) == [
        3 / 7,
        4 / 7,
    ]


def windowed(pipeline: beam.Pipeline, name: str, size: str, *elements: Any) -> Any:
    timed = [beam.TimestampedValue(value, instant) for value, instant in elements]
    into = f"{name}Windows" >> beam.WindowInto(beam.FixedWindows(size))
    return pipeline | name >> beam.Create(timed) | into


def test_an_element_looks_into_the_window_that_its_own_ends_in():
    pipeline = beam.Pipeline()
    main = windowed(pipeline, "Main", "1 minute", ("a", "00:00:30"), ("b", "00:59:00"))
    later = windowed(pipeline, "Late", "1 minute", ("c", "01:30:00"))
    side = windowed(pipeline, "Side", "1 hour", (1, "00:10:00"), (2, "00:50:00"))
    everything = (main, later) | beam.Flatten()
    looked = everything | beam.Map(pair, beam.AsList(side))
    assert values(looked) == [("a", [1, 2]), ("b", [1, 2]), ("c", [])]


def test_the_time_the_window_and_the_pane_of_an_element_stay():
    pipeline = beam.Pipeline()
    grouped = windowed(pipeline, "M", "1 minute", (("k", 1), "00:00:30")) | beam.GroupByKey()
    side = pipeline | "S" >> beam.Create(["s"])
    looked = grouped | beam.Map(pair, beam.AsSingleton(side))
    pipeline.keep(grouped)
    result = pipeline.run()
    (before,), (after,) = result.out_of(grouped.edge), result.out_of(looked.edge)
    assert after.element.value == (("k", [1]), "s")
    assert after.element.timestamp == before.element.timestamp == 59_999
    assert (after.element.windows, after.element.pane) == (
        before.element.windows,
        before.element.pane,
    )


def test_an_element_of_a_stream_waits_for_the_first_pane_and_later_ones_see_the_latest():
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> (
        TestStream()
        .advance_watermark_to("00:00:01")
        .add_elements(1)
        .advance_watermark_to("00:00:02")
        .add_elements(2)
        .advance_watermark_to("00:00:03")
        .advance_watermark_to("00:00:04")
        .advance_watermark_to_infinity()
    )
    main = pipeline | "Main" >> (
        TestStream()
        .add_elements("waits")
        .advance_watermark_to("00:00:02")
        .advance_watermark_to("00:00:03")
        .advance_watermark_to("00:00:04")
        .add_elements("sees both")
        .advance_watermark_to_infinity()
    )
    every = side | beam.WindowInto(
        beam.GlobalWindows(),
        trigger=beam.Repeatedly(beam.AfterCount(1)),
        accumulation_mode=beam.AccumulationMode.ACCUMULATING,
    )
    looked = main | beam.Map(pair, beam.AsList(every))
    came = [(it.step, it.element.value) for it in pipeline.run().out_of(looked.edge)]
    side_first_pane, end_of_main_elements = 2, 9
    assert came == [
        (side_first_pane, ("waits", [1])),
        (end_of_main_elements, ("sees both", [1, 2])),
    ]


def stream_of(pipeline: beam.Pipeline, name: str, *elements: Any) -> Any:
    """A stream that brings an element in each step and stays at its beginning before its end."""
    stream = TestStream().advance_watermark_to("00:00:01")
    for element in elements:
        stream = stream.add_elements(element)
    return pipeline | name >> stream.advance_watermark_to_infinity()


def steps_of(looked: Any) -> list[tuple[int, Any]]:
    return [(it.step, it.element.value) for it in looked.pipeline.run().out_of(looked.edge)]


def test_a_side_input_that_is_empty_and_ends_lets_a_stream_pass_at_once():
    pipeline = beam.Pipeline()
    nothing = pipeline | "Nothing" >> beam.Create([])
    main = stream_of(pipeline, "Main", "a", "b")
    looked = main | beam.Map(pair, beam.AsList(nothing))
    # Step 0 is all of the empty side input, step 1 the first watermark of the stream.
    assert steps_of(looked) == [(2, ("a", [])), (3, ("b", []))]


def test_a_side_input_of_what_a_grouping_left_of_nothing_is_ready_too():
    pipeline = beam.Pipeline()
    nothing = (
        pipeline
        | "Nothing" >> beam.Create([])
        | "Into" >> beam.WindowInto(beam.FixedWindows("1 minute"))
    )
    grouped = nothing | "Keyed" >> beam.Map(lambda it: (it, it)) | beam.GroupByKey()
    main = stream_of(pipeline, "Main", "a") | "Minutes" >> beam.WindowInto(
        beam.FixedWindows("1 minute")
    )
    looked = main | beam.Map(pair, beam.AsList(grouped))
    assert steps_of(looked) == [(2, ("a", []))]


def test_a_side_stream_that_is_ahead_of_the_main_stream_is_over_where_it_is_itself():
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> (
        TestStream()
        .add_elements(beam.TimestampedValue(1, "00:01:10"))
        .advance_watermark_to("00:00:30")
        .advance_watermark_to("00:05:00")
        .advance_watermark_to_infinity()
    )
    main = pipeline | "Main" >> (
        TestStream()
        .add_elements(
            beam.TimestampedValue("in the first minute", "00:00:40"),
            beam.TimestampedValue("in the second", "00:01:40"),
            beam.TimestampedValue("in the tenth", "00:09:40"),
        )
        .advance_watermark_to("00:00:20")
        .advance_watermark_to("00:00:25")
        .add_elements(beam.TimestampedValue("later", "00:00:50"))
        .advance_watermark_to_infinity()
    )
    minutes = beam.FixedWindows("1 minute")
    looked = (main | "M" >> beam.WindowInto(minutes)) | beam.Map(
        pair, beam.AsList(side | "S" >> beam.WindowInto(minutes))
    )
    # Turns: 0 side, 1 main, 2 side at 00:00:30, 3 main, 4 side at 00:05:00, 5 main, 6 side ends.
    assert steps_of(looked) == [
        (4, ("in the second", [1])),
        (4, ("in the first minute", [])),
        (6, ("in the tenth", [])),
        (7, ("later", [])),
    ]


def test_a_side_stream_that_is_behind_holds_back_nothing_that_has_seen_it():
    pipeline = beam.Pipeline()
    side = (
        pipeline
        | "Side"
        >> (TestStream().add_elements("red").advance_processing_time("1 s"))
        .advance_processing_time("1 s")
        .advance_watermark_to_infinity()
    )
    first = side | "First" >> beam.WindowInto(
        beam.GlobalWindows(),
        trigger=beam.Repeatedly(beam.AfterCount(1)),
        accumulation_mode=beam.AccumulationMode.ACCUMULATING,
    )
    main = stream_of(pipeline, "Main", beam.TimestampedValue("a", "00:00:02"))
    looked = main | beam.Map(pair, beam.AsSingleton(first))
    counted = (
        looked
        | beam.WindowInto(beam.FixedWindows("1 minute"))
        | beam.CombineGlobally(len).without_defaults()
    )
    pipeline.keep(looked)
    # Turns: 0 side, 1 main, 2 side, 3 main brings its element, 4 side, 5 main ends, 6 side ends.
    assert steps_of(looked) == [(3, ("a", "red"))]
    assert steps_of(counted) == [(5, 1)]


def test_the_end_of_the_side_window_says_that_a_count_was_never_reached():
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> (
        TestStream()
        .advance_watermark_to("01:00:00")
        .advance_watermark_to("02:00:00")
        .advance_watermark_to_infinity()
    )
    counting = side | "Counting" >> beam.WindowInto(
        beam.FixedWindows("1 minute"),
        trigger=beam.Repeatedly(beam.AfterCount(2)),
        accumulation_mode=beam.AccumulationMode.DISCARDING,
        allowed_lateness="0 s",
    )
    main = (
        pipeline
        | "Main"
        >> (TestStream().add_elements(beam.TimestampedValue("a", "01:10:00")))
        .advance_watermark_to("01:30:00")
        .advance_watermark_to_infinity()
    )
    looked = (main | "Minutes" >> beam.WindowInto(beam.FixedWindows("1 minute"))) | beam.Map(
        pair, beam.AsList(counting)
    )
    # Turns: 0 side at 01:00:00, 1 main brings its element, 2 side at 02:00:00.
    assert steps_of(looked) == [(2, ("a", []))]


def test_views_that_cannot_be_looked_into_are_refused_when_the_pipeline_is_built():
    pipeline = beam.Pipeline()
    main = pipeline | "Main" >> beam.Create([1])
    sessions = windowed(pipeline, "S", "1 h", (1, "00:00:00")) | "G" >> beam.WindowInto(
        beam.Sessions("1 minute")
    )
    hours = windowed(pipeline, "H", "1 h", (1, "00:00:00"))
    with pytest.raises(PipelineError, match=r"'A/View0': Sessions is not allowed in side inputs"):
        main | "A" >> beam.Map(pair, beam.AsList(sessions))
    with pytest.raises(PipelineError, match=r"'B/View0': Attempted to get side input window for G"):
        main | "B" >> beam.Map(pair, beam.AsList(hours))
    foreign = beam.Pipeline() | beam.Create([1])
    with pytest.raises(PipelineError, match="'View0' was given collections of several pipelines"):
        main | "D" >> beam.Map(pair, beam.AsList(foreign))
    with pytest.raises(PipelineError, match=r"AsList needs a collection, got \[1\]"):
        beam.AsList([1])  # type: ignore[arg-type]
    assert values(main) == [1]


def test_a_view_of_a_stream_without_windows_is_seen_when_it_ends_and_a_warning_says_so():
    pipeline = beam.Pipeline()
    endless = pipeline | "E" >> TestStream().add_elements("x").advance_watermark_to_infinity()
    main = pipeline | "Main" >> beam.Create([1])
    with pytest.warns(UnwiseStrategyWarning, match="'C/View0/Items': a stream in the global win"):
        looked = main | "C" >> beam.Map(pair, beam.AsList(endless))
    assert values(looked) == [(1, ["x"])]


def test_triggers_that_are_unsafe_are_allowed_as_in_beam_python():
    def grouping(*options: str) -> Any:
        pipeline = beam.Pipeline(argv=[*options])
        stream = TestStream().add_elements(("k", 1), ("k", 2)).add_elements(("k", 3))
        once = beam.WindowInto(
            beam.GlobalWindows(), trigger=beam.AfterCount(2), accumulation_mode="discarding"
        )
        read = pipeline | stream.advance_watermark_to_infinity()
        return read | once | "Sum" >> beam.CombinePerKey(sum)

    with pytest.raises(PipelineError, match="'Sum': Unsafe trigger: "):
        grouping()
    with pytest.warns(UnwiseStrategyWarning, match="'Sum': Unsafe trigger: "):
        summed = grouping("--allow_unsafe_triggers")
    assert values(summed) == [("k", 3)]


def test_a_function_that_fails_names_the_element_and_not_what_it_saw():
    pipeline = beam.Pipeline()
    side = pipeline | "S" >> beam.Create([0])
    failing = (
        pipeline | beam.Create([5]) | "Div" >> beam.Map(lambda x, y: x / y, beam.AsSingleton(side))
    )
    with pytest.raises(
        Exception, match="'Div' raised ZeroDivisionError: division by zero for 5 at"
    ):
        values(failing)


def test_a_combined_collection_is_a_view_with_a_value_of_nothing():
    for elements, expected in (([1, 2], 3), ([], 0)):
        pipeline = beam.Pipeline()
        total = pipeline | "N" >> beam.Create(elements) | beam.CombineGlobally(sum)
        looked = pipeline | beam.Create(["x"]) | beam.Map(pair, beam.AsSingleton(total))
        assert values(looked) == [("x", expected)]


def test_a_function_that_looks_is_pickled_without_the_pipeline():
    pipeline = beam.Pipeline()
    unpicklable = (thing for thing in [1])
    side = pipeline | "S" >> beam.Create([1])
    pipeline | "U" >> beam.Create([unpicklable])
    looked = pipeline | beam.Create([1]) | beam.Map(pair, beam.AsSingleton(side))
    do = pickle.loads(pickle.dumps(looked.edge.node.do))  # type: ignore[attr-defined]
    with pytest.raises(
        PipelineError, match="more than one element accessed as a singleton view: <PC"
    ):
        do.see([[4, 5]])
    do.see([[4]])
    assert do.views[0].seen == 4
