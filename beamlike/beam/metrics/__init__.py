"""Counters, distributions and gauges: Beam Python's ``metrics``. `metric` names the same."""

from beamlike.api.pipelines.metrics import *  # noqa: F403
from beamlike.api.pipelines.metrics import __all__ as _names
from beamlike.beam.metrics import metric

__all__ = ["metric"]
__all__ += _names
