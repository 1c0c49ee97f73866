"""Beam's names in one place: ``import beamlike.beam as beam`` for ``import apache_beam as beam``.

    with beam.Pipeline() as p:
        counts = (
            p
            | beam.Create([("hi", "00:00:10"), ("hi", "00:00:50")])
            | beam.MapTuple(beam.TimestampedValue)
            | beam.WindowInto(beam.FixedWindows("1 minute"))
            | beam.combiners.Count.PerElement()
        )

A number that is a time or a duration counts milliseconds, while Beam Python counts seconds: write
``"60 s"``, ``"10 minutes"``, a ``timedelta`` or a ``datetime``, and nobody has to know. Windows,
triggers and `TimestampedValue` refuse a bare number here, so that none is off by a thousand unseen.
Beam Python's `Timestamp` and `Duration` are there too: a ``datetime`` and a ``timedelta``. Times
that come out, such as ``DoFn.TimestampParam`` and the bounds of windows, are in milliseconds.

What happens is as in Beam Java where the two differ.

Source: Beam Python ``apache_beam``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from beamlike.api.pipelines import coders, combiners, metrics, userstate
from beamlike.api.pipelines.batches import BatchElements, GroupIntoBatches
from beamlike.api.pipelines.collection import PCollection
from beamlike.api.pipelines.combinefn import CombineFn
from beamlike.api.pipelines.dofn import DoFn, TaggedOutput
from beamlike.api.pipelines.elements import Create, Filter, FlatMap, Impulse, Map, ParDo
from beamlike.api.pipelines.frames import FromDataFrame, WriteRows, to_data_frame
from beamlike.api.pipelines.groups import (
    CoGroupByKey,
    CombineGlobally,
    CombinePerKey,
    CombineValues,
    Distinct,
    GroupByKey,
)
from beamlike.api.pipelines.metrics import (
    Counter,
    Distribution,
    Gauge,
    MetricResult,
    MetricResults,
    Metrics,
    MetricsFilter,
)
from beamlike.api.pipelines.options import PipelineOptions, SetupOptions, StandardOptions
from beamlike.api.pipelines.pairs import (
    FlatMapTuple,
    Keys,
    KvSwap,
    MapTuple,
    Partition,
    PartitionFn,
    Reshuffle,
    Values,
    WithKeys,
)
from beamlike.api.pipelines.passing import LogElements, Tee, WaitOn
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.api.pipelines.python_windows import (
    AfterProcessingTime,
    Duration,
    FixedWindows,
    Sessions,
    SlidingWindows,
    Timestamp,
    TimestampCombiner,
    TimestampedValue,
    WindowInto,
)
from beamlike.api.pipelines.result import PipelineResult, PipelineState
from beamlike.api.pipelines.rows import GroupBy, Row, Select
from beamlike.api.pipelines.stateful import ApplyPerKey
from beamlike.api.pipelines.texts import Regex, ToString
from beamlike.api.pipelines.times import Reify, WithTimestamps
from beamlike.api.pipelines.transform import PTransform, ptransform_fn
from beamlike.api.pipelines.views import AsDict, AsIter, AsList, AsMultiMap, AsSingleton
from beamlike.api.pipelines.windowing import Flatten, FlattenWith, Remerge
from beamlike.model.graph import Windowed as WindowedValue
from beamlike.model.options import AccumulationMode, ClosingBehavior, OnTimeBehavior
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.triggers import (
    AfterAll,
    AfterAny,
    AfterCount,
    AfterEach,
    AfterWatermark,
    Always,
    DefaultTrigger,
    Never,
    OrFinally,
    Repeatedly,
)
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import GlobalWindow, IntervalWindow

T = TypeVar("T")


class typehints:
    """Beam Python's module of that name: its decorators, which change nothing here."""

    @staticmethod
    def with_input_types(*_types: Any, **_named: Any) -> Callable[[T], T]:
        """The function or class as it is."""
        return lambda decorated: decorated

    @staticmethod
    def with_output_types(*_types: Any) -> Callable[[T], T]:
        """The function or class as it is."""
        return lambda decorated: decorated


class window:
    """Beam Python's module of that name."""

    AccumulationMode = AccumulationMode
    FixedWindows = staticmethod(FixedWindows)
    GlobalWindow = GlobalWindow
    GlobalWindows = GlobalWindows
    IntervalWindow = IntervalWindow
    Sessions = staticmethod(Sessions)
    SlidingWindows = staticmethod(SlidingWindows)
    TimestampCombiner = TimestampCombiner
    TimestampedValue = staticmethod(TimestampedValue)


