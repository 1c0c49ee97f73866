"""All coders by Beam's names, and where they are declared.

A coder is declared for a class with ``coders.registry.register_coder(MyType, MyCoder)``. Pipelines
need none for plain values, which travel as they are. States of functions have them.

Source: Beam Python ``apache_beam.coders``.
"""

from beamlike.api.pickle_coder import PickleCoder
from beamlike.model.coders import (
    BigIntegerCoder,
    BooleanCoder,
    BytesCoder,
    Coder,
    CoderRegistry,
    FloatCoder,
    JsonCoder,
    StrUtf8Coder,
    VarIntCoder,
    registry,
)

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
