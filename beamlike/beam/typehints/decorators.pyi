"""Beam's ``apache_beam.typehints.decorators``: what is here of it."""

from beamlike.api.pipelines.dofn import TaggedOutput as TaggedOutput
from beamlike.api.pipelines.hints.declared import IOTypeHints as IOTypeHints
from beamlike.api.pipelines.hints.declared import WithTypeHints as WithTypeHints
from beamlike.api.pipelines.hints.declared import (
    disable_type_annotations as disable_type_annotations,
)
from beamlike.api.pipelines.hints.declared import get_type_hints as get_type_hints
from beamlike.api.pipelines.hints.declared import no_annotations as no_annotations
from beamlike.api.pipelines.hints.declared import with_input_types as with_input_types
from beamlike.api.pipelines.hints.declared import with_output_types as with_output_types
from beamlike.api.pipelines.hints.forms import normal as _convert_to_beam_type
from beamlike.beam.typehints import native_type_compatibility as native_type_compatibility
from beamlike.beam.typehints import typehints as typehints
from beamlike.errors import TypeCheckError as TypeCheckError
from beamlike.errors import TypeCheckError as _CompositeTypeHintError
from beamlike.errors import TypeCheckError as _SimpleTypeHintError

convert_to_beam_type = _convert_to_beam_type
CompositeTypeHintError = _CompositeTypeHintError
SimpleTypeHintError = _SimpleTypeHintError
