"""What a windowing strategy refuses, and what it says instead."""

from collections.abc import Callable

import pytest

import beamlike as bl
from beamlike.errors import TimeError, UnsafeTriggerError, WindowingError
from tests.support.refusals import exact_refusal as refusal

HOUR = bl.FixedWindows("1 hour")
LATE = bl.AfterWatermark(late=bl.AfterCount(1))
MODE_NEEDED = (
    " requires that the accumulation mode be specified, because a window may emit several panes; "
    'add accumulation="discarding" (each pane holds what is new) or '
    'accumulation="accumulating" (each pane holds everything so far)'
)


# -- the parts -------------------------------------------------------------------------------


def test_the_defaults_are_those_of_beam():
    strategy = bl.WindowingStrategy(HOUR)
    assert strategy.trigger == bl.DefaultTrigger()
    assert strategy.accumulation is bl.AccumulationMode.DISCARDING
    assert strategy.allowed_lateness == 0
    assert strategy.timestamp_combiner is bl.TimestampCombiner.END_OF_WINDOW
    assert strategy.closing_behavior is bl.ClosingBehavior.FIRE_IF_NON_EMPTY
    assert strategy.on_time_behavior is bl.OnTimeBehavior.FIRE_ALWAYS
    assert strategy.late_check is bl.LateCheck.ASSIGNED
    assert strategy.unchanged is bl.Unchanged.RE_EMIT


def test_something_that_is_no_window_function_is_refused():
    assert refusal(WindowingError, bl.WindowingStrategy, "1 hour") == (
        "window must be a window function such as FixedWindows(\"1 hour\"), got '1 hour'"
    )


def test_something_that_is_no_trigger_is_refused():
    assert refusal(WindowingError, bl.WindowingStrategy, HOUR, "default") == (
        "trigger must be a trigger such as AfterWatermark(), got 'default'"
    )


def test_a_class_in_place_of_the_trigger_is_answered_with_its_call():
    assert refusal(WindowingError, bl.WindowingStrategy, HOUR, bl.AfterWatermark) == (
        f"trigger must be a trigger such as AfterWatermark(), got {bl.AfterWatermark!r}; "
        "write AfterWatermark()"
    )


@pytest.mark.parametrize(
    ("argument", "known"),
    [
        ("accumulation", "'discarding', 'accumulating', 'retracting'"),
        ("timestamp_combiner", "'end_of_window', 'earliest', 'latest'"),
        ("closing_behavior", "'fire_if_non_empty', 'fire_always'"),
        ("on_time_behavior", "'fire_always', 'fire_if_non_empty'"),
        ("late_check", "'assigned', 'merged', 'element', 'retain'"),
        ("unchanged", "'re_emit', 'omit'"),
    ],
)
@pytest.mark.parametrize("value", ["sometimes", 5, ""])
def test_an_unknown_option_is_answered_with_the_known_ones(argument, known, value):
    message = refusal(WindowingError, bl.WindowingStrategy, HOUR, **{argument: value})
    assert message == f"{argument} must be one of {known}, got {value!r}"


def test_a_part_that_is_none_has_its_default_so_that_presets_fit():
    parts = dict.fromkeys(bl.StrategyParts.__annotations__)
    assert bl.WindowingStrategy(HOUR, **parts) == bl.WindowingStrategy(HOUR)
    some = {"accumulation": "retracting", "unchanged": None, "allowed_lateness": None}
    assert bl.WindowingStrategy(HOUR, **some) == bl.WindowingStrategy(
        HOUR, accumulation="retracting"
    )


def test_options_are_read_in_any_case():
    strategy = bl.WindowingStrategy(
        HOUR, accumulation="ACCUMULATING", closing_behavior="Fire_Always"
    )
    assert strategy.accumulation is bl.AccumulationMode.ACCUMULATING
    assert strategy.closing_behavior is bl.ClosingBehavior.FIRE_ALWAYS


def test_a_strategy_prints_what_is_not_the_default():
    strategy = bl.WindowingStrategy(
        bl.Sessions("10 m", max_elements=5),
        accumulation="retracting",
        late_check="retain",
        unchanged="omit",
    )
    assert str(strategy) == (
        "Sessions(10m, max_elements=5), DefaultTrigger(), retracting, allowed lateness 0ms, "
        "late check retain, unchanged panes omitted"
    )


