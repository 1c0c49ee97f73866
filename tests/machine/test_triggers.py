"""Each trigger by itself, asked with states that are constructed in the middle of its life."""

import pytest

from beamlike.errors import UnsupportedError
from beamlike.machine.reference.composites import node_of
from beamlike.machine.reference.running import FINISHED, Now
from beamlike.machine.reference.state import TriggerState
from beamlike.model import triggers as spec
from beamlike.model.windows import IntervalWindow

WINDOW = IntervalWindow(0, 10)
BEFORE = Now(WINDOW, watermark=9, clock=100)
AFTER = Now(WINDOW, watermark=10, clock=100)
FRESH = TriggerState()


def node(*subs, finished=False, value=None):
    return TriggerState(finished, value, subs)


def counted(value):
    return TriggerState(value=value)


def running(trigger, merging=False):
    return node_of(trigger, merging)


# -- leaves ----------------------------------------------------------------------------------


def test_default_is_ready_from_the_end_on_and_never_finishes():
    default = running(spec.DefaultTrigger())
    assert [default.ready(FRESH, now) for now in (BEFORE, AFTER)] == [False, True]
    assert default.fired(FRESH, AFTER) == FRESH
    assert default.needs_end_of_window_timer(FRESH)


def test_after_watermark_finishes_with_its_firing():
    trigger = running(spec.AfterWatermark())
    assert [trigger.ready(FRESH, now) for now in (BEFORE, AFTER)] == [False, True]
    assert trigger.fired(FRESH, AFTER) == FINISHED


@pytest.mark.parametrize(
    ("parts", "now", "finished"),
    [
        ([FINISHED, FINISHED], AFTER, True),
        ([FINISHED, FINISHED], BEFORE, False),
        ([FINISHED, FRESH], AFTER, False),
        ([FRESH], AFTER, False),
    ],
)
def test_after_watermark_stays_finished_only_if_all_parts_were_and_the_end_is_past(
    parts, now, finished
):
    assert running(spec.AfterWatermark(), True).on_merge(FRESH, parts, now).finished is finished


def test_a_count_is_ready_at_its_number_and_not_before():
    trigger = running(spec.AfterCount(3))
    assert [trigger.ready(counted(n), BEFORE) for n in (None, 2, 3, 4)] == [
        False,
        False,
        True,
        True,
    ]
    assert trigger.on_elements(counted(2), 2, BEFORE) == counted(4)
    assert trigger.fired(counted(3), BEFORE) == FINISHED


def test_a_count_adds_up_unless_any_part_had_finished():
    trigger = running(spec.AfterCount(3), True)
    assert trigger.on_merge(FRESH, [counted(1), FRESH, counted(2)], BEFORE) == counted(3)
    assert trigger.on_merge(FRESH, [counted(1), FINISHED], BEFORE) == FINISHED


def test_a_delay_keeps_the_target_of_the_first_element():
    trigger = running(spec.AfterProcessingTime(5))
    assert trigger.on_elements(FRESH, 1, BEFORE) == counted(105)
    assert trigger.on_elements(counted(103), 1, BEFORE) == counted(103)
    assert list(trigger.targets(counted(103))) == [103]
    assert list(trigger.targets(FRESH)) == []


def test_a_delay_is_ready_strictly_after_its_target():
    trigger = running(spec.AfterProcessingTime(5))
    assert [trigger.ready(counted(at), BEFORE) for at in (101, 100, 99)] == [False, False, True]
    assert not trigger.ready(FRESH, BEFORE)
    assert trigger.fired(counted(99), BEFORE) == FINISHED


def test_a_merged_delay_takes_the_earliest_target_unless_it_had_finished():
    trigger = running(spec.AfterProcessingTime(5), True)
    parts = [counted(104), FRESH, counted(102)]
    assert trigger.on_merge(FRESH, parts, BEFORE) == counted(102)
    assert trigger.on_merge(FINISHED, parts, BEFORE) == FINISHED


def test_synchronized_processing_time_waits_for_the_clock_to_move():
    trigger = running(spec.AfterSynchronizedProcessingTime())
    state = trigger.on_elements(FRESH, 1, BEFORE)
    assert state == counted(100)
    assert not trigger.ready(state, BEFORE)
    assert trigger.ready(state, Now(WINDOW, 9, 101))


def test_never_and_always_know_one_answer():
    for trigger, answer in ((spec.Never(), False), (spec.Always(), True)):
        ready = running(trigger)
        assert ready.ready(FRESH, BEFORE) is ready.ready(FRESH, AFTER) is answer
        assert ready.fired(FRESH, AFTER) == FRESH
        assert not ready.needs_end_of_window_timer(FRESH)


# -- AfterWatermark with early and late ------------------------------------------------------

