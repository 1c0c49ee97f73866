"""Beam's ``apache_beam.runners.portability.fn_api_runner.fn_runner``: what is here of it."""

from beamlike.api.pipelines.metrics import MetricName as MetricName
from beamlike.api.pipelines.metrics import MetricResult as MetricResult
from beamlike.api.pipelines.options import FnApiRunner as FnApiRunner
from beamlike.api.pipelines.pipeline import Pipeline as Pipeline
from beamlike.beam.metrics import metric as metric
from beamlike.beam.options import pipeline_options as pipeline_options
from beamlike.beam.runners import runner as runner
from beamlike.beam.utils import timestamp as timestamp
