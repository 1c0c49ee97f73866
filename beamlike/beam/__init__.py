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
``"60 s"``, ``"10 minutes"``, a ``timedelta`` or a ``datetime``, and both agree. The windows,
`IntervalWindow`, the triggers, the lateness and `TimestampedValue` of this package refuse a bare
number, and a pipeline refuses a test stream in which one moves the watermark or the clock, or is a
time of elements. In other places it is taken as milliseconds: in what the function of
`WithTimestamps` returns, in what is written by `WriteRows` to a column of times, and in the
`TimestampedValue` of ``beamlike.testing``. `TimestampedValue` takes the very time that
``DoFn.TimestampParam`` gave to the function that calls it; what is reckoned from that is a bare
number.

Beam Python's `Timestamp` and `Duration` are there too: a ``datetime`` and a ``timedelta``. Times
that come out, such as ``DoFn.TimestampParam`` and the bounds of windows, are in milliseconds;
``Timestamp(millis=window.start)`` is a ``datetime``.

What happens is as in Beam Java where the two differ.

Imports by module work as well: ``from beamlike.beam.transforms.window import FixedWindows``. What
is not here says what to write instead: `absent` knows. The modules have Beam Python's names, and
re-export what is elsewhere: `window`, `trigger`, `pvalue`, `typehints`, `coders`, `combiners`,
`metrics`, `userstate`, and the packages `options`, `transforms` and `utils`.

Source: Beam Python ``apache_beam``.
"""

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
from beamlike.api.pipelines.logging_transforms import LogElements, Tee, WaitOn
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
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.api.pipelines.python_windows import (
    AfterProcessingTime,
    Duration,
    FixedWindows,
    IntervalWindow,
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
from beamlike.api.pipelines.strings import Regex, ToString
from beamlike.api.pipelines.times import Reify, WithTimestamps
from beamlike.api.pipelines.transform import PTransform, ptransform_fn
from beamlike.api.pipelines.views import AsDict, AsIter, AsList, AsMultiMap, AsSingleton
from beamlike.api.pipelines.windowing import Flatten, FlattenWith, Remerge
from beamlike.beam import (
    coders,
    combiners,
    metrics,
    options,
    pvalue,
    transforms,
    trigger,
    typehints,
    userstate,
    utils,
    window,
)
from beamlike.beam.absent import watch
from beamlike.model.bundle import Windowed as WindowedValue
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
from beamlike.model.windows import GlobalWindow

RemoveDuplicates = Distinct

watch(__name__)

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
    "options",
    "ptransform_fn",
    "pvalue",
    "to_data_frame",
    "transforms",
    "trigger",
    "typehints",
    "userstate",
    "utils",
    "window",
]
