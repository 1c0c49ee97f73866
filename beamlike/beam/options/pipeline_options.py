"""Options of pipelines: Beam Python's ``options.pipeline_options``."""

from beamlike.api.pipelines.options import PipelineOptions, SetupOptions, StandardOptions

__all__ = ["PipelineOptions", "SetupOptions", "StandardOptions"]
