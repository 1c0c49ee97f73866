"""Values as bytes: Beam Python's ``coders``."""

from beamlike.api.pipelines.coders import *  # noqa: F403
from beamlike.api.pipelines.coders import __all__ as __all__
