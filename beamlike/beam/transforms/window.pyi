"""Beam's ``apache_beam.transforms.window``: what is here of it."""

from beamlike.api.pipelines.python.durations import Duration as Duration
from beamlike.api.pipelines.python.durations import DurationTypes as DurationTypes
from beamlike.api.pipelines.python.timestamps import MIN_TIMESTAMP as MIN_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.python.window_fns import FixedWindows as FixedWindows
from beamlike.api.pipelines.python.window_fns import GlobalWindows as GlobalWindows
from beamlike.api.pipelines.python.window_fns import Sessions as Sessions
from beamlike.api.pipelines.python.window_fns import SlidingWindows as SlidingWindows
from beamlike.api.pipelines.python.windowing import TimestampCombiner as TimestampCombiner
from beamlike.api.pipelines.python.windows import BoundedWindow as BoundedWindow
from beamlike.api.pipelines.python.windows import GlobalWindow as GlobalWindow
from beamlike.api.pipelines.python.windows import IntervalWindow as IntervalWindow
from beamlike.api.pipelines.python.windows import TimestampedValue as TimestampedValue
from beamlike.api.pipelines.python.windows import WindowedValue as WindowedValue
from beamlike.beam.coders import coders as coders
from beamlike.beam.transforms import timeutil as timeutil
from beamlike.beam.utils import windowed_value as windowed_value
