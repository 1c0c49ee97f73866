"""Beam's ``apache_beam.transforms.periodicsequence``: what is here of it."""

from beamlike.api.pipelines.io.sequences import PeriodicImpulse as PeriodicImpulse
from beamlike.api.pipelines.io.sequences import PeriodicSequence as PeriodicSequence
from beamlike.api.pipelines.io.sequences import RebaseMode as RebaseMode
from beamlike.api.pipelines.python.durations import Duration as Duration
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP as MAX_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.python.timestamps import TimestampTypes as TimestampTypes
from beamlike.api.pipelines.python.windows import TimestampedValue as TimestampedValue
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.beam.transforms import core as core
from beamlike.beam.transforms import window as window
from beamlike.beam.utils import timestamp as timestamp
