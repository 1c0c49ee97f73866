"""All coders by Beam's names.

Source: Beam Python ``apache_beam.coders``.
"""

from typing import Any

import attrs
import cloudpickle

from beamlike.model.coders import BytesCoder, Coder, JsonCoder, StrUtf8Coder

__all__ = ["BytesCoder", "Coder", "JsonCoder", "PickleCoder", "StrUtf8Coder"]


@attrs.frozen
class PickleCoder(Coder):
    """Anything, as a pickle. Decode only what you trust: a pickle can run any code.

    Source: Beam ``PickleCoder``.
    """

    def encode(self, value: Any) -> bytes:
        return cloudpickle.dumps(value)  # type: ignore[no-any-return]

    def decode(self, encoded: bytes) -> Any:
        return cloudpickle.loads(encoded)
