"""Beam's ``apache_beam.utils.windowed_value``: what is here of it."""

from beamlike.api.pipelines.python_windows import Timestamp as Timestamp
from beamlike.model.bundle import Windowed as _WindowedValue
from beamlike.model.panes import PaneInfo as PaneInfo
from beamlike.model.panes import Timing as _PaneInfoTiming

PaneInfoTiming = _PaneInfoTiming
WindowedValue = _WindowedValue
