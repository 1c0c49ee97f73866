"""A strategy on its way through a pipeline: window transforms, groupings, merging once more."""

from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import TimeError, UnsafeTriggerError, WindowingError
from tests.support.refusals import exact_refusal as refusal

HOUR, MINUTE, VISIT = (
    bl.FixedWindows("1 hour"),
    bl.FixedWindows("1 minute"),
    bl.Sessions("1 minute"),
)
FIVES = bl.Repeatedly(bl.AfterCount(5))
MODE_NEEDED = (
    " requires that the accumulation mode be specified, because a window may emit several panes; "
    'add accumulation="discarding" (each pane holds what is new) or '
    'accumulation="accumulating" (each pane holds everything so far)'
)
LATENESS_NEEDED = (
    "trigger Repeatedly(AfterCount(5)) requires that the allowed lateness be specified; "
    'add allowed_lateness="0 s", or as long as late data shall be waited for'
)


def start() -> bl.WindowingStrategy:
    return bl.WindowingStrategy.unwindowed()


# -- window transforms -----------------------------------------------------------------------


def test_a_collection_begins_in_the_global_window():
    assert start() == bl.WindowingStrategy(bl.GlobalWindows())
    assert start().said == frozenset()


def test_each_transform_changes_what_it_says_and_keeps_the_rest():
    strategy = (
        start()
        .configured(accumulation="accumulating")
        .configured(allowed_lateness="1 day")
        .configured(trigger=FIVES)
        .configured(timestamp_combiner="earliest")
        .configured(closing_behavior="fire_always")
        .configured(on_time_behavior="fire_if_non_empty")
        .configured(HOUR)
    )
    assert strategy == bl.WindowingStrategy(
        HOUR,
        FIVES,
        bl.AccumulationMode.ACCUMULATING,
        86_400_000,
        bl.TimestampCombiner.EARLIEST,
        bl.ClosingBehavior.FIRE_ALWAYS,
        bl.OnTimeBehavior.FIRE_IF_NON_EMPTY,
    )
    assert strategy.configured() == strategy


def test_a_transform_leaves_the_strategy_it_is_given_as_it_was():
    before = start().configured(HOUR)
    before.configured(MINUTE, trigger=FIVES, allowed_lateness=0, accumulation="discarding")
    assert before == bl.WindowingStrategy(HOUR)


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(5, 7, 7), (7, 5, 7), (7, 0, 7), (7, None, 7)]
)
def test_the_allowed_lateness_only_grows(first, second, expected):
    strategy = start().configured(HOUR, allowed_lateness=first, accumulation="discarding")
    assert strategy.configured(MINUTE, allowed_lateness=second).allowed_lateness == expected


def test_a_lateness_that_cannot_be_read_is_refused_also_if_the_old_one_is_longer():
    strategy = start().configured(HOUR, allowed_lateness="1 day", accumulation="discarding")
    message = refusal(TimeError, strategy.configured, allowed_lateness="soon")
    assert message.startswith("allowed_lateness is not a duration: 'soon'; write ")


def test_the_default_trigger_can_be_said_again():
    strategy = start().configured(trigger=FIVES, accumulation="discarding")
    assert strategy.configured(trigger=bl.DefaultTrigger()) == start()


def test_a_trigger_needs_the_lateness_as_soon_as_windows_end():
    triggered = start().configured(trigger=FIVES, accumulation="discarding")
    assert refusal(WindowingError, triggered.configured, HOUR) == LATENESS_NEEDED
    assert triggered.configured(HOUR, allowed_lateness=0).trigger == FIVES


def test_a_lateness_said_long_ago_is_said():
    strategy = start().configured(allowed_lateness=0).configured(HOUR, accumulation="discarding")
    assert strategy.configured(trigger=FIVES).trigger == FIVES


def test_a_trigger_needs_the_mode():
    strategy = start().configured(HOUR, allowed_lateness=0)
    message = refusal(WindowingError, strategy.configured, trigger=FIVES)
    assert message == "trigger Repeatedly(AfterCount(5))" + MODE_NEEDED


def test_a_lateness_needs_the_mode_and_is_quoted_as_it_was_written():
    message = refusal(WindowingError, start().configured, HOUR, allowed_lateness="2 hours")
    assert message == "allowed_lateness='2 hours'" + MODE_NEEDED


def test_an_old_lateness_needs_the_mode_as_soon_as_windows_end():
    patient = start().configured(allowed_lateness="2 hours")
    message = refusal(WindowingError, patient.configured, HOUR)
    assert message == "an allowed lateness of 2h" + MODE_NEEDED


def test_a_strategy_that_was_not_declared_has_said_everything():
    assert bl.WindowingStrategy(HOUR).configured(trigger=FIVES) == bl.WindowingStrategy(HOUR, FIVES)


def test_what_was_said_makes_no_difference_between_strategies():
    said = start().configured(HOUR, accumulation="discarding", allowed_lateness=0)
    unsaid = start().configured(HOUR)
    assert said.said == {"window_fn", "accumulation", "allowed_lateness"} != unsaid.said
    assert said == unsaid
    assert hash(said) == hash(unsaid)


