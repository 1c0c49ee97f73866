"""Scio's verbs that bring collections together: by grouping, and by looking into a small one.

That each gives what the join of lists gives is in `test_joins_with_an_empty_side`.
"""

from typing import Any

import pytest

from beamlike import AfterCount, AfterWatermark
from beamlike.errors import PipelineError
from beamlike.scio import MultiJoin, ScioContext, SCollection, WindowOptions
from beamlike.testing import test_stream_of as stream_of
from tests.support.pipelines.results_of_runs import shown_panes, values


def panes(collection: SCollection[Any]) -> list[tuple[Any, ...]]:
    return shown_panes(collection, "time", "windows", "timing")


Pairs = list[tuple[Any, Any]]


def two(left: Any, right: Any) -> tuple[SCollection[Any], SCollection[Any]]:
    sc = ScioContext()
    return sc.parallelize(left), sc.parallelize(right)


LEFT: Pairs = [("a", 1), ("a", 2), ("b", 3)]
RIGHT: Pairs = [("a", "x"), ("c", "y"), ("a", "z")]


# -- grouped ---------------------------------------------------------------------------------------


def test_a_cogroup_takes_several_collections():
    left, right = two([("a", 1)], [("a", "x")])
    assert values(left.cogroup(right, right, left)) == [("a", ([1], ["x"], ["x"], [1]))]


def test_sessions_of_both_sides_merge_together():
    sc = ScioContext()
    entries = sc.parallelize_timestamped([(("car", "in"), "12:00:00")])
    exits = sc.parallelize_timestamped([(("car", "out"), "12:04:00"), (("car", "out"), "12:30:00")])
    joined = entries.with_session_windows("5 minutes").left_outer_join(
        exits.with_session_windows("5 minutes")
    )
    assert panes(joined) == [
        (("car", ("in", "out")), "12:08:59.999", "[12:00:00, 12:09:00)", "ON_TIME")
    ]


def test_each_pane_joins_what_it_holds():
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", ("left", 1))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:20", ("right", 2))
        .advance_watermark_to_infinity()
    )
    options = WindowOptions(allowed_lateness="1 hour", accumulation_mode="discarding")
    events = ScioContext().test_stream(stream).with_fixed_windows("1 minute", options=options)
    left, right = events.partition(lambda it: it[0] == "left")
    joined = left.map(lambda it: ("key", it[1])).full_outer_join(
        right.map(lambda it: ("key", it[1]))
    )
    window = "[00:00:00, 00:01:00)"
    assert panes(joined) == [
        (("key", (1, None)), "00:00:59.999", window, "ON_TIME"),
        (("key", (None, 2)), "00:00:59.999", window, "LATE"),
    ]


def test_an_outer_join_of_an_empty_pane_pairs_nothing_with_nothing():
    options = WindowOptions(
        trigger=AfterWatermark(early=AfterCount(1)),
        accumulation_mode="discarding",
        allowed_lateness=0,
    )
    stream = stream_of().add_elements_at_time("00:00:10", ("a", 1)).advance_watermark_to_infinity()
    events = ScioContext().test_stream(stream).with_fixed_windows("1 minute", options=options)
    window = "[00:00:00, 00:01:00)"
    assert panes(events.full_outer_join(events)) == [
        (("a", (1, 1)), "00:00:59.999", window, "EARLY"),
        (("a", (None, None)), "00:00:59.999", window, "ON_TIME"),
    ]
    assert panes(events.join(events)) == [(("a", (1, 1)), "00:00:59.999", window, "EARLY")]


def test_several_collections_are_joined_in_one_grouping():
    sc = ScioContext()
    one, other, third = (sc.parallelize(it) for it in (LEFT, RIGHT, [("a", 0.5)]))
    four = [("a", (1, "x", 0.5)), ("a", (1, "z", 0.5)), ("a", (2, "x", 0.5)), ("a", (2, "z", 0.5))]
    assert values(MultiJoin.join(one, other, third)) == four
    assert values(MultiJoin.left(one, other, third)) == [*four, ("b", (3, None, None))]
    assert values(MultiJoin.outer(one, other, third)) == [
        *four,
        ("b", (3, None, None)),
        ("c", (None, "y", None)),
    ]
    assert values(MultiJoin.cogroup(one, other, third))[0] == ("a", ([1, 2], ["x", "z"], [0.5]))


def test_a_fanout_of_the_next_verb_changes_no_elements():
    left, _ = two(LEFT, RIGHT)
    assert values(left.with_hot_key_fanout(3).with_fanout(3)) == values(left)


