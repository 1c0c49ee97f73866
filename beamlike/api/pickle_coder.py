"""The coder of values of any kind."""

from typing import Any

import attrs
import cloudpickle

from beamlike.model.coders import Coder


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
