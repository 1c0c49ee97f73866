"""The transforms that others are made of: Beam Python's ``transforms.core``."""

from beamlike.api.pipelines.combinefn import CombineFn
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import Create, Filter, FlatMap, Impulse, Map, ParDo
from beamlike.api.pipelines.groups import CombineGlobally, CombinePerKey, CombineValues, GroupByKey
from beamlike.api.pipelines.pairs import FlatMapTuple, MapTuple, Partition, PartitionFn
from beamlike.api.pipelines.python_windows import WindowInto
from beamlike.api.pipelines.rows import GroupBy, Select
from beamlike.api.pipelines.windowing import Flatten, FlattenWith

__all__ = [
    "CombineFn",
    "CombineGlobally",
    "CombinePerKey",
    "CombineValues",
    "Create",
    "DoFn",
    "Filter",
    "FlatMap",
    "FlatMapTuple",
    "Flatten",
    "FlattenWith",
    "GroupBy",
    "GroupByKey",
    "Impulse",
    "Map",
    "MapTuple",
    "ParDo",
    "Partition",
    "PartitionFn",
    "Select",
    "WindowInto",
]
