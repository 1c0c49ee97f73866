"""Beam Python's module of that name, see ``beamlike.beam.combiners``."""

from beamlike.beam.combiners import *  # noqa: F403
from beamlike.beam.combiners import __all__ as __all__
