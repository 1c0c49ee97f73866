"""Beam's ``apache_beam.runners``: what is here of it."""

from beamlike.api.pipelines.result import PipelineState as PipelineState
from beamlike.beam.runners import runner as runner
