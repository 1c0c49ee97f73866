"""Beam Python's ``metrics.metric``."""

from beamlike.api.pipelines.metrics import *  # noqa: F403
from beamlike.api.pipelines.metrics import __all__ as __all__
