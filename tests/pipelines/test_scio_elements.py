"""Scio's verbs that take elements one by one, and verbs for pairs: bounded data, whole output."""

import io
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.elements import Map
from beamlike.errors import PipelineError, TransformError
from beamlike.scio import ScioContext, SCollection, TimestampedValue
from beamlike.testing import test_stream_of as stream_of
from tests.support.pipelines.results_of_runs import values
from tests.support.refusals import refusal


def test_map_makes_one_of_each_element_and_flat_map_lists_several():
    words = ScioContext().parallelize(["to be", "or"]).flat_map(str.split).map(str.upper)
    assert values(words) == ["TO", "BE", "OR"]


def test_filter_keeps_and_filter_not_drops_what_a_function_is_true_for():
    numbers = ScioContext().parallelize([1, 2, 3, 4])
    assert values(numbers.filter(lambda n: n % 2)) == [1, 3]
    assert values(numbers.filter_not(lambda n: n % 2)) == [2, 4]


def test_collect_leaves_out_elements_that_a_match_has_no_case_for():
    def paid(event: tuple[str, int]) -> int | None:
        match event:
            case ("paid", amount):
                return amount
        return None

    events = ScioContext().parallelize([("paid", 0), ("seen", 1), ("paid", 2)])
    assert values(events.collect(paid)) == [0, 2]


def test_a_safe_flat_map_has_what_failed_in_a_collection_of_its_own():
    def digits(text: str) -> Any:
        for letter in text:
            yield int(letter)

    found, failed = ScioContext().parallelize(["12", "3x", ""]).safe_flat_map(digits)
    assert values(found) == [1, 2]
    assert [(text, type(error)) for text, error in values(failed)] == [("3x", ValueError)]
    rescued = failed.collect(lambda it: len(it[0]) if isinstance(it[1], ValueError) else None)
    assert values((found + rescued).sum()) == [5]


def test_flat_functions_that_return_none_list_nothing():
    pairs = ScioContext().parallelize([("a", 1), ("b", 2)])
    assert values(pairs.flat_map(lambda it: [it] if it[1] > 1 else None)) == [("b", 2)]
    assert values(pairs.flat_map_values(lambda n: [n] if n > 1 else None)) == [("b", 2)]


def test_flatten_takes_lists_apart():
    assert values(ScioContext().parallelize([[1, 2], [], [3]]).flatten()) == [1, 2, 3]


def test_tap_and_debug_show_elements_and_pass_them_on():
    seen: list[str] = []
    out = io.StringIO()
    words = ScioContext().parallelize(["to", "be"]).tap(seen.append)
    assert values(words.debug(out=lambda: out, prefix="word: ")) == ["to", "be"]
    assert (seen, out.getvalue()) == (["to", "be"], "word: to\nword: be\n")


def test_debug_that_is_not_enabled_is_nothing():
    words = ScioContext().parallelize(["to"])
    assert words.debug(enabled=False) is words


def test_verbs_for_pairs_change_keys_and_values():
    pairs = ScioContext().parallelize({"a": 1, "b": 2})
    assert values(pairs.keys()) == ["a", "b"]
    assert values(pairs.values()) == [1, 2]
    assert values(pairs.swap()) == [(1, "a"), (2, "b")]
    assert values(pairs.map_keys(str.upper)) == [("A", 1), ("B", 2)]
    assert values(pairs.map_values(lambda n: -n)) == [("a", -1), ("b", -2)]
    assert values(pairs.flat_map_values(range)) == [("a", 0), ("b", 0), ("b", 1)]
    assert values(pairs.filter_values(lambda n: n > 1)) == [("b", 2)]


def test_flatten_values_takes_lists_of_values_apart():
    pairs = ScioContext().parallelize([("a", [1, 2]), ("b", [])])
    assert values(pairs.flatten_values()) == [("a", 1), ("a", 2)]


