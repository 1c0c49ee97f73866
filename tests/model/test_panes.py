"""The numbering of panes, walked exhaustively."""

from itertools import product

import pytest

from beamlike.model.panes import NO_FIRING, PaneInfo, Timing, next_pane

EARLY, ON_TIME, LATE = Timing.EARLY, Timing.ON_TIME, Timing.LATE

# Before: the timing of the previous pane. Then: whether the input watermark is past the
# window, whether the output watermark is, and what the next pane is called.
TABLE = [
    (None, False, False, EARLY),
    (None, True, False, ON_TIME),
    (None, True, True, LATE),
    (None, False, True, LATE),
    (EARLY, False, False, EARLY),
    (EARLY, True, False, ON_TIME),
    (EARLY, True, True, LATE),
    (EARLY, False, True, LATE),
    (ON_TIME, False, False, LATE),
    (ON_TIME, True, False, LATE),
    (ON_TIME, True, True, LATE),
    (ON_TIME, False, True, LATE),
    (LATE, False, False, LATE),
    (LATE, True, False, LATE),
    (LATE, True, True, LATE),
    (LATE, False, True, LATE),
]


@pytest.mark.parametrize(("before", "over", "moved_on", "expected"), TABLE)
@pytest.mark.parametrize("is_last", [False, True])
def test_the_next_pane_after_each_timing(before, over, moved_on, expected, is_last):
    nonspeculative = {None: None, EARLY: -1, ON_TIME: 0, LATE: 3}[before]
    previous = before and PaneInfo(before, 6, nonspeculative, False, False)
    pane = next_pane(previous, window_is_over=over, output_moved_on=moved_on, is_last=is_last)
    counted = {None: 0, EARLY: 0, ON_TIME: 1, LATE: 4}[before]
    assert pane == PaneInfo(
        timing=expected,
        index=0 if before is None else 7,
        nonspeculative_index=-1 if expected is EARLY else counted,
        is_first=before is None,
        is_last=is_last,
    )


def test_the_table_is_complete():
    cases = {(before, over, moved_on) for before, over, moved_on, _ in TABLE}
    assert cases == set(product([None, EARLY, ON_TIME, LATE], [False, True], [False, True]))


@pytest.mark.parametrize(
    "answers", list(product([(False, False), (True, False), (True, True)], repeat=4))
)
def test_no_history_of_four_panes_leaves_the_pattern(answers):
    previous = None
    history = []
    for over, moved_on in answers:
        previous = next_pane(previous, window_is_over=over, output_moved_on=moved_on, is_last=False)
        history.append(previous)
    assert [pane.index for pane in history] == [0, 1, 2, 3]
    assert [pane.is_first for pane in history] == [True, False, False, False]
    timings = "".join(pane.timing.value[0] for pane in history)
    assert timings == "E" * timings.count("E") + "O" * ("O" in timings) + "L" * timings.count("L")
    counted = [pane.nonspeculative_index for pane in history if pane.timing is not EARLY]
    assert counted == list(range(len(counted)))


def test_an_element_that_was_never_grouped_is_first_and_last_of_unknown_timing():
    assert PaneInfo(Timing.UNKNOWN, 0, 0, True, True) == NO_FIRING
