"""Beam's ``apache_beam.typehints.decorators``: what is here of it."""

from beamlike.api.pipelines.dofn import TaggedOutput as TaggedOutput
from beamlike.api.pipelines.hints import WithTypeHints as WithTypeHints
from beamlike.api.pipelines.hints import with_input_types as with_input_types
from beamlike.api.pipelines.hints import with_output_types as with_output_types
from beamlike.beam.typehints import typehints as typehints
from beamlike.errors import TypeCheckError as TypeCheckError
from beamlike.errors import TypeCheckError as _CompositeTypeHintError
from beamlike.errors import TypeCheckError as _SimpleTypeHintError

CompositeTypeHintError = _CompositeTypeHintError
"""`TypeCheckError`, by another name."""
SimpleTypeHintError = _SimpleTypeHintError
"""`TypeCheckError`, by another name."""