def test_elements_are_grouped_by_what_a_function_says():
    words = ScioContext().parallelize(["to", "be", "not"])
    assert values(words.key_by(len)) == [(2, "to"), (2, "be"), (3, "not")]
    assert values(words.key_by(len).group_by_key()) == [(2, ["to", "be"]), (3, ["not"])]
    assert values(words.group_by(len)) == [(2, ["to", "be"]), (3, ["not"])]
    assert values(words.group_map(len, str.upper)) == [(2, ["TO", "BE"]), (3, ["NOT"])]


def test_a_union_has_the_elements_of_all():
    sc = ScioContext()
    one, two, three = (sc.parallelize([n]) for n in (1, 2, 3))
    assert values(one.union(two, three)) == [1, 2, 3]
    assert values(one + two) == [1, 2]
    assert values(one + one) == [1, 1]
    assert values(sc.union_all([one, three])) == [1, 3]
    assert values(sc.union_all([])) == []
    assert values(sc.union_all(each for each in (two, three))) == [2, 3]


def test_a_partition_has_a_collection_for_each_number():
    thirds = ScioContext().parallelize(range(7)).partition(3, lambda n: n % 3)
    assert [values(third) for third in thirds] == [[0, 3, 6], [1, 4], [2, 5]]


def test_a_partition_by_a_condition_has_two_collections():
    odd, even = ScioContext().parallelize(range(4)).partition(lambda n: n % 2 == 1)
    assert (values(odd), values(even)) == ([1, 3], [0, 2])


def test_a_partition_by_key_has_a_collection_for_each_key():
    parts = ScioContext().parallelize(["ab", "c", "de"]).partition_by_key([1, 2, 3], len)
    assert {key: values(part) for key, part in parts.items()} == {1: ["c"], 2: ["ab", "de"], 3: []}


def test_an_element_without_a_part_fails_in_the_run():
    parts = ScioContext().parallelize([1, 5]).partition(2, lambda n: n)
    assert refusal(PipelineError, lambda: values(parts[0])) == (
        "'partition(<lambda>)' put 5 into the part 5, and its parts are 0 to 1; answer with one "
        "of them"
    )


def test_an_element_with_an_unknown_key_fails_in_the_run():
    parts = ScioContext().parallelize(["ab"]).partition_by_key([1], len)
    with pytest.raises(TransformError, match=r"LookupError: the key 2 is none of \[1\]; name all"):
        values(parts[1])


def test_a_function_that_raises_is_named_with_its_verb_and_its_element():
    broken = ScioContext().parallelize(["1", "x"]).map(int)
    with pytest.raises(TransformError, match=r"'map\(int\)' raised ValueError: .* for 'x' at "):
        values(broken)


def test_the_elements_of_a_key_are_reduced():
    words = ScioContext().parallelize(["to", "be", "not"])
    assert values(words.group_map_reduce(len, max)) == [(2, "to"), (3, "not")]


def test_a_partition_by_hash_keeps_equal_elements_together():
    parts = ScioContext().parallelize(["a", "b", "a", "c", "b"]).hash_partition(2)
    found = [values(part) for part in parts]
    assert sorted(found[0] + found[1]) == ["a", "a", "b", "b", "c"]
    assert not set(found[0]) & set(found[1])
    assert all(found)
    by_key = ScioContext().parallelize(["a", "b", "a"]).key_by(str).hash_partition_by_key(2)
    assert {len(values(part)) for part in by_key} in ({0, 3}, {1, 2})


def test_batches_hold_elements_of_one_window_and_bundle():
    sc = ScioContext()
    stream = (
        stream_of()
        .add_elements(
            *(TimestampedValue(n, at) for n, at in enumerate([0, 60_000, 1, 2, 60_001, 3]))
        )
        .add_elements(TimestampedValue(6, 4))
        .advance_watermark_to_infinity()
    )
    batches = sc.test_stream(stream).with_fixed_windows("1 minute").batch(3)
    assert values(batches.with_window().map(lambda it: (it[0], it[1].start))) == [
        ([0, 2, 3], 0),
        ([1, 4], 60_000),
        ([5], 0),
        ([6], 0),
    ]
    assert values(batches.with_timestamp().map(lambda it: it[1])) == [
        59_999,
        119_999,
        59_999,
        59_999,
    ]


