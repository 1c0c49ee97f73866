"""Beam's ``apache_beam.transforms.util``: what is here of it."""

from beamlike.api.pipelines.batches import GroupIntoBatches as GroupIntoBatches
from beamlike.api.pipelines.cogroups import CoGroupByKey as CoGroupByKey
from beamlike.api.pipelines.cogroups import Distinct as Distinct
from beamlike.api.pipelines.cogroups import Distinct as _RemoveDuplicates
from beamlike.api.pipelines.combiners import CountCombineFn as CountCombineFn
from beamlike.api.pipelines.elements import Create as Create
from beamlike.api.pipelines.elements import FlatMap as FlatMap
from beamlike.api.pipelines.elements import Map as Map
from beamlike.api.pipelines.groups import CombinePerKey as CombinePerKey
from beamlike.api.pipelines.groups import GroupByKey as GroupByKey
from beamlike.api.pipelines.metrics import Metrics as Metrics
from beamlike.api.pipelines.pairs import Keys as Keys
from beamlike.api.pipelines.pairs import KvSwap as KvSwap
from beamlike.api.pipelines.pairs import MapTuple as MapTuple
from beamlike.api.pipelines.pairs import Reshuffle as Reshuffle
from beamlike.api.pipelines.pairs import Values as Values
from beamlike.api.pipelines.pairs import WithKeys as WithKeys
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.pipeline import PCollection as PCollection
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.python.windowing import TimestampCombiner as TimestampCombiner
from beamlike.api.pipelines.python.windows import TimestampedValue as TimestampedValue
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.transform import ptransform_fn as ptransform_fn
from beamlike.api.pipelines.userstate import BagStateSpec as BagStateSpec
from beamlike.api.pipelines.userstate import CombiningValueStateSpec as CombiningValueStateSpec
from beamlike.api.pipelines.userstate import ReadModifyWriteStateSpec as ReadModifyWriteStateSpec
from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
from beamlike.api.pipelines.userstate import TimerSpec as TimerSpec
from beamlike.api.pipelines.userstate import on_timer as on_timer
from beamlike.api.pipelines.views import AsSideInput as AsSideInput
from beamlike.api.pipelines.windowing import Flatten as Flatten
from beamlike.beam import coders as coders
from beamlike.beam import pvalue as pvalue
from beamlike.beam import typehints as typehints
from beamlike.beam.transforms import window as window
from beamlike.beam.utils import windowed_value as windowed_value
from beamlike.model.options import AccumulationMode as AccumulationMode
from beamlike.model.triggers import Always as Always

RemoveDuplicates = _RemoveDuplicates
"""`Distinct`, by another name."""
