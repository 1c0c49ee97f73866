"""The contract of window functions: the built-in ones keep it, and each rule can be broken."""

import pickle
from itertools import count

import attrs
import pytest

import beamlike as bl
from beamlike.errors import TestStreamError
from beamlike.model.session_merging import merge_overlapping
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.testing.contracts.window_fn import WindowFnAssertionError, check_window_fn
from tests.support.contracts import broken_by
from tests.support.generated.window_fns import Touching
from tests.support.refusals import refusal

AROUND_ZERO = [*range(-30, 31, 3), -11, -10, -9, -1, 1, 9, 10, 11, 4_000]
ENDS_OF_TIME = [
    *(MIN_TIMESTAMP, MIN_TIMESTAMP + 1, MIN_TIMESTAMP + 9),
    *(END_OF_GLOBAL_WINDOW - 9, END_OF_GLOBAL_WINDOW - 1, END_OF_GLOBAL_WINDOW),
    *(END_OF_GLOBAL_WINDOW + 1, MAX_TIMESTAMP - 1),
]
DAYS = [
    *("1969-12-31T23:59:59.999Z", "1970-01-01", "2013-03-31T00:59:59.999Z"),
    *("2013-03-31T01:00:00Z", "2013-10-27T00:30:00Z", "2013-10-27T01:30:00Z"),
    *("2016-02-29T12:00:00Z", "1915-08-04T22:30:00Z", "2013-12-31T23:30:00Z"),
]


def by_length(word):
    return len(word)


# -- functions that keep it ------------------------------------------------------------------


@pytest.mark.parametrize("timestamps", [AROUND_ZERO, ENDS_OF_TIME], ids=["zero", "ends"])
@pytest.mark.parametrize(
    "window_fn",
    [
        bl.FixedWindows(10),
        bl.FixedWindows(10, offset=3),
        bl.SlidingWindows(10, period=3),
        bl.SlidingWindows(10, period=10, offset=9),
        bl.SlidingWindows(4, period=7),
        bl.GlobalWindows(),
        bl.Sessions(10),
    ],
    ids=str,
)
def test_windows_of_milliseconds_keep_the_contract(window_fn, timestamps):
    check_window_fn(window_fn, timestamps=timestamps)


@pytest.mark.parametrize("timestamps", [AROUND_ZERO, ENDS_OF_TIME], ids=["zero", "ends"])
def test_sessions_with_a_gap_for_each_element_keep_the_contract(timestamps):
    check_window_fn(
        bl.Sessions(by_length), timestamps=timestamps, values=["a", "four", "ten letters"]
    )


@pytest.mark.parametrize("gap", [10, by_length], ids=["gap", "gap function"])
def test_bounded_sessions_keep_it_for_data_in_order_of_time(gap):
    check_window_fn(
        bl.Sessions(gap, max_duration=15),
        timestamps=AROUND_ZERO,
        values=["a", "four", "ten letters"],
        any_arrival_order=False,
    )


def test_bounded_sessions_are_cut_elsewhere_if_data_comes_in_another_order():
    assert broken_by(check_window_fn, bl.Sessions(10, max_duration=15), timestamps=[0, 4, 8]) == [
        "of [00:00:00.008, 00:00:00.018), [00:00:00.004, 00:00:00.014), "
        "[00:00:00, 00:00:00.010), arriving one after the other, [00:00:00, 00:00:00.010) ends up "
        "in [00:00:00, 00:00:00.010), but arriving together in [00:00:00, 00:00:00.014); if that "
        "is meant, check with any_arrival_order=False"
    ]


@pytest.mark.parametrize(
    "window_fn",
    [
        bl.CalendarDays(1, "Europe/Warsaw"),
        bl.CalendarDays(10, "America/New_York", (2013, 1, 1)),
        bl.CalendarWeeks(1, "Europe/Warsaw", start_day_of_week=7),
        bl.CalendarMonths(1, "America/Sao_Paulo", day_of_month=31),
        bl.CalendarYears(4, month_of_year=2, day_of_month=3),
    ],
    ids=str,
)
def test_calendar_windows_keep_the_contract(window_fn):
    check_window_fn(window_fn, timestamps=DAYS)


# -- each rule can be broken: the value ------------------------------------------------------


def test_a_class_without_equality_is_found_out():
    class Plain(bl.WindowFn):
        def __init__(self):
            self.size = 10

        def assign(self, timestamp, value=None):
            return bl.FixedWindows(self.size).assign(timestamp)

    broken = broken_by(check_window_fn, Plain(), timestamps=[0])
    local = "test_a_class_without_equality_is_found_out.<locals>.Plain"
    with pytest.raises(Exception, match="local object") as unpicklable:
        pickle.dumps(Plain())  # each version of Python has its own words
    assert [sentence.split("0x")[0] for sentence in broken] == [
        f"it cannot be pickled ({unpicklable.value}); put its class, and functions that it holds, "
        "at the top of a module",
        "its field size can be set; write @attrs.frozen above the class",
        f"it prints an address in memory, <{__name__}.{local} object at ",
    ]


