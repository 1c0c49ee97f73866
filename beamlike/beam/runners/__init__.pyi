"""Beam's ``apache_beam.runners``: what is here of it."""

from beamlike.api.pipelines.options import DirectRunner as DirectRunner
from beamlike.api.pipelines.options import PipelineRunner as PipelineRunner
from beamlike.api.pipelines.result import PipelineState as PipelineState
from beamlike.beam.runners import direct as direct
from beamlike.beam.runners import interactive as interactive
from beamlike.beam.runners import portability as portability
from beamlike.beam.runners import runner as runner
