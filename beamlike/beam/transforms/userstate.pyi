"""Beam's ``apache_beam.transforms.userstate``: what is here of it."""

from beamlike.api.pipelines.coders import Coder as Coder
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.userstate import BagStateSpec as BagStateSpec
from beamlike.api.pipelines.userstate import CombiningValueStateSpec as CombiningValueStateSpec
from beamlike.api.pipelines.userstate import MapStateSpec as MapStateSpec
from beamlike.api.pipelines.userstate import OrderedListStateSpec as OrderedListStateSpec
from beamlike.api.pipelines.userstate import ReadModifyWriteStateSpec as ReadModifyWriteStateSpec
from beamlike.api.pipelines.userstate import SetStateSpec as SetStateSpec
from beamlike.api.pipelines.userstate import StateSpec as StateSpec
from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
from beamlike.api.pipelines.userstate import TimerSpec as TimerSpec
from beamlike.api.pipelines.userstate import get_dofn_specs as get_dofn_specs
from beamlike.api.pipelines.userstate import is_stateful_dofn as is_stateful_dofn
from beamlike.api.pipelines.userstate import on_timer as on_timer
from beamlike.api.pipelines.userstate import on_window_expiration as on_window_expiration
from beamlike.api.pipelines.userstate import (
    requires_time_sorted_input as requires_time_sorted_input,
)
from beamlike.api.pipelines.userstate import validate_stateful_dofn as validate_stateful_dofn
from beamlike.beam.coders import coders as coders
from beamlike.beam.utils import windowed_value as windowed_value
