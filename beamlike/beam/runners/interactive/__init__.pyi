"""Beam's ``apache_beam.runners.interactive``: what is here of it."""

from beamlike.beam.runners.interactive import interactive_runner as interactive_runner
