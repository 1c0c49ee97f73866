"""Beam's ``apache_beam.metrics.execution``: what is here of it."""

from beamlike.api.pipelines.metrics import DistributionData as DistributionData
from beamlike.api.pipelines.metrics import MetricKey as MetricKey
from beamlike.api.pipelines.metrics import MetricName as MetricName
from beamlike.api.pipelines.metrics import MetricResult as MetricResult
