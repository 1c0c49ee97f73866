"""Beam's ``apache_beam.transforms.userstate``: what is here of it."""

from beamlike.api.pipelines.coders import Coder as Coder
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.userstate import BagStateSpec as BagStateSpec
from beamlike.api.pipelines.userstate import CombiningValueStateSpec as CombiningValueStateSpec
from beamlike.api.pipelines.userstate import OrderedListStateSpec as OrderedListStateSpec
from beamlike.api.pipelines.userstate import ReadModifyWriteStateSpec as ReadModifyWriteStateSpec
from beamlike.api.pipelines.userstate import SetStateSpec as SetStateSpec
from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
from beamlike.api.pipelines.userstate import TimerSpec as TimerSpec
from beamlike.api.pipelines.userstate import on_timer as on_timer
from beamlike.beam.coders import coders as coders
from beamlike.beam.utils import windowed_value as windowed_value
