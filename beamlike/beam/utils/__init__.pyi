"""Beam's ``apache_beam.utils``: what is here of it."""

from beamlike.beam.utils import timestamp as timestamp
from beamlike.beam.utils import windowed_value as windowed_value
