"""Beam's ``apache_beam.transforms.window``: what is here of it."""

from beamlike.api.pipelines.python_windows import Duration as Duration
from beamlike.api.pipelines.python_windows import FixedWindows as FixedWindows
from beamlike.api.pipelines.python_windows import IntervalWindow as IntervalWindow
from beamlike.api.pipelines.python_windows import Sessions as Sessions
from beamlike.api.pipelines.python_windows import SlidingWindows as SlidingWindows
from beamlike.api.pipelines.python_windows import Timestamp as Timestamp
from beamlike.api.pipelines.python_windows import TimestampCombiner as TimestampCombiner
from beamlike.api.pipelines.python_windows import TimestampedValue as TimestampedValue
from beamlike.beam.coders import coders as coders
from beamlike.beam.transforms import timeutil as timeutil
from beamlike.beam.utils import windowed_value as windowed_value
from beamlike.model.bundle import Windowed as _WindowedValue
from beamlike.model.windowfns import GlobalWindows as GlobalWindows
from beamlike.model.windows import GlobalWindow as GlobalWindow

WindowedValue = _WindowedValue
