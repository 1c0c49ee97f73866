"""The Apache Beam / Scio model of windows, triggers and panes, on PySpark.

Start with `windowed` for one grouping of a DataFrame, with `stream` for several in one query, and
with `beamlike.testing.TestStream` for scenarios. Pipelines of Python functions are written in the
words of Beam, ``import beamlike.beam as beam``, or of Scio, ``from beamlike.scio import ...``.
Importing beamlike does not import pyspark; the first use of a Spark host does.

Pipelines of the Apache Beam SDK itself run with ``--runner=beamlike.BeamlikeRunner``.

What is public is what ``__all__`` of these modules names. Everything else may change.

=========================  =====================================================================
``beamlike``               windows, triggers, strategies; DataFrames: `windowed`, `stream`,
                           aggregates; sessions, state and figures of running queries
``beamlike.combine_fns``   combine functions, for test streams and pipelines
``beamlike.errors``        what is raised, and warned of
``beamlike.kafka``         topics of Kafka: records as a stream, and panes as records
``beamlike.tables``        tables in which results land, for `upsert_into`
``beamlike.testing``       test streams, tests of queries and pipelines, matchers
``beamlike.playground``    a stream and its windowing to drag about, in a notebook
``beamlike.beam``          pipelines in the words of Beam Python, with its modules
``beamlike.scio``          pipelines in the words of Scio
``beamlike.dialects``      the windows of Kafka Streams, Flink, Apex and Akka Streams: ``kafka``,
                           ``flink``, ``apex``, ``akka``
=========================  =====================================================================

To read the code, go from the ground up: `safe_text` (users' values as text), `errors`, `extras`
(packages that only some parts need), `model` (values), `machine` (the rules), `runtime` (shards
that keep state), `hosts` (where they run), `api` (what users call; `beam`, `scio`, `combine_fns`,
`tables` and the module of Kafka are names of what there is), `palette` (how all figures look),
`inspect` (what queries do and have saved), `dialects` (other systems' windows by name), `runners`,
`viz` and `testing`, `demo`, `playground`, `cli`.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if not os.path.isdir(os.path.join(__path__[0], "testing")):
    # A checkout on a system without links: `beamlike.testing` is the folder beside this one.
    __path__.append(os.path.dirname(__path__[0]))

from beamlike import combine_fns, errors
from beamlike.api.dataframe.declared import state, timer
from beamlike.api.dataframe.flatten import flatten
from beamlike.api.dataframe.joins import co_group, join
from beamlike.api.dataframe.lookup import look_up
from beamlike.api.dataframe.stream import Stream, stream
from beamlike.api.dataframe.upserts import upsert_into
from beamlike.api.dataframe.windowed import split, windowed
from beamlike.api.explain import explain_plan
from beamlike.api.maintenance import drain, repartition
from beamlike.api.spark_names import no_such_name
from beamlike.inspect.live import live_view
from beamlike.inspect.metrics import metrics_listener
from beamlike.inspect.opening import open_state
from beamlike.model import aggregates, triggers
from beamlike.model.aggregates import *  # noqa: F403
from beamlike.model.calendar import CalendarDays, CalendarMonths, CalendarWeeks, CalendarYears
from beamlike.model.combine import CombineFn
from beamlike.model.compatible import check_flatten
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.extra_triggers import AfterDelta, AfterSilence, AfterTotal, EveryCount
from beamlike.model.interval_triggers import EveryEventTime, EveryProcessingTime
from beamlike.model.options import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
    OnTimeBehavior,
    TimestampCombiner,
    Unchanged,
)
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.presets import early_every, every_update, final_only, live_and_corrected
from beamlike.model.report import StrategyReport, report
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_parts import StrategyParts
from beamlike.model.time import DurationLike
from beamlike.model.trigger_base import continuation
from beamlike.model.trigger_context import ArrivedElements, TriggerContext
from beamlike.model.triggers import *  # noqa: F403
from beamlike.model.windowfns import (
    FixedWindows,
    GlobalWindows,
    Merge,
    MergingWindowFn,
    SlidingWindows,
    WindowFn,
)
from beamlike.model.windows import GLOBAL_WINDOW, GlobalWindow, IntervalWindow

if TYPE_CHECKING:
    from beamlike import beam as beam
    from beamlike import dialects as dialects
    from beamlike import kafka as kafka
    from beamlike import scio as scio
    from beamlike import tables as tables
    from beamlike import testing as testing
    from beamlike.hosts.spark.session import local_session as local_session

__all__ = [
    "GLOBAL_WINDOW",
    "AccumulationMode",
    "AfterDelta",
    "AfterSilence",
    "AfterTotal",
    "ArrivedElements",
    "CalendarDays",
    "CalendarMonths",
    "CalendarWeeks",
    "CalendarYears",
    "ClosingBehavior",
    "CombineFn",
    "CustomTrigger",
    "DurationLike",
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
    "OnTimeBehavior",
    "PaneInfo",
    "Sessions",
    "SlidingWindows",
    "StrategyParts",
    "StrategyReport",
    "Stream",
    "TimestampCombiner",
    "Timing",
    "TriggerContext",
    "Unchanged",
    "WindowFn",
    "WindowingStrategy",
    "check_flatten",
    "co_group",
    "combine_fns",
    "continuation",
    "drain",
    "early_every",
    "errors",
    "every_update",
    "explain_plan",
    "final_only",
    "flatten",
    "join",
    "live_and_corrected",
    "live_view",
    "local_session",
    "look_up",
    "metrics_listener",
    "open_state",
    "repartition",
    "report",
    "split",
    "state",
    "stream",
    "timer",
    "upsert_into",
    "windowed",
]
__all__ += aggregates.__all__  # as of the triggers, all that is public there
__all__ += triggers.__all__

_ON_DEMAND: Final = ("beam", "dialects", "kafka", "scio", "tables", "testing")
"""Public modules that are imported when they are asked for."""


def __dir__() -> list[str]:
    return sorted((*__all__, *_ON_DEMAND))


if not TYPE_CHECKING:  # or type checkers would find every name

    def __getattr__(name: str) -> Any:
        if name in _ON_DEMAND:
            return import_module(f"beamlike.{name}")
        if name == "BeamlikeRunner":  # Beam finds it by --runner=beamlike.BeamlikeRunner
            return import_module("beamlike.runners.beam").BeamlikeRunner
        if name == "local_session":  # without Spark the rest is there
            return import_module("beamlike.hosts.spark.session").local_session
        raise AttributeError(no_such_name(name, __all__), name=name, obj=sys.modules[__name__])
