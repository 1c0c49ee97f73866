"""A main input that looks into a side input: who waits, for how long, and what is seen."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import (
    TimeError,
    UnsupportedError,
    UserFunctionError,
    WatermarkError,
    WindowingError,
)
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Drop,
    DropReason,
    Effect,
    Element,
    Lifted,
    Pane,
)
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.machine.side_input import Join, Main, Side, SideInputs
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP
from beamlike.model.windowfns import MappingWindowFn
from beamlike.model.windows import Window
from beamlike.runtime.memory import MemoryStage, run_in_memory
from beamlike.runtime.script import Arrive, Output, ScriptStep
from tests.support.refusals import refusal

W = bl.IntervalWindow
TENS, TWENTIES = bl.FixedWindows(10), bl.FixedWindows(20)


def main(value: Any, timestamp: int, window: Window | None = None) -> Element:
    return Element(Main(value), timestamp, window)


def side(content: Any, window: Window | None) -> Element:
    return Element(Side(content), window.max_timestamp if window else 0, window)


def arrive(*elements: Element, key: str = "k") -> Arrive:
    return Arrive(tuple((key, element) for element in elements))


def pane(window: Window, value: Any, timestamp: int) -> Pane:
    return Pane(window, value, timestamp, NO_FIRING)


def outputs(machine: SideInputs, *steps: ScriptStep) -> list[tuple[int, Effect]]:
    """All that came out of one key, and at which step."""
    return [(output.step, output.effect) for output in run_in_memory(machine, steps).outputs]


# -- waiting ---------------------------------------------------------------------------------


def test_elements_wait_for_the_first_pane_and_come_out_in_order_at_their_own_time() -> None:
    assert outputs(
        SideInputs(TENS, TWENTIES),
        arrive(main("late riser", 15), main("early bird", 4)),
        arrive(side(["red", "blue"], W(0, 20))),
        arrive(main("at once", 7)),
        AdvanceWatermark(MAX_TIMESTAMP),
    ) == [
        (1, pane(W(10, 20), ("late riser", "red"), 15)),
        (1, pane(W(10, 20), ("late riser", "blue"), 15)),
        (1, pane(W(0, 10), ("early bird", "red"), 4)),
        (1, pane(W(0, 10), ("early bird", "blue"), 4)),
        (2, pane(W(0, 10), ("at once", "red"), 7)),
        (2, pane(W(0, 10), ("at once", "blue"), 7)),
    ]


def test_without_a_pane_an_element_waits_until_the_side_window_is_over_and_finds_it_empty() -> None:
    assert outputs(
        SideInputs(TENS, TWENTIES),
        arrive(main("a", 3)),
        AdvanceWatermark(19),
        AdvanceClock(1_000),
        AdvanceWatermark(20),
    ) == [(3, pane(W(0, 10), ("a", None), 3))]


def test_an_element_that_comes_after_the_end_of_an_empty_side_window_waits_for_nothing() -> None:
    machine = SideInputs(TENS, TWENTIES, main_allowed_lateness=5)

    assert outputs(machine, AdvanceWatermark(20), arrive(main("a", 15))) == [
        (1, pane(W(10, 20), ("a", None), 15))
    ]


def test_an_element_that_comes_while_the_side_window_is_open_waits_to_its_last_instant() -> None:
    machine = SideInputs(TENS, TWENTIES, main_allowed_lateness=5)

    assert outputs(
        machine, AdvanceWatermark(19), arrive(main("a", 15)), arrive(side(["red"], W(0, 20)))
    ) == [(2, pane(W(10, 20), ("a", "red"), 15))]


def test_a_side_input_that_has_ended_and_was_empty_keeps_no_one_waiting() -> None:
    assert outputs(
        SideInputs(bl.GlobalWindows(), bl.GlobalWindows(), join="view"),
        arrive(main("waits", 3)),
        AdvanceWatermark(5, side=END_OF_GLOBAL_WINDOW),
        AdvanceWatermark(5, side=MAX_TIMESTAMP),
        arrive(main("comes later", 7)),
    ) == [
        (2, pane(bl.GLOBAL_WINDOW, ("waits", []), 3)),
        (3, pane(bl.GLOBAL_WINDOW, ("comes later", []), 7)),
    ]


def test_a_side_input_that_is_ahead_is_over_where_its_own_watermark_is() -> None:
    assert outputs(
        SideInputs(TENS, TWENTIES, main_allowed_lateness=5),
        arrive(main("a", 3)),
        AdvanceWatermark(4, side=19),
        AdvanceWatermark(4, side=20),
        arrive(main("b", 15), main("c", 25)),
        # Where nothing is said of the side input it stays where it is, or comes along.
        AdvanceWatermark(18),
        arrive(main("d", 19)),
        AdvanceWatermark(40),
    ) == [
        (2, pane(W(0, 10), ("a", None), 3)),
        (3, pane(W(10, 20), ("b", None), 15)),
        (5, pane(W(10, 20), ("d", None), 19)),
        (6, pane(W(20, 30), ("c", None), 25)),
    ]


def test_no_one_is_late_because_the_side_input_is_ahead() -> None:
    assert outputs(
        SideInputs(TENS, TENS),
        AdvanceWatermark(9, side=1_000),
        arrive(main("a", 3), side(["red"], W(0, 10)), main("b", 4)),
        AdvanceWatermark(10, side=1_000),
        arrive(main("c", 5)),
    ) == [
        (1, pane(W(0, 10), ("a", None), 3)),
        (1, pane(W(0, 10), ("b", "red"), 4)),
        (3, Drop(main("c", 5), W(0, 10), DropReason.EXPIRED, 1)),
    ]


def test_a_side_input_that_is_behind_holds_those_that_wait_for_it_and_no_one_else() -> None:
    machine = SideInputs(TENS, TENS, main_allowed_lateness=5)
    stage = MemoryStage(machine)
    promised = []

    def play(step: ScriptStep) -> list[Effect]:
        found = [it.effect for it in stage.play(step)]
        promised.append(stage.output_watermark)
        return found

    assert play(AdvanceWatermark(30, side=2)) == []
    assert play(arrive(side(["red"], W(30, 40)), main("sees red", 33))) == [
        pane(W(30, 40), ("sees red", "red"), 33)
    ]
    assert play(AdvanceWatermark(35, side=2)) == []
    assert play(arrive(main("waits", 45))) == []
    assert play(AdvanceWatermark(90, side=2)) == []
    # By the main input it is too late for this one; panes of its side window may still come.
    assert play(arrive(main("late", 4))) == []
    assert play(AdvanceWatermark(91, side=10)) == [pane(W(0, 10), ("late", None), 4)]
    # The last look is over when both are past it.
    assert play(AdvanceWatermark(91, side=44)) == []
    assert set(stage.states["k"].windows) == {W(30, 40), W(40, 50)}
    assert machine.next_timers(stage.states["k"]) == NextTimers(None, None, side=44)
    assert play(AdvanceWatermark(91, side=45)) == []
    assert set(stage.states["k"].windows) == {W(40, 50)}
    assert play(AdvanceWatermark(91, side=50)) == [pane(W(40, 50), ("waits", None), 45)]
    assert promised == [30, 30, 35, 35, 45, 45, 45, 45, 45, 91]


@pytest.mark.parametrize(
    ("trigger", "ready_at"),
    [
        (bl.DefaultTrigger(), 20),
        (bl.AfterWatermark(early=bl.AfterCount(5)), 20),
        (bl.Repeatedly(bl.AfterFirst(bl.AfterCount(5), bl.AfterWatermark())), 20),
        (bl.Repeatedly(bl.AfterCount(5)), MAX_TIMESTAMP),
    ],
)
def test_a_side_window_without_a_pane_is_empty_when_its_trigger_must_have_fired(
    trigger: bl.Trigger, ready_at: int
) -> None:
    assert outputs(
        SideInputs(TENS, TWENTIES, side_trigger=trigger),
        arrive(main("a", 3)),
        AdvanceWatermark(1, side=ready_at - 1),
        AdvanceWatermark(1, side=ready_at),
    ) == [(2, pane(W(0, 10), ("a", None), 3))]


def test_those_who_wait_for_a_count_see_what_comes_after_the_last_look() -> None:
    machine = SideInputs(TENS, TENS, side_trigger=bl.Repeatedly(bl.AfterCount(5)))

    assert outputs(
        machine,
        arrive(main("waits", 3)),
        AdvanceWatermark(15),
        arrive(main("too late", 4), side(["red"], W(0, 10)), side(["blue"], W(0, 10))),
    ) == [
        (2, Drop(main("too late", 4), W(0, 10), DropReason.EXPIRED, 6)),
        (2, pane(W(0, 10), ("waits", "red"), 3)),
        (2, Drop(side(["blue"], W(0, 10)), W(0, 10), DropReason.EXPIRED, 6)),
    ]


def test_they_wait_no_longer_than_a_side_window_lives_if_that_is_reported() -> None:
    machine = SideInputs(
        TENS, TENS, side_trigger=bl.Repeatedly(bl.AfterCount(5)), side_allowed_lateness=7
    )

    assert outputs(
        machine, arrive(main("a", 3)), AdvanceWatermark(1, side=16), AdvanceWatermark(1, side=17)
    ) == [(2, pane(W(0, 10), ("a", None), 3))]


def test_a_key_that_comes_later_knows_how_far_the_side_input_is() -> None:
    stage = MemoryStage(SideInputs(TENS, TENS))
    stage.play(AdvanceWatermark(0, side=10))

    assert [it.effect for it in stage.play(arrive(main("a", 3)))] == [
        pane(W(0, 10), ("a", None), 3)
    ]


def test_an_empty_pane_is_content_too() -> None:
    machine = SideInputs(TENS, TWENTIES)

    assert outputs(machine, arrive(main("a", 3)), arrive(side([], W(0, 20)))) == [
        (1, pane(W(0, 10), ("a", None), 3))
    ]


def test_side_windows_that_are_over_at_once_let_go_of_their_elements_in_order_of_time() -> None:
    assert outputs(
        SideInputs(TENS, TENS),
        arrive(main("c", 25), main("b", 15), main("a", 5), main("a too", 1)),
        AdvanceWatermark(20),
    ) == [
        (1, pane(W(0, 10), ("a", None), 5)),
        (1, pane(W(0, 10), ("a too", None), 1)),
        (1, pane(W(10, 20), ("b", None), 15)),
    ]


def test_keys_do_not_see_each_other_s_side_input() -> None:
    machine = SideInputs(TENS, TENS)
    script = (
        arrive(main("a", 3)),
        arrive(main("b", 3), key="other"),
        arrive(side(["red"], W(0, 10)), key="other"),
        AdvanceWatermark(10),
    )

    assert run_in_memory(machine, script).outputs == (
        Output(2, "other", pane(W(0, 10), ("b", "red"), 3)),
        Output(3, "k", pane(W(0, 10), ("a", None), 3)),
    )


def test_what_waits_holds_the_output_watermark_at_its_timestamp() -> None:
    machine = SideInputs(TENS, TWENTIES)
    state, _ = machine.step(KeyState.unseen(0, 33), Bundle((main("a", 7), main("b", 5))))
    assert machine.next_timers(state) == NextTimers(None, None, side=19)

    held, _ = machine.step(state, AdvanceWatermark(12))
    free, _ = machine.step(held, Bundle((side(["red"], W(0, 20)),)))

    assert (held.watermark, held.clock, held.output_watermark) == (12, 33, 5)
    assert (free.watermark, free.clock, free.output_watermark) == (12, 33, 12)


def test_what_waits_behind_the_output_watermark_does_not_take_it_back() -> None:
    # [0, 10) is over, and may look into [0, 20) all the same.
    stage = MemoryStage(SideInputs(TENS, TWENTIES))
    stage.play(arrive(main("on time", 13)))
    stage.play(AdvanceWatermark(15))
    assert stage.output_watermark == 13
    stage.play(arrive(main("behind", 5), key="other"))
    assert stage.output_watermark == 13
    stage.play(arrive(side(["red"], W(0, 20))))
    assert stage.output_watermark == 15


# -- windows ---------------------------------------------------------------------------------


def test_an_element_looks_from_each_of_its_windows_into_another() -> None:
    machine = SideInputs(bl.SlidingWindows(10, 5), TENS)

    assert outputs(
        machine, arrive(side(["ten"], W(0, 10)), side(["twenty"], W(10, 20))), arrive(main("a", 7))
    ) == [(1, pane(W(5, 15), ("a", "twenty"), 7)), (1, pane(W(0, 10), ("a", "ten"), 7))]


def test_an_element_that_comes_in_a_window_looks_from_there() -> None:
    machine = SideInputs(TENS, TENS)
    session = W(3, 27)

    assert outputs(
        machine, arrive(side(["twenties"], W(20, 30))), arrive(main("a", 4, session))
    ) == [(1, pane(session, ("a", "twenties"), 4))]


def test_elements_before_a_grouping_look_from_sessions_of_their_own() -> None:
    machine = SideInputs(bl.Sessions(10), TENS)

    assert outputs(
        machine, arrive(side(["tens"], W(10, 20))), arrive(main("a", 4), main("b", 5))
    ) == [(1, pane(W(4, 14), ("a", "tens"), 4)), (1, pane(W(5, 15), ("b", "tens"), 5))]


def test_an_element_that_has_no_window_vanishes() -> None:
    machine = SideInputs(bl.SlidingWindows(2, 10), TENS)

    assert outputs(machine, arrive(main("in a gap", 5)), AdvanceWatermark(MAX_TIMESTAMP)) == []


def test_a_global_side_input_is_seen_until_the_end_of_time() -> None:
    assert outputs(
        SideInputs(TENS, bl.GlobalWindows()),
        arrive(main("waits", 3)),
        arrive(side(["red"], bl.GLOBAL_WINDOW)),
        AdvanceWatermark(END_OF_GLOBAL_WINDOW),
        arrive(main("years later", 3)),
        AdvanceWatermark(MAX_TIMESTAMP),
        arrive(main("too late", 3)),
    ) == [
        (1, pane(W(0, 10), ("waits", "red"), 3)),
        (3, pane(W(0, 10), ("years later", "red"), 3)),
        (5, Drop(main("too late", 3), W(0, 10), DropReason.EXPIRED, 86_400_000)),
    ]


# -- content ---------------------------------------------------------------------------------


def test_a_newer_pane_replaces_the_older_one_for_those_who_come_later() -> None:
    machine = SideInputs(TENS, TENS, main_allowed_lateness=10)
    window = W(0, 10)

    assert outputs(
        machine,
        arrive(main("first", 1), side(["red"], window), side(["red", "blue"], window)),
        arrive(main("second", 2), side(["green"], window), main("third", 3)),
        AdvanceWatermark(10),
        arrive(side(["late"], window), main("fourth", 4)),
    ) == [
        (0, pane(window, ("first", "red"), 1)),
        (1, pane(window, ("second", "red"), 2)),
        (1, pane(window, ("second", "blue"), 2)),
        (1, pane(window, ("third", "green"), 3)),
        (3, pane(window, ("fourth", "late"), 4)),
    ]


@pytest.mark.parametrize(
    ("join", "with_two", "with_none"),
    [
        ("left", [("a", 1), ("a", 2)], [("b", None)]),
        ("inner", [("a", 1), ("a", 2)], []),
        ("view", [("a", [1, 2])], [("b", [])]),
    ],
)
def test_the_join_decides_what_comes_out(join: Join, with_two: list[Any], with_none: list[Any]):
    assert outputs(
        SideInputs(TENS, TENS, join=join),
        arrive(side([1, 2], W(0, 10)), main("a", 5)),
        arrive(main("b", 15)),
        AdvanceWatermark(20),
    ) == [
        *((0, pane(W(0, 10), value, 5)) for value in with_two),
        *((2, pane(W(10, 20), value, 15)) for value in with_none),
    ]


def test_the_lists_of_a_view_are_the_receiver_s_own() -> None:
    machine = SideInputs(TENS, TENS, join="view")
    state, _ = machine.step(KeyState(), Bundle((side([1, 2], W(0, 10)),)))
    _, (first,) = machine.step(state, Bundle((main("a", 5),)))
    assert isinstance(first, Pane)
    first.value[1].clear()

    assert machine.step(state, Bundle((main("b", 5),)))[1] == (pane(W(0, 10), ("b", [1, 2]), 5),)


# -- lateness --------------------------------------------------------------------------------


def test_content_is_kept_as_long_as_elements_are_allowed_to_be_late() -> None:
    assert outputs(
        SideInputs(TENS, TWENTIES, main_allowed_lateness=5),
        arrive(side(["red"], W(0, 20))),
        AdvanceWatermark(24),
        arrive(main("its own window is long over", 3)),
        AdvanceWatermark(25),
        arrive(main("late", 12), side(["blue"], W(0, 20))),
    ) == [
        (2, pane(W(0, 10), ("its own window is long over", "red"), 3)),
        (4, Drop(main("late", 12), W(10, 20), DropReason.EXPIRED, 1)),
        (4, Drop(side(["blue"], W(0, 20)), W(0, 20), DropReason.EXPIRED, 1)),
    ]


def test_nothing_is_remembered_where_no_one_may_look_any_more() -> None:
    machine = SideInputs(TENS, TWENTIES, main_allowed_lateness=5)
    state, _ = machine.step(KeyState(), Bundle((side(["red"], W(0, 20)), main("a", 25))))
    assert set(state.windows) == {W(0, 20), W(20, 40)}
    assert machine.next_timers(state) == NextTimers(24, None, side=39)

    at_limit, _ = machine.step(state, AdvanceWatermark(24))
    past, _ = machine.step(at_limit, AdvanceWatermark(25))
    over, out = machine.step(past, AdvanceWatermark(40))

    assert set(at_limit.windows) == {W(0, 20), W(20, 40)}
    assert set(past.windows) == {W(20, 40)}
    assert machine.next_timers(past) == NextTimers(None, None, side=39)
    assert (over.windows, out) == ({}, (pane(W(20, 30), ("a", None), 25),))


def test_a_drop_is_reported_and_knows_the_watermark() -> None:
    machine = SideInputs(TENS, TENS)
    shown: list[Any] = []

    _, out = machine.step(KeyState.unseen(25, 0), Bundle((main("a", 3),)), shown.append)

    assert shown == list(out) == [Drop(main("a", 3), W(0, 10), DropReason.EXPIRED, 16)]
    assert shown[0].watermark == 25


# -- what it refuses -------------------------------------------------------------------------


def test_a_side_input_in_sessions_is_refused() -> None:
    assert refusal(WindowingError, lambda: SideInputs(TENS, bl.Sessions(10))).startswith(
        "Sessions is not allowed in side inputs"
    )


def test_a_global_main_input_looks_into_a_global_side_input_only() -> None:
    assert refusal(WindowingError, lambda: SideInputs(bl.GlobalWindows(), TENS)).startswith(
        "Attempted to get side input window for GlobalWindow from non-global WindowFn"
    )
    assert outputs(
        SideInputs(bl.GlobalWindows(), bl.GlobalWindows()),
        arrive(main("a", 3), side(["red"], bl.GLOBAL_WINDOW)),
    ) == [(0, pane(bl.GLOBAL_WINDOW, ("a", "red"), 3))]


def test_an_unknown_way_to_join_is_refused() -> None:
    unknown: Any = "outer"

    assert refusal(WindowingError, lambda: SideInputs(TENS, TENS, join=unknown)) == (
        'SideInputs join must be "left" or "inner" or "view", got \'outer\''
    )


def test_a_negative_lateness_is_refused() -> None:
    assert refusal(TimeError, lambda: SideInputs(TENS, TENS, -1)).startswith(
        "main_allowed_lateness must not be negative, got -1"
    )


@pytest.mark.parametrize("content", ["red", b"red", 5, None])
def test_content_that_is_no_list_of_items_is_refused(content: Any) -> None:
    assert refusal(WindowingError, lambda: Side(content)) == (
        f"the content of a side input's pane must be a list of its items, got {content!r}; "
        "write Side([value])"
    )


def test_elements_are_main_or_side_and_side_elements_come_in_a_window() -> None:
    machine = SideInputs(TENS, TENS)

    assert refusal(
        WindowingError, lambda: machine.step(KeyState(), Bundle((Element("red", 3),)))
    ) == ("the elements of a join with a side input are Main(value) or Side(content), got 'red'")
    assert refusal(
        WindowingError, lambda: machine.step(KeyState(), Bundle((side(["red"], None),)))
    ) == (
        "the side element Side(content=('red',)) comes in no window; group the side input and "
        "hand on the window of each pane"
    )
    assert refusal(
        WindowingError, lambda: machine.step(KeyState(), Bundle((Lifted(7, 3, W(0, 10), 5),)))
    ).startswith("a join with a side input was given 3 elements already combined in")


@pytest.mark.parametrize("back", [AdvanceWatermark(4), AdvanceClock(6)])
def test_clocks_do_not_go_back(back: AdvanceWatermark | AdvanceClock) -> None:
    machine = SideInputs(TENS, TENS)

    assert "cannot go back" in refusal(WatermarkError, lambda: machine.step(KeyState(5, 7), back))


def test_the_watermark_of_the_side_input_does_not_go_back() -> None:
    ahead = AdvanceWatermark(5, side=40)
    stage, machine = MemoryStage(SideInputs(TENS, TENS)), SideInputs(TENS, TENS)
    stage.play(ahead)
    state, _ = machine.step(KeyState(), ahead)

    problem = "the watermark of the side input cannot go back: it stands at 00:00:00.04"
    back = AdvanceWatermark(6, side=39)
    assert problem in refusal(WatermarkError, lambda: stage.play(back))
    assert problem in refusal(WatermarkError, lambda: machine.step(state, back))
    # It came along to 60, without a word.
    back = AdvanceWatermark(60, side=59)
    stage.play(AdvanceWatermark(60))
    along, _ = machine.step(state, AdvanceWatermark(60))
    problem = "the watermark of the side input cannot go back: it stands at 00:00:00.06"
    assert problem in refusal(WatermarkError, lambda: stage.play(back))
    assert problem in refusal(WatermarkError, lambda: machine.step(along, back))


def test_a_trigger_of_somebody_s_own_says_nothing_of_its_first_pane_and_is_refused() -> None:
    class Sometimes(bl.Trigger):
        """It fires when it likes."""

    assert "is not a trigger that beamlike knows" in refusal(
        UnsupportedError, lambda: SideInputs(TENS, TENS, side_trigger=Sometimes())
    )


# -- window functions that raise -------------------------------------------------------------


class Scaled(bl.FixedWindows):
    """Windows of ten, by a time that is divided by what an element carries."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return super().assign(timestamp // value, value)


