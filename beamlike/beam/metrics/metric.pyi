"""Beam's ``apache_beam.metrics.metric``: what is here of it."""

from beamlike.api.pipelines.metrics import Counter as Counter
from beamlike.api.pipelines.metrics import Distribution as Distribution
from beamlike.api.pipelines.metrics import Gauge as Gauge
from beamlike.api.pipelines.metrics import MetricKey as MetricKey
from beamlike.api.pipelines.metrics import MetricName as MetricName
from beamlike.api.pipelines.metrics import MetricResult as MetricResult
from beamlike.api.pipelines.metrics import MetricResults as MetricResults
from beamlike.api.pipelines.metrics import Metrics as Metrics
from beamlike.api.pipelines.metrics import MetricsFilter as MetricsFilter
from beamlike.beam.metrics import cells as cells
