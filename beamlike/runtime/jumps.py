"""Whether a watermark jumps over rows to come, or was kept from it.

A watermark trails the greatest event time of its source, so one row from a wrong clock can carry
it past rows that are still to come. No rule knows such a row from the first one after a pause. A
jump is what both have in common: the event times leave out a stretch so long that a row in the
place of the last one before it would be dropped from now on. That is a stretch longer than the
delay of the watermark, a window and the allowed lateness together. A backlog whose rows lie side by
side does not jump, however much of it is read at once.
"""

from collections.abc import Iterable, Sequence

import attrs

from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import SourceClock, believed
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.runtime.plan import Plan
from beamlike.runtime.progress import Delivered
from beamlike.runtime.store.index import ShardStatus


@attrs.frozen
class Jump:
    """The watermark goes from ``before``, where it would be without the rows after the gap, to
    ``after``, because of the row ``last``; both count ``resolution``. If it is ``held``, it stays
    at ``before``, because the source has a ``max_jump``."""

    before: int
    after: int
    last: str
    resolution: Resolution = MILLISECONDS
    held: bool = False

    @property
    def size(self) -> int:
        """How far it goes (ms)."""
        return self.resolution.to_ms(self.after - self.before)

    def __str__(self) -> str:
        show = self.resolution.show_instant
        if self.held:
            return f"at {show(self.before)}, not at {show(self.after)} by {self.last}"
        return f"from {show(self.before)} to {show(self.after)} by {self.last}"

    @property
    def describe(self) -> str:
        """The jump as a line of a log."""
        how = "does not jump" if self.held else "jumps"
        return f"the watermark {how} {MILLISECONDS.show_duration(self.size)}, {self}"


def jump_over(
    source: SourceClock, delivered: Iterable[Delivered], known: int, clock: int, wait: int
) -> Jump | None:
    """The jump that the rows of one micro-batch make the watermark of their source do, if any.

    Args:
        source: Of which source.
        delivered: Its rows.
        known: Its greatest event time before them (ms).
        clock: Processing time (ms).
        wait: See `WindowingStrategy.longest_wait`.
    """
    rows = list(delivered)
    top = known
    for start, end in sorted(stretch for row in rows for stretch in row.stretches):
        start, end = (believed(bound, source, clock) for bound in (start, end))
        if start - top > source.delay + wait:
            last = max(rows, key=lambda row: row.stretches[-1][-1])
            greatest = believed(last.stretches[-1][-1], source, clock)
            before, after = top - source.delay, greatest - source.delay
            return Jump(before, after, last.last, source.resolution)
        top = max(top, end)
    return None


def jump_of(
    plan: Plan, clocks: Clocks | None, delivered: Iterable[Delivered], status: ShardStatus
) -> Jump | None:
    """The jump that the watermark of a stage has done, or was kept from, because of these rows.

    Where another input holds it back, the stage has not jumped with its source.

    Args:
        plan: What the stage does.
        clocks: Those of its inputs; None: the only one has the host's watermark.
        delivered: The rows of its inputs in this micro-batch, by the positions of these.
        status: The status of a shard after it.
    """
    wait, now = plan.longest_wait, status.clock
    of_source: dict[int, list[Delivered]] = {}
    for rows in delivered:
        of_source.setdefault(rows.source, []).append(rows)
    for place, source_rows in of_source.items():
        source = plan.source if clocks is None else clocks.inputs[place]
        if not isinstance(source, SourceClock):
            continue
        earliest = source.resolution.earliest
        known: int | None = None
        if clocks is not None:
            reached = status.reached[place]
            held = None if reached is None else _held_jump(source, source_rows, reached, now)
            if held is not None:
                return held
            known = status.known[place] if status.known else None
        elif status.watermark > earliest:  # that of the host is for the next micro-batch
            known = status.watermark + source.delay
        if known is None or known <= earliest or wait is None:
            continue
        jump = jump_over(source, source_rows, known, now, wait)
        if jump is not None and (clocks is None or jump.after == status.watermark):
            return jump
    return None


def _held_jump(
    source: SourceClock, delivered: Sequence[Delivered], reached: int, clock: int
) -> Jump | None:
    """The jump that a ``max_jump`` has kept the watermark of a source from: after these rows its
    greatest event time (ms) is ``reached``, as far as it is believed."""
    last = max(delivered, key=lambda rows: rows.stretches[-1][-1])
    greatest = believed(last.stretches[-1][-1], source, clock)
    if source.max_jump is None or greatest <= reached:
        return None
    before, after = source.trailing(reached), source.trailing(greatest)
    return Jump(before, after, last.last, source.resolution, held=True)
