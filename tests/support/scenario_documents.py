"""Scenarios as files have them, for tests that are not about what is in them."""

from typing import Any


def scenario_document(**changes: Any) -> dict[str, Any]:
    """Two points of joe, and then their minute is over; ``changes`` are other parts."""
    return {
        "format": "beamlike-transcript-v1",
        "id": "minute",
        "title": "a minute of points",
        "windowing": {
            "window": {"fn": "fixed", "size_ms": 60_000, "offset_ms": 0},
            "trigger": {"type": "default"},
            "accumulation": "discarding",
            "allowed_lateness_ms": 0,
            "timestamp_combiner": "end_of_window",
            "closing_behavior": "fire_if_non_empty",
            "on_time_behavior": "fire_always",
        },
        "aggregation": "sum",
        "steps": [
            {"elements": [{"key": "joe", "value": v, "ts_ms": v} for v in (1, 2)]},
            {"advance_watermark_to_ms": 60_000},
        ],
        **changes,
    }
