"""Scio's side inputs and side outputs, and its context."""

import pickle
from typing import Any

import pytest

from beamlike import AfterCount, Repeatedly
from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.errors import PipelineError
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP, show_instant
from beamlike.runtime.script import Arrive
from beamlike.scio import (
    ScioContext,
    SCollection,
    SideInput,
    SideOutput,
    SideOutputContext,
    TimestampedValue,
    WindowOptions,
)
from beamlike.testing import test_stream_of as stream_of
from tests.support.pipelines.results_of_runs import shown_panes, values


def panes(collection: SCollection[Any]) -> list[tuple[Any, ...]]:
    return shown_panes(collection, "time")


# -- side inputs -----------------------------------------------------------------------------------


def test_functions_look_into_side_inputs():
    sc = ScioContext()
    total = sc.parallelize([10]).as_singleton_side_input()
    names = sc.parallelize([(1, "one"), (2, "two")]).as_map_side_input()
    numbers = sc.parallelize([1, 2]).with_side_inputs(total, names)
    shares = numbers.map(lambda n, see: f"{see(names)[n]} of {see(total)}").to_scollection()
    assert values(shares) == ["one of 10", "two of 10"]


def test_each_kind_of_side_input():
    sc = ScioContext()
    pairs = sc.parallelize([("a", 1), ("a", 2), ("b", 3)])
    kinds: list[SideInput[Any]] = [
        pairs.as_list_side_input(),
        pairs.as_iterable_side_input(),
        pairs.keys().as_set_singleton_side_input(),
        pairs.as_multi_map_side_input(),
        sc.empty().as_singleton_side_input(0),
        sc.empty().as_map_side_input(),
    ]
    once = sc.parallelize([None]).with_side_inputs(*kinds)
    seen = once.map(lambda _, see: [see(kind) for kind in kinds]).to_scollection()
    listed = [("a", 1), ("a", 2), ("b", 3)]
    assert values(seen) == [[listed, listed, frozenset("ab"), {"a": [1, 2], "b": [3]}, 0, {}]]


def test_all_verbs_of_a_collection_with_side_inputs():
    sc = ScioContext()
    limit = sc.parallelize([2]).as_singleton_side_input()
    numbers = sc.parallelize([1, 2, 3]).with_side_inputs(limit)
    small = numbers.filter(lambda n, see: n <= see(limit))
    assert values(small.to_scollection()) == [1, 2]
    listed = small.flat_map(lambda n, see: [n] * see(limit)).to_scollection()
    assert values(listed) == [1, 1, 2, 2]
    keyed = small.key_by(lambda n, see: n == see(limit)).to_scollection()
    assert values(keyed) == [(False, 1), (True, 2)]
    collected = numbers.collect(lambda n, see: n if n > see(limit) else None).to_scollection()
    assert values(collected) == [3]


def test_a_side_input_is_looked_up_by_window():
    sc = ScioContext()
    letters = sc.parallelize_timestamped([("a", "00:00:10"), ("b", "00:01:10")])
    of_minutes = letters.with_fixed_windows("1 minute")
    kinds: list[SideInput[Any]] = [
        of_minutes.as_list_side_input(),
        of_minutes.as_list_side_input().map(lambda them: [it * 2 for it in them]),
        of_minutes.as_set_singleton_side_input(),
        of_minutes.key_by(str.upper).as_map_side_input(),
        of_minutes.key_by(str.upper).as_multi_map_side_input(),
    ]
    ticks = sc.parallelize_timestamped([(1, "00:00:50"), (2, "00:01:20"), (3, "00:02:00")])
    seen = ticks.with_fixed_windows("1 minute").with_side_inputs(*kinds)
    assert panes(seen.map(lambda n, see: (n, [*map(see, kinds)])).to_scollection()) == [
        ((1, [["a"], ["aa"], frozenset("a"), {"A": "a"}, {"A": ["a"]}]), "00:00:50"),
        ((2, [["b"], ["bb"], frozenset("b"), {"B": "b"}, {"B": ["b"]}]), "00:01:20"),
        ((3, [[], [], frozenset(), {}, {}]), "00:02:00"),
    ]


def test_a_singleton_of_several_elements_fails_when_it_is_read():
    sc = ScioContext()
    side = sc.parallelize([1, 2]).as_singleton_side_input()
    read = sc.parallelize([0]).with_side_inputs(side).map(lambda _, see: see(side))
    with pytest.raises(PipelineError, match="more than one element accessed as a singleton view"):
        values(read.to_scollection())


def test_a_side_input_that_was_not_named_fails_when_it_is_read():
    sc = ScioContext()
    side = sc.parallelize([1], name="Side").as_singleton_side_input()
    read = sc.parallelize([0]).with_side_inputs().map(lambda _, see: see(side)).to_scollection()
    with pytest.raises(PipelineError, match=r"the side input of <SCollection of 'Side'> is not am"):
        values(read)


def test_a_side_input_in_a_pickled_function_is_known_again():
    side = ScioContext().parallelize([1]).as_singleton_side_input()
    assert pickle.loads(pickle.dumps(side)).number == side.number


