"""What Flink's own tests of evictors and triggers assert, asked of the words here.

Each docstring names the class of Flink's tests, and the one that plays the scenario. What
`tests/conformance/dialects` has already is not repeated.
"""

import pytest

from beamlike.dialects import flink
from beamlike.dialects.stages import Row
from beamlike.errors import WindowingError
from tests.support.dialects.flink import brings, by_clock

KEYED = flink.key_by()
GLOBAL = KEYED.window(flink.GlobalWindows.create())
TWO = GLOBAL.trigger(flink.CountTrigger.of(2))


# -- EvictingWindowOperatorTest --------------------------------------------------------------------


def difference(old: int, new: int) -> float:
    return new - old


def sums(windowed: flink.WindowedStream, *elements: tuple[str, int, int]) -> list[tuple[str, int]]:
    """Keys and sums in the order in which they come."""
    harness = windowed.apply(sum).harness()
    return [(row.key, row.value) for rows in brings(harness, *elements) for row in rows]


FAR_APART = [
    *[("key2", 1, 3000), ("key2", 4, 3999), ("key1", 1, 20), ("key1", 1, 0), ("key1", 5, 999)],
    *[("key2", 5, 1998), ("key2", 6, 1999), ("key2", 1, 1000)],
]


def test_elements_that_are_old_are_evicted_after_the_function() -> None:
    """The evicting operator's test of a time evictor that runs after."""
    evictor = flink.TimeEvictor.of("2 seconds", do_evict_after=True)
    steps = [("key2", 1000), ("key2", 4000), ("key1", 20), ("key1", 0), ("key1", 999)]
    steps += [("key2", 3500), ("key2", 2001), ("key2", 1001), ("key1", 10_999), ("key2", 1002)]

    assert sums(TWO.evictor(evictor), *((key, 1, at) for key, at in steps)) == [
        *[("key2", 2), ("key1", 2), ("key2", 3), ("key1", 4), ("key2", 5)]
    ]


@pytest.mark.parametrize(
    ("after", "last_of_key1", "come"),
    [
        (False, 3, [("key2", 4), ("key1", 2), ("key2", 11), ("key1", 8), ("key2", 10)]),
        (True, 9, [("key2", 5), ("key1", 2), ("key2", 15), ("key1", 16), ("key2", 22)]),
    ],
)
def test_elements_that_are_far_from_the_newest_are_evicted(
    after: bool, last_of_key1: int, come: list[tuple[str, int]]
) -> None:
    """The evicting operator's tests of a delta evictor: smaller values are far, greater are not."""
    evictor = flink.DeltaEvictor.of(2, difference, do_evict_after=after)
    last = [("key1", last_of_key1, 10_999), ("key2", 10, 1000)]

    assert sums(TWO.evictor(evictor), *FAR_APART, *last) == come


def test_a_count_evictor_keeps_the_newest_at_every_second_element() -> None:
    """The evicting operator's tests of a count trigger, and of tumbling windows with an evictor."""
    newest = flink.CountEvictor.of(4)
    times = [3000, 3999, 20, 0, 999, 1998, 1999, 1000, 10_999, 1000]
    every = [
        ("key1" if place in (2, 3, 4, 8) else "key2", 1, time) for place, time in enumerate(times)
    ]
    in_windows = KEYED.window(flink.TumblingEventTimeWindows.of("4 seconds")).evictor(newest)
    harness = in_windows.apply(sum).harness()
    rows = brings(harness, *(("key1", 1, at) for at in (10, 100)), 1999)
    rows += brings(harness, *(("key1", 1, at) for at in (1997, 1998, 2310, 2310)))

    assert sums(TWO.evictor(newest), *every) == [
        *[("key2", 2), ("key1", 2), ("key2", 4), ("key1", 4), ("key2", 4)]
    ]
    assert rows == [[]] * 7
    assert brings(harness, *[("key2", 1, 2310)] * 2, 3999) == [
        *[[], []],
        [Row("value", "key1", 4, (0, 4000), 3999), Row("value", "key2", 2, (0, 4000), 3999)],
    ]


