"""Sessions that an event ends: what they are, and what they refuse."""

import pytest

from beamlike import IntervalWindow, Sessions
from beamlike.errors import WindowError
from beamlike.model.session_merging import ENDED, merge_overlapping
from beamlike.model.windowfns import Merge

VISITS = Sessions(10, ends_with="logout")


def plan(sizes: dict[tuple[int, int], int], **bounds: int | None) -> tuple[Merge, ...]:
    windows = {IntervalWindow(*span): size for span, size in sizes.items()}
    return merge_overlapping(windows, bounds.get("longest"), windows, bounds.get("most"), gap=10)


def spans(merges: tuple[Merge, ...]) -> list[tuple[int, int]]:
    return [(merge.into.start, merge.into.end) for merge in merges]


def test_an_end_event_is_in_the_window_of_its_own_millisecond():
    assert VISITS.assign(4, "click") == (IntervalWindow(4, 14),)
    assert VISITS.assign(4, "logout") == (IntervalWindow(4, 5),)
    assert VISITS.size_of(IntervalWindow(4, 14)) == 1
    assert VISITS.size_of(IntervalWindow(4, 5)) == 1 + ENDED


def test_a_function_says_which_elements_end_a_session():
    rides = Sessions(10, ends_with=lambda ride: ride["state"] == "arrived")
    assert rides.assign(0, {"state": "moving"}) == (IntervalWindow(0, 10),)
    assert rides.assign(0, {"state": "arrived"}) == (IntervalWindow(0, 1),)


def test_a_session_ends_with_the_event_and_the_next_begins_behind_it():
    click, end = 1, 1 + ENDED
    assert spans(plan({(0, 10): click, (4, 5): end, (5, 15): click})) == [(0, 5)]
    assert spans(plan({(0, 10): click, (4, 5): end, (4, 14): click})) == [(0, 5)]


def test_what_is_from_before_the_event_joins_without_making_it_longer():
    assert spans(plan({(0, 5): 2 + ENDED, (3, 13): 1})) == [(0, 5)]
    assert spans(plan({(0, 5): 2 + ENDED, (-4, 6): 1})) == [(-4, 5)]
    assert spans(plan({(0, 5): 2 + ENDED, (5, 15): 1})) == []


def test_a_session_that_has_later_elements_is_not_split_and_ends_where_it_would():
    assert spans(plan({(0, 16): 2, (4, 5): 1 + ENDED})) == [(0, 16)]
    assert spans(plan({(0, 16): 3 + ENDED, (15, 25): 1})) == [(0, 16)]


def test_an_end_event_ends_what_bounds_let_it_join():
    click, end = 1, 1 + ENDED
    assert spans(plan({(0, 10): click, (8, 9): end}, longest=10)) == [(0, 9)]
    assert spans(plan({(0, 10): click, (8, 9): end}, most=1)) == []
    assert spans(plan({(0, 10): click, (8, 9): end}, most=2)) == [(0, 9)]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"gap": lambda value: 5, "ends_with": "logout"},
            "Sessions ends_with needs one gap for all elements",
        ),
        ({"gap": 1, "ends_with": "logout"}, "Sessions ends_with needs a gap of more than 1 ms"),
        (
            {"gap": 5, "ends_with": ["logout"]},
            "Sessions ends_with must be a value that does not change",
        ),
    ],
)
def test_what_cannot_end_sessions_is_refused(given: dict[str, object], text: str):
    with pytest.raises(WindowError, match=text):
        Sessions(**given)


def test_a_function_has_to_answer_with_a_bool():
    with pytest.raises(
        WindowError, match=r"must say True or False .* returned 'yes' for .*'click'"
    ):
        Sessions(10, ends_with=lambda value: "yes").assign(0, "click")


def test_sessions_that_other_events_end_are_not_compatible():
    assert VISITS.compatible_with(Sessions(20, ends_with="logout"))
    assert not VISITS.compatible_with(Sessions(10))
    assert str(VISITS) == "Sessions(10ms, ends_with='logout')"
