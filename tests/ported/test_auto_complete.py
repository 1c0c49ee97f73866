"""The words that are most often meant by a prefix.

Original: ``AutoCompleteTest.scala`` of scio-examples; spotify/scio at 3b35141.

Both ways to compute it, for all prefixes at once and prefix by prefix from the longest to the
shortest, have to give the same; each is a test of its own. The original calls the last window
[2, 3): that is where elements can be, and the window is [2, 4). With windows the test also says all
panes, and there is a test of the counts on the way.

The original goes prefix by prefix from ten letters down, which are twelve groupings one after the
other; on Spark each costs its share of a second in every step of all suites. So it is three letters
here, and once, in memory, ten.
"""

from collections.abc import Callable

import pytest

from beamlike.scio import ScioContext, SCollection
from beamlike.testing import (
    contain_in_any_order,
    element,
    emit_exactly,
    expect,
    on_time_pane,
    run_with_context,
)

Count = tuple[str, int]
Completions = SCollection[tuple[str, list[Count]]]


def compute_top_completions(
    words: SCollection[str], candidates_per_prefix: int, recursive: bool, longest: int = 3
) -> Completions:
    """For each prefix the words that begin with it and are there most often.

    Prefixes of more than ``longest`` letters are computed all at once, whichever way is taken.
    """
    candidates = words.count_by_value()
    if not recursive:
        return compute_top_flat(candidates, candidates_per_prefix, 1)
    larger, small = compute_top_recursive(candidates, candidates_per_prefix, 1, longest)
    return larger.union(small)


def compute_top_flat(
    counts: SCollection[Count], candidates_per_prefix: int, min_prefix: int
) -> Completions:
    return counts.flat_map(all_prefixes(min_prefix)).top_by_key(
        candidates_per_prefix, key=lambda counted: counted[1]
    )


def compute_top_recursive(
    counts: SCollection[Count], candidates_per_prefix: int, min_prefix: int, longest: int
) -> tuple[Completions, Completions]:
    """The completions of longer prefixes, and those of prefixes of this length."""
    if min_prefix > longest:
        longer, of_this = compute_top_flat(counts, candidates_per_prefix, min_prefix).partition(
            lambda found: len(found[0]) > min_prefix
        )
        return longer, of_this
    larger, next_longer = compute_top_recursive(
        counts, candidates_per_prefix, min_prefix + 1, longest
    )
    small = (
        next_longer.flat_map(lambda found: found[1])
        .union(counts.filter(lambda counted: len(counted[0]) == min_prefix))
        .flat_map(all_prefixes(min_prefix, min_prefix))
        .top_by_key(candidates_per_prefix, key=lambda counted: counted[1])
    )
    return larger.union(next_longer), small


def all_prefixes(
    min_prefix: int, max_prefix: int | None = None
) -> Callable[[Count], list[tuple[str, Count]]]:
    def prefixes(counted: Count) -> list[tuple[str, Count]]:
        longest = len(counted[0]) if max_prefix is None else min(len(counted[0]), max_prefix)
        return [(counted[0][:size], counted) for size in range(min_prefix, longest + 1)]

    return prefixes


recursive_or_not = pytest.mark.parametrize("recursive", [True, False])


FRUIT = [
    "apple",
    "apple",
    "apricot",
    "banana",
    "blackberry",
    "blackberry",
    "blackberry",
    "blueberry",
    "blueberry",
    "cherry",
]

EXPECTED = [
    ("a", {"apple": 2, "apricot": 1}),
    ("ap", {"apple": 2, "apricot": 1}),
    ("b", {"blackberry": 3, "blueberry": 2}),
    ("ba", {"banana": 1}),
    ("bl", {"blackberry": 3, "blueberry": 2}),
    ("c", {"cherry": 1}),
    ("ch", {"cherry": 1}),
]


@recursive_or_not
def test_auto_complete_works(sc: ScioContext, recursive: bool) -> None:
    r = (
        compute_top_completions(sc.parallelize(FRUIT), 2, recursive)
        .filter(lambda found: len(found[0]) <= 2)
        .map_values(dict)
    )
    expect(r).to(contain_in_any_order(EXPECTED))


def test_it_works_letter_by_letter_of_all_prefixes() -> None:
    """The test before this one, as the original has it."""
    with run_with_context() as sc:
        r = (
            compute_top_completions(sc.parallelize(FRUIT), 2, recursive=True, longest=10)
            .filter(lambda found: len(found[0]) <= 2)
            .map_values(dict)
        )
        expect(r).to(contain_in_any_order(EXPECTED))


@recursive_or_not
def test_it_works_with_tiny_input(sc: ScioContext, recursive: bool) -> None:
    data = ["x", "x", "x", "xy", "xy", "xyz"]
    expected = [("x", {"x": 3, "xy": 2}), ("xy", {"xy": 2, "xyz": 1}), ("xyz", {"xyz": 1})]
    r = compute_top_completions(sc.parallelize(data), 2, recursive).map_values(dict)
    expect(r).to(contain_in_any_order(expected))


WINDOWED = [("xA", 1), ("xA", 1), ("xB", 1), ("xB", 2), ("xB", 2)]


@recursive_or_not
def test_it_works_with_windowed_input(sc: ScioContext, recursive: bool) -> None:
    expected = [
        # window [0, 2)
        ("x", {"xA": 2, "xB": 1}),
        ("xA", {"xA": 2}),
        ("xB", {"xB": 1}),
        # window [1, 3)
        ("x", {"xA": 2, "xB": 3}),
        ("xA", {"xA": 2}),
        ("xB", {"xB": 3}),
        # window [2, 4)
        ("x", {"xB": 2}),
        ("xB", {"xB": 2}),
    ]
    given = sc.parallelize_timestamped(WINDOWED).with_sliding_windows(2)
    r = compute_top_completions(given, 2, recursive).map_values(dict)

    windows = [(0, 2)] * 3 + [(1, 3)] * 3 + [(2, 4)] * 2
    expect(r).to(
        emit_exactly(
            *[
                element(found, window, timing="ON_TIME")
                for found, window in zip(expected, windows, strict=True)
            ]
        )
    )


def test_the_counts_on_the_way(sc: ScioContext) -> None:
    """Not in the original."""
    windowed = sc.parallelize_timestamped(WINDOWED).with_sliding_windows(2)
    expect(windowed.count_by_value()).to(
        emit_exactly(
            on_time_pane("xA", 2, 0, 2, is_last=True),
            on_time_pane("xB", 1, 0, 2, is_last=True),
            on_time_pane("xA", 2, 1, 3, is_last=True),
            on_time_pane("xB", 3, 1, 3, is_last=True),
            on_time_pane("xB", 2, 2, 4, is_last=True),
        )
    )
