"""Elements with their windows and panes: Beam Python's ``utils.windowed_value``."""

from beamlike.model.bundle import Windowed as WindowedValue
from beamlike.model.panes import PaneInfo
from beamlike.model.panes import Timing as PaneInfoTiming

__all__ = ["PaneInfo", "PaneInfoTiming", "WindowedValue"]
