"""Beam's ``apache_beam.io.external``: what is here of it."""

from beamlike.beam.io.external import generate_sequence as generate_sequence
