"""Beam's ``apache_beam.transforms.error_handling``: what is here of it."""

from beamlike.api.pipelines.error_handling import ErrorHandler as ErrorHandler
from beamlike.beam import transforms as transforms
