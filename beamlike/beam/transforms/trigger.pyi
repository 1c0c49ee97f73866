"""Beam's ``apache_beam.transforms.trigger``: what is here of it."""

from beamlike.api.pipelines.python.durations import TIME_GRANULARITY as TIME_GRANULARITY
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP as MAX_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import MIN_TIMESTAMP as MIN_TIMESTAMP
from beamlike.api.pipelines.python.window_fns import GlobalWindows as GlobalWindows
from beamlike.api.pipelines.python.windowing import AfterProcessingTime as AfterProcessingTime
from beamlike.api.pipelines.python.windowing import TimestampCombiner as TimestampCombiner
from beamlike.api.pipelines.python.windows import GlobalWindow as GlobalWindow
from beamlike.api.pipelines.python.windows import WindowedValue as WindowedValue
from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
from beamlike.beam.transforms import combiners as combiners
from beamlike.beam.transforms import core as core
from beamlike.beam.utils import windowed_value as windowed_value
from beamlike.model.options import AccumulationMode as AccumulationMode
from beamlike.model.triggers import AfterAll as AfterAll
from beamlike.model.triggers import AfterAny as AfterAny
from beamlike.model.triggers import AfterCount as AfterCount
from beamlike.model.triggers import AfterEach as AfterEach
from beamlike.model.triggers import AfterWatermark as AfterWatermark
from beamlike.model.triggers import Always as Always
from beamlike.model.triggers import DefaultTrigger as DefaultTrigger
from beamlike.model.triggers import Never as Never
from beamlike.model.triggers import OrFinally as OrFinally
from beamlike.model.triggers import Repeatedly as Repeatedly
from beamlike.model.triggers import Trigger as _TriggerFn

TriggerFn = _TriggerFn
"""`Trigger`, by another name."""
