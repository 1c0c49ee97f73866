"""Windows, and elements with a time: Beam Python's ``transforms.window``."""

from beamlike.api.pipelines.python_windows import (
    Duration,
    FixedWindows,
    IntervalWindow,
    Sessions,
    SlidingWindows,
    Timestamp,
    TimestampCombiner,
    TimestampedValue,
)
from beamlike.model.options import AccumulationMode
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import GlobalWindow

__all__ = [
    "AccumulationMode",
    "Duration",
    "FixedWindows",
    "GlobalWindow",
    "GlobalWindows",
    "IntervalWindow",
    "Sessions",
    "SlidingWindows",
    "Timestamp",
    "TimestampCombiner",
    "TimestampedValue",
]
