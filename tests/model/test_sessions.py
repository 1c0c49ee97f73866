"""Sessions: gaps, gaps that depend on the element, and sessions that may only last so long."""

import pickle
from datetime import timedelta

import attrs
import pytest

from beamlike.errors import TimeError, WindowError
from beamlike.machine.events import AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CollectByTimestamp
from beamlike.model.session_merging import merge_overlapping
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP
from beamlike.model.windowfns import FixedWindows, Merge
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive
from tests.support.refusals import refusal


def intervals(*bounds):
    return [IntervalWindow(start, end) for start, end in bounds]


def watching(page):
    return {"film": "30 minutes", "clip": timedelta(minutes=5), "click": 1}.get(page)


@attrs.frozen
class GapPerLetter:
    length: int

    def __call__(self, word):
        return len(word) * self.length


def collect(window_fn, *bundles):
    """The panes of one key at the end of time, (values by timestamp, bounds) in order."""
    script = [Arrive(tuple(("k", Element(at, at)) for at in bundle)) for bundle in bundles]
    machine = Grouping(WindowingStrategy(window_fn), CollectByTimestamp())
    run = run_in_memory(machine, (*script, AdvanceWatermark(MAX_TIMESTAMP)))
    panes = [output.effect for output in run.outputs]
    assert all(isinstance(pane, Pane) for pane in panes)
    return sorted((list(pane.value), (pane.window.start, pane.window.end)) for pane in panes)


# -- one gap ---------------------------------------------------------------------------------


def test_an_element_opens_a_session_of_one_gap():
    assert Sessions(10).assign(-3) == (IntervalWindow(-3, 7),)


def test_touching_windows_do_not_merge():
    assert merge_overlapping(intervals((0, 10), (10, 20))) == ()


def test_windows_that_share_one_millisecond_merge():
    first, second = intervals((0, 10), (9, 19))
    assert merge_overlapping([second, first]) == (Merge((first, second), IntervalWindow(0, 19)),)


def test_a_long_window_carries_the_merge_over_short_ones():
    windows = intervals((0, 30), (1, 2), (5, 6), (29, 31), (31, 40))
    assert merge_overlapping(windows) == (Merge(tuple(windows[:4]), IntervalWindow(0, 31)),)


def test_each_run_is_a_plan_of_its_own_and_equal_windows_count_once():
    windows = intervals((0, 10), (5, 15), (20, 30), (20, 30), (40, 50), (45, 55))
    assert [merge.into for merge in merge_overlapping(windows)] == intervals((0, 15), (40, 55))


def test_sessions_need_a_gap():
    assert refusal(WindowError, lambda: Sessions(0)) == (
        'Sessions need a gap of more than 0 ms; give one such as "10 minutes"'
    )


def test_a_millisecond_before_the_last_one_has_a_session_of_two():
    before = END_OF_GLOBAL_WINDOW - 1
    assert Sessions(1).assign(before) == (IntervalWindow(before, before + 1),)
    assert Sessions(2).assign(before) == (IntervalWindow(before, before + 2),)
    assert Sessions(3).assign(before) == (IntervalWindow(before, before + 2),)


# -- windows that only touch -----------------------------------------------------------------

TOUCHING = Sessions(10, merge_touching=True)


def test_a_millisecond_less_than_the_gap_apart_is_one_session_in_any_case():
    assert collect(TOUCHING, [0, 9]) == collect(Sessions(10), [0, 9]) == [([0, 9], (0, 19))]


def test_exactly_the_gap_apart_is_one_session_only_if_touching_windows_merge():
    assert collect(TOUCHING, [0, 10]) == [([0, 10], (0, 20))]
    assert collect(Sessions(10), [0, 10]) == [([0], (0, 10)), ([10], (10, 20))]


def test_a_millisecond_more_than_the_gap_apart_is_two_sessions_in_any_case():
    apart = [([0], (0, 10)), ([11], (11, 21))]
    assert collect(TOUCHING, [0, 11]) == collect(Sessions(10), [0, 11]) == apart


def test_an_element_that_touches_both_its_neighbours_joins_them():
    assert collect(TOUCHING, [0, 20], [10]) == [([0, 10, 20], (0, 30))]


def test_a_gap_of_an_element_of_its_own_reaches_one_that_begins_at_its_end():
    sessions = Sessions(watching, merge_touching=True)
    windows = [*sessions.assign(0, "clip"), *sessions.assign(300_000, "click")]
    assert sessions.merge(windows) == (Merge(tuple(windows), IntervalWindow(0, 300_001)),)


