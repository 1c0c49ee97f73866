"""Beam's ``apache_beam.runners.direct.direct_runner``: what is here of it."""

from beamlike.api.pipelines.groups import CombinePerKey as CombinePerKey
from beamlike.api.pipelines.options import BundleBasedDirectRunner as BundleBasedDirectRunner
from beamlike.api.pipelines.options import DirectRunner as DirectRunner
from beamlike.api.pipelines.options import PipelineRunner as PipelineRunner
from beamlike.api.pipelines.options import StandardOptions as StandardOptions
from beamlike.api.pipelines.options import SwitchingDirectRunner as SwitchingDirectRunner
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.pipeline import PCollection as PCollection
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.result import PipelineResult as PipelineResult
from beamlike.api.pipelines.result import PipelineState as PipelineState
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
from beamlike.beam import coders as coders
from beamlike.beam import typehints as typehints
from beamlike.beam.transforms import userstate as userstate
