"""Beam's ``apache_beam.metrics.metricbase``: what is here of it."""

from beamlike.api.pipelines.metrics import Counter as Counter
from beamlike.api.pipelines.metrics import Distribution as Distribution
from beamlike.api.pipelines.metrics import Gauge as Gauge
from beamlike.api.pipelines.metrics import MetricName as MetricName