class Unequal(bl.WindowFn):
    def assign(self, timestamp, value=None):
        return (bl.GLOBAL_WINDOW,)

    def __str__(self):
        return "Unequal()"


@attrs.frozen
class Unhashable(bl.WindowFn):
    sizes: list

    def assign(self, timestamp, value=None):
        return bl.FixedWindows(self.sizes[0]).assign(timestamp)


@attrs.frozen
class Loner(bl.WindowFn):
    def assign(self, timestamp, value=None):
        return (bl.GLOBAL_WINDOW,)

    def compatible_with(self, other):
        return False


@attrs.frozen
class MergingInName(bl.WindowFn):
    is_merging = True

    def assign(self, timestamp, value=None):
        return bl.FixedWindows(10).assign(timestamp)


@attrs.frozen
class OfAFunction(bl.WindowFn):
    size_of: object

    def assign(self, timestamp, value=None):
        return bl.FixedWindows(self.size_of(timestamp)).assign(timestamp)


def test_sessions_with_a_lambda_cannot_be_saved():
    (sentence,) = broken_by(check_window_fn, bl.Sessions(lambda value: 10), timestamps=[0, 1])
    assert sentence.startswith("it cannot be pickled (Can't ")
    assert sentence.endswith(
        "); put its class, and functions that it holds, at the top of a module"
    )


def always_ten(timestamp):
    return 10


@pytest.mark.parametrize(
    ("window_fn", "sentence"),
    [
        (Unequal(), "its pickled copy is not equal to it; write @attrs.frozen above the class"),
        (
            Unhashable([10]),
            "it has no hash (unhashable type: 'list'); let its fields be values such as numbers "
            "and tuples",
        ),
        (Loner(), "it is not compatible_with itself"),
        (
            MergingInName(),
            "is_merging is True, but the class is not derived from MergingWindowFn; derive it "
            "from MergingWindowFn if its windows merge, else from WindowFn, and leave is_merging "
            "alone",
        ),
        (
            OfAFunction(always_ten),
            f"it prints an address in memory, {OfAFunction(always_ten)}; saved state is recognised "
            "by that text, so write a __str__ that is the same in every process",
        ),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, bl.WindowFn) else "",
)
def test_what_is_no_value_is_found_out(window_fn, sentence):
    assert broken_by(check_window_fn, window_fn, timestamps=[0, 5]) == [sentence]


# -- each rule can be broken: assign ---------------------------------------------------------

COUNTER = count()


class Tagged(bl.IntervalWindow):
    pass


def answering(answer):
    """A window function with one answer; made anew each time if it is a function."""

    @attrs.frozen
    class Answering(bl.WindowFn):
        def assign(self, timestamp, value=None):
            return answer() if callable(answer) else answer

    return Answering()


def raising():
    raise ZeroDivisionError("by nothing")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (None, 'assign("00:00:00.005") answers None, which is no tuple of windows'),
        (
            [bl.GLOBAL_WINDOW],
            'assign("00:00:00.005") answers [GlobalWindow()], which is no tuple of windows',
        ),
        (
            ((0, 10),),
            'assign("00:00:00.005") answers (0, 10), which is no IntervalWindow or GlobalWindow; '
            "hosts keep bounds only",
        ),
        (
            (Tagged(0, 10),),
            'assign("00:00:00.005") answers Tagged(start=0, end=10), which is no IntervalWindow '
            "or GlobalWindow; hosts keep bounds only",
        ),
        (raising, "assign(\"00:00:00.005\") raises ZeroDivisionError('by nothing')"),
        (
            (bl.GLOBAL_WINDOW, bl.IntervalWindow(0, 10), bl.GLOBAL_WINDOW),
            'assign("00:00:00.005") answers a window twice, global, [00:00:00, 00:00:00.010), '
            "global; the element would count twice in it",
        ),
        (
            (bl.IntervalWindow(0, 5),),
            'assign("00:00:00.005") answers [00:00:00, 00:00:00.005), which does not contain the '
            "timestamp; if that is meant, check with windows_contain_timestamps=False",
        ),
    ],
    ids=["None", "list", "pair", "derived", "raises", "twice", "beside"],
)
def test_an_assign_that_answers_amiss_is_found_out(answer, sentence):
    assert sentence in broken_by(check_window_fn, answering(answer), timestamps=[5])


