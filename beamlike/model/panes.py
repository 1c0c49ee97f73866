"""Panes: what one firing of a window is called in the window's history.

The timings of a window's panes always read ``EARLY* ON_TIME? LATE*``.

Source: Beam Java, ``PaneInfo`` and ``PaneInfoTracker.describePane``.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Literal

import attrs

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


TimingLike = Timing | Literal["EARLY", "ON_TIME", "LATE", "UNKNOWN"]


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
    """Describe the pane that is about to be emitted, after the previous one of its window, if any.

    Args:
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


def numbered_panes(panes: Sequence[PaneInfo]) -> tuple[list[PaneInfo], list[int]]:
    """The different panes among those of many elements, and of each element the number of its own.

    There are no numbers where all are alike. Elements of one firing share an object, so few are
    compared.

    >>> late = attrs.evolve(NO_FIRING, timing=Timing.LATE)
    >>> numbered_panes([NO_FIRING, late, late])[1]
    [0, 1, 1]
    """
    objects = {id(pane): pane for pane in panes}
    numbers = {pane: number for number, pane in enumerate(dict.fromkeys(objects.values()))}
    if len(numbers) < 2:
        return [*numbers], []
    of_object = {address: numbers[pane] for address, pane in objects.items()}
    return [*numbers], [of_object[id(pane)] for pane in panes]
