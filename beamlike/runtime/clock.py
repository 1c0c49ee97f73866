"""Where the clocks of a shard stand, or of a group of the fanout before it, on any host."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import attrs
import pyarrow as pa

from beamlike.machine.input_clocks import HostWatermark, InputState, WatermarkUpdate
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
