"""Beam's ``apache_beam.testing.test_pipeline``: what is here of it."""

from beamlike.api.pipelines.options import PipelineOptions as PipelineOptions
from beamlike.api.pipelines.pipeline import Pipeline as Pipeline
from beamlike.api.pipelines.result import PipelineState as PipelineState
from beamlike.testing.pipelines.contexts import TestPipeline as TestPipeline
