"""Beam's ``apache_beam.typehints.native_type_compatibility``: what is here of it."""

from beamlike.api.pipelines.hints.forms import normal as _convert_to_beam_type
from beamlike.api.pipelines.hints.forms import normal_all as _convert_to_beam_types
from beamlike.beam.typehints import typehints as typehints

convert_to_beam_type = _convert_to_beam_type
convert_to_beam_types = _convert_to_beam_types
