"""Beam's ``apache_beam.io.external.generate_sequence``: what is here of it."""

from beamlike.api.pipelines.io.sequences import GenerateSequence as GenerateSequence
