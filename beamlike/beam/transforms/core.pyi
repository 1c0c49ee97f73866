"""Beam's ``apache_beam.transforms.core``: what is here of it."""

from beamlike.api.pipelines.combinefn import CombineFn as CombineFn
from beamlike.api.pipelines.elements import Create as Create
from beamlike.api.pipelines.elements import Filter as Filter
from beamlike.api.pipelines.elements import FlatMap as FlatMap
from beamlike.api.pipelines.elements import Impulse as Impulse
from beamlike.api.pipelines.elements import Map as Map
from beamlike.api.pipelines.groups import CombineGlobally as CombineGlobally
from beamlike.api.pipelines.groups import CombinePerKey as CombinePerKey
from beamlike.api.pipelines.groups import CombineValues as CombineValues
from beamlike.api.pipelines.groups import GroupByKey as GroupByKey
from beamlike.api.pipelines.hints import WithTypeHints as WithTypeHints
from beamlike.api.pipelines.hints import with_input_types as with_input_types
from beamlike.api.pipelines.hints import with_output_types as with_output_types
from beamlike.api.pipelines.options import SetupOptions as SetupOptions
from beamlike.api.pipelines.options import TypeOptions as TypeOptions
from beamlike.api.pipelines.pairs import FlatMapTuple as FlatMapTuple
from beamlike.api.pipelines.pairs import MapTuple as MapTuple
from beamlike.api.pipelines.pairs import Partition as Partition
from beamlike.api.pipelines.pairs import PartitionFn as PartitionFn
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.pipeline import Pipeline as Pipeline
from beamlike.api.pipelines.python.durations import Duration as Duration
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.window_fns import GlobalWindows as GlobalWindows
from beamlike.api.pipelines.python.window_fns import SlidingWindows as SlidingWindows
from beamlike.api.pipelines.python.windowing import TimestampCombiner as TimestampCombiner
from beamlike.api.pipelines.python.windowing import WindowInto as WindowInto
from beamlike.api.pipelines.python.windows import TimestampedValue as TimestampedValue
from beamlike.api.pipelines.python.windows import WindowedValue as WindowedValue
from beamlike.api.pipelines.rows import GroupBy as GroupBy
from beamlike.api.pipelines.rows import Select as Select
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.userstate import StateSpec as StateSpec
from beamlike.api.pipelines.userstate import TimerSpec as TimerSpec
from beamlike.api.pipelines.windowing import Flatten as Flatten
from beamlike.beam import coders as coders
from beamlike.beam import pvalue as pvalue
from beamlike.beam import typehints as typehints
from beamlike.beam.coders import typecoders as typecoders
from beamlike.beam.transforms import ptransform as ptransform
from beamlike.beam.transforms import userstate as userstate
from beamlike.errors import TypeCheckError as TypeCheckError
from beamlike.model.options import AccumulationMode as AccumulationMode
from beamlike.model.triggers import DefaultTrigger as DefaultTrigger
from beamlike.model.triggers import Trigger as _TriggerFn

TriggerFn = _TriggerFn
"""`Trigger`, by another name."""
