"""Beam's ``apache_beam.runners.direct``: what is here of it."""

from beamlike.api.pipelines.options import DirectRunner as DirectRunner
from beamlike.beam.runners.direct import direct_runner as direct_runner
