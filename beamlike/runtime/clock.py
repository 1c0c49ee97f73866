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
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.clocks import Clocks
from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.input_clocks import (
    HostWatermark,
    InputState,
    SourceClock,
    WatermarkUpdate,
    believed,
)
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.changes import RESOLUTION, resolution_in
from beamlike.runtime.plan import Plan


@attrs.frozen
class Clock:
    """The clocks of a group (in ticks, see `Resolution`) after a step, and its inputs' reports.

    =============  =========================================  ============================
    field          stored                                     cleared
    =============  =========================================  ============================
    ``watermark``  the input watermark; with a side           never, only forward
                   input that of the main input. Where keys
                   have watermarks of their own: what all
                   of them are at least
    ``clock``      processing time                            never, only forward
    ``inputs``     what is known of each input's own          never, see `InputState`
                   watermark; none if the host knows it
    ``side``       the watermark of the side input; None if   never, only forward
                   there is none, or it is not known apart
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
            clock: Processing time (ticks).
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
        """The watermark of the side input (ticks): that of all inputs, if it is not known apart."""
        return self.watermark if self.side is None else self.side

    def to_save(self, unit: Resolution) -> dict[str, Any]:
        """The clocks, which count so, as they are saved where nothing else says what they count."""
        return self.to_json() | ({} if unit is MILLISECONDS else {RESOLUTION: unit.word})

    @classmethod
    def saved(cls, saved: Mapping[str, Any], unit: Resolution) -> Self:
        """Saved clocks, in the ticks of a query that counts so."""
        clocks, factor = cls.from_json(saved), unit.per_ms // resolution_in(saved).per_ms
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
        clock: Processing time now (ticks). A lower one than before is ignored, too.
    """

    tables: Sequence[pa.Table]
    updates: Sequence[WatermarkUpdate]
    clock: int

    def moves(self, clocks: Clock, plan: Plan) -> tuple[Clock, Clock]:
        """The clocks as the micro-batch begins, and as it ends; before it they stood there."""
        return clocks.begin(self.updates), clocks.after(plan, self.updates, self.clock)


@attrs.frozen
class ShardStatus:
    """The status of a shard after a step.

    Attributes:
        windows_open: Windows that it keeps.
        watermark: Its input watermark (ticks).
        merges: Live windows that became part of another in this step.
        deadline: The least event time that a window waits for the watermark to pass (ticks); None
            if none waits.
        clock_deadline: The least processing time that a window waits for the clock to pass (ticks);
            None if none waits.
        clock: Processing time (ticks).
        known: The greatest event time of each input before the step (ticks); None before its first
            row. Empty where the host knows the watermark.
        reached: The greatest event time of each input after the step (ticks), as far as it is
            `believed`.
        silent: The parts of inputs that became idle in this step, by their names.
        side_watermark: The watermark of its side input (ticks), see `Clock.side_at`.
        output_watermark: Its output watermark (ticks).
        output_before: Its output watermark before the step (ticks).
    """

    windows_open: int
    watermark: int
    merges: int = 0
    deadline: int | None = None
    clock_deadline: int | None = None
    clock: int = 0
    known: Sequence[int | None] = ()
    reached: Sequence[int | None] = ()
    silent: Sequence[str] = ()
    side_watermark: int = MIN_TIMESTAMP
    output_watermark: int = MIN_TIMESTAMP
    output_before: int = MIN_TIMESTAMP


_GAPS: Final = 16
"""So many gaps between the event times of some rows are reported, the largest. Those that are not
reported count as if there were rows in them."""


@attrs.frozen
class Delivered:
    """The event times of some rows of a source.

    Args:
        source: The position of the source among the inputs, or its number.
        stretches: Where they lie (ticks): from the first to the last of rows without a large gap.
        last: The row with the greatest event time, in words.
    """

    source: int
    stretches: Sequence[tuple[int, int]]
    last: str


def delivered_by(source: int, times: pa.ChunkedArray, gap: int, last: str) -> Delivered:
    """The delivery of rows with these event times.

    Args:
        source: See `Delivered`.
        times: One or more, in any order; null for those that move no watermark.
        gap: As long as this none is large enough for a jump.
        last: See `Delivered`.
    """
    least, greatest = pc.min_max(times).as_py().values()
    if greatest - least <= gap:
        return Delivered(source, [(least, greatest)], last)
    in_order, starts = stretches(times, gap)
    later = starts[1:]
    if len(later) > _GAPS:
        gaps = in_order[later] - in_order[later - 1]
        later = np.sort(later[np.argpartition(gaps, -_GAPS)[-_GAPS:]])
    firsts = in_order[np.append(0, later)].tolist()
    lasts = in_order[np.append(later, len(in_order)) - 1].tolist()
    return Delivered(source, [*zip(firsts, lasts, strict=True)], last)


def stretches(times: pa.ChunkedArray, gap: int) -> tuple[Ints, Ints]:
    """Event times in their order, and where in it a stretch begins: after each longer gap."""
    in_order = np.sort(times.drop_null().to_numpy())
    return in_order, np.append(0, np.flatnonzero(np.diff(in_order) > gap) + 1)


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
        known: Its greatest event time before them (ticks).
        clock: Processing time (ticks).
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
    greatest event time (ticks) is ``reached``, as far as it is believed."""
    last = max(delivered, key=lambda rows: rows.stretches[-1][-1])
    greatest = believed(last.stretches[-1][-1], source, clock)
    if source.max_jump is None or greatest <= reached:
        return None
    before, after = source.trailing(reached), source.trailing(greatest)
    return Jump(before, after, last.last, source.resolution, held=True)
