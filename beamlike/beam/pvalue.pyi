"""Beam's ``apache_beam.pvalue``: what is here of it."""

from beamlike.api.pipelines.dofn import TaggedOutput as TaggedOutput
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.pipeline import PCollection as PCollection
from beamlike.api.pipelines.pipeline import Pipeline as Pipeline
from beamlike.api.pipelines.pvalues import DoOutputs as _DoOutputsTuple
from beamlike.api.pipelines.pvalues import PBegin as PBegin
from beamlike.api.pipelines.pvalues import PDone as PDone
from beamlike.api.pipelines.pvalues import PValue as PValue
from beamlike.api.pipelines.rows import Row as Row
from beamlike.api.pipelines.views import AsDict as AsDict
from beamlike.api.pipelines.views import AsIter as AsIter
from beamlike.api.pipelines.views import AsList as AsList
from beamlike.api.pipelines.views import AsMultiMap as AsMultiMap
from beamlike.api.pipelines.views import AsMultiMap as _MultiMap
from beamlike.api.pipelines.views import AsSideInput as AsSideInput
from beamlike.api.pipelines.views import AsSingleton as AsSingleton
from beamlike.api.pipelines.views import EmptySideInput as EmptySideInput
from beamlike.beam import coders as coders
from beamlike.beam import typehints as typehints

DoOutputsTuple = _DoOutputsTuple
"""`DoOutputs`, by another name."""
MultiMap = _MultiMap
"""`AsMultiMap`, by another name."""
