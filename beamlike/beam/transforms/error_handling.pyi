"""Beam's ``apache_beam.transforms.error_handling``: what is here of it."""

from beamlike.beam import transforms as transforms
