"""Beam Python's package of that name: `timestamp` and `windowed_value`."""

from beamlike.beam.utils import timestamp, windowed_value

__all__ = ["timestamp", "windowed_value"]
