"""Runs to look at: what a table orders, in time, late and too late."""

from typing import Any

import beamlike as bl
from beamlike.testing import TestStream
from beamlike.viz.recording import Recording

BY_FIVE: dict[str, Any] = {
    "window": bl.FixedWindows("5 minutes"),
    "trigger": bl.AfterWatermark(late=bl.AfterCount(1)),
    "accumulation": "accumulating",
    "allowed_lateness": "10 minutes",
}


def ordered(first: Any = "tea", key: Any = "table 3") -> TestStream:
    """Tea in time, milk late and salt too late, for windows of `BY_FIVE`."""
    return (
        TestStream()
        .add_elements_at_time("12:01:00", (key, first))
        .advance_watermark_to("12:05:00")
        .add_elements_at_time("12:04:00", (key, "milk"))
        .advance_watermark_to("12:15:00")
        .add_elements_at_time("12:04:30", (key, "salt"))
    )


def recorded(stream: TestStream, **windowing: Any) -> Recording:
    """The stream, played to its end."""
    results = stream.advance_watermark_to_infinity().run(**windowing)
    return Recording.of(results.run, results.strategy, results.aggregate)