BOTH = spec.AfterWatermark(early=spec.AfterCount(2), late=spec.AfterCount(3))


def test_only_the_child_of_the_phase_hears_elements():
    trigger = running(BOTH)
    assert trigger.on_elements(node(FRESH, FRESH), 1, BEFORE) == node(counted(1), FRESH)
    assert trigger.on_elements(node(FINISHED, FRESH), 1, AFTER) == node(FINISHED, counted(1))


def test_both_children_hear_elements_where_windows_merge():
    state = running(BOTH, True).on_elements(node(FRESH, FRESH), 1, BEFORE)
    assert state == node(counted(1), counted(1))


def test_an_early_firing_starts_the_early_child_over():
    trigger = running(BOTH)
    assert trigger.ready(node(counted(2), FRESH), BEFORE)
    assert trigger.fired(node(counted(2), FRESH), BEFORE) == node(FRESH, FRESH)


def test_the_end_of_the_window_fires_whatever_the_early_child_says_and_starts_the_late_one():
    trigger = running(BOTH, True)
    assert trigger.ready(node(FRESH, counted(2)), AFTER)
    assert trigger.fired(node(counted(1), counted(2)), AFTER) == node(FINISHED, FRESH)


def test_a_late_firing_starts_the_late_child_over_and_never_finishes():
    trigger = running(BOTH)
    assert not trigger.ready(node(FINISHED, counted(2)), AFTER)
    assert trigger.ready(node(FINISHED, counted(3)), AFTER)
    assert trigger.fired(node(FINISHED, counted(3)), AFTER) == node(FINISHED, FRESH)


def test_without_a_late_child_the_end_of_the_window_finishes():
    trigger = running(spec.AfterWatermark(early=spec.AfterCount(2)))
    assert trigger.fired(node(counted(1)), AFTER) == node(FINISHED, finished=True)


def test_without_an_early_child_nothing_fires_before_the_end():
    trigger = running(spec.AfterWatermark(late=spec.AfterCount(1)))
    state = trigger.on_elements(trigger.start(), 5, BEFORE)
    assert [trigger.ready(state, now) for now in (BEFORE, AFTER)] == [False, True]


def test_a_composite_early_trigger_starts_over_down_to_its_leaves():
    early = spec.AfterFirst(spec.AfterCount(2), spec.AfterProcessingTime(5))
    trigger = running(spec.AfterWatermark(early=early))
    fired = trigger.fired(node(node(counted(2), counted(105))), BEFORE)
    assert fired == node(node(FRESH, FRESH))
    assert not trigger.ready(fired, BEFORE)


def test_a_merge_of_two_late_windows_stays_late_and_adds_their_late_counts():
    parts = [node(FINISHED, counted(1)), node(FINISHED, counted(1))]
    merged = running(BOTH, True).on_merge(node(FRESH, FRESH), parts, AFTER)
    assert merged == node(FINISHED, counted(2))


def test_a_merge_that_stays_late_forgets_what_the_early_child_heard():
    trigger = running(spec.AfterWatermark(spec.AfterProcessingTime(5), spec.AfterCount(3)), True)
    part = node(TriggerState(True, 103), counted(1))
    for own in (part, node(FRESH, FRESH)):
        assert trigger.on_merge(own, [part, part], AFTER) == node(FINISHED, counted(2))


def test_a_merge_with_an_early_window_goes_back_to_the_early_phase():
    parts = [node(FINISHED, counted(2)), node(counted(1), counted(1))]
    trigger = running(BOTH, True)
    merged = trigger.on_merge(node(FRESH, FRESH), parts, AFTER)
    # The finished early child makes the merged count finished, and early triggers start over.
    assert merged == node(FRESH, FRESH)
    assert trigger.ready(merged, AFTER)


def test_a_merge_whose_end_is_not_reached_goes_back_to_the_early_phase():
    parts = [node(counted(1), counted(1)), node(counted(1), counted(1))]
    merged = running(BOTH, True).on_merge(node(FRESH, FRESH), parts, BEFORE)
    assert merged == node(counted(2), FRESH)


# -- composites ------------------------------------------------------------------------------


def test_repeatedly_starts_a_finished_child_over():
    trigger = running(spec.Repeatedly(spec.AfterCount(2)))
    assert trigger.ready(node(counted(2)), BEFORE)
    assert trigger.fired(node(counted(2)), BEFORE) == node(FRESH)


def test_repeatedly_leaves_a_child_that_goes_on_as_it_is():
    trigger = running(spec.Repeatedly(spec.AfterEach(spec.AfterCount(1), spec.AfterCount(2))))
    assert trigger.fired(node(node(counted(1), FRESH)), BEFORE) == node(node(FINISHED, FRESH))
    assert trigger.fired(node(node(FINISHED, counted(2))), BEFORE) == node(node(FRESH, FRESH))


