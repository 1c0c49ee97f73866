"""Beam's ``apache_beam.utils.timestamp``: what is here of it."""

from beamlike.api.pipelines.python.durations import TIME_GRANULARITY as TIME_GRANULARITY
from beamlike.api.pipelines.python.durations import Duration as Duration
from beamlike.api.pipelines.python.durations import DurationTypes as DurationTypes
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP as MAX_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import MIN_TIMESTAMP as MIN_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
