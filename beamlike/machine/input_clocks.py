"""The clocks of the inputs of a stage: what moves a watermark, and what is remembered of it.

A source's watermark trails the greatest event time that it has delivered; where its parts have
watermarks of their own, such as partitions of Kafka, it is the least of those that are not idle.
The watermark of a grouping before is that grouping's output watermark, sent by each of its shards:
what it still holds back is not late here, see `next_output_watermark`. A
host that knows the watermark itself, as Spark does for ``withWatermark`` and a test stream for its
moves, gives it as one more update.

One row whose clock is wrong must not end the windows of all others. No event is from the future,
so a time ahead of the clock means that some clock is wrong. `is_far_ahead` decides which rows are
refused for that. Any other row moves the watermark of its source to the clock at most (`believed`):
events that happen now are still in time. A backlog lies behind the clock, and so may a wrong time
in it: see `beamlike.machine.gaps`.

Source: Beam ``WatermarkManager``; idle sources as Flink's ``withIdleness`` (``RELEASE``) and
Bytewax's ``EventClock`` (``ADVANCE``); the clock as limit as Beam's KafkaIO has it in
``CustomTimestampPolicyWithLimitedDelay``.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, Literal, Self

import attrs

from beamlike.model.resolution import MILLISECONDS, Resolution, rescaled


class Idle(Enum):
    """What happens to the watermark of a source that has become idle."""

    RELEASE = "release"
    """The others no longer wait for it. If all are idle, the greatest watermark of them counts."""
    ADVANCE = "advance"
    """It advances with the clock, as if the source delivered rows that are on time. The others no
    longer wait for a source that has never delivered any."""


DEFAULT_SILENCE: Final = 5 * 60_000
"""What a ``max_jump`` without an ``idle_after`` takes for a real gap (ms of processing time)."""

IdleLike = Idle | Literal["release", "advance"]


@attrs.frozen
class SourceClock:
    """An input whose watermark trails its own rows.

    Args:
        delay: How far event time may be out of order.
        idle_after: After how much processing time without a row it counts as idle; None: never.
        idle: What happens then.
        max_ahead: How far ahead of processing time an event time may lie, see `is_far_ahead`, which
            the host calls. Such a time moves the watermark to processing time at most. None: event
            times may lie in the future, and move the watermark there.
        by_part: Whether each part of the source has a watermark of its own. A part is idle after
            the same time as the source, and then the others no longer wait for it.
        max_jump: How far ahead of all rows before it an event time may lie and move the watermark
            at once, see `beamlike.machine.gaps`. None: any does.
        resolution: What all of these times count, if not milliseconds.
    """

    delay: int
    idle_after: int | None = None
    idle: Idle = Idle.RELEASE
    max_ahead: int | None = None
    by_part: bool = False
    max_jump: int | None = attrs.field(default=None, kw_only=True)
    resolution: Resolution = attrs.field(default=MILLISECONDS, eq=False)

    def in_resolution(self, resolution: Resolution) -> "SourceClock":
        """The same clock, in the ticks of a resolution."""
        return rescaled(self, resolution, "delay", "idle_after", "max_ahead", "max_jump")

    @property
    def silence(self) -> int:
        """How long no row may come before a gap ends (processing time)."""
        default = DEFAULT_SILENCE * self.resolution.per_ms
        return default if self.idle_after is None else self.idle_after

    def trailing(self, greatest: int) -> int:
        """The watermark that trails an event time, within the ends of time."""
        unit = self.resolution
        if greatest >= unit.end_of_time:  # nothing is out of order any more
            return unit.end_of_time
        return max(greatest - self.delay, unit.earliest)

    def watermark(self, greatest: int | None, active_at: int, clock: int) -> int | None:
        """The watermark of rows of which the last came at ``active_at``; None if they are idle.

        ``greatest`` is their greatest event time, as far as it is `believed`; None: none came.
        """
        idle_for = 0 if self.idle_after is None else clock - active_at - self.idle_after
        if idle_for > 0 and (self.idle is Idle.RELEASE or greatest is None):
            return None
        if greatest is None:
            return self.resolution.earliest
        moved = max(0, idle_for) if self.idle is Idle.ADVANCE else 0
        return self.trailing(greatest + moved)

    def to_json(self) -> list[Any]:
        return [self.delay, self.idle_after, self.idle.value, self.max_ahead, self.by_part]

    @classmethod
    def from_json(cls, saved: Sequence[Any], resolution: Resolution = MILLISECONDS) -> Self:
        delay, idle_after, idle, max_ahead, by_part = saved
        return cls(delay, idle_after, Idle(idle), max_ahead, by_part, resolution=resolution)


@attrs.frozen
class StageClock:
    """An input that is the output of a grouping, which has so many shards."""

    shards: int
    resolution: Resolution = attrs.field(default=MILLISECONDS, eq=False)

    def in_resolution(self, resolution: Resolution) -> "StageClock":
        """The same clock, in the ticks of a resolution."""
        return rescaled(self, resolution)


InputClock = SourceClock | StageClock


@attrs.frozen
class SourceProgress:
    """A source delivered rows; ``greatest`` is the greatest event time among them.

    Without rows that lie too far ahead of the clock, see `is_far_ahead`. ``part`` is the part of
    the source that delivered them; None: the source as a whole, with all parts that are known.
    Where the source has a ``max_jump``, no gap between their event times is longer than that;
    ``start`` is the least of these, None if all are one, and ``senders`` how many keys sent them,
    or where keys are not known yet how many rows there are.
    """

    input: int
    greatest: int
    part: str | None = None
    start: int | None = None
    senders: int = 1


@attrs.frozen
class ShardWatermark:
    """The output watermark of a shard of an earlier grouping, after its step.

    ``before`` is where it was before this micro-batch; None: that is not known.
    """

    input: int
    shard: int
    watermark: int
    before: int | None = None


@attrs.frozen
class HostWatermark:
    """The host reports the watermark of all inputs.

    Args:
        watermark: Where it is.
        begins: Whether it was there before the elements of the micro-batch, and decides which are
            late; else it moves there after them.
    """

    watermark: int
    begins: bool = False


InputUpdate = SourceProgress | ShardWatermark
WatermarkUpdate = InputUpdate | HostWatermark


@attrs.frozen
class PartState:
    """What is remembered of one part of a source; the fields are those of `InputState`."""

    part: str
    greatest: int
    active_at: int

    def is_idle(self, of: SourceClock, clock: int) -> bool:
        """Whether it has delivered nothing for too long, at this processing time."""
        return of.idle_after is not None and clock - self.active_at > of.idle_after


@attrs.frozen
class InputState:
    """What is remembered of one input.

    =============  ===================================================  ===================
    field          stored                                               cleared
    =============  ===================================================  ===================
    ``greatest``   a source's greatest event time, as far as it is      never, only forward
                   `believed`; None before its first row
    ``active_at``  processing time of its last row, or of the stage's   never, only forward
                   first step; with ``max_jump`` of its last row
                   no further than that from ``greatest``
    ``shards``     the output watermark of each shard of a grouping     never, only forward
                   before
    ``parts``      the parts of a source that have watermarks of their  never
                   own, by their names
    =============  ===================================================  ===================
    """

    greatest: int | None
    active_at: int
    shards: tuple[int, ...] = ()
    parts: tuple[PartState, ...] = ()

    def in_ticks(self, change: Callable[[int], int]) -> Self:
        """What is remembered, in other ticks: each instant as ``change`` makes it."""
        return type(self)(
            None if self.greatest is None else change(self.greatest),
            change(self.active_at),
            tuple(map(change, self.shards)),
            tuple(
                PartState(part.part, change(part.greatest), change(part.active_at))
                for part in self.parts
            ),
        )

    def to_json(self) -> list[Any]:
        known = [self.greatest, self.active_at, list(self.shards)]
        return [*known, [attrs.astuple(part) for part in self.parts]] if self.parts else known

    @classmethod
    def from_json(cls, saved: Sequence[Any]) -> Self:
        greatest, active_at, shards, *parts = saved
        return cls(
            greatest,
            active_at,
            tuple(shards),
            tuple(PartState(*part) for listed in parts for part in listed),
        )


def believed(greatest: int, of: InputClock, clock: int) -> int:
    """How far rows of this greatest event time move what is known of those of a source.

    On replay the clock must be the same again.
    """
    capped = isinstance(of, SourceClock) and of.max_ahead is not None
    return min(greatest, clock) if capped else greatest


FURTHEST_ZONE_HOURS: Final = 14
"""By how many hours the clocks of some zone are ahead of UTC, and those of none by more."""


def is_far_ahead(timestamp: Any, clock: Any, max_ahead: int) -> Any:
    """Whether an event time lies so far ahead of the clock that its row is no element.

    Exactly as far ahead as may be is still good, and no time in the past is ever refused.

    Args:
        timestamp: The event time: a number, or whatever compares like one, such as a column.
        clock: Processing time, in the same form. On replay it must be the same again.
        max_ahead: How far ahead it may lie.
    """
    # A million years are far enough: more would only be too much for 64 bits.
    return timestamp > clock + min(max_ahead, 2**62)


def next_output_watermark(before: int, watermark: int, held: int | None) -> int:
    """The output watermark after a step, of a key or of all that a host keeps together; ``held`` is
    the earliest hold at its end, None if nothing holds it back."""
    return max(before, watermark if held is None else min(watermark, held))
