"""Beam's ``apache_beam.options``: what is here of it."""

from beamlike.beam.options import pipeline_options as pipeline_options
