"""Beam's ``apache_beam.runners.portability.prism_runner``: what is here of it."""

from beamlike.api.pipelines.options import PrismRunner as PrismRunner
from beamlike.beam.options import pipeline_options as pipeline_options
