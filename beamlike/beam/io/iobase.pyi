"""Beam's ``apache_beam.io.iobase``: what is here of it."""

from beamlike.api.pipelines.elements import Impulse as Impulse
from beamlike.api.pipelines.io.range_trackers import RangeTracker as RangeTracker
from beamlike.api.pipelines.io.restrictions import RestrictionProgress as RestrictionProgress
from beamlike.api.pipelines.io.restrictions import RestrictionTracker as RestrictionTracker
from beamlike.api.pipelines.io.sinks import Sink as Sink
from beamlike.api.pipelines.io.sinks import Write as Write
from beamlike.api.pipelines.io.sinks import Writer as Writer
from beamlike.api.pipelines.io.sources import BoundedSource as BoundedSource
from beamlike.api.pipelines.io.sources import Read as Read
from beamlike.api.pipelines.io.sources import SourceBase as SourceBase
from beamlike.api.pipelines.io.sources import SourceBundle as SourceBundle
from beamlike.api.pipelines.io.watermark_estimators import WatermarkEstimator as WatermarkEstimator
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.windows import WindowedValue as WindowedValue
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.views import AsIter as AsIter
from beamlike.api.pipelines.views import AsSingleton as AsSingleton
from beamlike.beam import coders as coders
from beamlike.beam import pvalue as pvalue
from beamlike.beam.transforms import core as core
from beamlike.beam.transforms import ptransform as ptransform
from beamlike.beam.transforms import window as window
from beamlike.beam.utils import timestamp as timestamp
