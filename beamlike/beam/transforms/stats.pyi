"""Beam's ``apache_beam.transforms.stats``: what is here of it."""

from beamlike.api.pipelines.approximate import ApproximateQuantiles as ApproximateQuantiles
from beamlike.api.pipelines.approximate import (
    ApproximateQuantilesCombineFn as ApproximateQuantilesCombineFn,
)
from beamlike.api.pipelines.approximate import ApproximateUnique as ApproximateUnique
from beamlike.api.pipelines.approximate import (
    ApproximateUniqueCombineFn as ApproximateUniqueCombineFn,
)
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
from beamlike.api.pipelines.pairs import FlatMapTuple as FlatMapTuple
from beamlike.api.pipelines.pairs import MapTuple as MapTuple
from beamlike.api.pipelines.pairs import Partition as Partition
from beamlike.api.pipelines.pairs import PartitionFn as PartitionFn
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.windowing import Windowing as Windowing
from beamlike.api.pipelines.python.windowing import WindowInto as WindowInto
from beamlike.api.pipelines.rows import GroupBy as GroupBy
from beamlike.api.pipelines.rows import Select as Select
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.windowing import Flatten as Flatten
from beamlike.api.pipelines.windowing import FlattenWith as FlattenWith
from beamlike.beam import coders as coders
from beamlike.beam import typehints as typehints
