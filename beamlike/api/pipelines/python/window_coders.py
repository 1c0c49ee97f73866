"""Windows and instants as bytes.

What `get_window_coder` of a window function returns only has to be deterministic: the core keeps
windows by their bounds, whatever the coder.

Source: Beam Python ``coders.IntervalWindowCoder``, ``coders.GlobalWindowCoder``,
``coders.TimestampCoder``.
"""

import struct
from typing import Any, Final

import attrs

from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.windows import GlobalWindow, IntervalWindow
from beamlike.model.coders import Coder

__all__ = ["GlobalWindowCoder", "IntervalWindowCoder", "TimestampCoder"]

_SHIFT: Final = 2**63


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
class TimestampCoder(Coder):
    """An instant as 8 bytes of milliseconds, whose order is that of the instants.

    Source: Beam Java ``InstantCoder``.
    """

    def encode(self, value: Timestamp) -> bytes:
        return struct.pack(">Q", value.instant_ms + _SHIFT)

    def decode(self, encoded: bytes) -> Timestamp:
        return Timestamp.of_millis(struct.unpack(">Q", encoded)[0] - _SHIFT)

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