def test_touching_windows_are_cut_where_they_would_be_too_long_together():
    assert collect(Sessions(10, max_duration=20, merge_touching=True), [0, 10, 20, 30]) == [
        ([0, 10], (0, 20)),
        ([20, 30], (20, 40)),
    ]
    assert collect(Sessions(10, max_duration=19, merge_touching=True), [0, 10]) == [
        ([0], (0, 10)),
        ([10], (10, 20)),
    ]


def test_touching_windows_are_cut_where_they_would_be_too_full_together():
    assert collect(Sessions(10, max_elements=2, merge_touching=True), [0, 10, 20, 30]) == [
        ([0, 10], (0, 20)),
        ([20, 30], (20, 40)),
    ]


@pytest.mark.parametrize("answer", [1, None, "yes"])
def test_whether_touching_windows_merge_is_yes_or_no(answer):
    with pytest.raises(WindowError) as refused:
        Sessions(10, merge_touching=answer)
    assert str(refused.value) == f"Sessions merge_touching must be True or False, got {answer!r}"


# -- a gap for each element ------------------------------------------------------------------


@pytest.mark.parametrize(("page", "end"), [("film", 1_800_000), ("clip", 300_000), ("click", 1)])
def test_a_gap_function_is_asked_with_the_value_and_answers_any_duration(page, end):
    assert Sessions(watching).assign(0, page) == (IntervalWindow(0, end),)


def test_a_short_gap_never_shortens_a_session():
    sessions = Sessions(GapPerLetter(10))
    windows = [*sessions.assign(0, "abcd"), *sessions.assign(5, "a"), *sessions.assign(39, "a")]
    assert sessions.merge(windows) == (Merge(tuple(windows), IntervalWindow(0, 49)),)


def test_an_element_whose_window_equals_the_session_joins_it_and_loses_nothing():
    sessions = Sessions({"a": 4, "b": 4, "all of it": 6}.__getitem__)
    arrivals = [("a", 0), ("b", 2), ("all of it", 0)]
    run = run_in_memory(
        Grouping(WindowingStrategy(sessions), CollectByTimestamp()),
        (
            *(Arrive((("k", Element(value, at)),)) for value, at in arrivals),
            AdvanceWatermark(MAX_TIMESTAMP),
        ),
    )
    assert [(list(output.effect.value), output.effect.window) for output in run.outputs] == [
        (["a", "all of it", "b"], IntervalWindow(0, 6))
    ]


def returning(answer):
    def gap_of(value):
        return answer

    return gap_of


@pytest.mark.parametrize("answer", [0, -1, "0 s", None, 1.5, True, "soon", timedelta(0)])
def test_a_gap_that_is_none_names_the_function_its_answer_and_the_value(answer):
    sessions = Sessions(returning(answer))
    assert refusal(WindowError, lambda: sessions.assign(0, {"user": "joe"})) == (
        "the gap of a session must be a duration of more than 0, but "
        f"returning.<locals>.gap_of returned {answer!r} for the value {{'user': 'joe'}}; "
        'return one such as "10 minutes" or 600000 (milliseconds)'
    )


def test_a_long_value_is_cut_in_the_message():
    assert len(refusal(WindowError, lambda: Sessions(returning(0)).assign(0, "x" * 10_000))) < 300


def test_what_a_gap_function_raises_is_not_hidden():
    with pytest.raises(KeyError, match="joe"):
        Sessions({}.__getitem__).assign(0, "joe")


# -- sessions that may only last so long -----------------------------------------------------


def test_a_session_may_be_exactly_as_long_as_its_bound():
    first, second = intervals((0, 10), (5, 15))
    assert merge_overlapping([first, second], 15) == (
        Merge((first, second), IntervalWindow(0, 15)),
    )
    assert merge_overlapping([first, second], 14) == ()


def test_activity_without_a_pause_is_cut_and_the_next_element_opens_the_next_session():
    every_five = list(range(0, 50, 5))
    assert collect(Sessions(10, max_duration=25), every_five) == [
        ([0, 5, 10, 15], (0, 25)),
        ([20, 25, 30, 35], (20, 45)),
        ([40, 45], (40, 55)),
    ]


