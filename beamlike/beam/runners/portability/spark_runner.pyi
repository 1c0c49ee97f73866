"""Beam's ``apache_beam.runners.portability.spark_runner``: what is here of it."""

from beamlike.api.pipelines.options import SparkRunner as SparkRunner
from beamlike.beam.options import pipeline_options as pipeline_options
