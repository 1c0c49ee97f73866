"""Combine functions and what applies them: Beam Python's ``transforms.combiners``."""

from beamlike.api.pipelines.combiners import *  # noqa: F403
from beamlike.api.pipelines.combiners import __all__ as __all__
