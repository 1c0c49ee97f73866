"""Beam's ``apache_beam.metrics.cells``: what is here of it."""

from beamlike.api.pipelines.metrics import DistributionData as DistributionData
from beamlike.api.pipelines.metrics import GaugeResult as GaugeResult
