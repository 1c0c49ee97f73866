"""A row far ahead of all others does not move the watermark of its source alone.

The watermark of a source trails its greatest event time, so one wrong time in a backlog would end
the windows of all other rows. Rows lie in stretches, with gaps between them. A stretch that begins
more than ``max_jump`` after all other rows is from a wrong clock, or it is the first after a pause
in the data. It is not believed as long as its source delivers rows from before the gap: its rows
are elements like any other, and the watermark stays. Once the source has delivered no row from
before the gap for ``idle_after``, the stretch is believed, so that a real pause ends. Rows that are
more than ``max_jump`` behind count for neither side.

Nothing else is remembered: for the watermark, rows that are not believed have not arrived.
"""

from collections.abc import Iterable

Stretch = tuple[int, int, int]
"""Rows without a long gap between them: the least and the greatest event time, and how many keys
sent them."""


def is_near(end: int, known: int, max_jump: int) -> bool:
    """Whether rows whose greatest event time is ``end`` show that their source is still before the
    gap; ``known`` is the greatest event time of all rows before them (ticks)."""
    return end >= known - max_jump


def reach_of(
    stretches: Iterable[Stretch], known: int | None, max_jump: int, *, is_silent: bool
) -> int:
    """How far rows bring their source: rows with a greater event time are not believed.

    At first nothing is known of the source: then the stretch counts that most keys have sent.

    Args:
        stretches: The rows of a micro-batch, one stretch or more.
        known: The greatest event time before them; None: they are the first.
        is_silent: Whether no row from before a gap has come for long enough by the end of the
            micro-batch before. The time in which nothing ran is no evidence.
    """
    joined = list[Stretch]()
    for start, end, senders in sorted(stretches):
        if joined and start - joined[-1][1] <= max_jump:
            first, last, count = joined[-1]
            joined[-1] = (first, max(last, end), count + senders)
        else:
            joined.append((start, end, senders))
    if known is None:
        return max(joined, key=lambda stretch: stretch[2])[1]
    reach = known
    for start, end, _ in joined:
        if start - reach > max_jump:
            return end if is_silent else reach
        is_silent = is_silent and not is_near(end, known, max_jump)
        reach = max(reach, end)
    return reach