# -- side outputs ----------------------------------------------------------------------------------


def test_a_side_input_is_changed_once_for_all_elements_that_see_the_same():
    asked: list[list[int]] = []

    def greatest(seen: list[int]) -> int:
        asked.append(seen)
        return max(seen)

    sc = ScioContext()
    side = sc.parallelize([3, 5]).as_list_side_input()
    top = side.map(greatest)
    words = top.map(str)
    numbers = sc.parallelize([1, 2]).with_side_inputs(words, side)
    seen = numbers.map(lambda n, see: (n, see(side), see(top), see(words))).to_scollection()

    assert values(seen) == [(1, [3, 5], 5, "5"), (2, [3, 5], 5, "5")]
    assert asked == [[3, 5], [3, 5]]  # once for top, once for words


def test_a_changed_side_input_serves_joins_and_is_looked_up_by_window():
    sc = ScioContext()
    sizes = sc.parallelize_timestamped([(("a", 1), 0), (("b", 2), 60_000)])
    side = sizes.with_fixed_windows("1 minute").as_multi_map_side_input()
    doubled = side.map(lambda seen: {key: [2 * it for it in seen[key]] for key in seen})
    events = sc.parallelize_timestamped([(("a", "x"), 1), (("b", "y"), 2), (("b", "z"), 60_001)])
    joined = events.with_fixed_windows("1 minute").hash_join(doubled)

    assert values(joined) == [("a", ("x", 2)), ("b", ("z", 4))]


def test_a_side_input_is_changed_by_a_function():
    side = ScioContext().parallelize([1], name="Side").as_list_side_input()
    with pytest.raises(
        PipelineError, match=r"map of the side input of .*'Side'.* needs a function"
    ):
        side.map(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("on_time_behavior", "seen"), [("fire_always", "none"), ("fire_if_non_empty", "drawn")]
)
def test_an_empty_pane_takes_the_place_of_a_side_input(on_time_behavior: str, seen: str):
    sc = ScioContext()
    refreshed = WindowOptions(
        trigger=Repeatedly(AfterCount(1)),
        accumulation_mode="discarding",
        allowed_lateness="0 s",
        on_time_behavior=on_time_behavior,
    )
    numbers = sc.parallelize_timestamped([("drawn", "00:00:01")])
    side = numbers.with_fixed_windows("10 s", options=refreshed).as_singleton_side_input("none")
    tickets = sc.parallelize_timestamped([("ticket", "00:00:02")]).with_fixed_windows("5 s")
    shown = tickets.with_side_inputs(side).map(lambda it, see: (it, see(side))).to_scollection()

    assert values(shown) == [("ticket", seen)]


def test_what_an_element_sees_becomes_a_value():
    sc = ScioContext()
    side = sc.parallelize([1, 2]).as_list_side_input()
    assert values(sc.parallelize("ab").reify_side_input_as_values(side)) == [
        ("a", [1, 2]),
        ("b", [1, 2]),
    ]


def test_a_collection_becomes_one_value_of_the_global_window():
    sc = ScioContext()
    pairs = sc.parallelize_timestamped([(("a", 1), 0), (("b", 2), 60_000)])
    minutes = pairs.with_fixed_windows("1 minute")

    assert values(minutes.reify_as_list_in_global_window()) == [[("a", 1), ("b", 2)]]
    assert values(minutes.reify_as_iterable_in_global_window()) == [[("a", 1), ("b", 2)]]
    assert values(minutes.reify_as_map_in_global_window()) == [{"a": 1, "b": 2}]
    assert values(minutes.reify_as_multi_map_in_global_window()) == [{"a": [1], "b": [2]}]
    assert values(sc.empty().reify_as_list_in_global_window()) == [[]]


def test_functions_put_elements_into_side_outputs():
    errors, lengths = SideOutput[str]("errors"), SideOutput[int]()

    def checked(word: str, out: SideOutputContext) -> list[str]:
        if not word.isalpha():
            out.output(errors, word, timestamp=5)
            return []
        out.output(lengths, len(word))
        return [word.upper()]

    words = ScioContext().parallelize_timestamped(["one", "2", "three"], [1, 2, 3])
    upper, sides = words.with_side_outputs(errors, lengths).flat_map(checked)
    assert panes(upper) == [("ONE", "00:00:00.001"), ("THREE", "00:00:00.003")]
    assert panes(sides(lengths)) == [(3, "00:00:00.001"), (5, "00:00:00.003")]
    assert panes(sides(errors)) == [("2", "00:00:00.005")]


def test_a_function_with_side_outputs_that_returns_none_lists_nothing():
    long = SideOutput[str]("long")

    def sort(word: str, to: SideOutputContext) -> list[str] | None:
        if len(word) <= 2:
            return [word]
        to.output(long, word)
        return None

    main, sides = ScioContext().parallelize(["a", "abc"]).with_side_outputs(long).flat_map(sort)
    assert (values(main), values(sides(long))) == (["a"], ["abc"])


