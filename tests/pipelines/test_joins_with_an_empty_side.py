"""Joins and look-ups of two sides, also where one has nothing in a window, or nothing at all.

What each verb gives is compared with the join of plain lists, window by window.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest

from beamlike.scio import ScioContext, SCollection, TimestampedValue
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
    "several": (
        [("a", 1, 1), ("a", 2, 2), ("b", 3, 3), ("b", 3, 4)],
        [("a", "x", 2), ("c", "y", 3), ("a", "z", 4)],
    ),
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


def lists_of_both(left: dict[str, list[Any]], right: dict[str, list[Any]]) -> list[Any]:
    return [(key, (left.get(key, []), right.get(key, []))) for key in {**left, **right}]


def keys_of(right: SCollection[Any]) -> SCollection[Any]:
    return right.keys()


VERBS: dict[str, tuple[Callable[[Any, Any], Any], Join]] = {
    "join": (lambda a, b: a.join(b), joined(True, False, False)),
    "left_outer_join": (lambda a, b: a.left_outer_join(b), joined(True, True, False)),
    "right_outer_join": (lambda a, b: a.right_outer_join(b), joined(True, False, True)),
    "full_outer_join": (lambda a, b: a.full_outer_join(b), joined(True, True, True)),
    "hash_join": (lambda a, b: a.hash_join(b), joined(True, False, False)),
    "hash_left_outer_join": (lambda a, b: a.hash_left_outer_join(b), joined(True, True, False)),
    "intersect_by_key": (lambda a, b: a.intersect_by_key(keys_of(b)), kept(True)),
    "subtract_by_key": (lambda a, b: a.subtract_by_key(keys_of(b)), kept(False)),
    "hash_intersect_by_key": (lambda a, b: a.hash_intersect_by_key(keys_of(b)), kept(True)),
    "hash_subtract_by_key": (lambda a, b: a.hash_subtract_by_key(keys_of(b)), kept(False)),
    "cogroup": (lambda a, b: a.cogroup(b), lists_of_both),
    "group_with": (lambda a, b: a.group_with(b), lists_of_both),
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
        lambda left, right: [key for key in left if key not in right for _ in left[key]],
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
