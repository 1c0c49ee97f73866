"""Instants and durations in seconds: Beam Python's ``utils.timestamp``."""

from beamlike.api.pipelines.python_windows import Duration, Timestamp

__all__ = ["Duration", "Timestamp"]
