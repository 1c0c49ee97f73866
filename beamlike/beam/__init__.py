"""Beam's names in one place: ``import beamlike.beam as beam`` for ``import apache_beam as beam``.

    with beam.Pipeline() as p:
        counts = (
            p
            | beam.Create([("hi", "00:00:10"), ("hi", "00:00:50")])
            | beam.MapTuple(beam.TimestampedValue)
            | beam.WindowInto(beam.FixedWindows("1 minute"))
            | beam.combiners.Count.PerElement()
        )

A number that is a time or a duration counts seconds, as in Beam Python, in what is given and in
what comes out: windows, lateness, triggers, `TimestampedValue`, `WithTimestamps`,
`allowed_timestamp_skew`, what `FromDataFrame` and ``Pipeline.run`` wait for. Texts such as
``"10 minutes"`` and ``"00:01:30"``, ``timedelta`` and ``datetime`` do as well. What functions are
given (``DoFn.TimestampParam``, the bounds of windows, what `Reify` shows) is a `Timestamp`, exact
to the millisecond: what is finer is rounded down where it enters a pipeline.

``beamlike`` itself, ``beamlike.scio`` and ``beamlike.testing`` count milliseconds. Their windows,
triggers and elements with a time may stand in a pipeline here, because each knows its unit. A test
stream of ``beamlike.testing`` with a bare number other than 0 is refused.

What happens is as in Beam Java where the two differ.

Imports by module work as well: ``from beamlike.beam.transforms.window import FixedWindows``. Every
module of Beam Python is there with every name, out of a table: what is not here is refused when it
is used, with what to write instead. `install_as` lets programs run that import ``apache_beam``.

Read in this order: `here` (which names are here), `tree` (the modules), `alias` (this package under
the name of Beam), `version` (of Beam).

Source: Beam Python ``apache_beam``, by the same names; a docstring names its source where that is
another.
"""

from typing import TYPE_CHECKING

from beamlike.api.pipelines.batches import GroupIntoBatches
from beamlike.api.pipelines.cogroups import CoGroupByKey, Distinct
from beamlike.api.pipelines.combinefn import CombineFn
from beamlike.api.pipelines.dofn import TaggedOutput
from beamlike.api.pipelines.elements import Create, Filter, FlatMap, Impulse, Map
from beamlike.api.pipelines.frames import FromDataFrame, WriteRows, to_data_frame
from beamlike.api.pipelines.groups import CombineGlobally, CombinePerKey, CombineValues, GroupByKey
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
    ToString,
    Values,
    WithKeys,
)
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.durations import Duration
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.panes import PaneInfo
from beamlike.api.pipelines.python.times import ApplyPerKey, Reify, WithTimestamps
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.window_fns import (
    FixedWindows,
    GlobalWindows,
    NonMergingWindowFn,
    Sessions,
    SlidingWindows,
    WindowFn,
)
from beamlike.api.pipelines.python.windowing import (
    AfterProcessingTime,
    TimestampCombiner,
    WindowInto,
)
from beamlike.api.pipelines.python.windows import (
    GlobalWindow,
    IntervalWindow,
    TimestampedValue,
    WindowedValue,
)
from beamlike.api.pipelines.result import PipelineResult, PipelineState
from beamlike.api.pipelines.rows import GroupBy, Row, Select
from beamlike.api.pipelines.transform import PTransform, ptransform_fn
from beamlike.api.pipelines.views import AsDict, AsIter, AsList, AsMultiMap, AsSingleton
from beamlike.api.pipelines.waiting import WaitOn
from beamlike.api.pipelines.windowing import Flatten, FlattenWith, Remerge
from beamlike.beam import version
from beamlike.beam.alias import install_as
from beamlike.beam.tree import install
from beamlike.model.options import AccumulationMode, ClosingBehavior, OnTimeBehavior
from beamlike.model.panes import Timing
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

if TYPE_CHECKING:  # else when they are asked for
    from beamlike.beam import (
        coders,
        io,
        metrics,
        options,
        pvalue,
        testing,
        transforms,
        typehints,
        utils,
    )
    from beamlike.beam.transforms import combiners, trigger, userstate, window

__version__ = version.__version__
"""The version of Beam Python whose names these are."""

RemoveDuplicates = Distinct
"""`Distinct`, by its older name."""

install()

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
    "Map",
    "MapTuple",
    "MetricResult",
    "MetricResults",
    "Metrics",
    "MetricsFilter",
    "Never",
    "NonMergingWindowFn",
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
    "Timestamp",
    "TimestampCombiner",
    "TimestampedValue",
    "Timing",
    "ToString",
    "Values",
    "WaitOn",
    "WindowFn",
    "WindowInto",
    "WindowedValue",
    "WithKeys",
    "WithTimestamps",
    "WriteRows",
    "coders",
    "combiners",
    "install_as",
    "io",
    "metrics",
    "options",
    "ptransform_fn",
    "pvalue",
    "testing",
    "to_data_frame",
    "transforms",
    "trigger",
    "typehints",
    "userstate",
    "utils",
    "window",
]
