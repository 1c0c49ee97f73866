"""All coders by Beam's names, and where they are declared.

A coder is declared for a class with ``coders.registry.register_coder(MyType, MyCoder)``.

Source: Beam Python ``apache_beam.coders``.
"""

from beamlike.api.pickle_coder import PickleCoder
from beamlike.model.coders import (
    BytesCoder,
    Coder,
    CoderRegistry,
    JsonCoder,
    StrUtf8Coder,
    registry,
)

__all__ = [
    "BytesCoder",
    "Coder",
    "CoderRegistry",
    "JsonCoder",
    "PickleCoder",
    "StrUtf8Coder",
    "registry",
]