def test_with_too_many_windows_the_fullest_batch_comes_out_early():
    events = ScioContext().parallelize_timestamped("aabcd", [0, 1, 60_000, 120_000, 2])
    minutes = events.with_fixed_windows("1 minute")
    assert values(minutes.batch(9, max_live_windows=2)) == [["a", "a"], ["b"], ["c"], ["d"]]


def test_batches_go_by_what_elements_cost():
    words = ScioContext().parallelize(["aaa", "b", "cc", "d"])
    assert values(words.batch_weighted(3, len)) == [["aaa"], ["b", "cc"], ["d"]]


def test_what_is_no_dofn_is_refused_with_what_to_write():
    pairs = ScioContext().parallelize([("a", 1)])
    with pytest.raises(PipelineError, match=r"needs a DoFn, got 3; write a class below"):
        pairs.apply_per_key(3)  # type: ignore[arg-type]


# -- names -------------------------------------------------------------------------------------


def labels(collection: SCollection[Any]) -> list[str]:
    return [node.label for node in collection.pipeline.nodes]


def test_verbs_are_named_after_their_functions_and_numbered():
    words = ScioContext().parallelize(["a"]).map(str.upper).map(str.upper).filter(str.isalpha)
    assert labels(words) == ["parallelize", "map(upper)", "map(upper)2", "filter(isalpha)"]


def test_with_name_names_the_next_verb_alone():
    words = ScioContext().parallelize(["a"], name="Words")
    assert labels(words.with_name("Upper").map(str.upper).keys()) == ["Words", "Upper", "keys"]


def test_a_name_is_used_once():
    words = ScioContext().parallelize(["a"])
    words.with_name("Upper").map(str.upper)
    with pytest.raises(PipelineError, match="a transform named 'Upper' is in this pipeline"):
        words.with_name("Upper").map(str.upper)


def test_several_verbs_go_under_one_name():
    words = ScioContext().parallelize(["a"])
    lengths = words.transform("Lengths", lambda it: it.map(len).filter(bool))
    assert labels(lengths) == ["parallelize", "Lengths/map(len)", "Lengths/filter(bool)"]
    assert values(lengths) == [1]


def test_transforms_of_beam_and_verbs_go_together():
    words = ScioContext().parallelize(["a"]) | "Twice" >> Map(lambda it: it * 2)
    upper = words.map(str.upper).apply_transform(Map(str.lower))
    assert values(upper) == ["aa"]


# -- what is refused when the pipeline is built ---------------------------------------------------


@pytest.mark.parametrize(
    "verb", ["map", "flat_map", "filter", "filter_not", "collect", "key_by", "tap", "map_values"]
)
def test_what_is_no_function_is_refused_with_the_name_of_the_verb(verb: str):
    words = ScioContext().parallelize(["a"])
    assert refusal(PipelineError, lambda: getattr(words, verb)("nothing")) == (
        f"{verb!r} needs a function, got 'nothing'; write the name of a function or a lambda"
    )


def test_a_partition_needs_a_number_and_a_function():
    numbers = ScioContext().parallelize([1])
    with pytest.raises(PipelineError, match="'partition' needs to know the part of each element"):
        numbers.partition(2)
    with pytest.raises(PipelineError, match="Partition needs 1 part or more, got 0"):
        numbers.partition(0, lambda n: n)


def test_a_batch_has_a_size():
    with pytest.raises(PipelineError, match=r"^'batch': the size must be a whole number of 1 or"):
        ScioContext().parallelize([1]).batch(0)


def test_a_name_is_a_text():
    with pytest.raises(PipelineError, match="with_name needs a text, got 3"):
        ScioContext().parallelize([1]).with_name(3)  # type: ignore[arg-type]


