"""Beam Python's module of that name, see ``beamlike.beam.userstate``."""

from beamlike.beam.userstate import *  # noqa: F403
from beamlike.beam.userstate import __all__ as __all__
