"""The Apache Beam / Scio model of windows, triggers and panes, on PySpark.

Start with `windowed` for one grouping of a DataFrame, with `stream` for several in one query, and
with `beamlike.testing.TestStream` for scenarios. Pipelines of Python functions are written in the
words of Beam, ``import beamlike.beam as beam``, or of Scio, ``from beamlike.scio import ...``.
Importing beamlike does not import pyspark; the first use of a Spark host does.

To read the code, go from the ground up: `errors`, `model` (values), `machine` (the rules),
`runtime` (shards that keep state), `hosts` (where they run), `api` (what users call; `beam` and
`scio` are names of it), `dialects` (other systems' windows by name), `metrics` (what queries
count), `viz` and `testing`, `demo`, `cli`.
"""

from beamlike.api.dataframe.explain import explain_plan
from beamlike.api.dataframe.flatten import flatten
from beamlike.api.dataframe.joins import co_group, join
from beamlike.api.dataframe.lookup import look_up
from beamlike.api.dataframe.saved import drain, open_state
from beamlike.api.dataframe.stream import Stream, stream
from beamlike.api.dataframe.windowed import split, windowed
from beamlike.metrics import metrics_listener
from beamlike.model.aggregates import (
    approx_distinct,
    approx_quantiles,
    bottom,
    collect,
    combine,
    count,
    first,
    last,
    max,
    mean,
    min,
    sample,
    sum,
    top,
)
from beamlike.model.calendar import CalendarDays, CalendarMonths, CalendarWeeks, CalendarYears
from beamlike.model.combine import CombineFn
from beamlike.model.compatible import check_flatten
from beamlike.model.continuation import continuation
from beamlike.model.extra_triggers import (
    AfterDelta,
    AfterSilence,
    EveryCount,
    EveryEventTime,
    EveryProcessingTime,
)
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.report import StrategyReport, report
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
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
from beamlike.model.windowfns import (
    FixedWindows,
    GlobalWindows,
    Merge,
    MergingWindowFn,
    SlidingWindows,
    WindowFn,
)
from beamlike.model.windows import GLOBAL_WINDOW, GlobalWindow, IntervalWindow
from beamlike.viz.live import live_view

__all__ = [
    "GLOBAL_WINDOW",
    "AccumulationMode",
    "AfterAll",
    "AfterAny",
    "AfterCount",
    "AfterDelta",
    "AfterEach",
    "AfterFirst",
    "AfterProcessingTime",
    "AfterSilence",
    "AfterSynchronizedProcessingTime",
    "AfterWatermark",
    "AlignTo",
    "Always",
    "CalendarDays",
    "CalendarMonths",
    "CalendarWeeks",
    "CalendarYears",
    "ClosingBehavior",
    "CombineFn",
    "DefaultTrigger",
    "Delay",
    "EveryCount",
    "EveryEventTime",
    "EveryProcessingTime",
    "FixedWindows",
    "GlobalWindow",
    "GlobalWindows",
    "IntervalWindow",
    "LateCheck",
    "Merge",
    "MergingWindowFn",
    "Never",
    "OnTimeBehavior",
    "OrFinally",
    "PaneInfo",
    "Repeatedly",
    "Sessions",
    "SlidingWindows",
    "StrategyReport",
    "Stream",
    "TimestampCombiner",
    "Timing",
    "WindowFn",
    "WindowingStrategy",
    "approx_distinct",
    "approx_quantiles",
    "bottom",
    "check_flatten",
    "co_group",
    "collect",
    "combine",
    "continuation",
    "count",
    "drain",
    "explain_plan",
    "first",
    "flatten",
    "join",
    "last",
    "live_view",
    "look_up",
    "max",
    "mean",
    "metrics_listener",
    "min",
    "open_state",
    "report",
    "sample",
    "split",
    "stream",
    "sum",
    "top",
    "windowed",
]
