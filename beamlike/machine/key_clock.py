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

    It is there from the key's first element on, and stays when the key has no windows: what comes
    late for them is late also when they are gone.
    """

    watermark: int
    greatest: int
    active_at: int

    @classmethod
    def after(cls, before: Self | None, greatest: int, source: SourceClock, clock: int) -> Self:
        """The clock of a key once elements have come, of which ``greatest`` is the greatest event
        time; ``before`` is its clock before them, see `at`, None if they are its first."""
        greatest = believed(greatest, source, clock)
        reached = source.resolution.earliest
        if before is not None:
            greatest, reached = max(greatest, before.greatest), before.watermark
        return cls(reached, greatest, clock).caught_up(source, clock)

    def caught_up(self, source: SourceClock, clock: int) -> Self:
        """The clock of a key at this processing time, if no element has come since."""
        reached = source.watermark(self.greatest, self.active_at, clock)
        if reached is None or reached <= self.watermark:
            return self
        return attrs.evolve(self, watermark=reached)

    def due(self, source: SourceClock, event: int) -> int | None:
        """The processing time past which the watermark is past an event time that it has not passed
        yet; None: no processing time will bring it there."""
        if source.idle_after is None or source.idle is not Idle.ADVANCE:
            return None
        return event - self.greatest + source.delay + self.active_at + source.idle_after
