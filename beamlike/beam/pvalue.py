"""Collections, side inputs and outputs with a tag: Beam Python's ``pvalue``."""

from beamlike.api.pipelines.collection import PCollection
from beamlike.api.pipelines.dofn import TaggedOutput
from beamlike.api.pipelines.rows import Row
from beamlike.api.pipelines.views import AsDict, AsIter, AsList, AsMultiMap, AsSingleton

__all__ = [
    "AsDict",
    "AsIter",
    "AsList",
    "AsMultiMap",
    "AsSingleton",
    "PCollection",
    "Row",
    "TaggedOutput",
]