def test_a_main_window_that_cannot_be_had_is_reported_for_the_value_itself() -> None:
    machine = SideInputs(Scaled(10), TENS)

    assert refusal(UserFunctionError, lambda: machine.step(KeyState(), Bundle((main(0, 3),)))) == (
        "FixedWindows(10ms).assign raised ZeroDivisionError: integer division or modulo by zero; "
        "it was called for the element 0 at 00:00:00.003 (3 ms); mend the function, or "
        'leave out what it cannot take with on_error="drop"'
    )


def test_or_its_element_is_dropped_from_no_window_and_the_others_go_on() -> None:
    machine = SideInputs(Scaled(10), TENS, on_error="drop")

    assert outputs(machine, arrive(main(0, 3), main(1, 4), side(["red"], W(0, 10)))) == [
        (0, Drop(main(0, 3), None, DropReason.FAILED)),
        (0, pane(W(0, 10), (1, "red"), 4)),
    ]


def test_a_side_window_that_cannot_be_had_drops_the_element_from_its_main_window() -> None:
    # A side window is asked for an instant, which carries nothing to divide by.
    ((_, dropped),) = outputs(SideInputs(TENS, Scaled(10), on_error="drop"), arrive(main("a", 3)))

    assert dropped == Drop(main("a", 3), W(0, 10), DropReason.FAILED)
    assert isinstance(dropped, Drop)
    assert dropped.error is not None
    assert dropped.error.startswith("FixedWindows(10ms).assign raised TypeError")


class Before(MappingWindowFn):
    """Elements see the window of ten before their own."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return TENS.assign(timestamp)

    def side_window(self, main_window: Window) -> Window:
        (window,) = self.assign(main_window.start - 1)
        return window


def test_a_window_that_is_seen_long_after_its_end_is_not_forgotten():
    machine = SideInputs(TENS, Before(), join="view")
    script = [
        Arrive((("k", Element(Side(("seen",)), 9, W(0, 10))),)),
        AdvanceWatermark(1_000, 1_000),
        Arrive((("k", main("late", 15, W(10, 20))),)),
    ]
    (pane,) = run_in_memory(machine, tuple(script)).panes
    assert pane.effect.value == ("late", ["seen"])