def test_an_element_without_a_time_has_no_place_where_times_may_be_looked_at() -> None:
    """The evicting operator's test of a time evictor without timestamps, which evicts nothing
    there. Here an element has to have one."""
    harness = TWO.evictor(flink.TimeEvictor.of("2 seconds")).apply(sum).harness()

    with pytest.raises(WindowingError, match=r"needs a timestamp.* give one"):
        harness.process_element("key2", 1)


# -- tests of triggers -----------------------------------------------------------------------------

EVERY_FIVE = flink.ContinuousProcessingTimeTrigger.of(5)


def test_an_interval_of_the_clock_is_cut_short_where_a_window_ends() -> None:
    """The continuous processing time trigger's test of tumbling windows."""
    windows = flink.TumblingProcessingTimeWindows.of(10)
    harness = KEYED.window(windows).trigger(EVERY_FIVE).apply(sum).harness()
    first = by_clock(harness, 0, ("k", 1), 2, ("k", 2), 5, 7, ("k", 3), 9)
    second = by_clock(harness, 10, ("k", 3), 15, 18, ("k", 3), 20)

    assert [(index, rows) for index, rows in enumerate(first) if rows] == [
        (4, [Row("value", "k", 3, (0, 10), 9)]),
        (7, [Row("value", "k", 6, (0, 10), 9)]),
    ]
    assert [(index, rows) for index, rows in enumerate(second) if rows] == [
        (2, [Row("value", "k", 3, (10, 20), 19)]),
        (5, [Row("value", "k", 6, (10, 20), 19)]),
    ]


def test_an_interval_of_the_clock_goes_on_in_a_session_that_has_merged() -> None:
    """The same test's sessions: at 5 and 10, and at the end of the session before 15."""
    windows = flink.ProcessingTimeSessionWindows.with_gap(10)
    harness = KEYED.window(windows).trigger(EVERY_FIVE).apply(sum).harness()
    fires = [Row("value", "k", 3, (0, 12), 11)]

    assert by_clock(harness, 0, ("k", 1), 2, ("k", 2), 5, 9, 10, 15, 100) == [
        *[[], [], [], [], fires, [], fires, fires, []]
    ]


def test_an_interval_does_not_wait_for_an_element_that_is_late() -> None:
    """The continuous event time trigger's test of all its callbacks: a late element fires at once,
    and nothing after it."""
    windowed = KEYED.window(flink.TumblingEventTimeWindows.of(2)).allowed_lateness(100)
    harness = windowed.trigger(flink.ContinuousEventTimeTrigger.of(5)).apply(list).harness()

    assert brings(harness, 10, ("k", 1, 0), 20, 200) == [
        *[[], [Row("value", "k", [1], (0, 2), 1)], [], []]
    ]


@pytest.mark.parametrize(
    ("reset", "clear", "fires"),
    [
        (False, True, [(4, [2]), (8, [5])]),
        (True, True, [(5, [2]), (8, [5])]),
        (False, False, [(4, [2]), (6, [3])]),
    ],
)
def test_a_timeout_and_the_count_that_it_clears_or_does_not(
    reset: bool, clear: bool, fires: list[tuple[int, list[int]]]
) -> None:
    """The timeout trigger's tests: two elements, the timeout, and three more. A count that is not
    cleared has the third of all of them for its third."""
    trigger = flink.ProcessingTimeoutTrigger.of(flink.CountTrigger.of(3), 50, reset, clear)
    harness = GLOBAL.trigger(trigger).apply(len).harness()
    one = ("k", 1, 0)
    rows = by_clock(harness, one, 10, one, 40, 50, 60, one, one, one)

    assert [(index, [row.value for row in it]) for index, it in enumerate(rows) if it] == fires
