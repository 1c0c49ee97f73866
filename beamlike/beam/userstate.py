"""States and timers, which a DoFn has none of here: Beam Python's ``transforms.userstate``."""

from beamlike.api.pipelines.userstate import *  # noqa: F403
from beamlike.api.pipelines.userstate import __all__ as __all__
