"""Beam's ``apache_beam.options.pipeline_options``: what is here of it."""

from beamlike.api.pipelines.option_classes import SetupOptions as SetupOptions
from beamlike.api.pipelines.option_classes import TypeOptions as TypeOptions
from beamlike.api.pipelines.options import PipelineOptions as PipelineOptions
from beamlike.api.pipelines.options import StandardOptions as StandardOptions
