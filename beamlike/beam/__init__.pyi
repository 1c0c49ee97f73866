"""Beam's ``apache_beam``: what is here of it."""

from beamlike.api.pipelines.batches import GroupIntoBatches as GroupIntoBatches
from beamlike.api.pipelines.cogroups import CoGroupByKey as CoGroupByKey
from beamlike.api.pipelines.cogroups import Distinct as Distinct
from beamlike.api.pipelines.cogroups import Distinct as _RemoveDuplicates
from beamlike.api.pipelines.combinefn import CombineFn as CombineFn
from beamlike.api.pipelines.dofn import TaggedOutput as TaggedOutput
from beamlike.api.pipelines.elements import Create as Create
from beamlike.api.pipelines.elements import Filter as Filter
from beamlike.api.pipelines.elements import FlatMap as FlatMap
from beamlike.api.pipelines.elements import Impulse as Impulse
from beamlike.api.pipelines.elements import Map as Map
from beamlike.api.pipelines.frames import FromDataFrame as FromDataFrame
from beamlike.api.pipelines.frames import WriteRows as WriteRows
from beamlike.api.pipelines.frames import to_data_frame as to_data_frame
from beamlike.api.pipelines.groups import CombineGlobally as CombineGlobally
from beamlike.api.pipelines.groups import CombinePerKey as CombinePerKey
from beamlike.api.pipelines.groups import CombineValues as CombineValues
from beamlike.api.pipelines.groups import GroupByKey as GroupByKey
from beamlike.api.pipelines.metrics import Counter as Counter
from beamlike.api.pipelines.metrics import Distribution as Distribution
from beamlike.api.pipelines.metrics import Gauge as Gauge
from beamlike.api.pipelines.metrics import MetricResult as MetricResult
from beamlike.api.pipelines.metrics import MetricResults as MetricResults
from beamlike.api.pipelines.metrics import Metrics as Metrics
from beamlike.api.pipelines.metrics import MetricsFilter as MetricsFilter
from beamlike.api.pipelines.options import PipelineOptions as PipelineOptions
from beamlike.api.pipelines.options import SetupOptions as SetupOptions
from beamlike.api.pipelines.options import StandardOptions as StandardOptions
from beamlike.api.pipelines.pairs import FlatMapTuple as FlatMapTuple
from beamlike.api.pipelines.pairs import Keys as Keys
from beamlike.api.pipelines.pairs import KvSwap as KvSwap
from beamlike.api.pipelines.pairs import MapTuple as MapTuple
from beamlike.api.pipelines.pairs import Partition as Partition
from beamlike.api.pipelines.pairs import PartitionFn as PartitionFn
from beamlike.api.pipelines.pairs import Reshuffle as Reshuffle
from beamlike.api.pipelines.pairs import Values as Values
from beamlike.api.pipelines.pairs import WithKeys as WithKeys
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.pipeline import PCollection as PCollection
from beamlike.api.pipelines.pipeline import Pipeline as Pipeline
from beamlike.api.pipelines.python.durations import Duration as Duration
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.functions import WithTimestamps as WithTimestamps
from beamlike.api.pipelines.python.panes import PaneInfo as PaneInfo
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.python.window_fns import FixedWindows as FixedWindows
from beamlike.api.pipelines.python.window_fns import GlobalWindows as GlobalWindows
from beamlike.api.pipelines.python.window_fns import Sessions as Sessions
from beamlike.api.pipelines.python.window_fns import SlidingWindows as SlidingWindows
from beamlike.api.pipelines.python.windowing import AfterProcessingTime as AfterProcessingTime
from beamlike.api.pipelines.python.windowing import TimestampCombiner as TimestampCombiner
from beamlike.api.pipelines.python.windowing import WindowInto as WindowInto
from beamlike.api.pipelines.python.windows import GlobalWindow as GlobalWindow
from beamlike.api.pipelines.python.windows import IntervalWindow as IntervalWindow
from beamlike.api.pipelines.python.windows import TimestampedValue as TimestampedValue
from beamlike.api.pipelines.python.windows import WindowedValue as WindowedValue
from beamlike.api.pipelines.result import PipelineResult as PipelineResult
from beamlike.api.pipelines.result import PipelineState as PipelineState
from beamlike.api.pipelines.rows import GroupBy as GroupBy
from beamlike.api.pipelines.rows import Row as Row
from beamlike.api.pipelines.rows import Select as Select
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.transform import ptransform_fn as ptransform_fn
from beamlike.api.pipelines.views import AsDict as AsDict
from beamlike.api.pipelines.views import AsIter as AsIter
from beamlike.api.pipelines.views import AsList as AsList
from beamlike.api.pipelines.views import AsMultiMap as AsMultiMap
from beamlike.api.pipelines.views import AsSingleton as AsSingleton
from beamlike.api.pipelines.windowing import Flatten as Flatten
from beamlike.api.pipelines.windowing import Remerge as Remerge
from beamlike.beam import coders as coders
from beamlike.beam import error as error
from beamlike.beam import io as io
from beamlike.beam import metrics as metrics
from beamlike.beam import options as options
from beamlike.beam import pipeline as pipeline
from beamlike.beam import pvalue as pvalue
from beamlike.beam import runners as runners
from beamlike.beam import testing as testing
from beamlike.beam import transforms as transforms
from beamlike.beam import typehints as typehints
from beamlike.beam import utils as utils
from beamlike.beam.alias import install_as as install_as
from beamlike.beam.options import pipeline_options as pipeline_options
from beamlike.beam.transforms import combiners as combiners
from beamlike.beam.transforms import core as core
from beamlike.beam.transforms import deduplicate as deduplicate
from beamlike.beam.transforms import ptransform as ptransform
from beamlike.beam.transforms import timeutil as timeutil
from beamlike.beam.transforms import trigger as trigger
from beamlike.beam.transforms import userstate as userstate
from beamlike.beam.transforms import util as util
from beamlike.beam.transforms import window as window
from beamlike.model.options import AccumulationMode as AccumulationMode
from beamlike.model.options import ClosingBehavior as ClosingBehavior
from beamlike.model.options import OnTimeBehavior as OnTimeBehavior
from beamlike.model.panes import Timing as Timing
from beamlike.model.triggers import AfterAll as AfterAll
from beamlike.model.triggers import AfterAny as AfterAny
from beamlike.model.triggers import AfterCount as AfterCount
from beamlike.model.triggers import AfterEach as AfterEach
from beamlike.model.triggers import AfterWatermark as AfterWatermark
from beamlike.model.triggers import Always as Always
from beamlike.model.triggers import DefaultTrigger as DefaultTrigger
from beamlike.model.triggers import Never as Never
from beamlike.model.triggers import OrFinally as OrFinally
from beamlike.model.triggers import Repeatedly as Repeatedly

RemoveDuplicates = _RemoveDuplicates
"""`Distinct`, by another name."""
__version__: str
__all__ = [
    "AccumulationMode",
    "AfterAll",
    "AfterAny",
    "AfterCount",
    "AfterEach",
    "AfterProcessingTime",
    "AfterWatermark",
    "Always",
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
    "Values",
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
