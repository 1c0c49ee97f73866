"""Beam's ``apache_beam.pipeline``: what is here of it."""

from beamlike.api.pipelines.options import PipelineOptions as PipelineOptions
from beamlike.api.pipelines.options import PipelineRunner as PipelineRunner
from beamlike.api.pipelines.options import SetupOptions as SetupOptions
from beamlike.api.pipelines.options import StandardOptions as StandardOptions
from beamlike.api.pipelines.options import TypeOptions as TypeOptions
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.pipeline import Pipeline as Pipeline
from beamlike.api.pipelines.result import PipelineResult as PipelineResult
from beamlike.beam import pvalue as pvalue
from beamlike.beam.coders import typecoders as typecoders
from beamlike.beam.transforms import ptransform as ptransform
from beamlike.beam.typehints import typehints as typehints
from beamlike.errors import TypeCheckError as TypeCheckError