def test_a_transform_does_not_ask_whether_the_trigger_is_safe():
    strategy = start().configured(trigger=bl.AfterCount(5), accumulation="discarding")
    assert refusal(UnsafeTriggerError, strategy.check_groupable) == (
        "Unsafe trigger: AfterCount(5) may finish, and data that arrives afterwards would be "
        "dropped; write Repeatedly(AfterCount(5))"
    )


def test_something_that_is_no_trigger_is_refused_for_what_it_is():
    assert refusal(
        WindowingError, bl.WindowingStrategy.declared, HOUR, trigger=bl.AfterWatermark
    ) == (
        f"trigger must be a trigger such as AfterWatermark(), got {bl.AfterWatermark!r}; "
        "write AfterWatermark()"
    )


# -- groupings -------------------------------------------------------------------------------


def test_behind_a_grouping_the_trigger_continues_and_the_rest_stays():
    strategy = bl.WindowingStrategy(HOUR, FIVES, "accumulating", 5, "latest", "fire_always")
    assert strategy.after_grouping() == bl.WindowingStrategy(
        HOUR, bl.Repeatedly(bl.AfterCount(1)), "accumulating", 5, "latest", "fire_always"
    )


def test_a_second_grouping_in_the_same_fixed_windows_is_fine():
    once = bl.WindowingStrategy(HOUR, bl.AfterEach(bl.AfterCount(2), FIVES)).after_grouping()
    once.check_groupable()
    assert once.after_grouping() == bl.WindowingStrategy(
        HOUR, bl.Repeatedly(bl.AfterFirst(bl.AfterCount(1), bl.Repeatedly(bl.AfterCount(1))))
    )


def test_sessions_that_merged_stay_as_they_are_in_all_groupings_that_follow():
    once = start().configured(VISIT).after_grouping()
    once.check_groupable()
    assert not once.is_merging
    assert not once.after_grouping().is_merging
    assert once != start().configured(VISIT)


def test_sessions_can_be_merged_once_more():
    strategy = start().configured(VISIT)
    again = strategy.after_grouping().remerge()
    again.check_groupable()
    assert again == strategy
    assert again.is_merging


def test_a_new_window_function_ends_the_matter():
    once = start().configured(VISIT).after_grouping()
    assert once.configured(VISIT) == start().configured(VISIT)
    assert once.configured(HOUR) == start().configured(HOUR)


def test_another_trigger_does_not_make_sessions_merge_again():
    once = start().configured(VISIT).after_grouping()
    triggered = once.configured(trigger=FIVES, allowed_lateness=0, accumulation="discarding")
    triggered.check_groupable()
    assert not triggered.is_merging
    assert triggered != start().configured(
        VISIT, trigger=FIVES, allowed_lateness=0, accumulation="discarding"
    )


def test_merging_again_what_was_never_merged_changes_nothing():
    assert bl.WindowingStrategy(HOUR, FIVES).remerge() == bl.WindowingStrategy(HOUR, FIVES)


def test_a_stream_in_the_global_window_is_refused_by_the_grouping_alone():
    start().check_groupable()
    assert refusal(WindowingError, start().check_groupable, unbounded=True) == (
        "a stream in the global window with the default trigger never emits anything; use "
        "FixedWindows, SlidingWindows or Sessions, or a trigger such as Repeatedly(AfterCount(100))"
    )


# -- windows that cannot be told apart -------------------------------------------------------


@attrs.frozen
class NamedWindow(bl.IntervalWindow):
    name: str = "mine"

    def __repr__(self) -> str:
        return f"NamedWindow({self.name})"


class Assigning(bl.WindowFn):
    """Assigns one prepared answer after the other."""

    def __init__(self, *answers: tuple[bl.IntervalWindow, ...]) -> None:
        self.answers = list(answers)

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return self.answers.pop(0)

    def __str__(self) -> str:
        return "Assigning()"


def test_windows_with_more_than_bounds_are_refused():
    named = (NamedWindow(0, 10),)
    assert refusal(WindowingError, start().configured, Assigning(named, named)) == (
        "Window coders must be deterministic: Assigning() assigns NamedWindow(mine), and only the "
        "bounds of a window are kept; assign windows of the classes IntervalWindow and "
        "GlobalWindow themselves, and put what else belongs to a window into the key"
    )


def test_windows_that_change_from_one_call_to_the_next_are_refused():
    changing = Assigning((bl.IntervalWindow(0, 10),), ())
    assert refusal(WindowingError, start().configured, changing) == (
        "Window coders must be deterministic: Assigning() assigns the same element to "
        "[00:00:00, 00:00:00.010) and then to no window; let assign() depend on nothing but the "
        "timestamp and the value"
    )


def test_a_function_of_the_value_is_not_judged_without_a_value():
    def gap_of(page: str) -> str:
        return "5 minutes" if page.startswith("film") else "1 minute"

    assert start().configured(bl.Sessions(gap_of)).window_fn == bl.Sessions(gap_of)
