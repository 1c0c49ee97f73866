"""All coders by Beam's names, and where they are declared.

A coder is declared for a class with ``coders.registry.register_coder(MyType, MyCoder)``.

Source: Beam Python ``apache_beam.coders``.
"""

from typing import Any

import attrs
import cloudpickle

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


@attrs.frozen
class PickleCoder(Coder):
    """Anything, as a pickle. Decode only what you trust: a pickle can run any code.

    Equal values may have different pickles, so it is no coder for keys.

    Source: Beam ``PickleCoder``.
    """

    def encode(self, value: Any) -> bytes:
        return cloudpickle.dumps(value)  # type: ignore[no-any-return]

    def decode(self, encoded: bytes) -> Any:
        return cloudpickle.loads(encoded)
