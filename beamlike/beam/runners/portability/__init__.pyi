"""Beam's ``apache_beam.runners.portability``: what is here of it."""

from beamlike.beam.runners.portability import fn_api_runner as fn_api_runner
from beamlike.beam.runners.portability import prism_runner as prism_runner
from beamlike.beam.runners.portability import spark_runner as spark_runner
