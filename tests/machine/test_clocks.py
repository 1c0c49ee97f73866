"""Clocks do not go back, also without elements."""

import pytest

from beamlike.errors import WatermarkError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle, Element, Event
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.combine import Collect
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.memory import MemoryStage, run_in_memory
from beamlike.runtime.script import Arrive, Run, ScriptStep

MACHINE = Grouping(WindowingStrategy(FixedWindows(10)), Collect())
ELEMENT = Arrive((("k", Element(5, 5)),))
WATERMARK_REFUSED = (
    "the watermark cannot go back: it stands at 00:00:00.008 (8 ms), requested 00:00:00.007 (7 ms)"
)
CLOCK_REFUSED = WATERMARK_REFUSED.replace("the watermark", "processing time")


def refusal(*script: ScriptStep) -> str:
    with pytest.raises(WatermarkError) as refused:
        run_in_memory(MACHINE, script)
    return str(refused.value)


BACK = [
    pytest.param(AdvanceWatermark(8), AdvanceWatermark(7), WATERMARK_REFUSED, id="watermark"),
    pytest.param(AdvanceClock(8), AdvanceClock(7), CLOCK_REFUSED, id="clock"),
]


@pytest.mark.parametrize(("there", "back", "message"), BACK)
def test_a_clock_that_goes_back_is_refused(there: ScriptStep, back: ScriptStep, message: str):
    assert refusal(ELEMENT, there, back) == message


@pytest.mark.parametrize(("there", "back", "message"), BACK)
def test_a_clock_that_goes_back_is_refused_although_there_is_no_key(
    there: ScriptStep, back: ScriptStep, message: str
):
    assert refusal(there, back) == message
    assert refusal(there, back, ELEMENT) == message


@pytest.mark.parametrize(("there", "back", "message"), BACK)
def test_the_machine_itself_refuses_a_clock_that_goes_back(there: Event, back: Event, message: str):
    state, _ = MACHINE.step(KeyState(), Bundle((Element(5, 5),)))
    state, _ = MACHINE.step(state, there)
    with pytest.raises(WatermarkError) as refused:
        MACHINE.step(state, back)
    assert str(refused.value) == message


@pytest.mark.parametrize(("there", "back", "message"), BACK)
def test_the_refusal_counts_what_the_machine_counts(there: Event, back: Event, message: str):
    in_micros = WindowingStrategy(FixedWindows("10 us"))
    of_micros = message.replace(".008 (8 ms)", ".000008 (8 us)").replace(
        ".007 (7 ms)", ".000007 (7 us)"
    )
    for machine in Grouping(in_micros, Collect()), PassThrough(FixedWindows("10 us")):
        state, _ = machine.step(KeyState(), there)
        with pytest.raises(WatermarkError) as refused:
            machine.step(state, back)
        assert str(refused.value) == of_micros


def test_clocks_may_stand_still():
    still = (AdvanceWatermark(8), AdvanceWatermark(8), AdvanceClock(8), AdvanceClock(8))
    assert run_in_memory(MACHINE, still) == Run(still, ())


def test_processing_time_begins_at_zero():
    assert refusal(AdvanceClock(-1)) == (
        "processing time cannot go back: it stands at 00:00:00 (0 ms), requested "
        "1969-12-31 23:59:59.999 (-1 ms)"
    )


@pytest.mark.parametrize(("there", "back", "message"), BACK)
def test_a_step_that_is_refused_has_not_happened(there: ScriptStep, back: ScriptStep, message: str):
    stage = MemoryStage(MACHINE)
    stage.play(ELEMENT)
    stage.play(there)
    clocks = stage.watermark, stage.clock
    with pytest.raises(WatermarkError, match="cannot go back"):
        stage.play(back)
    assert (stage.watermark, stage.clock) == clocks
    assert stage.run == Run((ELEMENT, there), ())


def test_a_key_that_appears_late_starts_where_the_clocks_stand():
    dropped = run_in_memory(MACHINE, (AdvanceWatermark(10), ELEMENT)).drops
    assert [output.effect.missed_by for output in dropped] == [1]