PAIR = (spec.AfterCount(2), spec.AfterProcessingTime(5))


def test_after_first_is_ready_with_any_child_and_clears_the_others():
    trigger = running(spec.AfterFirst(*PAIR))
    assert not trigger.ready(node(counted(1), counted(100)), BEFORE)
    assert trigger.ready(node(counted(1), counted(99)), BEFORE)
    fired = trigger.fired(node(counted(1), counted(99)), BEFORE)
    assert fired == node(FRESH, FINISHED, finished=True)


def test_after_first_is_finished_by_a_merge_if_any_child_is():
    trigger = running(spec.AfterFirst(*PAIR), True)
    parts = [node(FINISHED, counted(103)), node(counted(1), counted(102))]
    merged = trigger.on_merge(trigger.start(), parts, BEFORE)
    assert merged == node(FINISHED, counted(102), finished=True)


def test_after_first_leaves_a_child_of_several_steps_at_its_step():
    steps = spec.AfterEach(spec.AfterCount(1), spec.AfterCount(2))
    trigger = running(spec.AfterFirst(steps, spec.AfterCount(3)))
    fired = trigger.fired(node(node(FINISHED, counted(1)), counted(3)), BEFORE)
    assert fired == node(node(FINISHED, FRESH), FINISHED, finished=True)


def test_after_all_waits_for_every_child_and_counts_a_finished_one():
    trigger = running(spec.AfterAll(*PAIR))
    assert not trigger.ready(node(counted(2), counted(100)), BEFORE)
    assert trigger.ready(node(counted(2), counted(99)), BEFORE)
    assert trigger.ready(node(FINISHED, counted(99)), BEFORE)
    fired = trigger.fired(node(counted(2), counted(99)), BEFORE)
    assert fired == node(FINISHED, FINISHED, finished=True)


def test_after_all_tells_its_finished_children_no_more_elements():
    trigger = running(spec.AfterAll(*PAIR))
    assert trigger.on_elements(node(FINISHED, FRESH), 1, BEFORE) == node(FINISHED, counted(105))


def test_after_all_is_finished_by_a_merge_only_if_all_children_are():
    trigger = running(spec.AfterAll(spec.AfterCount(2), spec.AfterCount(3)), True)
    one = [node(FINISHED, counted(1)), node(counted(1), counted(1))]
    both = [node(FINISHED, counted(1)), node(counted(1), FINISHED)]
    assert trigger.on_merge(trigger.start(), one, BEFORE) == node(FINISHED, counted(2))
    merged = trigger.on_merge(trigger.start(), both, BEFORE)
    assert merged == node(FINISHED, FINISHED, finished=True)


EACH = spec.AfterEach(spec.AfterCount(2), spec.AfterCount(3))


def test_after_each_asks_and_tells_only_the_current_child():
    trigger = running(EACH)
    assert trigger.on_elements(node(FRESH, FRESH), 2, BEFORE) == node(counted(2), FRESH)
    assert not trigger.ready(node(counted(1), counted(9)), BEFORE)
    assert trigger.on_elements(node(FINISHED, FRESH), 2, BEFORE) == node(FINISHED, counted(2))
    assert trigger.ready(node(FINISHED, counted(3)), BEFORE)


def test_after_each_finishes_with_its_last_child():
    trigger = running(EACH)
    assert trigger.fired(node(counted(2), FRESH), BEFORE) == node(FINISHED, FRESH)
    fired = trigger.fired(node(FINISHED, counted(3)), BEFORE)
    assert fired == node(FINISHED, FINISHED, finished=True)


def test_after_each_tells_all_children_where_windows_merge_and_clears_them_when_it_fires():
    trigger = running(EACH, True)
    assert trigger.on_elements(node(FRESH, FRESH), 2, BEFORE) == node(counted(2), counted(2))
    assert trigger.fired(node(counted(2), counted(2)), BEFORE) == node(FINISHED, FRESH)


def test_after_each_goes_back_to_a_child_that_the_merge_rewound():
    trigger = running(spec.AfterEach(spec.AfterWatermark(), spec.AfterCount(3)), True)
    parts = [node(FINISHED, counted(2)), node(FINISHED, counted(2))]
    own = node(FINISHED, counted(2))
    assert trigger.on_merge(own, parts, BEFORE) == node(FRESH, FRESH)
    assert trigger.on_merge(own, parts, AFTER) == node(FINISHED, counted(4))


def test_after_each_does_not_repeat_what_the_window_has_behind_it_after_a_rewound_child():
    children = (spec.AfterWatermark(), spec.AfterCount(1), spec.AfterCount(3))
    trigger = running(spec.AfterEach(*children), True)
    own = node(FINISHED, FINISHED, counted(2))
    merged = trigger.on_merge(own, [own, trigger.start()], AFTER)
    assert merged == node(FRESH, FINISHED, FRESH)


