"""Joins and look-ups where one side has nothing in a window, or nothing at all.

What each verb gives is compared with the join of plain lists, window by window.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest

from beamlike import AfterCount, DefaultTrigger, Repeatedly
from beamlike.scio import MultiJoin, ScioContext, SCollection, TimestampedValue, WindowOptions
from beamlike.testing import TestStream

Rows = list[tuple[str, Any, int]]
Join = Callable[[dict[str, list[Any]], dict[str, list[Any]]], list[Any]]

SIDES: dict[str, tuple[Rows, Rows]] = {
    "nothing in common": ([("a", 1, 1)], [("b", 2, 2)]),
    "no left in a window": ([("a", 1, 1)], [("a", 2, 2), ("b", 3, 12)]),
    "no right in a window": ([("a", 1, 1), ("b", 2, 12)], [("a", 3, 2)]),
    "no left": ([], [("a", 1, 1), ("b", 2, 12)]),
    "no right": ([("a", 1, 1), ("b", 2, 12)], []),
    "nothing": ([], []),
    "both": ([("a", 1, 1), ("a", 4, 2), ("c", 5, 3)], [("a", 2, 2), ("b", 3, 4), ("b", 6, 4)]),
}
"""Keys, values and seconds of both sides; windows have 10 seconds."""


def pairs(left: list[Any], right: list[Any]) -> list[Any]:
    return [(one, other) for one in left for other in right]


def joined(inner: bool, ours: bool, theirs: bool) -> Join:
    """A join by key, in which rows without a match of one side or of both may stay."""

    def join(left: dict[str, list[Any]], right: dict[str, list[Any]]) -> list[Any]:
        return [
            (key, pair)
            for key in {**left, **right}
            for pair in pairs(
                left.get(key) or ([None] if theirs else []),
                right.get(key) or ([None] if ours else []),
            )
            if (inner or None in pair)
        ]

    return join


def kept(there: bool) -> Join:
    """The rows of the left whose key the right has, or has not."""
    return lambda left, right: [
        (key, value) for key in left if (key in right) is there for value in left[key]
    ]


def keys_of(right: SCollection[Any]) -> SCollection[Any]:
    return right.keys()


VERBS: dict[str, tuple[Callable[[Any, Any], Any], Join]] = {
    "join": (lambda a, b: a.join(b), joined(True, False, False)),
    "left_outer_join": (lambda a, b: a.left_outer_join(b), joined(True, True, False)),
    "right_outer_join": (lambda a, b: a.right_outer_join(b), joined(True, False, True)),
    "full_outer_join": (lambda a, b: a.full_outer_join(b), joined(True, True, True)),
    "MultiJoin.join": (MultiJoin.join, joined(True, False, False)),
    "MultiJoin.left": (MultiJoin.left, joined(True, True, False)),
    "MultiJoin.outer": (MultiJoin.outer, joined(True, True, True)),
    "hash_join": (lambda a, b: a.hash_join(b), joined(True, False, False)),
    "hash_left_outer_join": (lambda a, b: a.hash_left_outer_join(b), joined(True, True, False)),
    "hash_full_outer_join": (lambda a, b: a.hash_full_outer_join(b), joined(True, True, True)),
    "hash_full_outer_join of a side input": (
        lambda a, b: a.hash_full_outer_join(b.as_multi_map_side_input()),
        joined(True, True, True),
    ),
    "intersect_by_key": (lambda a, b: a.intersect_by_key(keys_of(b)), kept(True)),
    "subtract_by_key": (lambda a, b: a.subtract_by_key(keys_of(b)), kept(False)),
    "hash_intersect_by_key": (lambda a, b: a.hash_intersect_by_key(keys_of(b)), kept(True)),
    "hash_subtract_by_key": (lambda a, b: a.hash_subtract_by_key(keys_of(b)), kept(False)),
    "cogroup": (
        lambda a, b: a.cogroup(b),
        lambda left, right: [
            (key, (left.get(key, []), right.get(key, []))) for key in {**left, **right}
        ],
    ),
    "cross": (
        lambda a, b: a.values().cross(b.values()),
        lambda left, right: pairs([*chain(*left.values())], [*chain(*right.values())]),
    ),
    "hash_lookup": (
        lambda a, b: a.keys().hash_lookup(b),
        lambda left, right: [(key, right.get(key, [])) for key in left for _ in left[key]],
    ),
    "hash_filter": (
        lambda a, b: a.keys().hash_filter(keys_of(b)),
        lambda left, right: [key for key in left if key in right for _ in left[key]],
    ),
    "subtract": (
        lambda a, b: a.keys().subtract(keys_of(b)),
        lambda left, right: [key for key in left if key not in right],
    ),
    "intersection": (
        lambda a, b: a.keys().intersection(keys_of(b)),
        lambda left, right: [key for key in left if key in right],
    ),
}


def expected(verb: str, sides: str, size: int) -> list[str]:
    """What the join of two lists gives, window by window."""
    _, join = VERBS[verb]
    rows: list[str] = []
    for window in range(0, 20, size):
        values: list[dict[str, list[Any]]] = [{}, {}]
        for side, listed in zip(values, SIDES[sides], strict=True):
            for key, value, at in listed:
                if window <= at < window + size:
                    side.setdefault(key, []).append(value)
        rows += [repr(row) for row in join(*values)]
    return sorted(rows)


def bounded(sc: ScioContext, rows: Rows) -> SCollection[Any]:
    timed = [TimestampedValue((key, value), at * 1000) for key, value, at in rows]
    return sc.parallelize(timed)


def streamed(sc: ScioContext, rows: Rows) -> SCollection[Any]:
    stream = TestStream()
    for key, value, at in rows:
        stream = stream.add_elements_at_time(f"00:00:{at:02}", (key, value))
    return sc.wrap(sc.pipeline | f"stream {id(rows)}" >> stream.advance_watermark_to_infinity())


@pytest.mark.parametrize(
    ("source", "size", "host"),
    [
        pytest.param(bounded, 20, "memory", id="bounded-global"),
        pytest.param(bounded, 10, "local", id="bounded-windows"),
        pytest.param(streamed, 10, "memory", id="stream-windows"),
    ],
)
@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_gives_what_the_join_of_lists_gives(
    verb: str, sides: str, source: Any, size: int, host: str
) -> None:
    assert found(verb, sides, source, size, host) == expected(verb, sides, size)


@pytest.mark.spark
def test_a_window_without_elements_on_the_left_comes_out_on_spark() -> None:
    verb, sides = "hash_full_outer_join", "no left in a window"
    assert found(verb, sides, streamed, 10, "spark") == expected(verb, sides, 10)


def found(verb: str, sides: str, source: Any, size: int, host: str) -> list[str]:
    """What a verb gives for two sides."""
    sc = ScioContext()
    both = [source(sc, rows) for rows in SIDES[sides]]
    if size == 10:
        both = [it.with_fixed_windows("10 s") for it in both]
    apply, _ = VERBS[verb]
    result = apply(*both)
    came = sc.pipeline.run(host=host).out_of(result.edge)
    return sorted(repr(it.element.value) for it in came)


# -- windows and panes that are not the same on both sides -------------------------------------


def hash_joined(*, late: tuple[str, int], accumulation: str) -> list[Any]:
    """A full hash join of accumulating panes on the right, and one more element on the left."""
    sc = ScioContext()
    options = {"trigger": DefaultTrigger(), "allowed_lateness": "1 minute"}
    sides: list[SCollection[Any]] = []
    rights = TestStream().add_elements_at_time("00:00:02", ("a", "x"), ("b", "y"))
    lefts = TestStream().add_elements_at_time("00:00:01", ("a", 1))
    for name, stream, mode in (("left", lefts, accumulation), ("right", rights, "accumulating")):
        stream = stream.advance_watermark_to("00:00:10")
        if name == "left":
            stream = stream.add_elements_at_time("00:00:03", late)
        windows = WindowOptions(accumulation_mode=mode, **options)
        sides.append(
            sc.wrap(
                sc.pipeline | name >> stream.advance_watermark_to_infinity()
            ).with_fixed_windows("10 s", options=windows)
        )
    left, right = sides
    result = left.hash_full_outer_join(right)
    return [it.element.value for it in sc.pipeline.run().out_of(result.edge)]


@pytest.mark.parametrize("accumulation", ["discarding", "accumulating"])
def test_what_was_looked_up_before_a_late_element_is_known_after_it(accumulation: str) -> None:
    rows = hash_joined(late=("c", 2), accumulation=accumulation)
    unmatched = [row for row in rows if row[1][0] is None]
    assert rows[0] == ("a", (1, "x"))
    assert ("c", (2, None)) in rows
    assert set(unmatched) == {("b", (None, "y"))}


def test_an_everlasting_right_side_is_shown_in_the_windows_of_the_left() -> None:
    sc = ScioContext()
    left = bounded(sc, [("a", 1, 1), ("c", 2, 15)]).with_fixed_windows("10 s")
    right = sc.parallelize([("a", "x"), ("b", "y")])
    result = left.hash_full_outer_join(right)
    came = sc.pipeline.run().out_of(result.edge)
    assert sorted((it.element.windows[0].start // 1000, repr(it.element.value)) for it in came) == [
        (0, "('a', (1, 'x'))"),
        (0, "('b', (None, 'y'))"),
        (10, "('a', (None, 'x'))"),
        (10, "('b', (None, 'y'))"),
        (10, "('c', (2, None))"),
    ]


def test_sessions_are_those_of_the_left_side() -> None:
    sc = ScioContext()
    left = bounded(sc, [("a", 1, 1), ("a", 2, 4)]).with_session_windows("5 s")
    right = bounded(sc, [("b", 3, 6)]).with_fixed_windows("10 s")
    result = left.hash_full_outer_join(right)
    came = sc.pipeline.run().out_of(result.edge)
    assert [it.element.value for it in came] == [
        ("a", (1, None)),
        ("a", (2, None)),
        ("b", (None, 3)),
    ]


def test_a_trigger_on_the_left_side_does_not_change_what_is_joined() -> None:
    sc = ScioContext()
    window_options = WindowOptions(
        trigger=Repeatedly(AfterCount(2)), accumulation_mode="discarding", allowed_lateness=0
    )
    left = bounded(sc, [("a", 1, 1)]).with_fixed_windows("10 s", options=window_options)
    right = bounded(sc, [("b", 2, 2)]).with_fixed_windows("10 s")
    result = left.hash_full_outer_join(right)
    came = sc.pipeline.run().out_of(result.edge)
    assert [it.element.value for it in came] == [("a", (1, None)), ("b", (None, 2))]
