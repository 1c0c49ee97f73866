"""Beam's ``apache_beam.transforms``: what is here of it."""

from typing import Union as Union

from beamlike.api.pipelines.batches import GroupIntoBatches as GroupIntoBatches
from beamlike.api.pipelines.cogroups import CoGroupByKey as CoGroupByKey
from beamlike.api.pipelines.cogroups import Distinct as Distinct
from beamlike.api.pipelines.cogroups import Distinct as _RemoveDuplicates
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
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.windowing import WindowInto as WindowInto
from beamlike.api.pipelines.rows import GroupBy as GroupBy
from beamlike.api.pipelines.rows import Select as Select
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.transform import ptransform_fn as ptransform_fn
from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
from beamlike.api.pipelines.windowing import Flatten as Flatten
from beamlike.beam import pvalue as pvalue
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

RemoveDuplicates = _RemoveDuplicates
"""`Distinct`, by another name."""
