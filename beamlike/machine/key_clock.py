"""A watermark of one key, that its own elements move.

Sources are devices, say, each with a clock, a link and a delay of its own: one is hours behind, and
what it sends is not late because others are ahead. So a key has the watermark that its input would
have if it were the only one to send. The rules are those of a source, see
`beamlike.machine.input_clocks`.
"""

from typing import Self

import attrs

from beamlike.machine.input_clocks import Idle, SourceClock, believed


@attrs.frozen
class KeyClock:
    """How far the elements of a key have brought its watermark.

    =============  ===================================================  ===================
    field          stored                                               cleared
    =============  ===================================================  ===================
    ``watermark``  the watermark after the key's last step              never, only forward
    ``greatest``   the greatest event time of its elements, as far as   never, only forward
                   it is `believed`
    ``active_at``  processing time of its last element                  never, only forward
    =============  ===================================================  ===================

    A key has one from its first element on, and keeps it when it has no windows: an element that is
    late for a window is late also after the window is gone.
    """

    watermark: int
    greatest: int
    active_at: int

    @classmethod
    def after(cls, before: Self | None, greatest: int, source: SourceClock, clock: int) -> Self:
        """The clock of a key after elements with this ``greatest`` event time (ticks) have arrived.

        ``before`` is its clock before them, after `caught_up`; None if they are its first elements.
        """
        greatest = believed(greatest, source, clock)
        reached = source.resolution.earliest
        if before is not None:
            greatest, reached = max(greatest, before.greatest), before.watermark
        return cls(reached, greatest, clock).caught_up(source, clock)

    def caught_up(self, source: SourceClock, clock: int) -> Self:
        """The clock of a key at a later processing time (ticks), without elements in between."""
        reached = source.watermark(self.greatest, self.active_at, clock)
        if reached is None or reached <= self.watermark:
            return self
        return attrs.evolve(self, watermark=reached)

    def due(self, source: SourceClock, event: int) -> int | None:
        """The processing time that the clock has to pass for the watermark to pass ``event``, which
        is ahead of it (ticks); None: processing time does not move the watermark."""
        if source.idle_after is None or source.idle is not Idle.ADVANCE:
            return None
        return event - self.greatest + source.delay + self.active_at + source.idle_after
