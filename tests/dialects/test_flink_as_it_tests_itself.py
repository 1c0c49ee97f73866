"""What Flink's own tests of windows assert, asked of the words here.

Each docstring names the class of Flink's tests, and the one that plays the scenario. What
`tests/conformance/dialects` has already is not repeated.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from beamlike.dialects import flink
from beamlike.dialects.flink_operator import Harness
from beamlike.dialects.stages import Row
from tests.support.dialects.flink import Step, brings, by_clock

KEYED = flink.key_by()
GLOBAL = KEYED.window(flink.GlobalWindows.create())
THREE_SECONDS = flink.TumblingEventTimeWindows.of("3 seconds")
SLIDING = flink.SlidingEventTimeWindows.of("3 seconds", "1 second")
SESSIONS = flink.EventTimeSessionWindows.with_gap("3 seconds")
AT_END = flink.EventTimeTrigger.create()

Shown = tuple[str, Any, int, int]
"""Key, value, start and end of a window."""

OUT_OF_ORDER = [
    *[("key2", 1, at) for at in (3999, 3000)],
    *[("key1", 1, at) for at in (20, 0, 999)],
    *[("key2", 1, at) for at in (1998, 1999, 1000)],
]


def add(one: int, other: int) -> int:
    return one + other


def shown(rows: Sequence[Row]) -> list[Shown]:
    """Rows of windows, each of which has the last millisecond of its window as timestamp."""
    for row in rows:
        assert row.window is not None
        assert (row.kind, row.timestamp) == ("value", int(row.window[1]) - 1)
    return sorted((row.key, row.value, int(row.window[0]), int(row.window[1])) for row in rows)  # type: ignore[index]


# -- WindowOperatorTest ----------------------------------------------------------------------------


def twice(windowed: flink.WindowedStream) -> list[Harness]:
    """An operator that reduces, and one that is given all elements."""
    return [windowed.reduce(add).harness(), windowed.apply(sum).harness()]


def test_sliding_windows_sum_what_came_out_of_order() -> None:
    """The operator's tests of sliding windows."""
    for harness in twice(KEYED.window(SLIDING)):
        assert brings(harness, *OUT_OF_ORDER) == [[]] * len(OUT_OF_ORDER)

        assert [shown(rows) for rows in brings(harness, *range(999, 8_000, 1_000))] == [
            [("key1", 3, -2000, 1000)],
            [("key1", 3, -1000, 2000), ("key2", 3, -1000, 2000)],
            [("key1", 3, 0, 3000), ("key2", 3, 0, 3000)],
            [("key2", 5, 1000, 4000)],
            [("key2", 2, 2000, 5000)],
            [("key2", 2, 3000, 6000)],
            *[[], []],
        ]


def test_tumbling_windows_sum_what_came_out_of_order() -> None:
    """The operator's tests of tumbling windows."""
    for harness in twice(KEYED.window(THREE_SECONDS)):
        assert brings(harness, *OUT_OF_ORDER) == [[]] * len(OUT_OF_ORDER)

        assert [shown(rows) for rows in brings(harness, *range(999, 8_000, 1_000))] == [
            *[[], []],
            [("key1", 3, 0, 3000), ("key2", 3, 0, 3000)],
            *[[], []],
            [("key2", 2, 3000, 6000)],
            *[[], []],
        ]


def test_sessions_that_merge_have_counted_what_each_had_counted() -> None:
    """The operator's test of sessions with a purging count trigger: the seventh element of the
    second key joins two sessions of three."""
    purging = flink.PurgingTrigger.of(flink.CountTrigger.of(4))
    harness = KEYED.window(SESSIONS).trigger(purging).apply(sum).harness()
    fourth = ("key2", 4, 3500)
    first, second = [(1, 10), (2, 1000), (3, 2500)], [(1, 6000), (2, 6500), (3, 7000)]

    assert brings(harness, ("key2", 1, 0), ("key2", 2, 1000), ("key2", 3, 2500), fourth)[3:] == [
        [Row("value", "key2", 10, (0, 6500), 6499)]
    ]
    assert brings(harness, *(("key1", *it) for it in first + second), ("key1", 10, 4500)) == [
        *[[]] * 6,
        [Row("value", "key1", 22, (10, 10_000), 9_999)],
    ]


def test_an_interval_fires_the_global_window_from_each_keys_first_element_on() -> None:
    """The operator's test of a continuous trigger: the second key began at 3 s, so 3 s is not a
    time for it yet."""
    harness = GLOBAL.trigger(flink.ContinuousEventTimeTrigger.of("3 seconds")).reduce(add).harness()
    times = {"key1": (0, 20, 999), "key2": (3000, 3999, 1998, 1999, 1000)}
    brings(harness, *((key, 1, at) for key, every in times.items() for at in every))

    one, other = Row("value", "key1", 3, None, None), Row("value", "key2", 5, None, None)
    assert brings(harness, *range(1_000, 9_000, 1_000)) == [
        *[[], []],
        [one],
        *[[], []],
        [one, other],
        *[[], []],
    ]


