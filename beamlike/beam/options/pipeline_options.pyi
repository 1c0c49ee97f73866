"""Beam's ``apache_beam.options.pipeline_options``: what is here of it."""

from beamlike.api.pipelines.options import PipelineOptions as PipelineOptions
from beamlike.api.pipelines.options import SetupOptions as SetupOptions
from beamlike.api.pipelines.options import StandardOptions as StandardOptions
from beamlike.api.pipelines.options import TypeOptions as TypeOptions
