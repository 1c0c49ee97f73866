"""Tests as users have them, with pytest alone: no hypothesis, no extras. The last one fails."""

import beamlike as bl
from beamlike.testing import TestStream, emit_exactly, on_time_pane

orders = (
    TestStream()
    .add_elements_at_time("12:01:00", ("table 3", "tea"))
    .advance_watermark_to_infinity()
)
noon = ("12:00:00", "12:05:00")


def test_tea() -> None:
    results = orders.run(window=bl.FixedWindows("5 minutes"))
    results.should(emit_exactly(on_time_pane("table 3", ["tea"], *noon, is_last=True)))


def test_milk() -> None:
    results = orders.run(window=bl.FixedWindows("5 minutes"))
    results.should(emit_exactly(on_time_pane("table 3", ["milk"], *noon, is_last=True)))
