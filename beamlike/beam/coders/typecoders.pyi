"""Beam's ``apache_beam.coders.typecoders``: what is here of it."""

from beamlike.api.pipelines.coders import CoderRegistry as CoderRegistry
from beamlike.api.pipelines.coders import registry as registry
from beamlike.beam.coders import coders as coders
from beamlike.beam.typehints import typehints as typehints
from beamlike.beam.utils import windowed_value as windowed_value
