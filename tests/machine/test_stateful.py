"""A function with one state for each key and window."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.errors import TimeError, UserFunctionError, WatermarkError, WindowingError
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
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.machine.userstate.saved import of_state
from beamlike.model.panes import NO_FIRING
from beamlike.model.sessions import Sessions
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow, Window, expiry
from beamlike.runtime.memory import MemoryStage, run_in_memory
from beamlike.runtime.script import Arrive, Output, Script, with_elements
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_window_fn
from tests.support.machines.memory import ApplyFn
from tests.support.refusals import refusal

W = IntervalWindow
law = settings(max_examples=examples(150), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)


def running_total(total: int | None, value: int, timestamp: int) -> tuple[int, tuple[int]]:
    after = (total or 0) + value
    return after, (after,)


def remembering(
    window_fn: WindowFn,
    fn: Callable[[Any, Any, int], Any],
    lateness: Any = 0,
    on_error: str = "fail",
) -> StatefulParDo:
    """A machine whose function is given values without their key."""

    @wraps(fn)
    def of_pair(state: Any, pair: tuple[str, Any], timestamp: int) -> Any:
        return fn(state, pair[1], timestamp)

    return StatefulParDo(window_fn, ApplyFn(of_pair, "F"), lateness, on_error)


def element(value: Any, timestamp: int, window: Window | None = None, key: str = "k") -> Element:
    """A pair as the machine is given it: with its pane."""
    return Element(((key, value), NO_FIRING), timestamp, window)


def remembered(state: KeyState) -> dict[Window, Any]:
    """What a function left in each window."""
    coder = ApplyFn.states["memory"].coder
    saved = {window: of_state(it).cells for window, it in state.windows.items()}
    return {window: coder.decode(cells["memory"]) for window, cells in saved.items()}


def arrive(*elements: tuple[int, int], key: str = "k") -> Arrive:
    """Values and their timestamps."""
    return Arrive(tuple((key, element(value, at, key=key)) for value, at in elements))


def pane(window: Window, value: Any, timestamp: int) -> Pane:
    return Pane(window, value, timestamp, NO_FIRING)


def effects(machine: StatefulParDo, *steps: Any) -> list[Effect]:
    return [output.effect for output in run_in_memory(machine, steps).outputs]


# -- what it does ----------------------------------------------------------------------------


def test_each_key_and_window_has_a_state_of_its_own_and_outputs_keep_the_element_s_time() -> None:
    machine = remembering(FixedWindows(10), running_total)
    script = (arrive((1, 3), (2, 1), (4, 12)), arrive((100, 5), key="other"), arrive((8, 9)))

    assert run_in_memory(machine, script).outputs == (
        Output(0, "k", pane(W(0, 10), 1, 3)),
        Output(0, "k", pane(W(0, 10), 3, 1)),
        Output(0, "k", pane(W(10, 20), 4, 12)),
        Output(1, "other", pane(W(0, 10), 100, 5)),
        Output(2, "k", pane(W(0, 10), 11, 9)),
    )


def test_an_element_of_several_windows_is_taken_in_each() -> None:
    assert effects(remembering(SlidingWindows(10, 5), running_total), arrive((1, 7), (2, 12))) == [
        pane(W(5, 15), 1, 7),
        pane(W(0, 10), 1, 7),
        pane(W(10, 20), 2, 12),
        pane(W(5, 15), 3, 12),
    ]


def test_an_element_that_comes_in_a_window_keeps_it() -> None:
    machine = remembering(FixedWindows(10), running_total)
    session = W(3, 47)
    script = Arrive((("k", element(1, 5, session)), ("k", element(2, 5))))

    assert effects(machine, script) == [pane(session, 1, 5), pane(W(0, 10), 2, 5)]


def test_a_function_may_answer_with_many_outputs_or_none() -> None:
    def repeat(state: None, value: int, timestamp: int) -> tuple[None, Iterable[str]]:
        return None, (f"{timestamp}" for _ in range(value))

    assert effects(remembering(FixedWindows(10), repeat), arrive((0, 1), (2, 2), (1, 3))) == [
        pane(W(0, 10), "2", 2),
        pane(W(0, 10), "2", 2),
        pane(W(0, 10), "3", 3),
    ]


def test_a_state_of_none_is_forgotten_at_once() -> None:
    def toggle(state: bool | None, value: int, timestamp: int) -> tuple[bool | None, list[str]]:
        return (True, ["on"]) if state is None else (None, ["off"])

    machine = remembering(FixedWindows(10), toggle)
    start = KeyState.unseen(0, 0)
    on, _ = machine.step(start, Bundle((element(0, 1),)))
    off, out = machine.step(on, Bundle((element(0, 2),)))

    assert remembered(on) == {W(0, 10): True}
    assert remembered(off) == {}
    assert out == (pane(W(0, 10), "off", 2),)


@pytest.mark.parametrize("nothing", [0, False, "", ()])
def test_a_state_that_counts_for_nothing_is_still_a_state(nothing: Any) -> None:
    def remember(state: Any, value: int, timestamp: int) -> tuple[Any, tuple[Any, ...]]:
        return nothing, (state,)

    assert effects(remembering(FixedWindows(10), remember), arrive((1, 1)), arrive((2, 2))) == [
        pane(W(0, 10), None, 1),
        pane(W(0, 10), nothing, 2),
    ]


@pytest.mark.parametrize("lateness", [0, 5])
def test_the_state_lives_until_the_watermark_is_past_the_expiry_and_later_data_is_dropped(
    lateness: int,
) -> None:
    machine = remembering(FixedWindows(10), running_total, lateness=lateness)
    last = 9 + lateness
    late = element(4, 2)

    assert effects(
        machine,
        arrive((1, 1)),
        AdvanceWatermark(last),
        arrive((2, 3)),
        AdvanceWatermark(last + 1),
        arrive((4, 2)),
    ) == [
        pane(W(0, 10), 1, 1),
        pane(W(0, 10), 3, 3),
        Drop(late, W(0, 10), DropReason.EXPIRED, missed_by=1),
    ]


def test_a_drop_is_reported_and_knows_the_watermark() -> None:
    machine = remembering(FixedWindows(10), running_total)
    shown: list[Any] = []

    _, out = machine.step(KeyState.unseen(25, 0), Bundle((element(1, 3),)), shown.append)

    assert shown == list(out) == [Drop(element(1, 3), W(0, 10), DropReason.EXPIRED, 16)]
    assert shown[0].watermark == 25


def test_the_global_window_is_forgotten_at_the_end_of_time() -> None:
    stage = MemoryStage(remembering(GlobalWindows(), running_total))
    stage.play(arrive((1, 1)))
    stage.play(AdvanceWatermark(GLOBAL_WINDOW.max_timestamp))
    (output,) = stage.play(arrive((2, 1)))
    stage.play(AdvanceWatermark(MAX_TIMESTAMP))
    (dropped,) = stage.play(arrive((4, 1)))

    assert output.effect == pane(GLOBAL_WINDOW, 3, 1)
    assert dropped.effect == Drop(element(4, 1), GLOBAL_WINDOW, DropReason.EXPIRED, 86_400_000)


def test_nothing_waits_so_the_output_watermark_is_the_input_s() -> None:
    machine = remembering(FixedWindows(10), running_total)
    state, _ = machine.step(KeyState.unseen(0, 33), Bundle((element(1, 3),)))
    state, _ = machine.step(state, AdvanceWatermark(7))

    assert (state.watermark, state.clock, state.output_watermark) == (7, 33, 7)
    assert machine.next_timers(state) == NextTimers(10, None)


# -- what it refuses -------------------------------------------------------------------------


def test_windows_that_merge_are_refused() -> None:
    assert refusal(WindowingError, lambda: remembering(Sessions(10), running_total)) == (
        "MergingWindowFn is not supported for stateful functions: Sessions(10ms) merges windows, "
        "and a state cannot be merged; use FixedWindows, SlidingWindows, calendar windows or "
        "GlobalWindows"
    )


def test_a_negative_lateness_is_refused() -> None:
    with pytest.raises(TimeError, match="allowed_lateness must not be negative, got -1"):
        remembering(FixedWindows(10), running_total, -1)


def test_elements_that_were_combined_are_refused() -> None:
    machine = remembering(FixedWindows(10), running_total)

    assert refusal(
        WindowingError, lambda: machine.step(KeyState(), Bundle((Lifted(7, 3, W(0, 10), 5),)))
    ) == (
        "a stateful function was given 3 elements already combined in [00:00:00, 00:00:00.010); "
        "combine before a grouping only"
    )


@pytest.mark.parametrize("back", [AdvanceWatermark(4), AdvanceClock(6)])
def test_clocks_do_not_go_back(back: AdvanceWatermark | AdvanceClock) -> None:
    machine = remembering(FixedWindows(10), running_total)

    with pytest.raises(WatermarkError, match=rf"cannot go back.*requested.*{back.to}"):
        machine.step(KeyState(5, 7), back)


# -- functions that raise --------------------------------------------------------------------


def picky(state: int | None, value: int, timestamp: int) -> tuple[int, Iterable[int]]:
    """A running total of what is not negative."""
    if value < 0:
        raise ZeroDivisionError("negative")
    total = (state or 0) + value
    return total, (total,)


def test_a_function_that_raises_is_reported_and_nothing_has_happened() -> None:
    machine = remembering(FixedWindows(10), picky)
    state, _ = machine.step(KeyState.unseen(12, 0), Bundle((element(1, 13),)))
    shown: list[Any] = []

    with pytest.raises(UserFunctionError) as reported:
        machine.step(state, Bundle((element(2, 1), element(-1, 14))), shown.append)

    assert str(reported.value) == (
        "picky raised ZeroDivisionError: negative; it was called for the element ('k', -1) at "
        "00:00:00.014 (14 ms), window [00:00:00.010, 00:00:00.020); mend "
        'the function, or leave out what it cannot take with on_error="drop"'
    )
    assert isinstance(reported.value.__cause__, ZeroDivisionError)
    assert remembered(state) == {W(10, 20): 1}
    assert shown == []


def test_an_element_that_the_function_cannot_take_is_dropped_and_the_state_is_as_before_it():
    machine = remembering(FixedWindows(10), picky, on_error="drop")

    out = effects(machine, arrive((-5, 1), (1, 2)), arrive((2, 3), (-1, 4), (4, 5)))

    assert out == [
        Drop(element(-5, 1), W(0, 10), DropReason.FAILED),
        pane(W(0, 10), 1, 2),
        pane(W(0, 10), 3, 3),
        Drop(element(-1, 4), W(0, 10), DropReason.FAILED),
        pane(W(0, 10), 7, 5),
    ]
    dropped = [it for it in out if isinstance(it, Drop)]
    assert [it.error for it in dropped] == ["picky raised ZeroDivisionError: negative"] * 2


def test_outputs_that_raise_while_they_are_made_count_as_the_function_s() -> None:
    def halves(state: int | None, value: int, timestamp: int) -> tuple[int, Iterable[float]]:
        return (state or 0) + 1, (1 / (value - index) for index in range(2))

    machine = remembering(FixedWindows(10), halves, on_error="drop")
    state, out = machine.step(KeyState(), Bundle((element(2, 1), element(1, 2))))

    assert out == (
        pane(W(0, 10), 0.5, 1),
        pane(W(0, 10), 1.0, 1),
        Drop(element(1, 2), W(0, 10), DropReason.FAILED),
    )
    assert remembered(state) == {W(0, 10): 1}


def test_an_answer_that_is_no_pair_of_state_and_outputs_is_a_failure_too() -> None:
    machine = remembering(FixedWindows(10), lambda state, value, timestamp: None)  # type: ignore[arg-type,return-value]

    with pytest.raises(UserFunctionError, match="cannot unpack non-iterable NoneType"):
        effects(machine, arrive((1, 1)))


def test_an_element_whose_windows_cannot_be_had_is_dropped_from_none() -> None:
    class Halved(FixedWindows):
        def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
            ((_, number), _) = value
            return super().assign(timestamp // number, value)

    assert effects(remembering(Halved(10), picky, on_error="drop"), arrive((0, 5), (2, 30))) == [
        Drop(element(0, 5), None, DropReason.FAILED),
        pane(W(10, 20), 2, 30),
    ]


def test_a_third_choice_is_refused() -> None:
    with pytest.raises(WindowingError, match="on_error must be one of 'fail', 'drop'"):
        remembering(FixedWindows(10), picky, on_error="ignore")


# -- laws ------------------------------------------------------------------------------------


def numbered(count: int | None, value: Any, timestamp: int) -> tuple[int, tuple[Any, ...]]:
    """Which element of its window it is, and for every third a second output."""
    number = (count or 0) + 1
    return number, ((number, value), "third")[: 2 if number % 3 == 0 else 1]


def any_machine(random: Random) -> StatefulParDo:
    window_fn: WindowFn = Sessions(1)
    while window_fn.is_merging:
        window_fn = any_window_fn(random)
    return remembering(window_fn, numbered, random.choice((0, 0, 1, 7, 20)))


def of_pairs(script: Script) -> Script:
    """The script, with each element as the machine is given it."""
    return with_elements(script, lambda key, it: (key, element(it.value, it.timestamp, it.window)))


def seen_by_an_onlooker(machine: StatefulParDo, script: Script) -> list[Output]:
    """What must come out, from a look at the whole script: nothing here is ever forgotten."""
    outputs: list[Output] = []
    counts = Counter[tuple[Hashable, Window]]()
    watermark = MIN_TIMESTAMP
    for step, happens in enumerate(script):
        if isinstance(happens, AdvanceWatermark):
            watermark = happens.to
        arrived = happens.by_key().items() if isinstance(happens, Arrive) else ()
        for key, elements in arrived:
            for it in elements:
                for window in machine.window_fn.assign(it.timestamp):
                    missed_by = watermark - expiry(window, machine.allowed_lateness)
                    if missed_by > 0:
                        drop = Drop(it, window, DropReason.EXPIRED, missed_by)
                        outputs.append(Output(step, key, drop))
                        continue
                    counts[key, window] += 1
                    number = counts[key, window]
                    ((_, given_value), _) = it.value
                    values = [(number, given_value), *["third"] * (number % 3 == 0)]
                    panes = (pane(window, value, it.timestamp) for value in values)
                    outputs += (Output(step, key, came) for came in panes)
    return outputs


@law
@given(chance)
def test_each_element_is_taken_once_in_each_window_in_order_or_dropped(random: Random) -> None:
    machine, script = any_machine(random), of_pairs(any_script(random))

    assert list(run_in_memory(machine, script).outputs) == seen_by_an_onlooker(machine, script)