def test_windows_of_the_clock_do_not_look_at_the_times_of_elements() -> None:
    """The operator's test of tumbling windows in processing time."""
    windows = flink.TumblingProcessingTimeWindows.of("3 seconds")
    harness = KEYED.window(windows).reduce(add).harness()
    rows = by_clock(harness, 3, ("key2", 1, 2**63 - 1), *[("key2", 1, 7000)] * 2, ("key1", 1), 5000)
    rows += by_clock(harness, *[("key1", 1, 7000)] * 3, 7000)

    assert [shown(row) for row in rows if row] == [
        [("key1", 1, 0, 3000), ("key2", 3, 0, 3000)],
        [("key1", 3, 3000, 6000)],
    ]


def test_sliding_windows_of_the_clock_are_due_one_after_the_other() -> None:
    """The operator's test of sliding windows in processing time."""
    windows = flink.SlidingProcessingTimeWindows.of("3 seconds", "1 second")
    harness = KEYED.window(windows).reduce(add).harness()
    rows = by_clock(harness, 3, ("key2", 1), 1000, *[("key2", 1)] * 2, 2000)
    rows += by_clock(harness, *[("key1", 1)] * 2, 3000, *[("key1", 1)] * 3, 7000)

    assert [shown(row) for row in rows if row] == [
        [("key2", 1, -2000, 1000)],
        [("key2", 3, -1000, 2000)],
        [("key1", 2, 0, 3000), ("key2", 3, 0, 3000)],
        [
            *[("key1", 3, 3000, 6000), ("key1", 5, 1000, 4000), ("key1", 5, 2000, 5000)],
            ("key2", 2, 1000, 4000),
        ],
    ]


def test_gaps_of_elements_by_the_clock_never_shorten_a_session() -> None:
    """The operator's test of dynamic gaps in processing time."""
    windows = flink.ProcessingTimeSessionWindows.with_dynamic_gap(lambda it: it[1])
    harness = KEYED.window(windows).apply(lambda it: sum(value for value, _ in it)).harness()
    short, longer = 1_000, 2_000
    rows = by_clock(harness, 10, ("key1", (3, 3_000)), 5_000, ("key2", (4, longer)))
    rows += by_clock(harness, 6_000, ("key2", (5, longer)), 9_000, ("key2", (1, longer)))
    rows += by_clock(harness, 10_000, ("key2", (2, longer)), 10_500, ("key2", (10, short)))
    rows += by_clock(harness, 13_000, ("key2", (10, short)), 13_500, ("key2", (10, short)))
    rows += by_clock(harness, 14_000, ("key2", (1, longer)), 16_999)

    assert [shown(row) for row in rows if row] == [
        [("key1", 3, 10, 3_010)],
        [("key2", 9, 5_000, 8_000)],
        [("key2", 13, 9_000, 12_000)],
        [("key2", 21, 13_000, 16_000)],
    ]


def test_an_element_that_is_late_for_one_window_only_is_in_the_others() -> None:
    """The operator's test of late elements in sliding windows."""
    harness = KEYED.window(SLIDING).side_output_late_data().reduce(add).harness()
    rows = brings(harness, ("key2", 1, 1000), 1999, ("key2", 1, 2000), 3000, ("key1", 1, 3001))
    rows += brings(harness, *[("key2", 1, 2400)] * 2, ("key1", 1, 3001), ("key2", 1, 3900), 6000)

    assert [shown(row) for row in rows if row] == [
        [("key2", 1, -1000, 2000)],
        [("key2", 2, 0, 3000)],
        [
            *[("key1", 2, 1000, 4000), ("key1", 2, 2000, 5000), ("key1", 2, 3000, 6000)],
            *[("key2", 1, 3000, 6000), ("key2", 4, 2000, 5000), ("key2", 5, 1000, 4000)],
        ],
    ]
    assert brings(harness, ("key1", 1, 3001), 25_000) == [[Row("late", "key1", 1, None, 3001)], []]


SESSION_STEPS: list[Step] = [
    *(("key2", 1, 1000), 1999, ("key2", 1, 2000), 4998, ("key2", 1, 4500), ("key2", 1, 8500)),
    *(7400, ("key2", 1, 7000), 11_501, ("key2", 1, 11_600), 14_600),
]


def of_sessions(value: int, start: int, end: int) -> list[Row]:
    return [Row("value", "key2", value, (start, end), end - 1)]