def test_what_was_said_of_unchanged_panes_is_kept_and_checked_in_each_step():
    strategy = bl.WindowingStrategy.declared(HOUR, accumulation="retracting", unchanged="omit")
    assert strategy.configured(allowed_lateness="1 h").unchanged is bl.Unchanged.OMIT
    assert strategy != strategy.configured(unchanged="re_emit")
    message = refusal(WindowingError, strategy.configured, accumulation="discarding")
    assert message.startswith('unchanged="omit" leaves out a pane that would withdraw an equal one')


def test_a_lateness_that_cannot_be_read_names_its_argument():
    message = refusal(TimeError, bl.WindowingStrategy, HOUR, allowed_lateness="10 minuets")
    assert message.startswith("allowed_lateness is not a duration: '10 minuets'; write ")


# -- what a pipeline must say ----------------------------------------------------------------


def test_the_default_trigger_needs_nothing_else():
    assert bl.WindowingStrategy.declared(HOUR) == bl.WindowingStrategy(HOUR)
    assert bl.WindowingStrategy.declared(HOUR, unbounded=True) == bl.WindowingStrategy(HOUR)


def test_a_trigger_needs_the_allowed_lateness():
    assert refusal(
        WindowingError, bl.WindowingStrategy.declared, HOUR, trigger=LATE, accumulation="discarding"
    ) == (
        "trigger AfterWatermark(late=AfterCount(1)) requires that the allowed lateness be "
        'specified; add allowed_lateness="0 s", or as long as late data shall be waited for'
    )


def test_a_trigger_in_the_global_window_needs_no_allowed_lateness():
    trigger = bl.Repeatedly(bl.AfterCount(5))
    strategy = bl.WindowingStrategy.declared(
        bl.GlobalWindows(), trigger=trigger, accumulation="discarding", unbounded=True
    )
    assert strategy == bl.WindowingStrategy(bl.GlobalWindows(), trigger)


def test_a_trigger_needs_the_accumulation_mode():
    message = refusal(
        WindowingError, bl.WindowingStrategy.declared, HOUR, trigger=LATE, allowed_lateness="0 s"
    )
    assert message == "trigger AfterWatermark(late=AfterCount(1))" + MODE_NEEDED


def test_lateness_needs_the_accumulation_mode():
    message = refusal(
        WindowingError, bl.WindowingStrategy.declared, HOUR, allowed_lateness="1 hour"
    )
    assert message == "allowed_lateness='1 hour'" + MODE_NEEDED


def test_no_lateness_needs_no_accumulation_mode():
    assert bl.WindowingStrategy.declared(HOUR, allowed_lateness=0) == bl.WindowingStrategy(HOUR)


def test_lateness_in_the_global_window_needs_no_accumulation_mode():
    strategy = bl.WindowingStrategy.declared(bl.GlobalWindows(), allowed_lateness="1 hour")
    assert strategy.allowed_lateness == 3_600_000


def test_a_stream_in_the_global_window_needs_a_trigger():
    assert refusal(
        WindowingError, bl.WindowingStrategy.declared, bl.GlobalWindows(), unbounded=True
    ) == (
        "a stream in the global window with the default trigger never emits anything; use "
        "FixedWindows, SlidingWindows or Sessions, or a trigger such as Repeatedly(AfterCount(100))"
    )
    assert bl.WindowingStrategy.declared(bl.GlobalWindows()) == bl.WindowingStrategy(
        bl.GlobalWindows()
    )


# -- triggers that lose data -----------------------------------------------------------------


def declared(trigger, lateness):
    return bl.WindowingStrategy.declared(
        HOUR, trigger=trigger, accumulation="discarding", allowed_lateness=lateness
    )


@pytest.mark.parametrize(
    "trigger",
    [
        bl.DefaultTrigger(),
        bl.Always(),
        bl.Never(),
        LATE,
        bl.Repeatedly(bl.AfterCount(1)),
        bl.AfterEach(bl.AfterCount(1), bl.Repeatedly(bl.AfterCount(2))),
        bl.OrFinally(bl.Repeatedly(bl.AfterCount(1)), bl.Always()),
    ],
    ids=str,
)
def test_triggers_that_lose_nothing_are_accepted_with_lateness(trigger):
    assert declared(trigger, "1 hour").trigger == trigger


