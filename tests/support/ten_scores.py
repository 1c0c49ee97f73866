"""The ten scores of the article "Streaming 102", with the times of its figures, and every strategy
that it draws them under.
"""

from typing import Any, Final

import beamlike as bl
from beamlike.combine_fns import Sum
from beamlike.testing import PerfectWatermark, TestStream, stream_by_clock

SCORES: Final = (
    *((5, "12:00:26", "12:05:19"), (9, "12:01:26", "12:08:19"), (7, "12:02:26", "12:05:39")),
    *((8, "12:03:06", "12:07:06"), (3, "12:03:39", "12:06:13"), (4, "12:03:46", "12:06:26")),
    *((3, "12:04:19", "12:06:39"), (3, "12:06:39", "12:07:19"), (8, "12:07:26", "12:08:39")),
    (1, "12:07:46", "12:09:00"),
)
MOVES: Final = (
    *(("12:06:00", "12:02:00"), ("12:07:30", "12:04:00"), ("12:08:00", "12:06:00")),
    ("12:09:30", "12:08:00"),
)
TREE: Final = bl.AfterWatermark(early=bl.AfterProcessingTime("1 minute"), late=bl.AfterCount(1))


def heuristic() -> Any:
    """The scores with a watermark that the 9 misses."""
    arriving = [(clock, at, value) for value, at, clock in SCORES]
    moving = [(clock, to, None) for clock, to in MOVES]
    stream = TestStream()
    for clock, at, value in sorted([*arriving, *moving], key=lambda one: one[0]):
        stream = stream.at_processing_time(clock)
        if value is None:
            stream = stream.advance_watermark_to(at)
        else:
            stream = stream.add_elements_at_time(at, ("team", value))
    return stream.at_processing_time("12:10:00").advance_watermark_to_infinity()


def panes_of(accumulation: str, window: bl.WindowFn | None = None) -> dict[str, Any]:
    return {
        "window": window or bl.FixedWindows("2 minutes"),
        "trigger": TREE,
        "accumulation": accumulation,
        "allowed_lateness": "10 minutes",
    }


def batch() -> Any:
    return stream_by_clock([(("team", value), at, clock) for value, at, clock in SCORES])


def perfect() -> Any:
    pairs = [(("team", value), at, clock) for value, at, clock in SCORES]
    return stream_by_clock(pairs, PerfectWatermark())


FIGURES: Final[dict[str, Any]] = {
    "batch": lambda: batch().run(window=bl.GlobalWindows(), aggregate=Sum()),
    "fixed windows in batch": lambda: batch().run(
        window=bl.FixedWindows("2 minutes"), aggregate=Sum()
    ),
    "perfect watermark": lambda: perfect().run(
        window=bl.FixedWindows("2 minutes"), aggregate=Sum()
    ),
    "discarding": lambda: heuristic().run(**panes_of("discarding"), aggregate=Sum()),
    "accumulating": lambda: heuristic().run(**panes_of("accumulating"), aggregate=Sum()),
    "retracting": lambda: heuristic().run(**panes_of("retracting"), aggregate=Sum()),
    "sliding": lambda: heuristic().run(
        **panes_of("accumulating", bl.SlidingWindows("2 minutes", "1 minute")), aggregate=Sum()
    ),
    "sessions": lambda: heuristic().run(
        **panes_of("retracting", bl.Sessions("1 minute")), aggregate=Sum()
    ),
}


def sketch(accumulation: str = "accumulating", **more: Any) -> dict[str, Any]:
    """The scores with that watermark, as an address of the playground holds them."""
    elements = [
        {"clock": _ms(clock), "elements": [{"key": "team", "value": value, "at": _ms(time)}]}
        for value, time, clock in SCORES
    ]
    ends = (*MOVES, ("12:10:00", None))
    moves = [{"clock": _ms(clock), "watermark": to and _ms(to)} for clock, to in ends]
    trigger = {
        "type": "after_watermark",
        "early": {"type": "after_processing_time", "delay_ms": 60_000},
        "late": {"type": "after_count", "count": 1},
    }
    windowing = {
        "window": {"fn": "fixed", "size_ms": 120_000},
        "trigger": trigger,
        "accumulation": accumulation,
        "allowed_lateness_ms": 600_000,
        "timestamp_combiner": "end_of_window",
        "closing_behavior": "fire_if_non_empty",
        "on_time_behavior": "fire_always",
    }
    return {
        "title": "ten scores",
        "steps": sorted([*elements, *moves], key=lambda step: step["clock"]),
        "rule": {"rule": "drawn"},
        "strategies": [{"windowing": windowing, "aggregation": "sum"}],
    } | more


def _ms(time: str) -> int:
    hours, minutes, seconds = map(int, time.split(":"))
    return ((hours * 60 + minutes) * 60 + seconds) * 1000