@pytest.mark.parametrize(
    ("lateness", "trigger", "late", "last"),
    [
        (
            0,
            flink.PurgingTrigger.of(AT_END),
            [Row("late", "key2", 1, None, 10_000)],
            of_sessions(1, 14_500, 17_500),
        ),
        (
            10,
            flink.PurgingTrigger.of(AT_END),
            of_sessions(1, 10_000, 14_600),
            of_sessions(1, 10_000, 17_500),
        ),
        (10_000, AT_END, of_sessions(7, 1000, 14_600), of_sessions(8, 1000, 17_500)),
    ],
    ids=["none, purging", "a little, purging", "much, accumulating"],
)
def test_how_late_an_element_may_join_a_session_that_has_fired(
    lateness: int, trigger: flink.Trigger, late: list[Row], last: list[Row]
) -> None:
    """The operator's tests of late elements in sessions: one that reaches from the session that
    fired last to the one before it."""
    windowed = KEYED.window(SESSIONS).allowed_lateness(lateness).trigger(trigger)
    harness = windowed.side_output_late_data().reduce(add).harness()
    before = [of_sessions(5, 1000, 11_500), of_sessions(1, 11_600, 14_600)]

    assert [it for it in brings(harness, *SESSION_STEPS) if it] == before
    assert brings(harness, ("key2", 1, 10_000), ("key2", 1, 14_500), 20_000, 100_000) == [
        late,
        *[[], last, []],
    ]


def test_a_window_that_is_forgotten_says_nothing() -> None:
    """The operator's tests of cleanup timers, and of state that is empty by then."""
    for harness in twice(KEYED.window(THREE_SECONDS).allowed_lateness(1)):
        assert brings(harness, ("key2", 1, 1000), 1599, 2999, 3000, 5000) == [
            *[[], [], [Row("value", "key2", 1, (0, 3000), 2999)], [], []]
        ]
    for harness in twice(KEYED.window(SESSIONS).allowed_lateness(10)):
        assert brings(harness, ("key2", 1, 1000), 4998, 14_600) == [
            *[[], [Row("value", "key2", 1, (1000, 4000), 3999)], []]
        ]


# -- WindowOperatorContractTest --------------------------------------------------------------------


@pytest.mark.parametrize("late_output", [False, True])
def test_an_element_in_no_window_is_late_if_the_watermark_has_passed_it(late_output: bool) -> None:
    """The contract's tests of late output where the assigner gives no window: windows of 3 ms
    begin every 10 ms."""
    windowed = KEYED.window(flink.SlidingEventTimeWindows.of(3, 10)).allowed_lateness(4)
    windowed = windowed.side_output_late_data() if late_output else windowed
    harness = windowed.reduce(add).harness()
    if late_output:
        late = Row("late", "a", 3, None, 15)
    else:
        late = Row("dropped", "a", 3, None, 15, "no_window")

    assert brings(harness, ("a", 1, 5), 18, ("a", 2, 15), 19, ("a", 3, 15), ("a", 4, 25)) == [
        *[[], [], [], [], [late], []]
    ]


def test_a_window_takes_elements_until_its_last_millisecond_is_its_lateness_ago() -> None:
    """The contract's tests of elements within and beyond the allowed lateness."""
    windows = flink.TumblingEventTimeWindows.of(2)
    harness = KEYED.window(windows).allowed_lateness(20).apply(list).harness()

    assert brings(harness, 20, ("a", 1, 0), 21, ("a", 2, 0)) == [
        [],
        [Row("value", "a", [1], (0, 2), 1)],
        [],
        [Row("dropped", "a", 2, None, 0, "expired_window")],
    ]


# -- SideOutputITCase ------------------------------------------------------------------------------


def test_without_keys_what_comes_after_its_watermark_is_late() -> None:
    """The test of late elements of a stream in windows without keys: each element is its own time,
    and a watermark of that time follows it."""
    windows = flink.SlidingEventTimeWindows.of(1, 1)
    harness = flink.window_all(windows).side_output_late_data().apply(list).harness()
    assert [brings(harness, (None, it, it), it) for it in (1, 2, 5, 3, 4)] == [
        *([[], [Row("value", None, [it], (it, it + 1), it)]] for it in (1, 2, 5)),
        *([[Row("late", None, it, None, it)], []] for it in (3, 4)),
    ]


# -- tests of assigners ----------------------------------------------------------------------------


def starts(assigner: flink.Assigner, at: int) -> list[int]:
    return sorted(window.start for window in assigner.window_fn.assign(at))


def test_windows_begin_where_their_offset_says() -> None:
    """The tests of sliding and tumbling windows with offsets, also before the epoch, and of the
    start of a window."""
    sliding, tumbling = flink.SlidingEventTimeWindows.of, flink.TumblingEventTimeWindows.of

    assert {
        offset: [starts(sliding(5_000, 1_000, offset), at) for at in (offset, offset + 5_000)]
        for offset in (0, 100, -100)
    } == {
        offset: [
            [offset + index * 1_000 for index in range(-4, 1)],
            [offset + index * 1_000 for index in range(1, 6)],
        ]
        for offset in (0, 100, -100)
    }
    assert [starts(tumbling(7, 3), at) for at in (1, 2, 3, 9, 10)] == [[-4], [-4], [3], [3], [10]]
    assert [starts(tumbling(7, -2), at) for at in (-2, 4, 7, 12)] == [[-2], [-2], [5], [12]]
    assert starts(tumbling("1 day", "-8 hours"), 1_470_902_048_450) == [1_470_844_800_000]