def test_an_assign_that_depends_on_something_else_is_found_out():
    growing = answering(lambda: (bl.IntervalWindow(0, 10 + next(COUNTER)),))
    (sentence,) = [s for s in broken_by(check_window_fn, growing, timestamps=[5]) if "then" in s]
    assert sentence.startswith('assign("00:00:00.005") answers [00:00:00, 00:00:00.0')
    assert sentence.endswith("; let it depend on its arguments and fields alone")


@attrs.frozen
class DayAfter(bl.WindowFn):
    def assign(self, timestamp, value=None):
        return bl.FixedWindows(10).assign(timestamp + 10)


def test_windows_beside_their_elements_can_be_allowed():
    check_window_fn(DayAfter(), timestamps=[0], windows_contain_timestamps=False)
    with pytest.raises(WindowFnAssertionError) as failure:
        check_window_fn(DayAfter(), timestamps=[0], values=["x", None])
    assert str(failure.value) == (
        "DayAfter() breaks a rule of window functions:\n"
        "  - assign(\"00:00:00\", 'x') answers [00:00:00.010, 00:00:00.020), which does not "
        "contain the timestamp; if that is meant, check with windows_contain_timestamps=False"
    )


def test_a_merging_function_assigns_no_global_window():
    @attrs.frozen
    class Wrong(Touching):
        def assign(self, timestamp, value=None):
            return (bl.GLOBAL_WINDOW,)

    assert broken_by(check_window_fn, Wrong(10), timestamps=[5])[-1] == (
        'assign("00:00:00.005") answers GlobalWindow(), which is no IntervalWindow; hosts keep '
        "bounds only"
    )


# -- each rule can be broken: merge ----------------------------------------------------------

A, B, C = bl.IntervalWindow(0, 10), bl.IntervalWindow(4, 14), bl.IntervalWindow(8, 18)
A_TO_B, A_TO_C = bl.IntervalWindow(0, 14), bl.IntervalWindow(0, 18)


@attrs.frozen(repr=False)
class Planning(bl.MergingWindowFn):
    """Windows of ten milliseconds; merges by a rule of the test's."""

    rule: object

    def assign(self, timestamp, value=None):
        return (bl.IntervalWindow(timestamp, timestamp + 10),)

    def merge(self, windows):
        return self.rule(windows)

    def __str__(self):
        return "Planning()"


def broken_plan(rule, **options):
    """What is said of a rule for the windows A, B and C, apart from its being a local function."""
    broken = broken_by(check_window_fn, Planning(rule), timestamps=[0, 4, 8], **options)
    return [sentence for sentence in broken if not sentence.startswith("it cannot be pickled")]


def only(group, *plan):
    """Exactly this plan when exactly these windows are given."""
    return lambda windows: plan if set(windows) == set(group) else ()


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (
            only([A], bl.Merge((A,), A)),
            f"merge of {A}: has a plan for {A} alone; leave single windows out",
        ),
        (
            only([A], (A,)),
            f"merge of {A}: answers (IntervalWindow(start=0, end=10),), which is no Merge",
        ),
        (
            only([A, B], bl.Merge((A, C), A_TO_C)),
            f"merge of {A}, {B}: merges {C}, which was not given",
        ),
        (only([A, B], bl.Merge((A, B, A), A_TO_B)), f"merge of {A}, {B}: merges {A} twice"),
        (
            only([A, B, C], bl.Merge((A, B), A_TO_B), bl.Merge((B, C), A_TO_C)),
            f"merge of {A}, {B}, {C}: merges {B} twice",
        ),
        (
            only([A, B, C], bl.Merge((A, B), C)),
            f"merge of {A}, {B}, {C}: merges {A}, {B} into {C}, which is another window that was "
            "given",
        ),
        (
            only([A, B], bl.Merge((A, B), bl.GLOBAL_WINDOW)),
            f"merge of {A}, {B}: merges into GlobalWindow(), which is no IntervalWindow",
        ),
        (
            only([A, B], bl.Merge((A, B), bl.IntervalWindow(0, 9))),
            f"merge of {A}, {B}: {bl.IntervalWindow(0, 9)} ends before {A}, {B} do: it may be over "
            "while they are open",
        ),
        (
            only([A, B], bl.Merge((A, B), B)),
            f'merge of {A}, {B}: {B} does not contain the element at "00:00:00" of {A}; if that '
            "is meant, check with windows_contain_timestamps=False",
        ),
        (lambda windows: raising(), f"merge raises ZeroDivisionError('by nothing') for {A}"),
        (
            lambda windows: None,
            f"merge raises TypeError(\"'NoneType' object is not iterable\") for {A}",
        ),
    ],
    ids=[
        *("single", "no merge", "not given", "twice in one", "twice in two", "into another"),
        *("global", "over", "outside", "raises", "none"),
    ],
)
def test_an_unsound_plan_is_found_out(rule, sentence):
    assert broken_plan(rule) == [sentence]


