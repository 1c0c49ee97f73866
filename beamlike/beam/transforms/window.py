"""Beam Python's module of that name, see ``beamlike.beam.window``."""

from beamlike.beam.window import *  # noqa: F403
from beamlike.beam.window import __all__ as __all__
