"""Beam's ``apache_beam.error``: what is here of it."""

from beamlike.errors import BeamlikeError as _BeamError
from beamlike.errors import PipelineError as PipelineError
from beamlike.errors import PipelineError as _TransformError

BeamError = _BeamError
"""`BeamlikeError`, by another name."""
TransformError = _TransformError
"""`PipelineError`, by another name."""