def test_two_plans_with_one_result_are_found_out():
    d = bl.IntervalWindow(12, 22)
    rule = only(
        [A, B, C, d],
        bl.Merge((A, B), bl.IntervalWindow(0, 22)),
        bl.Merge((C, d), bl.IntervalWindow(0, 22)),
    )
    assert broken_by(check_window_fn, Planning(rule), timestamps=[0, 4, 8, 12])[-1] == (
        f"merge of {A}, {B}, {C}, {d}: two plans have the same result {bl.IntervalWindow(0, 22)}"
    )


def test_a_result_beside_its_elements_can_be_allowed():
    def latest_wins(windows):
        return tuple(bl.Merge(m.sources, m.sources[-1]) for m in merge_overlapping(windows))

    assert "does not contain" in broken_plan(latest_wins)[0]
    assert broken_plan(latest_wins, windows_contain_timestamps=False) == []


def test_a_result_may_end_before_some_of_its_sources():
    def earliest_wins(windows):
        return tuple(bl.Merge(m.sources, m.sources[0]) for m in merge_overlapping(windows))

    assert broken_plan(earliest_wins) == []


def test_a_plan_that_reads_its_windows_twice_is_found_out():
    def twice(windows):
        return merge_overlapping(windows) if len(list(windows)) > 1 else ()

    assert broken_plan(twice) == [
        f"merge of {A}, {B} has another plan for an iterator than for a tuple; read it once, for "
        "example with sorted(windows)"
    ]


def test_a_plan_that_cannot_read_an_iterator_is_found_out():
    def counted(windows):
        return merge_overlapping(windows) if len(windows) > 1 else ()

    assert broken_plan(counted) == [
        "merge raises TypeError(\"object of type 'list_iterator' has no len()\") for an iterator "
        f"over {A}"
    ]


def test_a_plan_that_depends_on_the_order_is_found_out():
    def neighbours(windows):
        windows = list(windows)
        return merge_overlapping(windows) if windows == sorted(windows) else ()

    assert broken_plan(neighbours)[0] == (
        f"merge of {A}, {B} has another plan if they are given as {B}, {A}; sort them first"
    )


def test_a_plan_that_leaves_work_to_do_is_found_out():
    def one_pair(windows):
        first, second, *_ = [*sorted(windows), None, None]
        return merge_overlapping([first, second]) if second else ()

    assert broken_plan(one_pair)[0] == (
        f"merge of {A}, {B}, {C} leaves {A_TO_B}, {C}, and these it would merge again; a plan is "
        "carried out once"
    )


def test_a_plan_that_depends_on_what_arrives_together_is_found_out():
    def fresh_ones(windows):
        return merge_overlapping(window for window in windows if window.end - window.start == 10)

    assert broken_plan(fresh_ones, any_arrival_order=False) == [
        f"of {A}, {B}, {C}, arriving one after the other, {A} ends up in {A_TO_B}, but arriving "
        f"together in {A_TO_C}"
    ]


# -- a check that could not fail -------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (
            lambda: check_window_fn(bl.FixedWindows(10), timestamps=[]),
            "check_window_fn has nothing to check: give at least one timestamp and one value",
        ),
        (
            lambda: check_window_fn(bl.FixedWindows(10), timestamps=[1], values=[]),
            "check_window_fn has nothing to check: give at least one timestamp and one value",
        ),
        (
            lambda: check_window_fn(bl.SlidingWindows(5, 10), timestamps=[5, 9]),
            "check_window_fn has nothing to check: SlidingWindows(5ms, period=10ms) assigns no "
            "window to any of these timestamps and values; give some to which it does",
        ),
        (
            lambda: check_window_fn(bl.Sessions(10), timestamps=[0, 10, 20]),
            "check_window_fn saw no merge: Sessions(10ms) leaves the windows of these timestamps "
            "and values as they are; give some that lie closer together",
        ),
        (
            lambda: check_window_fn(bl.FixedWindows, timestamps=[0]),
            "check_window_fn needs a window function such as FixedWindows(10), got "
            "<class 'beamlike.model.windowfns.FixedWindows'>",
        ),
    ],
    ids=["no timestamps", "no values", "no windows", "no merge", "a class"],
)
def test_a_check_of_nothing_is_refused(call, complaint):
    assert refusal(TestStreamError, call) == complaint
