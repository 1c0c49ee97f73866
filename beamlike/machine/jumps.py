"""When the rows of one micro-batch move a watermark so far that what follows will be too late.

A watermark trails the greatest event time of its source, so one row from a wrong clock can carry
it past rows that are still to come. No rule knows such a row from the first one after a pause. A
jump is what both have in common: the event times leave out a stretch so long that a row in the
place of the last one before it would be dropped from now on. That is a stretch longer than the
delay of the watermark, a window and the allowed lateness together. A backlog whose rows lie side by
side does not jump, however much of it is read at once.
"""

from collections.abc import Iterable, Sequence

import attrs

from beamlike.machine.clocks import SourceClock, believed
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.strategy import WindowingStrategy

Stretch = tuple[int, int]


@attrs.frozen
class Delivered:
    """The event times of some rows of a source.

    Args:
        source: The position of the source among the inputs, or its number.
        stretches: Where they lie (ms): from the first to the last of rows without a large gap.
        last: The row with the greatest event time, in words.
    """

    source: int
    stretches: Sequence[Stretch]
    last: str


@attrs.frozen
class Jump:
    """The watermark goes from ``before``, where it would be without the rows after the gap, to
    ``after``, because of the row ``last``; both count ``resolution``."""

    before: int
    after: int
    last: str
    resolution: Resolution = MILLISECONDS

    @property
    def size(self) -> int:
        """How far it goes (ms)."""
        return self.resolution.to_ms(self.after - self.before)

    def __str__(self) -> str:
        show = self.resolution.show_instant
        return f"from {show(self.before)} to {show(self.after)} by {self.last}"

    @property
    def describe(self) -> str:
        """The jump as a line of a log."""
        return f"the watermark jumps {MILLISECONDS.show_duration(self.size)}, {self}"


def longest_wait(strategy: WindowingStrategy) -> int | None:
    """How long after its event time an element may be too late at the earliest (ms).

    None if that is not known: in the global window none is ever too late, and a window function of
    the user's does not have to say how long its windows are.
    """
    longest = strategy.window_fn.longest_own_window
    return None if longest is None else longest + strategy.allowed_lateness


def jump_over(
    source: SourceClock, delivered: Iterable[Delivered], known: int, clock: int, wait: int
) -> Jump | None:
    """The jump that the rows of one micro-batch make the watermark of their source do, if any.

    Args:
        source: Of which source.
        delivered: Its rows.
        known: Its greatest event time before them (ms).
        clock: Processing time (ms).
        wait: See `longest_wait`.
    """
    rows = list(delivered)
    top = known
    for start, end in sorted(stretch for it in rows for stretch in it.stretches):
        start, end = (believed(bound, source, clock) for bound in (start, end))
        if start - top > source.delay + wait:
            last = max(rows, key=lambda it: it.stretches[-1][-1])
            greatest = believed(last.stretches[-1][-1], source, clock)
            before, after = top - source.delay, greatest - source.delay
            return Jump(before, after, last.last, source.resolution)
        top = max(top, end)
    return None
