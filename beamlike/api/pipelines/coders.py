"""All coders by Beam's names, and where they are declared.

A coder is declared for a class with ``coders.registry.register_coder(MyType, MyCoder)``. Pipelines
need none for plain values, which travel as they are. States of functions have them.

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
from beamlike.model.number_coders import BigIntegerCoder, BooleanCoder, FloatCoder, VarIntCoder

__all__ = [
    "BigIntegerCoder",
    "BooleanCoder",
    "BytesCoder",
    "Coder",
    "CoderRegistry",
    "FloatCoder",
    "JsonCoder",
    "PickleCoder",
    "StrUtf8Coder",
    "VarIntCoder",
    "registry",
]
