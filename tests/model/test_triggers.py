"""Triggers as values: what they refuse, when they would be due, and what they say of themselves."""

import pytest

import beamlike as bl
from beamlike.errors import TriggerError
from tests.support.refusals import exact_refusal as refusal

LATE = bl.AfterWatermark(late=bl.AfterCount(1))
COUNTS = (bl.AfterCount(1), bl.AfterCount(2))


@pytest.mark.parametrize("count", [0, -1, True, 1.0, "2", None])
def test_a_count_must_be_a_whole_number_of_one_or_more(count):
    assert refusal(TriggerError, bl.AfterCount, count) == (
        f"AfterCount count must be a whole number of 1 or more, got {count!r}"
    )


@pytest.mark.parametrize("several", [bl.AfterFirst, bl.AfterAll, bl.AfterEach])
def test_a_trigger_of_several_needs_one(several):
    assert str(several(bl.AfterCount(1))) == f"{several.__name__}(AfterCount(1))"
    assert refusal(TriggerError, several) == (
        f"{several.__name__} needs triggers, as separate arguments, got none; "
        f"write {several.__name__}(AfterCount(100), AfterWatermark())"
    )


def test_a_class_in_place_of_a_trigger_is_answered_with_its_call():
    assert refusal(TriggerError, bl.Repeatedly, bl.DefaultTrigger) == (
        f"Repeatedly trigger must be a trigger such as AfterCount(1), got {bl.DefaultTrigger!r}; "
        "write DefaultTrigger()"
    )


@pytest.mark.parametrize(
    ("make", "owner"),
    [
        (lambda: bl.AfterWatermark(early=5), "AfterWatermark early"),
        (lambda: bl.AfterWatermark(late=5), "AfterWatermark late"),
        (lambda: bl.Repeatedly(5), "Repeatedly trigger"),
        (lambda: bl.AfterFirst(bl.AfterCount(1), 5), "a part of AfterFirst"),
        (lambda: bl.OrFinally(5, bl.AfterCount(1)), "OrFinally main"),
        (lambda: bl.OrFinally(bl.AfterCount(1), 5), "OrFinally until"),
    ],
)
def test_a_number_in_place_of_a_trigger_names_the_argument(make, owner):
    assert refusal(TriggerError, make) == (
        f"{owner} must be a trigger such as AfterCount(1), got 5"
    )


def test_an_alignment_needs_a_period():
    assert refusal(TriggerError, bl.AlignTo, 0) == (
        'AlignTo period must be more than 0 ms; give one such as "1 minute"'
    )


@pytest.mark.parametrize(
    ("instant", "target"), [(-6, -3), (-3, -3), (-2, 7), (6, 7), (7, 7), (8, 17)]
)
def test_an_alignment_moves_on_to_the_next_mark_on_both_sides_of_zero(instant, target):
    assert bl.AlignTo(10, offset=7).apply(instant) == target


def test_transforms_apply_from_left_to_right():
    assert bl.AfterProcessingTime(3, bl.AlignTo(10)).target(8) == 20
    assert bl.AfterProcessingTime(bl.AlignTo(10), 3).target(8) == 13
    assert bl.AfterProcessingTime(bl.AlignTo(10), delay=3).target(8) == 20
    assert bl.AfterProcessingTime().target(8) == 8


def test_only_a_tree_with_processing_time_needs_a_clock():
    assert not LATE.needs_clock
    assert bl.AfterWatermark(
        early=bl.Repeatedly(bl.AfterProcessingTime(1)), late=bl.Never()
    ).needs_clock


@pytest.mark.parametrize(
    "trigger",
    [
        bl.AfterCount(2),
        bl.AfterProcessingTime(5),
        bl.AfterSynchronizedProcessingTime(),
        bl.AfterWatermark(),
        bl.AfterFirst(*COUNTS),
        bl.AfterAll(*COUNTS),
        bl.AfterFirst(bl.Repeatedly(bl.AfterCount(1)), LATE),
        bl.Never(),
    ],
    ids=str,
)
def test_a_trigger_whose_first_firing_is_its_last_fires_once(trigger: bl.Trigger):
    assert trigger.fires_once


@pytest.mark.parametrize(
    "trigger",
    [
        bl.DefaultTrigger(),
        bl.Always(),
        LATE,
        bl.AfterWatermark(early=bl.AfterCount(1)),
        bl.Repeatedly(bl.AfterCount(1)),
        bl.AfterEach(*COUNTS),
        bl.OrFinally(*COUNTS),
    ],
    ids=str,
)
def test_a_trigger_that_may_go_on_after_its_first_firing_does_not_fire_once(trigger: bl.Trigger):
    assert not trigger.fires_once
