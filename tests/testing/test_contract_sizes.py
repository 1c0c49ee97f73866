"""The contract of window functions that need sizes, and of what they say of their windows."""

import attrs
import pytest

import beamlike as bl
from beamlike.model.session_merging import merge_overlapping
from beamlike.testing.contracts.window_fn import check_window_fn
from tests.support.contracts import broken_by

AROUND_ZERO = [*range(-30, 31, 3), -11, -10, -9, -1, 1, 9, 10, 11, 4_000]
A, B, C = (bl.IntervalWindow(start, start + 10) for start in (0, 4, 8))


def by_length(word):
    return len(word)


# -- plans that depend on sizes --------------------------------------------------------------


@pytest.mark.parametrize("most", [2, 3, 7])
@pytest.mark.parametrize(
    "bounds", [{}, {"max_duration": 15}], ids=["by elements", "by duration too"]
)
def test_sessions_of_a_few_elements_keep_it_for_data_in_order_of_time(most, bounds):
    check_window_fn(
        bl.Sessions(by_length, max_elements=most, **bounds),
        timestamps=AROUND_ZERO,
        # Two of a length, so that a window has two elements from the start.
        values=["a", "four", "five", "ten letters"],
        any_arrival_order=False,
    )


def test_sessions_of_a_few_elements_are_cut_elsewhere_if_data_comes_in_another_order():
    assert broken_by(check_window_fn, bl.Sessions(10, max_elements=3), timestamps=[0, 4, 8, 8]) == [
        "of [00:00:00.008, 00:00:00.018) with 2, [00:00:00.004, 00:00:00.014) with 1, "
        "[00:00:00, 00:00:00.010) with 1, arriving one after the other, [00:00:00, 00:00:00.010) "
        "ends up in [00:00:00, 00:00:00.010), but arriving together in [00:00:00, 00:00:00.014); "
        "if that is meant, check with any_arrival_order=False"
    ]


@attrs.frozen
class Sized(bl.MergingWindowFn):
    """Windows of 10 ms, merged by a rule that is given their sizes."""

    rule: object

    @property
    def needs_sizes(self):
        return True

    def assign(self, timestamp, value=None):
        return (bl.IntervalWindow(timestamp, timestamp + 10),)

    def merge(self, windows):
        raise AssertionError("nobody asks for a plan without sizes")

    def merge_sized(self, sizes):
        return self.rule(sizes)

    def __str__(self):
        return "Sized()"


def broken_plan(rule, **options):
    """What is said of a rule for A, B of two elements, and C, apart from its being local."""
    broken = broken_by(check_window_fn, Sized(rule), timestamps=[0, 4, 4, 8], **options)
    return [sentence for sentence in broken if not sentence.startswith("it cannot be pickled")]


def test_a_plan_of_sizes_that_is_right_is_no_breach():
    def few(sizes):
        return merge_overlapping(sizes, sizes=sizes, most=3)

    assert broken_plan(few, any_arrival_order=False) == []


def test_a_plan_that_counts_windows_for_elements_is_found_out():
    def few_windows(sizes):
        return merge_overlapping(sizes, sizes=dict.fromkeys(sizes, 1), most=2)

    # Merged windows are one window each, however many elements they hold.
    assert broken_plan(few_windows)[0] == (
        f"merge_sized of {A} with 1, {B} with 2, {C} with 1 leaves "
        f"{bl.IntervalWindow(0, 14)} with 3, {C} with 1, and these it would merge again; a plan is "
        "carried out once"
    )


def test_a_plan_of_sizes_that_depends_on_the_order_is_found_out():
    def smallest_first(sizes):
        return merge_overlapping(sizes) if next(iter(sizes.values())) == 1 else ()

    assert broken_plan(smallest_first)[0] == (
        f"merge_sized of {A} with 1, {B} with 2 has another plan if they are given as {B} with 2, "
        f"{A} with 1; sort them first"
    )


def test_a_plan_of_sizes_that_is_unsound_is_found_out():
    def all_into_the_last(sizes):
        *_, last = sizes
        return tuple(attrs.evolve(merge, into=last) for merge in merge_overlapping(sizes))

    assert broken_plan(all_into_the_last) == [
        f"merge_sized of {A} with 1, {B} with 2: {B} does not contain the element at "
        f'"00:00:00" of {A}; if that is meant, check with windows_contain_timestamps=False'
    ]


def test_a_plan_that_raises_for_some_sizes_is_found_out():
    def small_ones(sizes):
        if max(sizes.values()) > 1:
            raise OverflowError("too many")
        return merge_overlapping(sizes)

    assert broken_plan(small_ones) == [
        f"merge_sized raises OverflowError('too many') for {B} with 2"
    ]


# -- how long a window can be ----------------------------------------------------------------


@attrs.frozen
class Long(bl.WindowFn):
    """Windows of 10 ms, and what they say of it."""

    says: object

    def assign(self, timestamp, value=None):
        return bl.FixedWindows(10).assign(timestamp)

    @property
    def longest_own_window(self):
        return {}["length"] if self.says == "nothing" else self.says


def broken_length(says):
    return broken_by(check_window_fn, Long(says), timestamps=[5])


@pytest.mark.parametrize("says", [None, 10, 11])
def test_windows_are_no_longer_than_their_function_says(says):
    assert broken_length(says) == []


def test_a_window_that_is_longer_than_its_function_says_is_found_out():
    assert broken_length(9) == [
        'assign("00:00:00.005") answers [00:00:00, 00:00:00.010), which is 10ms long, but '
        "longest_own_window is 9 (9ms); let it be as long as a window can be, because "
        'late_check="retain" removes sessions by it'
    ]


@pytest.mark.parametrize("says", [0, -5, "10 ms", True, 2.5])
def test_a_length_that_is_none_is_found_out(says):
    assert broken_length(says) == [
        f"longest_own_window is {says!r}; let it be a whole number of milliseconds, at least 1, "
        "or None if it is not known"
    ]


def test_a_length_that_cannot_be_had_is_found_out():
    assert broken_length("nothing") == ["longest_own_window raises KeyError('length')"]


@pytest.mark.parametrize(
    "window_fn",
    [bl.Sessions(10), bl.Sessions(by_length, max_duration=7), bl.SlidingWindows(10, period=3)],
    ids=str,
)
def test_the_lengths_of_the_window_functions_of_beamlike_are_right(window_fn):
    check_window_fn(
        window_fn, timestamps=AROUND_ZERO, values=["a", "ten letters"], any_arrival_order=False
    )
