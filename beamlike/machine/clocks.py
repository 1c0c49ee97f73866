"""The input watermark of a stage: the least of the watermarks of its inputs.

A side input has a watermark of its own. What an input is, and what is remembered of it, is in
`beamlike.machine.input_clocks`.

Source: Beam ``WatermarkManager``.
"""

from collections.abc import Iterable, Sequence

import attrs

from beamlike.machine.gaps import is_near, reach_of
from beamlike.machine.input_clocks import (
    InputClock,
    InputState,
    InputUpdate,
    PartState,
    SourceClock,
    SourceProgress,
    StageClock,
    believed,
)
from beamlike.model.resolution import Resolution


@attrs.frozen
class Clocks:
    """The clocks of all inputs of a stage, in the order of the inputs.

    ``side`` are the positions of the inputs that make up its side input, if it has one.
    """

    inputs: tuple[InputClock, ...]
    side: frozenset[int] = frozenset()

    def in_resolution(self, resolution: Resolution) -> "Clocks":
        """The same clocks, in the ticks of a resolution."""
        return Clocks(tuple(source.in_resolution(resolution) for source in self.inputs), self.side)

    @property
    def needs_clock(self) -> bool:
        """Whether the watermark may move because processing time moves."""
        return bool(self.silences)

    @property
    def silences(self) -> Sequence[int]:
        """After how much processing time (ticks) without rows each input that can be idle is
        idle."""
        return [
            clock.idle_after
            for clock in self.inputs
            if isinstance(clock, SourceClock) and clock.idle_after is not None
        ]

    def update(
        self,
        states: Sequence[InputState],
        updates: Iterable[InputUpdate],
        clock: int,
        clock_before: int = 0,
    ) -> tuple[tuple[InputState, ...], int]:
        """What is known of the inputs after a step, and the input watermark that follows.

        That may be less than before: the stage keeps it from going back. ``states`` is what was
        known after the last step, nothing before the first.
        """
        states = states or self._start(clock)
        trusted = self._trusted(states, [*updates], clock, clock_before)
        after = self._updated(states, trusted, clock)
        return after, self._watermark(after, clock)

    def of_side(self, states: Sequence[InputState], watermark: int, clock: int) -> int | None:
        """The watermark of the side input; None if the stage has none. While the side input is idle
        it is at least the input watermark."""
        if not self.side:
            return None
        known = self._least(self.side, states, clock)
        return max(watermark, self._reached(self.side, states)) if known is None else known

    def silent(self, states: Sequence[InputState], clock: int) -> frozenset[tuple[int, str]]:
        """The parts that are idle at this processing time: their inputs and names."""
        return frozenset(
            (position, part.part)
            for position, (source, state) in enumerate(zip(self.inputs, states, strict=False))
            if isinstance(source, SourceClock) and source.by_part
            for part in state.parts
            if part.is_idle(source, clock)
        )

    def _start(self, clock: int) -> tuple[InputState, ...]:
        """The states of inputs without updates; ``clock`` is the processing time of the first
        step."""
        return tuple(
            InputState(None, clock, (source.resolution.earliest,) * source.shards)
            if isinstance(source, StageClock)
            else InputState(None, clock)
            for source in self.inputs
        )

    def _trusted(
        self,
        states: Sequence[InputState],
        updates: Sequence[InputUpdate],
        clock: int,
        clock_before: int,
    ) -> list[InputUpdate]:
        """The updates that may move their input, see `reach_of`."""
        if all(getattr(source, "max_jump", None) is None for source in self.inputs):
            return [*updates]
        trusted = list[InputUpdate]()
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
        self, states: Sequence[InputState], updates: Iterable[InputUpdate], clock: int
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
        for position, moved in parts.items():
            in_order = tuple(moved[name] for name in sorted(moved))
            after[position] = attrs.evolve(after[position], parts=in_order)
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
        """How far inputs have come that are all idle: the greatest of their watermarks.

        The input that became idle last could decide instead. But then the result would depend on
        the times at which the clock was read.

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


def _of_whole_source(update: InputUpdate) -> bool:
    return isinstance(update, SourceProgress) and update.part is None


def _move(parts: dict[str, PartState], part: str | None, greatest: int, clock: int) -> None:
    """Move one part of a source that delivered rows, or None for all that are known."""
    for name in list(parts) if part is None else (part,):
        before = parts.get(name)
        reached = greatest if before is None else max(before.greatest, greatest)
        parts[name] = PartState(name, reached, clock)
