"""Beam's ``apache_beam.transforms.deduplicate``: what is here of it."""

from beamlike.api.pipelines.coders import BooleanCoder as BooleanCoder
from beamlike.api.pipelines.deduplicating import Deduplicate as Deduplicate
from beamlike.api.pipelines.deduplicating import DeduplicatePerKey as DeduplicatePerKey
from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
from beamlike.beam import typehints as typehints
from beamlike.beam.transforms import core as core
from beamlike.beam.transforms import ptransform as ptransform
from beamlike.beam.transforms import userstate as userstate
from beamlike.beam.utils import timestamp as timestamp
