"""Beam's ``apache_beam.utils.windowed_value``: what is here of it."""

from beamlike.api.pipelines.python.panes import PANE_INFO_UNKNOWN as PANE_INFO_UNKNOWN
from beamlike.api.pipelines.python.panes import PaneInfo as PaneInfo
from beamlike.api.pipelines.python.panes import PaneInfoTiming as PaneInfoTiming
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP as MAX_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import MIN_TIMESTAMP as MIN_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.python.windows import BoundedWindow as BoundedWindow
from beamlike.api.pipelines.python.windows import WindowedValue as WindowedValue
