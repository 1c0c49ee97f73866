"""Beam's ``apache_beam.runners.runner``: what is here of it."""

from beamlike.api.pipelines.options import PipelineOptions as PipelineOptions
from beamlike.api.pipelines.options import PipelineRunner as PipelineRunner
from beamlike.api.pipelines.options import SetupOptions as SetupOptions
from beamlike.api.pipelines.options import StandardOptions as StandardOptions
from beamlike.api.pipelines.options import TypeOptions as TypeOptions
from beamlike.api.pipelines.pipeline import Pipeline as Pipeline
from beamlike.api.pipelines.result import PipelineResult as PipelineResult
from beamlike.api.pipelines.result import PipelineState as PipelineState
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.beam import pvalue as pvalue
