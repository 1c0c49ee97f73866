"""The computer's clock drives what runs live, and nothing else."""

from datetime import timedelta

import pytest
from freezegun import freeze_time

from beamlike import AfterCount, AfterProcessingTime, AfterWatermark, FixedWindows, Repeatedly
from beamlike.errors import TimeError, WatermarkError
from beamlike.hosts.clock import wall_clock_ms
from beamlike.machine.events import Drop, DropReason, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, instant_ms
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Output, Run
from beamlike.testing import TestStream, early_pane, emit_exactly, on_time_pane
from tests.support.machines.live_stage import LiveStage
from tests.support.refusals import refusal

NOON = "2022-03-08T12:00:00Z"
EVERY_MINUTE = AfterWatermark(early=AfterProcessingTime("1 minute"), late=AfterCount(1))
STRATEGY = WindowingStrategy(FixedWindows("10 minutes"), EVERY_MINUTE)
WINDOW = IntervalWindow(0, 600_000)


def a_pane(step: int, value: list[str], info: PaneInfo) -> Output:
    return Output(step, "joe", Pane(WINDOW, value, WINDOW.max_timestamp, info))


def test_the_wall_clock_is_the_time_of_the_computer() -> None:
    with freeze_time(NOON) as computer:
        assert wall_clock_ms() == instant_ms(NOON, "noon")
        computer.tick(timedelta(milliseconds=1))
        assert wall_clock_ms() == instant_ms(NOON, "noon") + 1


def test_a_frozen_clock_fires_nothing_and_a_moved_one_fires_past_its_target() -> None:
    with freeze_time(NOON) as computer:
        stage = LiveStage(STRATEGY, Collect())

        assert stage.add("joe", "open app", "00:01:00") == ()
        assert stage.tick() == ()
        computer.tick(timedelta(minutes=1))  # exactly the target
        assert stage.tick() == ()
        computer.tick(timedelta(milliseconds=1))
        first = a_pane(3, ["open app"], PaneInfo(Timing.EARLY, 0, -1, True, False))
        assert stage.tick() == (first,)
        assert stage.tick() == ()


def test_what_became_due_comes_out_before_the_next_element_goes_in() -> None:
    with freeze_time(NOON) as computer:
        stage = LiveStage(STRATEGY, Collect())
        stage.add("joe", "open app", "00:01:00")
        computer.tick(timedelta(minutes=2))

        out = stage.add("joe", "close app", "00:02:00")

        assert out == (a_pane(2, ["open app"], PaneInfo(Timing.EARLY, 0, -1, True, False)),)
        assert stage.advance_watermark("00:10:00") == (
            a_pane(4, ["close app"], PaneInfo(Timing.ON_TIME, 1, 0, False, True)),
        )
        late = Element("too late", instant_ms("00:03:00", "late"))
        assert stage.add("joe", "too late", "00:03:00") == (
            Output(5, "joe", Drop(late, WINDOW, DropReason.EXPIRED, 1)),
        )


def test_a_clock_that_steps_back_stands_still_until_it_has_caught_up() -> None:
    with freeze_time(NOON) as computer:
        stage = LiveStage(STRATEGY, Collect())
        stage.add("joe", "open app", "00:01:00")
        computer.move_to("2022-03-08T11:00:00Z")
        assert stage.add("joe", "show product", "00:02:00") == ()
        computer.move_to("2022-03-08T12:01:00.001Z")

        fired = stage.tick()

        info = PaneInfo(Timing.EARLY, 0, -1, True, False)
        assert fired == (a_pane(3, ["open app", "show product"], info),)


def test_a_live_watermark_does_not_go_back() -> None:
    stage = LiveStage(STRATEGY, Collect(), clock=lambda: 0)
    stage.add("joe", "open app", "00:01:00")
    stage.advance_watermark("00:05:00")
    before = stage.run

    with pytest.raises(WatermarkError, match="the watermark cannot go back"):
        stage.advance_watermark("00:04:00")

    assert stage.run == before


def test_a_live_watermark_does_not_go_back_before_any_element_came() -> None:
    stage = LiveStage(STRATEGY, Collect(), clock=lambda: 0)
    stage.advance_watermark("00:05:00")

    assert refusal(WatermarkError, lambda: stage.advance_watermark("00:04:00")) == (
        "the watermark cannot go back: it stands at 00:05:00 (300000 ms), "
        "requested 00:04:00 (240000 ms)"
    )


def test_a_live_element_happens_before_the_end_of_time() -> None:
    stage = LiveStage(STRATEGY, Collect(), clock=lambda: 0)

    with pytest.raises(TimeError, match="timestamp must lie before 9223372036854775 ms"):
        stage.add("joe", "open app", MAX_TIMESTAMP)

    assert stage.run == Run((), ())


def test_a_live_run_can_be_replayed_on_any_day() -> None:
    with freeze_time(NOON) as computer:
        stage = LiveStage(STRATEGY, Collect())
        for minute in range(5):
            stage.add("joe", str(minute), f"00:0{minute}:00")
            stage.add("ben", str(minute), f"00:0{minute}:30")
            computer.tick(timedelta(seconds=45))
        stage.advance_watermark("00:10:00")

    with freeze_time("1999-12-31"):
        replayed = run_in_memory(Grouping(STRATEGY, Collect()), stage.run.script)

    assert len(replayed.panes) == 6
    assert replayed == stage.run


@pytest.mark.parametrize("day", ["1969-07-20", "2022-03-08", "2100-01-01"])
def test_a_test_stream_does_not_care_what_time_it_is(day: str) -> None:
    with freeze_time(day) as computer:
        stream = TestStream().add_elements_at_time("00:01:00", ("joe", "open app"))
        computer.tick(timedelta(hours=1))  # an hour passes while the test is being told
        stream = stream.advance_processing_time("1 minute")
        computer.move_to("2001-01-01")
        finished = stream.advance_processing_time(1).advance_watermark_to_infinity()

        results = finished.run(
            window=FixedWindows("10 minutes"),
            trigger=EVERY_MINUTE,
            allowed_lateness=0,
            accumulation="accumulating",
        )

    results.should(
        emit_exactly(
            early_pane("joe", ["open app"], "00:00:00", "00:10:00", is_last=False, step=2),
            on_time_pane(
                "joe", ["open app"], "00:00:00", "00:10:00", index=1, is_last=True, step=3
            ),
        )
    )


def test_a_watermark_that_goes_back_takes_no_output_with_it():
    now = [1_000]
    strategy = WindowingStrategy(
        FixedWindows("1 hour"), Repeatedly(AfterProcessingTime("1 second")), "discarding", 0
    )
    stage = LiveStage(strategy, Collect(), clock=lambda: now[0])
    stage.advance_watermark(10)
    stage.add("k", "v", 20)
    now[0] = 5_000

    with pytest.raises(WatermarkError, match="the watermark cannot go back"):
        stage.advance_watermark(5)

    assert [output.effect.value for output in stage.tick()] == [["v"]]
