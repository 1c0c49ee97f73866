"""Where the clocks of a shard stand, or of a group of the fanout before it, on any host.

A watermark trails the greatest event time of its source, so one row from a wrong clock can carry
it past rows that are still to come. No rule knows such a row from the first one after a pause. A
jump is what both have in common: the event times leave out a stretch so long that a row in the
place of the last one before it would be dropped from now on. That is a stretch longer than the
delay of the watermark, a window and the allowed lateness together. A backlog whose rows lie side by
side does not jump, however much of it is read at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Self

import attrs
import pyarrow as pa

from beamlike.machine.input_clocks import (
    HostWatermark,
    InputState,
    SourceClock,
    WatermarkUpdate,
    believed,
)
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.plan import Plan

_RESOLUTION: Final = "resolution"


@attrs.frozen
class Clock:
    """The clocks of a group at the end of a step, and what its inputs reported.

    =============  =========================================  ============================
    field          stored                                     cleared
    =============  =========================================  ============================
    ``watermark``  the input watermark, ms; with a side       never, only forward
                   input that of the main input. Where keys
                   have watermarks of their own: what all
                   of them are at least
    ``clock``      processing time, ms                        never, only forward
    ``inputs``     what is known of each input's own          never, see `InputState`
                   watermark; none if the host knows it
    ``side``       the watermark of the side input, ms; None  never, only forward
                   if there is none, or it is not known apart
    =============  =========================================  ============================
    """

    watermark: int = MIN_TIMESTAMP
    clock: int = 0
    inputs: tuple[InputState, ...] = ()
    side: int | None = None

    def begin(self, updates: Iterable[WatermarkUpdate]) -> Self:
        """The clocks as a micro-batch begins: at the watermark that the host knows by then."""
        known = [
            update.watermark
            for update in updates
            if isinstance(update, HostWatermark) and update.begins
        ]
        return attrs.evolve(self, watermark=max([self.watermark, *known]))

    def after(self, plan: Plan, updates: Sequence[WatermarkUpdate], clock: int) -> Self:
        """The clocks now. Neither ever goes back: a restarted query may report older ones.

        Args:
            plan: What the group works on.
            updates: What the inputs of the plan, and the host, report of the watermark.
            clock: Processing time (ms).
        """
        clock, inputs, watermark, side = max(clock, self.clock), self.inputs, self.watermark, None
        if plan.clocks is not None:
            of_inputs = [update for update in updates if not isinstance(update, HostWatermark)]
            inputs, of_all = plan.clocks.update(inputs, of_inputs, clock, self.clock)
            if plan.key_clock is None:  # else only the host moves all keys, as at the end
                watermark = max(watermark, of_all)
            side = plan.clocks.of_side(inputs, watermark, clock)
        for reported in updates:
            if isinstance(reported, HostWatermark):
                watermark = max(watermark, reported.watermark)
                side = None if side is None else max(side, reported.watermark)
        if side is not None:
            side = max(side, self.side_at)
        return type(self)(watermark, clock, inputs, side)

    @property
    def side_at(self) -> int:
        """The watermark of the side input (ms): that of all inputs, if it is not known apart."""
        return self.watermark if self.side is None else self.side

    def to_save(self, unit: Resolution) -> dict[str, Any]:
        """The clocks, which count so, as they are saved where nothing else says what they count."""
        return self.to_json() | ({} if unit is MILLISECONDS else {_RESOLUTION: unit.word})

    @classmethod
    def saved(cls, saved: Mapping[str, Any], unit: Resolution) -> Self:
        """Saved clocks, in the ticks of a query that counts so."""
        counted = Resolution[saved.get(_RESOLUTION, MILLISECONDS.word).upper()]
        clocks, factor = cls.from_json(saved), unit.per_ms // counted.per_ms
        return clocks if factor == 1 else clocks.in_ticks(lambda instant: instant * factor)

    def in_ticks(self, change: Callable[[int], int]) -> Self:
        """The clocks in other ticks: each instant as ``change`` makes it."""
        return type(self)(
            change(self.watermark),
            change(self.clock),
            tuple(state.in_ticks(change) for state in self.inputs),
            None if self.side is None else change(self.side),
        )

    def to_json(self) -> dict[str, Any]:
        inputs = [state.to_json() for state in self.inputs]
        saved = {"watermark": self.watermark, "clock": self.clock, "inputs": inputs}
        return saved if self.side is None else saved | {"side": self.side}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        inputs = tuple(map(InputState.from_json, saved["inputs"]))
        # Older layouts lack it: the next step sets it.
        return cls(saved["watermark"], saved["clock"], inputs, saved.get("side"))


@attrs.frozen
class ShardInput:
    """What reaches a shard in one micro-batch.

    Args:
        tables: Rows or combined elements, in order of arrival, see `beamlike.runtime.envelope`.
        updates: Updates of the watermark. A lower one than before is ignored: a restarted query
            may report an older watermark at first.
        clock: Processing time now (ms). A lower one than before is ignored, too.
    """

    tables: Sequence[pa.Table]
    updates: Sequence[WatermarkUpdate]
    clock: int


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


def held_jump(
    source: SourceClock, delivered: Sequence[Delivered], reached: int, clock: int
) -> Jump | None:
    """The jump that a ``max_jump`` has kept the watermark of a source from, if any.

    Args:
        source: Of which source.
        delivered: The rows of one micro-batch.
        reached: Its greatest event time after them (ms), as far as it is believed.
        clock: Processing time (ms).
    """
    last = max(delivered, key=lambda rows: rows.stretches[-1][-1])
    greatest = believed(last.stretches[-1][-1], source, clock)
    if source.max_jump is None or greatest <= reached:
        return None
    before, after = source.trailing(reached), source.trailing(greatest)
    return Jump(before, after, last.last, source.resolution, held=True)
