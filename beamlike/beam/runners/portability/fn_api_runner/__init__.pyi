"""Beam's ``apache_beam.runners.portability.fn_api_runner``: what is here of it."""

from beamlike.api.pipelines.options import FnApiRunner as FnApiRunner
from beamlike.beam.runners.portability.fn_api_runner import fn_runner as fn_runner
