"""Beam's ``apache_beam.typehints.decorators``: what is here of it."""

from beamlike.api.pipelines.dofn import TaggedOutput as TaggedOutput
from beamlike.api.pipelines.types import with_input_types as with_input_types
from beamlike.api.pipelines.types import with_output_types as with_output_types
from beamlike.beam.typehints import typehints as typehints
