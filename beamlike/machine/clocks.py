"""Where a stage's input watermark comes from: updates that travel with the elements.

The watermark of a stage is the least of its inputs'; a side input has one apart. A source's
watermark trails the greatest event time that it has delivered; where its parts have watermarks of
their own, such as partitions of Kafka, it is the least of those that are not idle. The watermark of
a grouping before is that grouping's output watermark, sent by each of its shards: what it still
holds back is not late here, see `next_output_watermark`. A host that knows the watermark itself, as
Spark does for ``withWatermark`` and a test stream for its moves, gives it as one more update.

One row whose clock is wrong must not end the windows of all others. No event is from the future,
so a time ahead of the clock means that some clock is wrong. `is_far_ahead` decides which rows are
refused for that. Any other row moves the watermark of its source to the clock at most (`believed`):
events that happen now are still in time. A backlog lies behind the clock, and so may a wrong time
in it: see `beamlike.machine.gaps`.

Source: Beam ``WatermarkManager``; idle sources as Flink's ``withIdleness`` (``RELEASE``) and
Bytewax's ``EventClock`` (``ADVANCE``); the clock as limit as Beam's KafkaIO has it in
``CustomTimestampPolicyWithLimitedDelay``.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, Final, Literal, Self

import attrs

from beamlike.machine.gaps import is_near, reach_of
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
        delay: How far event time may be out of order (ms).
        idle_after: After how much processing time without a row it counts as idle (ms); None:
            never.
        idle: What happens then.
        max_ahead: How far ahead of processing time an event time may lie (ms), see
            `is_far_ahead`, which the host calls. Such a time moves the watermark to processing time
            at most. None: event times may lie in the future, and move the watermark there.
        by_part: Whether each part of the source has a watermark of its own. A part is idle after
            the same time as the source, and then the others no longer wait for it.
        max_jump: How far ahead of all rows before it an event time may lie (ms) and move the
            watermark at once, see `beamlike.machine.gaps`. None: any does.
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
        """The watermark (ms) of rows that came; None if they are idle.

        Args:
            greatest: Their greatest event time (ms), as far as it is `believed`; None: none came.
            active_at: Processing time when the last of them came (ms).
            clock: Processing time now (ms).
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
    """A source delivered rows; ``greatest`` is the greatest event time among them (ms).

    Without rows that lie too far ahead of the clock, see `is_far_ahead`. ``part`` is the part of
    the source that delivered them; None: the source as a whole, with all parts that are known.
    Where the source has a ``max_jump``, no gap between their event times is longer than that;
    ``start`` is the least of these (ms), None if all are one, and ``senders`` how many keys sent
    them, or where keys are not known yet how many rows there are.
    """

    input: int
    greatest: int
    part: str | None = None
    start: int | None = None
    senders: int = 1


@attrs.frozen
class ShardWatermark:
    """The output watermark (ms) of a shard of an earlier grouping, after its step."""

    input: int
    shard: int
    watermark: int


@attrs.frozen
class HostWatermark:
    """The host reports the watermark of all inputs (ms).

    Args:
        watermark: Where it is.
        begins: Whether it was there before the elements of the micro-batch, and decides which are
            late; else it moves there after them.
    """

    watermark: int
    begins: bool = False


WatermarkUpdate = SourceProgress | ShardWatermark | HostWatermark


@attrs.frozen
class PartState:
    """What is remembered of one part of a source; the fields are those of `InputState`."""

    part: str
    greatest: int
    active_at: int

    def is_idle(self, of: SourceClock, clock: int) -> bool:
        """Whether it has delivered nothing for too long, at this processing time (ms)."""
        return of.idle_after is not None and clock - self.active_at > of.idle_after


