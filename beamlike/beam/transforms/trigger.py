"""Beam Python's module of that name, see ``beamlike.beam.trigger``."""

from beamlike.beam.trigger import *  # noqa: F403
from beamlike.beam.trigger import __all__ as __all__