UNTIL = spec.OrFinally(spec.Repeatedly(spec.AfterCount(2)), spec.AfterCount(5))


def test_or_finally_does_not_clear_until_when_main_fires():
    trigger = running(UNTIL)
    assert trigger.ready(node(node(counted(2)), counted(4)), BEFORE)
    fired = trigger.fired(node(node(counted(2)), counted(4)), BEFORE)
    assert fired == node(node(FRESH), counted(4))


def test_or_finally_finishes_with_until_also_when_main_is_ready():
    fired = running(UNTIL).fired(node(node(counted(2)), counted(5)), BEFORE)
    assert fired == node(node(FRESH), FINISHED, finished=True)


def test_or_finally_finishes_when_main_does():
    trigger = running(spec.OrFinally(spec.AfterCount(2), spec.AfterCount(5)))
    fired = trigger.fired(node(counted(2), counted(2)), BEFORE)
    assert fired == node(FINISHED, counted(2), finished=True)


def test_or_finally_is_finished_by_a_merge_if_either_child_is():
    trigger = running(spec.OrFinally(spec.AfterCount(2), spec.AfterCount(5)), True)
    parts = [node(FINISHED, counted(2)), node(counted(1), counted(1))]
    merged = trigger.on_merge(trigger.start(), parts, BEFORE)
    assert merged == node(FINISHED, counted(3), finished=True)


def test_the_reason_is_a_path_through_the_tree():
    trigger = running(spec.AfterWatermark(early=spec.AfterFirst(*PAIR), late=spec.AfterCount(1)))
    early = node(node(counted(2), counted(105)), FRESH)
    late = node(TriggerState(True, None, (FRESH, FRESH)), counted(1))
    assert trigger.because(early, BEFORE) == "AfterWatermark.early[AfterFirst[AfterCount(2)]]"
    assert trigger.because(early, AFTER) == "AfterWatermark[end of window]"
    assert trigger.because(late, AFTER) == "AfterWatermark.late[AfterCount(1)]"
    assert running(UNTIL).because(node(node(counted(2)), counted(4)), BEFORE) == (
        "OrFinally.main[Repeatedly[AfterCount(2)]]"
    )
    assert running(UNTIL).because(node(node(counted(2)), counted(5)), BEFORE) == (
        "OrFinally.until[AfterCount(5)]"
    )


def test_a_trigger_of_another_make_is_refused():
    class Mine(spec.Trigger):
        pass

    with pytest.raises(UnsupportedError, match="the reference machine does not know the trigger"):
        running(Mine())


# -- a bit that belongs to the parent ---------------------------------------------------------

EARLY = [
    spec.AfterCount(2),
    spec.AfterProcessingTime(5),
    spec.AfterSynchronizedProcessingTime(),
    spec.AfterWatermark(),
    spec.AfterWatermark(early=spec.AfterCount(2)),
    spec.AfterWatermark(late=spec.AfterCount(2)),
    spec.DefaultTrigger(),
    spec.Never(),
    spec.Repeatedly(spec.AfterCount(2)),
    spec.AfterFirst(spec.AfterCount(2), spec.AfterProcessingTime(5)),
    spec.AfterAll(spec.AfterCount(2), spec.AfterProcessingTime(5)),
    spec.AfterEach(spec.AfterCount(2), spec.AfterProcessingTime(5)),
    spec.OrFinally(spec.AfterCount(2), until=spec.AfterProcessingTime(5)),
]


@pytest.mark.parametrize("early", EARLY, ids=str)
def test_whatever_the_early_trigger_is_the_end_that_was_dealt_with_stays_so(early):
    # It is the early child's finished bit that says so, whatever the child does with its own.
    trigger = running(spec.AfterWatermark(early=early, late=spec.AfterCount(3)), True)
    on_time = trigger.fired(trigger.on_elements(trigger.start(), 1, AFTER), AFTER)
    late = trigger.on_elements(on_time, 2, AFTER)
    assert not trigger.ready(late, AFTER)
    late = trigger.on_elements(late, 1, AFTER)
    assert trigger.ready(late, AFTER)
    again = trigger.fired(late, AFTER)
    assert not trigger.ready(again, AFTER)
    together = trigger.on_merge(again, [again, late], AFTER)
    assert trigger.because(trigger.on_elements(together, 3, AFTER), AFTER) == (
        f"{trigger.name}.late[AfterCount(3)]"
    )
    rewound = trigger.on_merge(again, [again, trigger.start()], AFTER)
    assert trigger.because(rewound, AFTER) == f"{trigger.name}[end of window]"
