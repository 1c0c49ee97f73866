"""The computer's clock is asked for by hosts, and by no test stream."""

from datetime import timedelta

import pytest
from freezegun import freeze_time

from beamlike import AfterCount, AfterProcessingTime, AfterWatermark, FixedWindows
from beamlike.hosts.clock import wall_clock_ms
from beamlike.model.time import instant_ms
from beamlike.testing import TestStream, early_pane, emit_exactly, on_time_pane

NOON = "2022-03-08T12:00:00Z"
EVERY_MINUTE = AfterWatermark(early=AfterProcessingTime("1 minute"), late=AfterCount(1))


def test_the_wall_clock_is_the_time_of_the_computer() -> None:
    with freeze_time(NOON) as computer:
        assert wall_clock_ms() == instant_ms(NOON, "noon")
        computer.tick(timedelta(milliseconds=1))
        assert wall_clock_ms() == instant_ms(NOON, "noon") + 1


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
