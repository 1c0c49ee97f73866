"""Panes: what one firing of a window is called in the window's history.

The timings of a window's panes always read ``EARLY* ON_TIME? LATE*``.

Source: Beam Java, ``PaneInfo``, ``PaneInfoCoder`` and ``PaneInfoTracker.describePane``.
"""

from enum import Enum
from typing import Final

import attrs

from beamlike.errors import StateError
from beamlike.model.readable import Readable


class Timing(Enum):
    """When a pane fired, seen from its window's end."""

    EARLY = "EARLY"
    """Before the watermark passed the end of the window: a speculative result."""
    ON_TIME = "ON_TIME"
    """The first pane after the watermark passed the end of the window. At most one."""
    LATE = "LATE"
    """After the on-time pane, or after the key's output watermark had passed the window."""
    UNKNOWN = "UNKNOWN"
    """The element was never grouped."""


@attrs.frozen
class PaneInfo(metaclass=Readable):
    """Where a pane stands among the panes of its key and window.

    ``index`` counts all panes from 0. ``nonspeculative_index`` counts the panes that are
    not EARLY from 0, and is -1 for an EARLY one. ``is_last`` says that no pane can follow:
    the trigger finished, or the window expired.

    >>> PaneInfo(Timing.ON_TIME, 2, 0, is_first=False, is_last=False).timing
    <Timing.ON_TIME: 'ON_TIME'>
    """

    timing: Timing
    index: int
    nonspeculative_index: int
    is_first: bool
    is_last: bool

    def __str__(self) -> str:  # as Beam Python prints it
        return (
            f"PaneInfo(first: {self.is_first}, last: {self.is_last}, timing: {self.timing.value}, "
            f"index: {self.index}, nonspeculative_index: {self.nonspeculative_index})"
        )


NO_FIRING = PaneInfo(Timing.UNKNOWN, 0, 0, True, True)
"""The pane of an element that was never grouped. Source: Beam ``PaneInfo.NO_FIRING``."""


def next_pane(
    previous: PaneInfo | None, *, window_is_over: bool, output_moved_on: bool, is_last: bool
) -> PaneInfo:
    """Describe the pane that is about to be emitted.

    Args:
        previous: The last emitted pane of this window, None if there was none.
        window_is_over: The input watermark is past the window's last instant.
        output_moved_on: The key's output watermark is past it: downstream does not wait for it.
        is_last: The trigger finished with this firing, or the window expires.
    """
    only_early_so_far = previous is None or previous.timing is Timing.EARLY
    if output_moved_on or not only_early_so_far:
        timing = Timing.LATE
    elif not window_is_over:
        timing = Timing.EARLY
    else:
        timing = Timing.ON_TIME
    return PaneInfo(
        timing=timing,
        index=0 if previous is None else previous.index + 1,
        nonspeculative_index=(
            -1
            if timing is Timing.EARLY
            else 0
            if previous is None
            else previous.nonspeculative_index + 1
        ),
        is_first=previous is None,
        is_last=is_last,
    )


# -- on the wire -----------------------------------------------------------------------------

_TIMINGS: Final = (Timing.EARLY, Timing.ON_TIME, Timing.LATE, Timing.UNKNOWN)
_FIRST, _LAST, _TIMING_SHIFT, _TAG_SHIFT = 1, 2, 2, 4
_TWO_INDICES: Final = 2
_LARGEST: Final = 2**63 - 1


def encode_pane(info: PaneInfo) -> bytes:
    """A pane as Beam sends it: a byte, and the indexes that do not follow from it.

    Bit 0 says first, bit 1 last, bits 2 and 3 the timing (EARLY 0, ON_TIME 1, LATE 2, UNKNOWN
    3). The upper half says how many indexes follow, as variable-length integers.

    Source: Beam Java, ``PaneInfoCoder``.

    >>> encode_pane(NO_FIRING).hex(), encode_pane(PaneInfo(Timing.LATE, 300, 2, False, True)).hex()
    ('0f', '2aac0202')
    """
    byte = (
        _FIRST * info.is_first | _LAST * info.is_last | _TIMINGS.index(info.timing) << _TIMING_SHIFT
    )
    if info.timing is Timing.UNKNOWN or info.index == info.nonspeculative_index == 0:
        indexes: tuple[int, ...] = ()
    elif info.timing is Timing.EARLY or info.index == info.nonspeculative_index:
        indexes = (info.index,)
    else:
        indexes = (info.index, info.nonspeculative_index)
    return bytes([byte | len(indexes) << _TAG_SHIFT]) + b"".join(map(_varint, indexes))


def decode_pane(data: bytes) -> PaneInfo:
    """The pane that `encode_pane`, or Beam, wrote.

    Raises:
        StateError: The bytes are no pane: too few, too many, or of another layout.
    """
    if not data:
        raise StateError("a pane is at least one byte, got none")
    tag = data[0] >> _TAG_SHIFT
    if tag > _TWO_INDICES:
        raise StateError(
            f"a pane that begins with the byte 0x{data[0]:02x} has a layout that is not known "
            "here; the first half of that byte must be 0, 1 or 2"
        )
    timing = _TIMINGS[data[0] >> _TIMING_SHIFT & 3]
    indexes, rest = [], data[1:]
    for _ in range(tag):
        index, rest = _read_varint(rest, data)
        indexes.append(index)
    if rest:
        raise StateError(f"a pane ends before the last {len(rest)} of the bytes {data.hex(' ')}")
    index = indexes[0] if indexes else 0
    implied = -1 if timing is Timing.EARLY else index
    nonspeculative = indexes[1] if tag == _TWO_INDICES else implied
    return PaneInfo(timing, index, nonspeculative, bool(data[0] & _FIRST), bool(data[0] & _LAST))


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def _read_varint(data: bytes, pane: bytes) -> tuple[int, bytes]:
    number = 0
    for at, byte in enumerate(data):
        number |= (byte & 127) << 7 * at
        if byte < 128 and number <= _LARGEST:
            return number, data[at + 1 :]
        if number > _LARGEST:
            break
    raise StateError(f"an index of a pane is cut off or too large in the bytes {pane.hex(' ')}")
