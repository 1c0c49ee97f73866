"""Beam's ``apache_beam.transforms.ptransform``: what is here of it."""

from beamlike.api.pipelines.hints import WithTypeHints as WithTypeHints
from beamlike.api.pipelines.pipeline import Pipeline as Pipeline
from beamlike.api.pipelines.pvalues import DoOutputs as _DoOutputsTuple
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.transform import ptransform_fn as ptransform_fn
from beamlike.beam import coders as coders
from beamlike.beam import error as error
from beamlike.beam import pvalue as pvalue
from beamlike.beam.typehints import typehints as typehints
from beamlike.errors import TypeCheckError as TypeCheckError

DoOutputsTuple = _DoOutputsTuple
"""`DoOutputs`, by another name."""