class trigger:
    """Beam Python's module of that name."""

    AccumulationMode = AccumulationMode
    AfterAll = AfterAll
    AfterAny = AfterAny
    AfterCount = AfterCount
    AfterEach = AfterEach
    AfterProcessingTime = staticmethod(AfterProcessingTime)
    AfterWatermark = AfterWatermark
    Always = Always
    DefaultTrigger = DefaultTrigger
    OrFinally = OrFinally
    Repeatedly = Repeatedly


class pvalue:
    """Beam Python's module of that name."""

    AsDict = AsDict
    AsIter = AsIter
    AsList = AsList
    AsMultiMap = AsMultiMap
    AsSingleton = AsSingleton
    PCollection = PCollection
    Row = Row
    TaggedOutput = TaggedOutput


RemoveDuplicates = Distinct

_ABSENT: Final = {
    "ApproximateQuantiles": "write CombineGlobally(ApproxQuantiles(n)), of beamlike.model.combine",
    "ApproximateUnique": "write CombineGlobally(ApproxDistinct()), of beamlike.model.combine",
    "MapValues": "write MapTuple(lambda key, value: (key, ...))",
    "SortAndBatchElements": "write BatchElements(...)",
    "io": (
        "read with FromDataFrame(spark.read...), TestStream() or Create(...), and write with "
        "WriteRows(...) or to_data_frame(...)"
    ),
    "options": "PipelineOptions, StandardOptions and SetupOptions are here",
    "runners": 'a pipeline runs in this process, or with run(host="spark") on Spark',
    "testing": "assertions are in beamlike.testing",
    "transforms": "what it has is here: beam.Map, beam.window, beam.trigger, beam.userstate",
    "utils": "Timestamp and Duration are here",
}

if not TYPE_CHECKING:  # a type checker would take any name for one that there is

    def __getattr__(name: str) -> NoReturn:
        instead = f"; {_ABSENT[name]}" if name in _ABSENT else ""
        raise AttributeError(f"beamlike.beam has no {name!r}{instead}")


__all__ = [
    "AccumulationMode",
    "AfterAll",
    "AfterAny",
    "AfterCount",
    "AfterEach",
    "AfterProcessingTime",
    "AfterWatermark",
    "Always",
    "ApplyPerKey",
    "AsDict",
    "AsIter",
    "AsList",
    "AsMultiMap",
    "AsSingleton",
    "BatchElements",
    "ClosingBehavior",
    "CoGroupByKey",
    "CombineFn",
    "CombineGlobally",
    "CombinePerKey",
    "CombineValues",
    "Counter",
    "Create",
    "DefaultTrigger",
    "Distinct",
    "Distribution",
    "DoFn",
    "Duration",
    "Filter",
    "FixedWindows",
    "FlatMap",
    "FlatMapTuple",
    "Flatten",
    "FlattenWith",
    "FromDataFrame",
    "Gauge",
    "GlobalWindow",
    "GlobalWindows",
    "GroupBy",
    "GroupByKey",
    "GroupIntoBatches",
    "Impulse",
    "IntervalWindow",
    "Keys",
    "KvSwap",
    "LogElements",
    "Map",
    "MapTuple",
    "MetricResult",
    "MetricResults",
    "Metrics",
    "MetricsFilter",
    "Never",
    "OnTimeBehavior",
    "OrFinally",
    "PCollection",
    "PTransform",
    "PaneInfo",
    "ParDo",
    "Partition",
    "PartitionFn",
    "Pipeline",
    "PipelineOptions",
    "PipelineResult",
    "PipelineState",
    "Regex",
    "Reify",
    "Remerge",
    "RemoveDuplicates",
    "Repeatedly",
    "Reshuffle",
    "Row",
    "Select",
    "Sessions",
    "SetupOptions",
    "SlidingWindows",
    "StandardOptions",
    "TaggedOutput",
    "Tee",
    "Timestamp",
    "TimestampCombiner",
    "TimestampedValue",
    "Timing",
    "ToString",
    "Values",
    "WaitOn",
    "WindowInto",
    "WindowedValue",
    "WithKeys",
    "WithTimestamps",
    "WriteRows",
    "coders",
    "combiners",
    "metrics",
    "ptransform_fn",
    "pvalue",
    "to_data_frame",
    "trigger",
    "typehints",
    "userstate",
    "window",
]
