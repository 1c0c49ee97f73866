"""Beam's ``apache_beam.utils.timestamp``: what is here of it."""

from beamlike.api.pipelines.python_windows import Duration as Duration
from beamlike.api.pipelines.python_windows import Timestamp as Timestamp
