"""Which collections may flow into one, and what is said about those that may not."""

import pytest

from beamlike.errors import WindowingError
from beamlike.model.calendar import CalendarMonths, CalendarYears
from beamlike.model.compatible import check_flatten
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, Repeatedly
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn

MINUTE = WindowingStrategy(FixedWindows("1 minute"))
VISIT = WindowingStrategy(Sessions("1 minute"))


def refusal(call, *args):
    with pytest.raises(WindowingError) as refused:
        call(*args)
    return str(refused.value)


def test_the_first_input_s_strategy_wins():
    patient = WindowingStrategy(FixedWindows("1 minute"), None, "accumulating", "1 hour", "latest")
    assert check_flatten([MINUTE, patient]) is MINUTE
    assert check_flatten([patient, MINUTE, MINUTE]) is patient


def test_sessions_flow_together_whatever_their_gaps():
    long = WindowingStrategy(Sessions("1 hour"))
    assert check_flatten([VISIT, long]) is VISIT
    assert check_flatten([long, VISIT]) is long


def test_nothing_flows_into_the_global_window():
    assert check_flatten([]) == WindowingStrategy.unwindowed()


def test_one_input_is_compatible_with_itself():
    assert check_flatten({"clicks": VISIT}) is VISIT


def test_other_parameters_are_named():
    other = WindowingStrategy(FixedWindows("2 minutes", offset="1 s"))
    assert refusal(check_flatten, [MINUTE, MINUTE, other]) == (
        "Inputs to Flatten had incompatible window windowFns: input 0 has FixedWindows(1m), "
        "input 2 has FixedWindows(2m, offset=1s); they differ in size and offset; give input 2 "
        "the windows of input 0 first: window(FixedWindows(1m)) of a stream, "
        "configured(FixedWindows(1m)) of a strategy"
    )


def test_inputs_with_names_are_called_by_them():
    assert refusal(check_flatten, {"clicks": MINUTE, "orders": VISIT}) == (
        "Inputs to Flatten had incompatible window windowFns: clicks has FixedWindows(1m), orders "
        "has Sessions(1m); FixedWindows and Sessions are different kinds of windows; give orders "
        "the windows of clicks first: window(FixedWindows(1m)) of a stream, "
        "configured(FixedWindows(1m)) of a strategy"
    )


def test_other_triggers_are_refused():
    other = WindowingStrategy(FixedWindows("1 minute"), Repeatedly(AfterCount(1)))
    assert refusal(check_flatten, [MINUTE, other]) == (
        "Inputs to Flatten had incompatible triggers: input 0 has DefaultTrigger(), input 1 has "
        "Repeatedly(AfterCount(1)); give input 1 the trigger of input 0 first: "
        "window(trigger=DefaultTrigger()) of a stream, configured(trigger=DefaultTrigger()) of a "
        "strategy"
    )


@pytest.mark.parametrize("merged_first", [True, False])
def test_sessions_that_were_merged_do_not_mix_with_fresh_ones(merged_first):
    inputs = {"fresh": VISIT, "grouped": VISIT.after_grouping()}
    if merged_first:
        inputs = dict(reversed(inputs.items()))
    assert refusal(check_flatten, inputs) == (
        "Inputs to Flatten had incompatible window windowFns: the Sessions(1m) of grouped were "
        "merged by a grouping, those of fresh were not; write remerge() on grouped "
        "first, or window it anew"
    )


def test_merged_sessions_that_merge_again_mix_with_fresh_ones():
    assert check_flatten([VISIT, VISIT.after_grouping().remerge()]) is VISIT


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        (SlidingWindows(10, 5), SlidingWindows(10, 2), "they differ in period"),
        (CalendarMonths(1), CalendarMonths(1, "Europe/Warsaw"), "they differ in time_zone"),
        (
            CalendarYears(2, day_of_month=2),
            CalendarYears(1, day_of_month=3),
            "they differ in number and start",
        ),
        (
            GlobalWindows(),
            FixedWindows(1),
            "GlobalWindows and FixedWindows are different kinds of windows",
        ),
    ],
    ids=str,
)
def test_window_functions_that_do_not_fit_say_in_what(first, second, difference):
    assert refusal(check_flatten, [WindowingStrategy(first), WindowingStrategy(second)]) == (
        f"Inputs to Flatten had incompatible window windowFns: input 0 has {first}, input 1 has "
        f"{second}; {difference}; give input 1 the windows of input 0 first: window({first}) of a "
        f"stream, configured({first}) of a strategy"
    )


class Unequal(FixedWindows):
    def compatible_with(self, other: WindowFn) -> bool:
        return False


def test_a_window_function_that_refuses_its_own_kind_has_its_way():
    strategy = WindowingStrategy(Unequal(1))
    assert refusal(check_flatten, [strategy, strategy]) == (
        "Inputs to Flatten had incompatible window windowFns: input 0 has FixedWindows(1ms), input "
        "1 has FixedWindows(1ms); they are not equal; give input 1 the windows of input 0 first: "
        "window(FixedWindows(1ms)) of a stream, configured(FixedWindows(1ms)) of a strategy"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (5, "check_flatten needs a list of strategies, got 5"),
        (
            {"orders": WindowingStrategy(FixedWindows(5)), "visits": Sessions(5)},
            'check_flatten: visits needs a strategy such as WindowingStrategy(FixedWindows("1 '
            'hour")), got ' + repr(Sessions(5)),
        ),
    ],
)
def test_what_is_no_strategy_is_not_flattened(given, said):
    with pytest.raises(WindowingError) as refused:
        check_flatten(given)
    assert str(refused.value) == said
