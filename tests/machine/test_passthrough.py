"""A stage that only assigns windows: it groups nothing, and knows its clocks."""

import pytest

import beamlike as bl
from beamlike.errors import WatermarkError, WindowingError
from beamlike.machine import events
from beamlike.machine.reference.state import KeyState
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.panes import NO_FIRING
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Output


def gap_of(value: int) -> int:
    if value == 5:
        raise KeyError("five")
    return 10


def arrive(*times: int) -> Arrive:
    return Arrive(tuple(("k", events.Element(time, time)) for time in times))


def test_each_element_comes_out_at_once_in_each_of_its_windows() -> None:
    stage = MemoryStage(PassThrough(bl.SlidingWindows(10, 5)))
    assert stage.play(arrive(7)) == (
        Output(0, "k", events.Pane(bl.IntervalWindow(5, 15), 7, 7, NO_FIRING)),
        Output(0, "k", events.Pane(bl.IntervalWindow(0, 10), 7, 7, NO_FIRING)),
    )
    assert stage.play(events.AdvanceWatermark(100)) == ()


def test_a_drop_of_a_known_key_says_where_the_watermark_stands() -> None:
    stage = MemoryStage(PassThrough(bl.Sessions(gap_of), "drop"))
    stage.play(arrive(1))
    stage.play(events.AdvanceWatermark(40))
    (output,) = stage.play(arrive(5))
    drop = output.effect
    assert drop == events.Drop(events.Element(5, 5), None, events.DropReason.FAILED)
    assert isinstance(drop, events.Drop)
    assert drop.watermark == 40


def test_only_the_clocks_are_remembered_and_nothing_holds_the_output_watermark() -> None:
    stage = MemoryStage(PassThrough(bl.FixedWindows(10)))
    for step in (arrive(1), events.AdvanceClock(33), events.AdvanceWatermark(40)):
        stage.play(step)
    assert stage.states == {"k": KeyState(40, 33, 40)}
    assert stage.output_watermark == 40


def test_no_clock_goes_back() -> None:
    machine, state = PassThrough(bl.FixedWindows(10)), KeyState.unseen(7, 3)
    with pytest.raises(WatermarkError):
        machine.step(state, events.AdvanceWatermark(6))
    with pytest.raises(WatermarkError):
        machine.step(state, events.AdvanceClock(2))


def test_elements_that_were_combined_before_are_refused() -> None:
    with pytest.raises(WindowingError) as error:
        PassThrough(bl.FixedWindows(10)).step(
            KeyState(), events.Bundle((events.Lifted(3, 2, bl.IntervalWindow(0, 10), 5),))
        )
    assert str(error.value) == (
        "a stage that only assigns windows was given 2 elements already combined in "
        "[00:00:00, 00:00:00.010); combine before a grouping only"
    )