@pytest.mark.parametrize(
    ("verb", "instead"),
    [
        ("sparse_join", r"join\(\.\.\.\)"),
        ("sparse_right_outer_join", r"right_outer_join\(\.\.\.\)"),
        ("sparse_intersect_by_key", r"intersect_by_key\(\.\.\.\)"),
        ("sparse_lookup", r"cogroup\(\.\.\.\), whose lists have what each side has for a key"),
        ("skewed_full_outer_join", r"full_outer_join\(\.\.\.\)"),
        ("batch_byte_sized", r"batch_weighted\(\.\.\., len\) for texts or bytes"),
        ("batch_byte_sized_by_key", r"batch_weighted_by_key\(\.\.\., len\) for texts or bytes"),
        ("sample_byte_sized", r"sample\(\.\.\.\) of a number of elements"),
    ],
)
def test_a_verb_that_is_not_here_says_what_to_write(verb: str, instead: str):
    left, _ = two(LEFT, RIGHT)
    with pytest.raises(AttributeError, match=f"^SCollection has no {verb}; write {instead}$"):
        getattr(left, verb)


def test_windows_that_do_not_fit_are_refused_with_the_name_of_the_verb():
    left, right = two(LEFT, RIGHT)
    with pytest.raises(PipelineError, match=r"^'join/cogroup/CoGroupByKey/Flatten': Inputs to Fl"):
        left.with_fixed_windows("1 minute").join(right.with_fixed_windows("2 minutes"))


@pytest.mark.parametrize(
    ("verb", "name", "needed"),
    [
        ("cogroup", "cogroup", "another collection"),
        ("join", "join/cogroup", "another collection"),
        ("subtract_by_key", "subtract_by_key", "another collection"),
        ("subtract", "subtract", "another collection"),
        ("intersection", "intersection", "another collection"),
        ("cross", "cross", "another collection"),
        ("hash_lookup", "hash_lookup", "another collection"),
        ("hash_join", "hash_join", "another collection or a side input"),
        ("hash_filter", "hash_filter", "another collection or a side input"),
    ],
)
def test_what_is_no_collection_is_refused(verb: str, name: str, needed: str):
    left = ScioContext().parallelize(LEFT)
    with pytest.raises(PipelineError) as refusal:
        getattr(left, verb)([1])
    assert str(refusal.value) == f"{name!r} needs {needed}, got [1]"


# -- looked up -------------------------------------------------------------------------------------


def test_one_side_input_serves_several_joins():
    left, right = two(LEFT, RIGHT)
    side = right.as_multi_map_side_input()
    assert values(left.hash_join(side).keys()) == ["a"] * 4
    assert values(left.hash_left_outer_join(side).keys()) == ["a"] * 4 + ["b"]


def test_what_looks_keeps_its_time_and_pane_and_waits_for_the_window_that_ends_with_its_own():
    """The toll that was entered in one minute meets the registrations of its ten minutes."""
    sc = ScioContext()
    tolls = sc.test_stream(
        stream_of()
        .add_elements_at_time("00:05:00", ("car", "toll"))
        .add_elements_at_time("00:15:00", ("car", "toll"))
        .advance_watermark_to_infinity()
    ).with_fixed_windows("1 minute")
    known = sc.test_stream(
        stream_of()
        .add_elements_at_time("00:01:00", ("car", "id"))
        .advance_watermark_to("00:10:00")
        .advance_watermark_to_infinity()
    ).with_fixed_windows("10 minutes")
    assert panes(tolls.hash_left_outer_join(known)) == [
        (("car", ("toll", "id")), "00:05:00", "[00:05:00, 00:06:00)", "UNKNOWN"),
        (("car", ("toll", None)), "00:15:00", "[00:15:00, 00:16:00)", "UNKNOWN"),
    ]


def test_a_later_pane_is_seen_by_those_that_come_later():
    options = WindowOptions(
        trigger=AfterWatermark(early=AfterCount(1)),
        accumulation_mode="accumulating",
        allowed_lateness=0,
    )
    events = (
        ScioContext()
        .test_stream(
            stream_of()
            .add_elements_at_time("00:00:01", ("look", 1))  # waits
            .add_elements_at_time("00:00:02", ("side", "a"))
            .add_elements_at_time("00:00:03", ("look", 2))
            .add_elements_at_time("00:00:04", ("side", "b"))
            .add_elements_at_time("00:00:05", ("look", 3))
            .advance_watermark_to_infinity()
        )
        .with_fixed_windows("1 minute", options=options)
    )
    looks, sides = events.partition(lambda it: it[0] == "look")
    assert values(looks.values().cross(sides.values())) == [
        (1, "a"),
        (2, "a"),
        (3, "a"),
        (3, "b"),
    ]


def test_sessions_cannot_be_looked_into():
    left, right = two(LEFT, RIGHT)
    sessions = right.with_session_windows("1 minute")
    with pytest.raises(PipelineError, match=r"^'hash_join/.*: Sessions is not allowed in side"):
        left.with_fixed_windows("1 minute").hash_join(sessions)