def test_the_main_output_of_map_is_what_the_function_returns():
    odd = SideOutput[int]("odd")

    def halved(number: int, out: Any) -> int:
        if number % 2:
            out.output(odd, number)
        return number // 2

    halves, sides = ScioContext().parallelize([2, 3]).with_side_outputs(odd).map(halved)
    assert (values(halves), values(sides(odd))) == ([1, 1], [3])


def test_a_side_output_that_was_not_named_is_refused():
    named, other = SideOutput[int]("named"), SideOutput[int]("other")
    numbers = ScioContext().parallelize([1]).with_side_outputs(named)
    main, sides = numbers.map(lambda n, out: out.output(other, n) and n)
    with pytest.raises(PipelineError, match=r"'map\(<lambda>\)' has no side output SideOutput\('o"):
        values(main)
    with pytest.raises(PipelineError, match=r"SideOutput\('other'\) is not among the side outputs"):
        sides(other)


def test_side_outputs_of_one_name_are_refused():
    twice = ScioContext().parallelize([1]).with_side_outputs(SideOutput("a"), SideOutput("a"))
    with pytest.raises(
        PipelineError, match=r"'map\(<lambda>\)' has several side outputs of one na"
    ):
        twice.map(lambda n, out: n)


def test_what_is_no_side_is_refused():
    numbers: Any = ScioContext().parallelize([1])
    with pytest.raises(PipelineError, match=r"^with_side_inputs of .* needs side inputs, got 3"):
        numbers.with_side_inputs(3)
    with pytest.raises(PipelineError, match=r"^with_side_outputs of .* needs side outputs, got 3"):
        numbers.with_side_outputs(3)


# -- the context -----------------------------------------------------------------------------------


def test_parallelize_puts_elements_at_the_minimum_time():
    assert panes(ScioContext().parallelize("ab")) == [("a", "-infinity"), ("b", "-infinity")]


def test_what_is_no_list_is_refused():
    sc: Any = ScioContext()
    with pytest.raises(PipelineError, match="parallelize needs elements in a list, got 5"):
        sc.parallelize(5)


def test_parallelize_timestamped_takes_times_in_three_ways():
    sc = ScioContext()
    expected = [("a", "00:00:01"), ("b", "00:00:02")]
    times = ["00:00:01", "00:00:02"]
    values = [TimestampedValue("a", 1000), TimestampedValue("b", 2000)]
    assert panes(sc.parallelize_timestamped(zip("ab", times, strict=True))) == expected
    assert panes(sc.parallelize_timestamped("ab", times)) == expected
    assert panes(sc.parallelize_timestamped(values)) == expected


def test_elements_without_times_are_refused():
    with pytest.raises(PipelineError, match="got 2 elements and 1 timestamp"):
        ScioContext().parallelize_timestamped("ab", [0])
    with pytest.raises(PipelineError, match="needs pairs of an element and its time, got 'a'"):
        ScioContext().parallelize_timestamped("ab")


def test_a_stream_is_anything_with_steps():
    class Stream:
        steps = (
            Arrive(((None, Element("a", 0)), (None, Element("b", 1)))),
            AdvanceWatermark(MAX_TIMESTAMP),
        )

    stream = ScioContext().test_stream(Stream())
    assert not stream.is_bounded
    assert panes(stream) == [("a", "00:00:00"), ("b", "00:00:00.001")]


def test_several_streams_have_watermarks_of_their_own():
    sc = ScioContext()
    stream = stream_of().add_elements_at_time("00:00:01", ("a", 1)).advance_watermark_to_infinity()
    one = sc.test_stream(stream).with_fixed_windows("1 s")
    other = sc.test_stream(stream, name="Other").with_fixed_windows("1 s")
    assert panes(one.join(other)) == [(("a", (1, 1)), "00:00:01.999")]
    assert [node.label for node in sc.pipeline.nodes][::2][:2] == ["test_stream", "Other"]


def test_what_is_no_stream_is_refused():
    sc: Any = ScioContext()
    with pytest.raises(PipelineError, match="test_stream needs a finished test stream, got 3"):
        sc.test_stream(3)


def test_the_context_runs_at_the_end_of_its_block():
    seen: list[str] = []
    with ScioContext() as sc:
        sc.parallelize(["a"]).tap(seen.append)
        assert seen == []
    assert seen == ["a"]


def test_the_context_does_not_run_if_its_block_fails():
    seen: list[str] = []

    def build() -> None:
        with ScioContext() as sc:
            sc.parallelize(["a"]).tap(seen.append)
            raise KeyError

    with pytest.raises(KeyError):
        build()
    assert seen == []


def test_run_has_an_older_name():
    sc = ScioContext()
    words = sc.parallelize(["a"])
    assert [came.element.value for came in sc.close().out_of(words.edge)] == ["a"]


def test_a_context_goes_on_with_a_pipeline_and_with_transforms_of_beam():
    pipeline = Pipeline()
    sc = ScioContext(pipeline)
    words = sc.custom_input("Words", Create(["a"]))
    assert words.pipeline is pipeline
    assert panes(words) == [("a", show_instant(MIN_TIMESTAMP))]
