"""The Apache Beam / Scio model of windows, triggers and panes, on PySpark.

Start with `windowed` for DataFrames and with `beamlike.testing.TestStream` for scenarios.
Importing beamlike does not import pyspark; the first use of a Spark host does.
"""

from beamlike.api.windowed import split, windowed
from beamlike.model.aggregates import collect, count, max, mean, min, sum
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.strategy import (
    AccumulationMode,
    ClosingBehavior,
    OnTimeBehavior,
    TimestampCombiner,
    WindowingStrategy,
)
from beamlike.model.triggers import (
    AfterAll,
    AfterAny,
    AfterCount,
    AfterEach,
    AfterFirst,
    AfterProcessingTime,
    AfterSynchronizedProcessingTime,
    AfterWatermark,
    AlignTo,
    Always,
    DefaultTrigger,
    Delay,
    Never,
    OrFinally,
    Repeatedly,
)
from beamlike.model.windowfns import FixedWindows, GlobalWindows, Sessions, SlidingWindows
from beamlike.model.windows import GlobalWindow, IntervalWindow

__all__ = [
    "AccumulationMode",
    "AfterAll",
    "AfterAny",
    "AfterCount",
    "AfterEach",
    "AfterFirst",
    "AfterProcessingTime",
    "AfterSynchronizedProcessingTime",
    "AfterWatermark",
    "AlignTo",
    "Always",
    "ClosingBehavior",
    "DefaultTrigger",
    "Delay",
    "FixedWindows",
    "GlobalWindow",
    "GlobalWindows",
    "IntervalWindow",
    "Never",
    "OnTimeBehavior",
    "OrFinally",
    "PaneInfo",
    "Repeatedly",
    "Sessions",
    "SlidingWindows",
    "TimestampCombiner",
    "Timing",
    "WindowingStrategy",
    "collect",
    "count",
    "max",
    "mean",
    "min",
    "split",
    "sum",
    "windowed",
]
