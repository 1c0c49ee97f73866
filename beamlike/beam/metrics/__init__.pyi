"""Beam's ``apache_beam.metrics``: what is here of it."""

from beamlike.api.pipelines.metrics import Metrics as Metrics
from beamlike.api.pipelines.metrics import MetricsFilter as MetricsFilter
from beamlike.beam.metrics import cells as cells
from beamlike.beam.metrics import execution as execution
from beamlike.beam.metrics import metric as metric
from beamlike.beam.metrics import metricbase as metricbase