def test_activity_in_order_of_time_is_cut_at_the_same_places_in_bundles_of_one():
    every_five = list(range(0, 50, 5))
    sessions = Sessions(10, max_duration=25)
    assert collect(sessions, *([at] for at in every_five)) == collect(sessions, every_five)


def test_a_pause_ends_a_session_before_its_bound_does():
    assert collect(Sessions(10, max_duration=25), [0, 5, 15, 20]) == [
        ([0, 5], (0, 15)),
        ([15, 20], (15, 30)),
    ]


def test_a_session_that_exists_is_not_split_for_an_earlier_element():
    sessions = Sessions(10, max_duration=25)
    assert collect(sessions, [5, 10, 15], [0]) == [([0, 5, 10, 15], (0, 25))]
    assert collect(sessions, [6, 11, 16], [0]) == [([0], (0, 10)), ([6, 11, 16], (6, 26))]
    assert collect(sessions, [0, 6, 11, 16]) == [([0, 6, 11], (0, 21)), ([16], (16, 26))]


def test_an_element_joins_the_session_before_it_if_it_still_fits_else_the_one_after():
    sessions = Sessions(10, max_duration=25)
    two = [0, 8, 15], [20, 26]
    assert collect(sessions, *two) == [([0, 8, 15], (0, 25)), ([20, 26], (20, 36))]
    assert collect(sessions, *two, [12]) == [([0, 8, 12, 15], (0, 25)), ([20, 26], (20, 36))]
    assert collect(sessions, *two, [16]) == [([0, 8, 15], (0, 25)), ([16, 20, 26], (16, 36))]


def test_a_gap_longer_than_the_bound_counts_as_the_bound():
    sessions = Sessions(watching, max_duration="10 minutes")
    assert sessions.assign(0, "film") == (IntervalWindow(0, 600_000),)
    assert sessions.assign(0, "clip") == (IntervalWindow(0, 300_000),)


@pytest.mark.parametrize("longest", [0, 9])
def test_a_bound_shorter_than_the_gap_is_refused(longest):
    assert Sessions(10, max_duration=10).max_duration == 10
    assert refusal(WindowError, lambda: Sessions(10, max_duration=longest)) == (
        "Sessions max_duration must not be shorter than the gap, because one element alone makes "
        f"a session that long; got max_duration={longest}ms and a gap of 10ms; give a longer "
        "max_duration or a shorter gap"
    )


def test_a_bound_of_nothing_is_refused_with_a_gap_function_too():
    assert Sessions(watching, max_duration=1).max_duration == 1
    assert refusal(WindowError, lambda: Sessions(watching, max_duration=0)) == (
        "Sessions max_duration must be more than 0 ms, got 0 ms; leave it out for sessions "
        "without a bound"
    )


def test_a_bound_that_is_no_duration_is_refused():
    with pytest.raises(TimeError, match="Sessions max_duration is not a duration: 'long'"):
        Sessions(10, max_duration="long")


# -- only so many elements -------------------------------------------------------------------


def merged(sessions, **sizes):
    """The plan for windows of 10 ms that start there and hold so many: ``at_5=2``."""
    plan = sessions.merge_sized(
        {IntervalWindow(int(at[3:]), int(at[3:]) + 10): size for at, size in sizes.items()}
    )
    return [(len(one.sources), one.into.start, one.into.end) for one in plan]


THREE = Sessions(10, max_elements=3)


def test_a_session_with_room_takes_the_next_one_in():
    assert merged(THREE, at_0=2, at_5=1) == [(2, 0, 15)]


def test_a_session_that_would_become_too_full_stays_apart():
    assert merged(THREE, at_0=2, at_5=2) == []


def test_elements_in_order_of_time_fill_one_session_after_the_other():
    assert collect(THREE, [0, 1, 2, 3, 4, 5, 6]) == [
        ([0, 1, 2], (0, 12)),
        ([3, 4, 5], (3, 15)),
        ([6], (6, 16)),
    ]


def test_bundles_do_not_matter_to_elements_in_order_of_time():
    assert collect(THREE, [0], [1, 2, 3], [4], [5, 6]) == collect(THREE, [0, 1, 2, 3, 4, 5, 6])


def test_a_full_session_is_not_split_for_an_element_from_before():
    assert collect(THREE, [5, 6, 7], [0]) == [([0], (0, 10)), ([5, 6, 7], (5, 17))]