def test_what_is_no_pair_is_refused_where_it_is_grouped():
    with pytest.raises(PipelineError, match=r"'group_by_key' groups pairs of .*, and got 1; make"):
        values(ScioContext().parallelize([1]).group_by_key())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda sc: sc.union_all([sc.parallelize([1]), [2]]),
            "union_all needs collections of a pipeline, got [2]; make one of elements with "
            "sc.parallelize([...])",
        ),
        (
            lambda sc: sc.union_all(5),
            "union_all needs collections of a pipeline, got 5; make one of elements with "
            "sc.parallelize([...])",
        ),
        (
            lambda sc: sc.parallelize([1]).partition_by_key(3, str),
            '\'partition_by_key\' needs all keys that there are, such as ["new", "old"], got 3; '
            "write partition(number, function) for parts without keys",
        ),
    ],
)
def test_what_is_no_collection_and_what_is_no_list_of_keys_are_reported(make: Any, said: str):
    assert refusal(PipelineError, lambda: make(ScioContext())) == said


def test_a_collection_of_beams_has_no_verbs() -> None:
    collection = beam.Pipeline() | beam.Create([1])

    assert {name for name in dir(collection) if not name.startswith("_")} == {
        *("apply", "declared_type", "edge", "is_bounded", "pipeline", "windowing")
    }
    assert refusal(AttributeError, lambda: collection.map) == (
        "a PCollection has no 'map'; write collection | a transform, or take Scio's verbs: "
        "ScioContext(pipeline).wrap(collection)"
    )


def test_a_collection_of_beams_gets_verbs_and_loses_them_again() -> None:
    pipeline = beam.Pipeline()
    created = pipeline | beam.Create([1, 2])

    wrapped = ScioContext(pipeline).wrap(created)
    doubled = wrapped.map(lambda it: 2 * it)

    assert type(wrapped) is type(doubled) is SCollection
    assert type(doubled.internal) is beam.PCollection
    assert wrapped == created
    assert doubled.internal == doubled
    assert values(doubled) == [2, 4]


def test_a_transform_of_beams_makes_collections_of_the_kind_it_was_given() -> None:
    sc = ScioContext()
    numbers = sc.parallelize([1, 2, 3])
    created = sc.pipeline | "Letters" >> beam.Create(["a"])

    small, large = numbers | beam.Partition(lambda it, _: it > 1, 2)
    both = (created, numbers) | beam.Flatten()

    assert type(small) is type(large) is SCollection
    assert type(created) is type(both) is beam.PCollection
    assert type((numbers, created) | "Again" >> beam.Flatten()) is SCollection
    assert values(large.map(str)) == ["2", "3"]


def test_a_verb_takes_no_collection_without_verbs() -> None:
    sc = ScioContext()
    pairs = sc.parallelize([("a", 1)])
    others = sc.pipeline | "Others" >> beam.Create([("a", 2)])

    for verb in (pairs.join, pairs.union):
        assert refusal(PipelineError, verb, others).endswith(
            "got <PCollection of 'Others'>; give a collection of Beam's its verbs with "
            "sc.wrap(collection)"
        )
    assert values(pairs.join(sc.wrap(others))) == [("a", (1, 2))]


def test_only_a_collection_of_the_same_pipeline_is_wrapped() -> None:
    other = beam.Pipeline() | beam.Create([1])

    for given in (other, [1]):
        with pytest.raises(PipelineError, match="wrap needs a collection of this pipeline, got"):
            ScioContext().wrap(given)  # type: ignore[arg-type]


def test_a_collection_asserts_nothing_by_itself() -> None:
    numbers = ScioContext().parallelize([1])

    for name in ("should", "should_not"):
        assert refusal(PipelineError, getattr(numbers, name), 1) == (
            "assertions are made with beamlike.testing: write expect(collection).to(...), or "
            "assert_that(collection, equal_to([...]))"
        )
