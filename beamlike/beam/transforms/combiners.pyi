"""Beam's ``apache_beam.transforms.combiners``: what is here of it."""

from beamlike.api.pipelines.combiners import Count as Count
from beamlike.api.pipelines.combiners import CountCombineFn as CountCombineFn
from beamlike.api.pipelines.combiners import Largest as Largest
from beamlike.api.pipelines.combiners import Latest as Latest
from beamlike.api.pipelines.combiners import LatestCombineFn as LatestCombineFn
from beamlike.api.pipelines.combiners import Max as Max
from beamlike.api.pipelines.combiners import Mean as Mean
from beamlike.api.pipelines.combiners import MeanCombineFn as MeanCombineFn
from beamlike.api.pipelines.combiners import Min as Min
from beamlike.api.pipelines.combiners import Sample as Sample
from beamlike.api.pipelines.combiners import SampleCombineFn as SampleCombineFn
from beamlike.api.pipelines.combiners import SingleInputTupleCombineFn as SingleInputTupleCombineFn
from beamlike.api.pipelines.combiners import Smallest as Smallest
from beamlike.api.pipelines.combiners import Sum as Sum
from beamlike.api.pipelines.combiners import ToDict as ToDict
from beamlike.api.pipelines.combiners import ToDictCombineFn as ToDictCombineFn
from beamlike.api.pipelines.combiners import ToList as ToList
from beamlike.api.pipelines.combiners import ToListCombineFn as ToListCombineFn
from beamlike.api.pipelines.combiners import Top as Top
from beamlike.api.pipelines.combiners import TopCombineFn as TopCombineFn
from beamlike.api.pipelines.combiners import ToSet as ToSet
from beamlike.api.pipelines.combiners import ToSetCombineFn as ToSetCombineFn
from beamlike.api.pipelines.combiners import TupleCombineFn as TupleCombineFn
from beamlike.api.pipelines.python_windows import Duration as Duration
from beamlike.api.pipelines.python_windows import Timestamp as Timestamp
from beamlike.api.pipelines.types import with_input_types as with_input_types
from beamlike.api.pipelines.types import with_output_types as with_output_types
from beamlike.beam import typehints as typehints
from beamlike.beam.transforms import core as core
from beamlike.beam.transforms import ptransform as ptransform
from beamlike.beam.transforms import window as window
from beamlike.model.bundle import Windowed as _WindowedValue

WindowedValue = _WindowedValue
