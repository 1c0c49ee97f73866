"""Windows as bytes: what `get_window_coder` of a window function returns.

The core keeps windows by their bounds, whatever the coder; it only has to be deterministic.

Source: Beam Python ``coders.IntervalWindowCoder``, ``coders.GlobalWindowCoder``.
"""

import struct
from typing import Any

import attrs

from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.windows import GlobalWindow, IntervalWindow
from beamlike.model.coders import Coder

__all__ = ["GlobalWindowCoder", "IntervalWindowCoder"]


@attrs.frozen
class IntervalWindowCoder(Coder):
    """The bounds of a window, each as 8 bytes of milliseconds."""

    def encode(self, value: Any) -> bytes:
        return struct.pack(">qq", value.start.instant_ms, value.end.instant_ms)

    def decode(self, encoded: bytes) -> IntervalWindow:
        start, end = struct.unpack(">qq", encoded)
        return IntervalWindow(Timestamp.of_millis(start), Timestamp.of_millis(end))

    def is_deterministic(self) -> bool:
        return True


@attrs.frozen
class GlobalWindowCoder(Coder):
    """No bytes at all: there is one such window."""

    def encode(self, value: Any) -> bytes:
        return b""

    def decode(self, encoded: bytes) -> GlobalWindow:
        return GlobalWindow()

    def is_deterministic(self) -> bool:
        return True
