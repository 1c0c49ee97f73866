"""The ends of time, and clocks that jump by years: no element is lost, no window comes twice."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.machine.events import DropReason
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.testing import TestStream

YEAR = 365 * 86_400_000

ENDS = [
    MIN_TIMESTAMP,
    MIN_TIMESTAMP + 1,
    -1,
    END_OF_GLOBAL_WINDOW - 1,
    END_OF_GLOBAL_WINDOW,
    END_OF_GLOBAL_WINDOW + 1,
    MAX_TIMESTAMP - 1,
]
WINDOWS = [
    {"window": bl.FixedWindows("1 hour")},
    {"window": bl.FixedWindows("1 hour", offset="59 minutes")},
    {"window": bl.Sessions("1 hour")},
    {
        "window": bl.GlobalWindows(),
        "trigger": bl.Repeatedly(bl.AfterCount(1)),
        "accumulation": "discarding",
    },
]


@pytest.mark.parametrize("windowing", WINDOWS, ids=lambda it: str(it["window"]))
@pytest.mark.parametrize("timestamp", ENDS)
def test_an_element_at_an_end_of_time_comes_out_beside_the_others(
    windowing: dict[str, Any], timestamp: int
) -> None:
    stream = (
        TestStream()
        .add_elements_at_time(timestamp, ("edge", "odd"))
        .add_elements_at_time(5, ("middle", "good"))
        .advance_watermark_to_infinity()
    )

    results = stream.run(**windowing)

    came = [(pane.key, value) for pane in results.run.outputs for value in pane.effect.value]
    assert sorted(came) == [("edge", "odd"), ("middle", "good")]


def test_a_watermark_that_jumps_by_years_ends_each_window_once() -> None:
    stream = (
        TestStream()
        .add_elements_at_time(0, ("k", 1))
        .add_elements_at_time(100 * YEAR, ("k", 2))
        .advance_watermark_to(50 * YEAR)
        .add_elements_at_time(50 * YEAR, ("k", 3))
        .advance_watermark_to(8_000 * YEAR)
        .add_elements_at_time(7_999 * YEAR, ("k", 4))
        .advance_watermark_to_infinity()
    )

    results = stream.run(window=bl.FixedWindows("1 hour"))

    assert [
        (
            output.step,
            output.effect.window.start // YEAR,
            getattr(output.effect, "reason", None),
            output.effect.value,
        )
        for output in results.run.outputs
    ] == [
        (2, 0, None, [1]),
        (4, 50, None, [3]),
        (4, 100, None, [2]),
        (5, 7_999, DropReason.EXPIRED, 4),
    ]


def test_a_clock_that_jumps_by_years_fires_each_timer_once() -> None:
    early = bl.AfterWatermark(early=bl.AfterProcessingTime("1 minute"), late=bl.AfterCount(1))
    stream = (
        TestStream()
        .add_elements_at_time(0, ("k", 1))
        .advance_processing_time(1_000 * YEAR)
        .add_elements_at_time(1, ("k", 2))
        .advance_processing_time(8_000 * YEAR)
        .advance_processing_time(1)
        .advance_watermark_to_infinity()
    )

    results = stream.run(
        window=bl.FixedWindows("1 hour"),
        trigger=early,
        accumulation="discarding",
        allowed_lateness=0,
    )

    assert [
        (output.step, output.effect.info.timing.value, output.effect.value)
        for output in results.run.outputs
    ] == [(1, "EARLY", [1]), (3, "EARLY", [2]), (5, "ON_TIME", [])]
