"""Beam's ``apache_beam.testing.test_stream``: what is here of it."""

from beamlike.api.pipelines.python.durations import Duration as Duration
from beamlike.api.pipelines.python.streams import TestStream as TestStream
from beamlike.api.pipelines.python.timestamps import MIN_TIMESTAMP as MIN_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.python.windows import TimestampedValue as TimestampedValue
from beamlike.api.pipelines.python.windows import WindowedValue as WindowedValue
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
from beamlike.api.pipelines.userstate import TimerSpec as TimerSpec
from beamlike.api.pipelines.userstate import on_timer as on_timer
from beamlike.beam import coders as coders
from beamlike.beam import pvalue as pvalue
from beamlike.beam.transforms import core as core
from beamlike.beam.transforms import window as window
from beamlike.beam.utils import timestamp as timestamp
