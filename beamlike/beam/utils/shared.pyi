"""Beam's ``apache_beam.utils.shared``: what is here of it."""

from beamlike.api.pipelines.shared import Shared as Shared