def test_only_the_session_just_before_is_asked():
    # [5, 15) would fit into [0, 10), but [0, 12) with 3 elements stands between them.
    assert collect(THREE, [0, 1, 2], [0], [5]) == [
        ([0], (0, 10)),
        ([0, 1, 2], (0, 12)),
        ([5], (5, 15)),
    ]


def test_elements_with_equal_windows_stay_together_however_many_they_are():
    assert collect(THREE, [0, 5, 5, 5, 5, 9]) == [
        ([0], (0, 10)),
        ([5, 5, 5, 5], (5, 15)),
        ([9], (9, 19)),
    ]


def test_an_element_whose_window_is_exactly_a_full_session_goes_there():
    assert collect(THREE, [5, 5, 5], [5]) == [([5, 5, 5, 5], (5, 15))]


def test_one_element_a_session_tells_all_times_apart():
    assert collect(Sessions(10, max_elements=1), [0, 1, 2]) == [
        ([0], (0, 10)),
        ([1], (1, 11)),
        ([2], (2, 12)),
    ]


def test_both_bounds_hold_together():
    both = Sessions(10, max_duration=15, max_elements=3)
    assert merged(both, at_0=1, at_4=1, at_6=1) == [(2, 0, 14)]
    assert merged(both, at_0=1, at_1=1, at_2=1, at_3=1) == [(3, 0, 12)]


def test_windows_without_counts_hold_one_element_each():
    windows = intervals((0, 10), (1, 11), (2, 12), (3, 13))
    assert THREE.merge(iter(windows)) == THREE.merge_sized(dict.fromkeys(windows, 1))


def test_only_such_sessions_ask_for_counts():
    assert THREE.needs_sizes
    assert not Sessions(10, max_duration=50).needs_sizes


@pytest.mark.parametrize("most", [0, -1, 2.0, True, "3"])
def test_a_bound_that_is_no_number_of_elements_is_refused(most):
    assert refusal(WindowError, lambda: Sessions(10, max_elements=most)) == (
        f"Sessions max_elements must be a whole number of 1 or more, got {most!r}"
    )


@pytest.mark.parametrize(
    ("sessions", "longest"),
    [
        (Sessions(10), 10),
        (Sessions(10, max_duration=50), 10),
        (Sessions(watching), None),
        (Sessions(watching, max_duration=50), 50),
    ],
)
def test_how_long_the_window_of_one_element_can_be(sessions, longest):
    assert sessions.longest_own_window == longest


# -- as values -------------------------------------------------------------------------------


def test_any_two_sessions_with_the_same_bound_are_compatible():
    assert Sessions(10).compatible_with(Sessions(20))
    assert Sessions(10).compatible_with(Sessions(watching))
    assert Sessions(10, max_duration=50).compatible_with(Sessions(20, max_duration=50))
    assert not Sessions(10).compatible_with(Sessions(10, max_duration=50))
    assert not Sessions(10).compatible_with(Sessions(10, max_elements=3))
    assert Sessions(20, max_elements=3).compatible_with(THREE)
    assert Sessions(20, merge_touching=True).compatible_with(TOUCHING)
    assert not Sessions(10).compatible_with(TOUCHING)
    assert not Sessions(10).compatible_with(FixedWindows(10))


def test_equal_parameters_are_equal_sessions_also_after_pickling():
    bounded = Sessions(watching, max_duration="1h")
    assert pickle.loads(pickle.dumps(bounded)) == bounded == Sessions(watching, max_duration="1h")
    assert bounded != Sessions(watching, max_duration="2h")
    assert pickle.loads(pickle.dumps(TOUCHING)) == TOUCHING != Sessions(10)
    assert Sessions(GapPerLetter(10)) == Sessions(GapPerLetter(10)) != Sessions(GapPerLetter(11))


def test_sessions_print_as_they_are_written_and_without_addresses():
    assert str(Sessions("90 s")) == "Sessions(1m 30s)"
    assert str(Sessions("90 s", max_duration="1h")) == "Sessions(1m 30s, max_duration=1h)"
    assert str(Sessions(10, max_duration=20, max_elements=3)) == (
        "Sessions(10ms, max_duration=20ms, max_elements=3)"
    )
    assert str(TOUCHING) == "Sessions(10ms, merge_touching=True)"
    assert str(Sessions(watching)) == "Sessions(watching)"
    assert str(Sessions(GapPerLetter(10))) == "Sessions(GapPerLetter(length=10))"
    assert str(Sessions(NoWords())) == "Sessions(NoWords())"


class NoWords:
    def __call__(self, value):
        return 10
