"""Beam's ``apache_beam.metrics.metric``: what is here of it."""

from beamlike.api.pipelines.metrics import MetricResults as MetricResults
from beamlike.api.pipelines.metrics import Metrics as Metrics
from beamlike.api.pipelines.metrics import MetricsFilter as MetricsFilter
