"""Beam's ``apache_beam.runners.interactive.interactive_runner``: what is here of it."""

from beamlike.api.pipelines.options import InteractiveRunner as InteractiveRunner
from beamlike.api.pipelines.options import PipelineOptions as PipelineOptions
from beamlike.beam import runners as runners
from beamlike.beam.runners.direct import direct_runner as direct_runner