@attrs.frozen
class InputState:
    """What is remembered of one input.

    =============  ===================================================  ===================
    field          stored                                               cleared
    =============  ===================================================  ===================
    ``greatest``   a source's greatest event time, ms, as far as it is  never, only forward
                   `believed`; None before its first row
    ``active_at``  processing time of its last row, or of the stage's   never, only forward
                   first step, ms; with ``max_jump`` of its last row
                   no further than that from ``greatest``
    ``shards``     the output watermark of each shard of a grouping     never, only forward
                   before, ms
    ``parts``      the parts of a source that have watermarks of their  never
                   own, by their names
    =============  ===================================================  ===================
    """

    greatest: int | None
    active_at: int
    shards: tuple[int, ...] = ()
    parts: tuple[PartState, ...] = ()

    def in_finer_ticks(self, factor: int) -> Self:
        """What is remembered, in ticks of which so many make one of before."""
        return self._changed(lambda instant: instant * factor)

    def in_coarser_ticks(self, factor: int) -> Self:
        """What is remembered, in ticks that are so many times as long."""
        return self._changed(lambda instant: instant // factor)

    def _changed(self, change: Callable[[int], int]) -> Self:
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


@attrs.frozen
class Clocks:
    """The clocks of all inputs of a stage, in the order of the inputs.

    ``side`` are the positions of those that make up its side input, if it has one.
    """

    inputs: tuple[InputClock, ...]
    side: frozenset[int] = frozenset()

    def in_resolution(self, resolution: Resolution) -> "Clocks":
        """The same clocks, in the ticks of a resolution."""
        return Clocks(tuple(source.in_resolution(resolution) for source in self.inputs), self.side)

    @property
    def needs_clock(self) -> bool:
        """Whether the watermark may move because processing time did."""
        return bool(self.silences)

    @property
    def silences(self) -> Sequence[int]:
        """After how much processing time each input that can be idle is so, in ticks."""
        return [
            clock.idle_after
            for clock in self.inputs
            if isinstance(clock, SourceClock) and clock.idle_after is not None
        ]

    def update(
        self,
        states: Sequence[InputState],
        updates: Iterable[SourceProgress | ShardWatermark],
        clock: int,
        clock_before: int = 0,
    ) -> tuple[tuple[InputState, ...], int]:
        """What is known of the inputs after a step, and the input watermark that follows (ms).

        Args:
            states: What was known after the step before; none at the first one.
            updates: What the inputs reported since then, in any order.
            clock: Processing time (ms).
            clock_before: Processing time of the step before (ms).

        Returns:
            The watermark may be less than before: keeping it from going back is the stage's.
        """
        states = states or self._start(clock)
        trusted = self._trusted(states, [*updates], clock, clock_before)
        after = self._updated(states, trusted, clock)
        return after, self._watermark(after, clock)

    def of_side(self, states: Sequence[InputState], watermark: int, clock: int) -> int | None:
        """The watermark of the side input (ms); None if the stage has none.

        Args:
            states: What is known of the inputs.
            watermark: The input watermark (ms). While the side input is idle, its watermark is at
                least that.
        """
        if not self.side:
            return None
        known = self._least(self.side, states, clock)
        return max(watermark, self._reached(self.side, states)) if known is None else known

    def silent(self, states: Sequence[InputState], clock: int) -> frozenset[tuple[int, str]]:
        """The parts that are idle at this processing time (ms): their inputs and names."""
        return frozenset(
            (position, part.part)
            for position, (source, state) in enumerate(zip(self.inputs, states, strict=False))
            if isinstance(source, SourceClock) and source.by_part
            for part in state.parts
            if part.is_idle(source, clock)
        )

    def _start(self, clock: int) -> tuple[InputState, ...]:
        """No updates yet; ``clock`` is the processing time of the first step (ms)."""
        return tuple(
            InputState(None, clock, (source.resolution.earliest,) * source.shards)
            if isinstance(source, StageClock)
            else InputState(None, clock)
            for source in self.inputs
        )

    def _trusted(
        self,
        states: Sequence[InputState],
        updates: Sequence[SourceProgress | ShardWatermark],
        clock: int,
        clock_before: int,
    ) -> list[SourceProgress | ShardWatermark]:
        """The updates that may move their input, see `reach_of`."""
        if all(getattr(source, "max_jump", None) is None for source in self.inputs):
            return [*updates]
        trusted = list[SourceProgress | ShardWatermark]()
        for position, (source, state) in enumerate(zip(self.inputs, states, strict=True)):
            of_input = [update for update in updates if update.input == position]
            if isinstance(source, SourceClock) and source.max_jump is not None and of_input:
                progress = [update for update in of_input if isinstance(update, SourceProgress)]
                ends = [believed(update.greatest, source, clock) for update in progress]
                stretches = [
                    (end if update.start is None else min(update.start, end), end, update.senders)
                    for update, end in zip(progress, ends, strict=True)
                ]
                silent = clock_before - state.active_at > source.silence
                reach = reach_of(stretches, state.greatest, source.max_jump, is_silent=silent)
                of_input = [
                    update for update, end in zip(progress, ends, strict=True) if end <= reach
                ]
            trusted += of_input
        return trusted

    def _updated(
        self,
        states: Sequence[InputState],
        updates: Iterable[SourceProgress | ShardWatermark],
        clock: int,
    ) -> tuple[InputState, ...]:
        after, parts = list(states), dict[int, dict[str, PartState]]()
        # What the source as a whole has reached counts for all parts, in whichever order they come.
        for update in sorted(updates, key=_of_whole_source):
            state = after[update.input]
            if isinstance(update, SourceProgress):
                known, source = state.greatest, self.inputs[update.input]
                greatest = believed(update.greatest, source, clock)
                of_input = parts.setdefault(update.input, {part.part: part for part in state.parts})
                _move(of_input, update.part, greatest, clock)
                jump = source.max_jump if isinstance(source, SourceClock) else None
                is_active = jump is None or known is None or is_near(greatest, known, jump)
                active_at = clock if is_active else state.active_at
                greatest = greatest if known is None else max(known, greatest)
                after[update.input] = InputState(greatest, active_at)
            else:
                shards = list(state.shards)
                shards[update.shard] = max(shards[update.shard], update.watermark)
                after[update.input] = InputState(None, clock, tuple(shards))
        for at, moved in parts.items():
            in_order = tuple(moved[name] for name in sorted(moved))
            after[at] = attrs.evolve(after[at], parts=in_order)
        return tuple(after)

    def _watermark(self, states: Sequence[InputState], clock: int) -> int:
        main = [index for index in range(len(self.inputs)) if index not in self.side]
        known = self._least(main, states, clock)
        if known is not None:
            return known
        # While all main inputs are idle, the side input moves it on.
        side = self._least(self.side, states, clock)
        if side is None:
            side = self._reached(self.side, states)
        return max(self._reached(main, states), side)

    def _least(
        self, positions: Iterable[int], states: Sequence[InputState], clock: int
    ) -> int | None:
        """The least watermark of some inputs; None if all of them are idle."""
        known = (self._of(self.inputs[position], states[position], clock) for position in positions)
        return min((watermark for watermark in known if watermark is not None), default=None)

    def _reached(self, positions: Iterable[int], states: Sequence[InputState]) -> int:
        """How far idle inputs have come (ms): the greatest of their watermarks.

        Looked at after each of them became idle, the last one would have decided. What the clock
        reads in between must not matter, so the one that is furthest decides.

        Source: Flink ``StatusWatermarkValve``, when all channels are idle.
        """
        earliest = [self.inputs[index].resolution.earliest for index in positions]
        delivered = [
            clock.trailing(state.greatest)
            for clock, state in ((self.inputs[index], states[index]) for index in positions)
            if isinstance(clock, SourceClock) and state.greatest is not None
        ]
        return max([*earliest, *delivered], default=self.inputs[0].resolution.earliest)

    def _of(self, source: InputClock, state: InputState, clock: int) -> int | None:
        """The watermark of one input; None if it is idle."""
        if isinstance(source, StageClock):
            return min(state.shards)
        active = [part.greatest for part in state.parts if not part.is_idle(source, clock)]
        if active and source.by_part:  # else they are of before a restart
            return source.trailing(min(active))
        return source.watermark(state.greatest, state.active_at, clock)


def _of_whole_source(update: SourceProgress | ShardWatermark) -> bool:
    return isinstance(update, SourceProgress) and update.part is None


def _move(parts: dict[str, PartState], part: str | None, greatest: int, clock: int) -> None:
    """Move one part of a source that delivered rows, or None for all that are known."""
    for name in list(parts) if part is None else (part,):
        before = parts.get(name)
        reached = greatest if before is None else max(before.greatest, greatest)
        parts[name] = PartState(name, reached, clock)


def believed(greatest: int, of: InputClock, clock: int) -> int:
    """How far rows move what is known of a source's event times (ms).

    Args:
        greatest: The greatest event time among them (ms).
        of: The source.
        clock: Processing time (ms). On replay it must be the same again.
    """
    capped = isinstance(of, SourceClock) and of.max_ahead is not None
    return min(greatest, clock) if capped else greatest


def is_far_ahead(timestamp: Any, clock: Any, max_ahead: int) -> Any:
    """Whether an event time lies so far ahead of the clock that its row is no element.

    Exactly as far ahead as may be is still good, and no time in the past is ever refused.

    Args:
        timestamp: The event time (ms): a number, or whatever compares like one, such as a column.
        clock: Processing time (ms), in the same form. On replay it must be the same again.
        max_ahead: How far ahead it may lie (ms).
    """
    # A million years are far enough: more would only be too much for 64 bits.
    return timestamp > clock + min(max_ahead, 2**62)


def next_output_watermark(before: int, watermark: int, held: int | None) -> int:
    """The output watermark (ms) after a step, of a key or of all that a host keeps together.

    Args:
        before: Its value before the step.
        watermark: The input watermark at its end.
        held: The earliest hold at its end; None: nothing holds it back.
    """
    return max(before, watermark if held is None else min(watermark, held))
