"""Beam Python's package of that name: `pipeline_options`."""

from beamlike.beam.options import pipeline_options

__all__ = ["pipeline_options"]