@pytest.mark.parametrize("early", [None, bl.AfterCount(1)])
def test_a_trigger_that_ends_with_the_window_is_accepted_without_lateness(early):
    assert declared(bl.AfterWatermark(early=early), 0).trigger == bl.AfterWatermark(early=early)


def test_a_trigger_that_ends_with_the_window_is_refused_with_lateness():
    assert refusal(UnsafeTriggerError, declared, bl.AfterWatermark(), "1 hour") == (
        "Unsafe trigger: AfterWatermark() finishes at the end of the window, and data within the "
        "allowed lateness of 1h would be dropped; write AfterWatermark(late=AfterCount(1)), or "
        "allowed_lateness=0"
    )


def test_the_proposed_change_keeps_the_early_firings():
    assert refusal(UnsafeTriggerError, declared, bl.AfterWatermark(early=bl.AfterCount(2)), 1) == (
        "Unsafe trigger: AfterWatermark(early=AfterCount(2)) finishes at the end of the window, "
        "and data within the allowed lateness of 1ms would be dropped; write "
        "AfterWatermark(early=AfterCount(2), late=AfterCount(1)), or allowed_lateness=0"
    )


@pytest.mark.parametrize(
    "trigger",
    [
        bl.AfterCount(5),
        bl.AfterProcessingTime("1 minute"),
        bl.AfterFirst(bl.AfterCount(1), bl.AfterProcessingTime(5)),
        bl.AfterAll(bl.AfterCount(1), bl.AfterProcessingTime(5)),
        bl.AfterEach(bl.AfterCount(1), bl.AfterCount(2)),
        bl.OrFinally(bl.Repeatedly(bl.AfterCount(1)), bl.AfterCount(5)),
        bl.OrFinally(bl.AfterCount(5), bl.Always()),
    ],
    ids=str,
)
@pytest.mark.parametrize("lateness", [0, "1 hour"])
def test_a_trigger_that_may_finish_is_refused_with_any_lateness(trigger, lateness):
    assert refusal(UnsafeTriggerError, declared, trigger, lateness) == (
        f"Unsafe trigger: {trigger} may finish, and data that arrives afterwards would be "
        f"dropped; write Repeatedly({trigger})"
    )


def test_a_strategy_that_is_not_declared_takes_an_unsafe_trigger():
    assert bl.WindowingStrategy(HOUR, bl.AfterCount(5)).trigger == bl.AfterCount(5)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: bl.WindowingStrategy(window=bl.FixedWindows(5)),
            "WindowingStrategy has no argument 'window'; write window_fn=",
        ),
        (
            lambda: bl.WindowingStrategy(bl.FixedWindows(5), accumulation_mode="discarding"),
            "WindowingStrategy has no argument 'accumulation_mode'; write accumulation=",
        ),
        (
            lambda: bl.WindowingStrategy(bl.FixedWindows(5), alowed_latenes=5),
            "WindowingStrategy has no argument 'alowed_latenes'; write allowed_lateness=",
        ),
        (
            lambda: bl.WindowingStrategy(bl.FixedWindows(5), pardon=5),
            "WindowingStrategy has no argument 'pardon'; it takes window_fn, trigger, "
            "accumulation, allowed_lateness, timestamp_combiner, closing_behavior, "
            "on_time_behavior, late_check, unchanged",
        ),
        (
            lambda: bl.WindowingStrategy(allowed_lateness=5),
            'WindowingStrategy needs window_fn; give windows such as FixedWindows("1 hour")',
        ),
        (
            lambda: bl.WindowingStrategy.declared(bl.FixedWindows(5), lateness=5),
            "WindowingStrategy.declared has no argument 'lateness'; write allowed_lateness=",
        ),
        (
            lambda: bl.WindowingStrategy.declared(bl.FixedWindows(5), bl.Never()),
            "WindowingStrategy.declared: Never() has no name; write trigger=...",
        ),
        (
            lambda: bl.WindowingStrategy.unwindowed().configured(windowfn=bl.FixedWindows(5)),
            "WindowingStrategy.configured has no argument 'windowfn'; write window_fn=",
        ),
    ],
)
def test_an_argument_that_there_is_not_is_answered_with_the_one_that_is_meant(
    make: Callable[[], object], said: str
) -> None:
    assert refusal(WindowingError, make) == said
