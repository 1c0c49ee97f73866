# ruff: noqa: B008 (that is how parameters ask)
"""States and timers of one key, rule by rule: docs/pages/state_and_timers.md names these tests."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from beamlike.api.pipelines import userstate
from beamlike.api.pipelines.coders import PickleCoder, VarIntCoder
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.dofn_invoker import DoFnInvoker
from beamlike.api.pipelines.stateful_dofn_invoker import StatefulDoFnInvoker
from beamlike.errors import UserFunctionError, WatermarkError, WindowingError
from beamlike.machine import events
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.machine.userstate import running
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.panes import NO_FIRING
from beamlike.model.sessions import Sessions
from beamlike.model.stateful import StatefulFn
from beamlike.model.time import show_instant
from beamlike.model.windowfns import FixedWindows, SlidingWindows
from beamlike.model.windows import IntervalWindow as W
from beamlike.runtime.memory import MemoryStage, run_in_memory
from beamlike.runtime.script import Arrive

Act = Callable[..., Any]


class Fn(DoFn[Any, Any]):
    """Calls the function that an element is, or that a bag keeps for a timer, with what it may
    reach."""

    LAST = userstate.ReadModifyWriteStateSpec("last", VarIntCoder())
    BAG = userstate.BagStateSpec("bag", PickleCoder())
    EVENT = userstate.TimerSpec("event", userstate.TimeDomain.WATERMARK)
    REAL = userstate.TimerSpec("real", userstate.TimeDomain.REAL_TIME)

    def __init__(self, on_fire: Act | None = None) -> None:
        self.on_fire = on_fire

    def process(  # type: ignore[override]
        self,
        element: Any,
        last: Any = DoFn.StateParam(LAST),
        bag: Any = DoFn.StateParam(BAG),
        event: Any = DoFn.TimerParam(EVENT),
        real: Any = DoFn.TimerParam(REAL),
    ) -> Iterable[Any]:
        _, act = element
        return act(last=last, bag=bag, event=event, real=real) or ()

    @userstate.on_timer(EVENT)
    def on_event(
        self,
        tag: Any = DoFn.DynamicTimerTagParam,
        at: Any = DoFn.FireTimestampParam,
        window: Any = DoFn.WindowParam,
        bag: Any = DoFn.StateParam(BAG),
        event: Any = DoFn.TimerParam(EVENT),
    ) -> Iterable[Any]:
        if self.on_fire is not None:
            self.on_fire(at=at, event=event, bag=bag)
        yield ("event", tag, at, *bag.read())

    @userstate.on_timer(REAL)
    def on_real(self, tag: Any = DoFn.DynamicTimerTagParam, at: Any = DoFn.FireTimestampParam):
        yield "real", tag, at


class Expiring(Fn):
    @userstate.on_window_expiration
    def on_end(self, key: Any = DoFn.KeyParam, bag: Any = DoFn.StateParam(Fn.BAG)) -> Any:
        yield "end", key, *bag.read()


def machine(fn: Any = None, window_fn: Any = None, lateness: int = 0, **more: Any) -> StatefulParDo:
    invoker = DoFnInvoker(fn or Fn(), (), {}, frozenset(), "F", stateful=True)
    fn = StatefulDoFnInvoker(invoker)
    return StatefulParDo(window_fn or FixedWindows(10), fn, lateness, **more)


def arrive(*acts: tuple[int, Act], key: str = "k") -> Arrive:
    elements = (events.Element(((key, act), NO_FIRING), at) for at, act in acts)
    return Arrive(tuple((key, element) for element in elements))


def sets(*times: int, tag: str = "", output: int | None = None) -> Act:
    def act(event: Any, **_: Any) -> None:
        for time in times:
            event.set(time, tag, output)

    return act


def rings(after: int, output: int | None = None) -> Act:
    def act(real: Any, **_: Any) -> None:
        if output is not None:
            real.with_output_timestamp(output)
        real.offset(after).set_relative()

    return act


def keeps(value: Any) -> Act:
    return lambda bag, **_: bag.add(value)


def clears(event: Any, real: Any, **_: Any) -> None:
    event.clear()
    real.clear()


def ran(of: StatefulParDo, *steps: Any) -> list[Any]:
    """What comes out: the step, the event time and the value; or what is dropped."""
    return [
        (output.step, output.effect.timestamp, output.effect.value)
        if isinstance(output.effect, events.Pane)
        else (output.step, output.effect)
        for output in run_in_memory(of, steps).outputs
    ]


NOW, TO = events.AdvanceClock, events.AdvanceWatermark


# -- states ----------------------------------------------------------------------------------------


def test_each_key_and_window_has_states_of_its_own():
    def count(last: Any, **_: Any) -> list[int]:
        last.write((last.read() or 0) + 1)
        return [last.read()]

    two = arrive((1, count), (12, count), (2, count))
    assert ran(machine(), two, arrive((3, count), key="other")) == [
        (0, 1, 1),
        (0, 12, 1),
        (0, 2, 2),
        (1, 3, 1),
    ]


def test_an_element_of_several_windows_is_given_to_the_function_in_each():
    sliding = machine(window_fn=SlidingWindows(10, 5))
    out = ran(sliding, arrive((7, keeps("x"))), arrive((7, sets(8))), TO(9))
    assert out == [(2, 8, ("event", "", 8, "x"))] * 2


def test_what_is_read_is_a_copy_and_what_is_written_is_kept():
    def change(bag: Any, **_: Any) -> list[Any]:
        bag.add([1])
        bag.read()[0].append(2)
        return [bag.read()]

    assert ran(machine(), arrive((1, change))) == [(0, 1, [[1]])]


def test_a_value_that_its_coder_cannot_take_is_refused_where_it_is_written():
    with pytest.raises(UserFunctionError) as refused:
        ran(machine(), arrive((1, lambda last, **_: last.write("one"))))
    assert "VarIntCoder() of the state 'last' cannot take 'one': TypeError" in str(refused.value)
    assert refused.value.place.endswith("at 00:00:00.001 (1 ms), window [00:00:00, 00:00:00.010)")


# -- timers ----------------------------------------------------------------------------------------


def test_a_timer_of_event_time_fires_once_the_watermark_is_past_it():
    assert ran(machine(), arrive((1, sets(5))), TO(5), TO(6)) == [(2, 5, ("event", "", 5))]


def test_a_timer_of_processing_time_fires_once_the_clock_is_past_it_at_the_time_of_its_element():
    assert ran(machine(), NOW(3), arrive((1, rings(2))), NOW(5), NOW(6)) == [
        (3, 1, ("real", "", 5))
    ]


def test_to_set_a_timer_again_replaces_what_it_was_set_to():
    assert ran(machine(), arrive((1, sets(3, 7))), arrive((2, sets(5))), TO(9)) == [
        (2, 5, ("event", "", 5))
    ]


def test_a_timer_that_is_cleared_does_not_fire():
    both = lambda **it: sets(3)(**it) or rings(1)(**it)  # noqa: E731
    assert ran(machine(), arrive((1, both)), arrive((1, clears)), NOW(5), TO(9)) == []
    assert ran(machine(), arrive((1, clears)), TO(9)) == []


def test_timers_that_are_due_fire_in_order_of_time_whatever_their_window():
    script = (arrive((12, sets(13))), arrive((2, sets(7, tag="b"))), arrive((3, sets(7, tag="a"))))
    assert ran(machine(), *script, TO(30)) == [
        (3, 7, ("event", "a", 7)),
        (3, 7, ("event", "b", 7)),
        (3, 13, ("event", "", 13)),
    ]


def test_a_timer_may_set_itself_again_and_what_is_due_by_then_fires_in_its_place():
    def again(at: int, event: Any, **_: Any) -> None:
        if at < 9:
            event.set(at + 2)

    script = arrive((1, sets(3)), (1, sets(6, tag="t")))
    of = machine(Fn(lambda at, event, bag: again(at, event) if at != 6 else None))
    assert ran(of, script, TO(20)) == [
        (1, 3, ("event", "", 3)),
        (1, 5, ("event", "", 5)),
        (1, 6, ("event", "t", 6)),
        (1, 7, ("event", "", 7)),
        (1, 9, ("event", "", 9)),
    ]


def test_a_timer_that_is_set_to_the_past_fires_after_the_elements_of_the_bundle():
    assert ran(machine(lateness=5), TO(8), arrive((1, sets(3)), (2, keeps("x")))) == [
        (1, 3, ("event", "", 3, "x"))
    ]


def test_an_output_timestamp_says_when_what_comes_out_happens():
    script = arrive((1, sets(8, output=4)), (2, rings(1, output=6)))
    assert ran(machine(), script, NOW(2), TO(9)) == [
        (1, 6, ("real", "", 1)),
        (2, 4, ("event", "", 8)),
    ]


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (sets(10), "a firing timestamp of 00:00:00.010 that is after the expiration of window"),
        (sets(9, output=10), "an output timestamp of 00:00:00.010 that is after the expiration"),
        (rings(1, output=10), "an output timestamp of 00:00:00.010 that is after the expiration"),
        (sets(9, output=0), "must be no earlier than the timestamp of the current input or timer"),
    ],
)
def test_a_timer_beyond_the_expiry_of_its_window_or_before_its_element_is_refused(
    act: Act, problem: str
):
    with pytest.raises(UserFunctionError, match=problem):
        ran(machine(), arrive((1, act)))


# -- the output watermark --------------------------------------------------------------------------


def held(of: StatefulParDo, *steps: Any) -> list[int]:
    """The output watermark after each step."""
    stage, found = MemoryStage(of), []
    for step in steps:
        stage.play(step)
        found.append(stage.output_watermark)
    return found


def test_a_timer_holds_the_output_watermark_at_its_output_timestamp_until_it_has_fired():
    assert held(machine(), TO(1), arrive((3, sets(8))), TO(6), TO(8), TO(9)) == [1, 1, 6, 8, 9]
    script = (TO(1), arrive((3, sets(8, output=4))), TO(6), TO(8), TO(9))
    assert held(machine(), *script) == [1, 1, 4, 4, 9]
    assert held(machine(), TO(1), arrive((3, rings(5))), TO(8), NOW(6)) == [1, 1, 3, 8]


def test_a_timer_without_output_timestamp_holds_nothing():
    free = lambda event, **_: event.with_no_output_timestamp().set(8)  # noqa: E731
    assert held(machine(), TO(1), arrive((3, free)), TO(6)) == [1, 1, 6]


def test_only_a_function_that_is_called_at_the_end_of_windows_holds_it_there():
    script = (TO(1), arrive((3, keeps("x"))), TO(12), TO(16), TO(17))
    assert held(machine(lateness=5), *script) == [1, 1, 12, 16, 17]
    assert held(machine(Expiring(), lateness=5), *script) == [1, 1, 9, 16, 17]


# -- the end of windows ----------------------------------------------------------------------------


def test_an_element_whose_window_has_expired_is_dropped():
    late = machine(lateness=5)
    script = (TO(14), arrive((1, keeps("in time"))), TO(15), arrive((1, act := keeps("late"))))
    element = events.Element((("k", act), NO_FIRING), 1)
    assert ran(late, *script) == [(3, events.Drop(element, W(0, 10), events.DropReason.EXPIRED, 1))]


def test_a_window_is_forgotten_one_millisecond_after_its_last_timer():
    stage = MemoryStage(machine(lateness=5))
    stage.play(arrive((1, keeps("x")), (1, sets(14))))
    stage.play(TO(14))
    (before,) = stage.states.values()
    assert stage.play(TO(15))[0].effect == events.Pane(
        W(0, 10), ("event", "", 14, "x"), 14, NO_FIRING
    )
    (fired,) = stage.states.values()
    stage.play(TO(16))
    (after,) = stage.states.values()
    assert [len(it.windows) for it in (before, fired, after)] == [1, 1, 0]


def test_a_timer_of_processing_time_does_not_fire_once_its_window_has_expired():
    assert ran(machine(), arrive((1, rings(2))), TO(10), NOW(5)) == []


def test_the_end_of_a_window_is_said_before_its_states_are_gone_at_its_last_instant():
    script = (arrive((1, keeps("x"))), arrive((2, keeps("y"))), TO(10), TO(11))
    assert ran(machine(Expiring()), *script, TO(12)) == [(3, 9, ("end", "k", "x", "y"))]


def test_a_window_without_a_state_ends_too():
    assert ran(machine(Expiring()), arrive((1, lambda **_: None)), TO(20)) == [(1, 9, ("end", "k"))]


# -- what is refused, and what raises --------------------------------------------------------------


def test_windows_that_merge_are_refused():
    with pytest.raises(WindowingError, match="MergingWindowFn is not supported for stateful"):
        machine(window_fn=Sessions(10))


def test_a_function_that_raises_in_a_timer_is_named_with_timer_and_window():
    def fail(**_: Any) -> None:
        raise ZeroDivisionError("no")

    with pytest.raises(UserFunctionError) as reported:
        ran(machine(Fn(fail)), arrive((1, sets(5, tag="t"))), TO(9))
    assert (reported.value.function, reported.value.problem, reported.value.key) == (
        "Fn.on_event",
        "ZeroDivisionError: no",
        "'k'",
    )
    assert reported.value.place == (
        "the timer 'event' ('t') at 00:00:00.005 (5 ms), window [00:00:00, 00:00:00.010)"
    )


def test_what_cannot_be_taken_may_be_dropped_and_nothing_else_is_lost():
    def fail(at: int, bag: Any, event: Any) -> None:
        bag.add("lost")
        if at == 5:
            raise ZeroDivisionError("no")

    def spoil(bag: Any, **_: Any) -> None:
        bag.add("lost")
        raise KeyError("x")

    script = (arrive((1, keeps("kept")), (2, spoil), (3, sets(5)), (4, sets(6, tag="t"))), TO(9))
    out = run_in_memory(machine(Fn(fail), on_error="drop"), script).outputs
    drops = [it.effect for it in out if isinstance(it.effect, events.Drop)]
    assert [(drop.timestamp, drop.error) for drop in drops] == [
        (2, "Fn.process raised KeyError: 'x'"),
        (
            None,
            "Fn.on_event raised ZeroDivisionError: no; it was called for the timer 'event' at "
            "00:00:00.005 (5 ms)",
        ),
    ]
    panes = [it.effect.value for it in out if isinstance(it.effect, events.Pane)]
    assert panes == [("event", "t", 6, "kept", "lost")]


class Undeclared(StatefulFn):
    """Asks for what the value of an element is."""

    states: Mapping[str, Any] = {}
    timers: Mapping[str, Any] = {}
    display_name = "Undeclared"

    def key_of(self, value: Any) -> Any:
        return value[0]

    def process(self, given: Any, element: Any) -> Any:
        _, asked = element.value
        if isinstance(asked, userstate.TimerSpec):
            given.timer(asked)
        elif asked is not None:
            given.state(asked)
        yield "", element

    def fire(self, given: Any, timer: Any) -> Any:
        raise AssertionError("it has none")


@pytest.mark.parametrize(
    ("spec", "what"), [(Fn.LAST, "the state 'last'"), (Fn.REAL, "the timer 'real'")]
)
def test_a_state_or_a_timer_that_is_not_declared_is_refused_where_it_is_asked_for(
    spec: Any, what: str
) -> None:
    problem = (
        f"UserStateError: {what} is not declared; the function declares: none; ask for it with a "
        "parameter of process or of a callback"
    )
    elements = [("k", events.Element((("k", asked), NO_FIRING), 1)) for asked in (spec, None)]
    with pytest.raises(UserFunctionError) as reported:
        run_in_memory(StatefulParDo(FixedWindows(10), Undeclared()), (Arrive(tuple(elements)),))
    assert (reported.value.function, reported.value.problem) == ("Undeclared", problem)

    dropping = StatefulParDo(FixedWindows(10), Undeclared(), on_error="drop")
    drop, pane = run_in_memory(dropping, (Arrive(tuple(elements)),)).outputs
    assert isinstance(drop.effect, events.Drop)
    assert isinstance(pane.effect, events.Pane)
    assert drop.effect.reason is events.DropReason.FAILED
    assert (drop.effect.error, pane.effect.value) == (f"Undeclared raised {problem}", ("k", None))


# -- timers without an end -------------------------------------------------------------------------

FOR_EVER = (
    "UserStateError: the timer was set again, to no later an instant than it fired at, 20 times in "
    "one step; set it to a later instant each time, or not at all once there is nothing left to do"
)


@pytest.mark.parametrize("back", [0, 1])
def test_a_timer_that_sets_itself_to_where_it_was_for_ever_is_named(
    monkeypatch: pytest.MonkeyPatch, back: int
):
    monkeypatch.setattr(running, "MOST_CALLS", 20)

    def again(at: int, event: Any, **_: Any) -> None:
        event.set(at - back, "t")

    with pytest.raises(UserFunctionError) as reported:
        ran(machine(Fn(again)), arrive((1, sets(5, tag="t"))), TO(9))
    assert (reported.value.key, reported.value.problem, reported.value.function) == (
        "'k'",
        FOR_EVER,
        "Fn.on_event",
    )
    at = 5 - 20 * back
    assert f"the timer 'event' ('t') at {show_instant(at)} ({at} ms), window [00:00:00, " in (
        reported.value.place
    )


def test_of_a_timer_without_an_end_all_but_its_last_call_stays_where_failures_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(running, "MOST_CALLS", 20)

    def again(at: int, event: Any, bag: Any) -> None:
        bag.add("again")
        event.set(at)

    steps = (arrive((1, sets(5)), (2, sets(8, tag="other"))), TO(7), TO(9))
    out = ran(machine(Fn(again), on_error="drop"), *steps)
    assert [it[2][2:] for it in out if len(it) == 3 and it[0] == 1] == [
        (5, *["again"] * number) for number in range(1, 21)
    ]
    (drop,) = [it[1] for it in out if len(it) == 2 and it[0] == 1]
    assert (drop.element, drop.window, drop.reason) == (None, W(0, 10), events.DropReason.FAILED)
    assert drop.error == (
        f"Fn.on_event raised {FOR_EVER}; it was called for the timer 'event' at 00:00:00.005 (5 ms)"
    )


def test_a_timer_that_goes_forward_has_no_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running, "MOST_CALLS", 2)

    def twice_each(at: int, event: Any, bag: Any) -> None:
        bag.add(at)
        now = bag.read().count(at) > 1
        if at < 40:
            event.set(at + 1 if now else at)

    out = ran(machine(Fn(twice_each), FixedWindows(50)), arrive((1, sets(5))), TO(60))
    assert len(out) == 2 * 35 + 1


@pytest.mark.parametrize("back", [events.AdvanceWatermark(4), events.AdvanceClock(6)])
def test_clocks_do_not_go_back(back: Any) -> None:
    with pytest.raises(WatermarkError):
        machine().step(KeyState(5, 7), back)


def test_a_step_leaves_the_state_before_it_as_it_was():
    of = machine(lateness=2)
    both = events.Bundle(
        tuple(element for _, element in arrive((1, sets(5)), (1, rings(3))).elements)
    )
    before, _ = of.step(KeyState.unseen(0, 0), both)
    copied = repr(before)
    of.step(before, TO(30))
    of.step(before, NOW(30))
    assert repr(before) == copied
    assert of.next_timers(before) == NextTimers(5, 3)
