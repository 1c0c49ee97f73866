"""What a shard knows without reading its rows: its clocks, its deadlines, where the rows are."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.pages import Contents
from beamlike.hosts.spark.plan import Plan
from beamlike.machine.clocks import Heard, InputState, promise
from beamlike.machine.columnar.arrays import NEVER
from beamlike.model.time import MIN_TIMESTAMP

__all__ = ["Clock", "Index"]


@attrs.define
class Index:
    """The shard's clocks at its last step, and each bucket's earliest deadlines.

    =============  ====================================  ===============================
    field          stored                                cleared
    =============  ====================================  ===============================
    ``watermark``  the input watermark, ms               never, only forward
    ``clock``      processing time, ms                   never, only forward
    ``output``     the output watermark: the largest so  never, only forward
                   far of min(watermark, all holds), ms
    ``inputs``     what is known of each input's own     never, see `InputState`
                   watermark; none if Spark's is used
    ``contents``   where the rows are, see `Contents`    see there
    ``event``      per bucket, the event time that the   when no key of the bucket waits
                   watermark has to pass                 for the watermark
    ``timer``      per bucket, the same of the clock     when no key waits for the clock
    ``hold``       per bucket, its earliest hold of      when nothing holds any more
                   the output watermark, ms
    =============  ====================================  ===============================
    """

    watermark: int
    clock: int
    output: int
    inputs: tuple[InputState, ...]
    contents: Contents
    event: Any
    timer: Any
    hold: Any

    @classmethod
    def load(cls, plan: Plan, blob: bytes | None) -> "Index":
        if blob is None:
            never = np.full(plan.buckets, NEVER, np.int64)
            start = MIN_TIMESTAMP
            return cls(start, 0, start, (), Contents(), never, never.copy(), never.copy())
        table, header = unpack_blob(blob)
        plan.check_identity(header["plan"])
        inputs = tuple(map(InputState.from_json, header["inputs"]))
        contents = Contents.from_json(header["contents"])
        columns = [table.column(name).to_numpy().copy() for name in _PER_BUCKET]
        return cls(
            header["watermark"], header["clock"], header["output"], inputs, contents, *columns
        )

    def move(self, to: "Clock") -> None:
        """The clocks at the end of a step."""
        self.watermark, self.clock, self.inputs = to.watermark, to.clock, to.inputs
        self.output = promise(self.output, to.watermark, int(self.hold.min()))

    def forget_deadlines(self) -> None:
        """As if no key waited or held back anything, before all of them are noted anew."""
        for column in (self.event, self.timer, self.hold):
            column[:] = NEVER

    def due(self, watermark: int, clock: int) -> set[int]:
        """The buckets where something is to happen when the clocks are there."""
        due = (self.event < watermark) | (self.timer < clock)
        return set(np.nonzero(due)[0].tolist())

    def dump(self, plan: Plan) -> bytes:
        table = pa.table({name: getattr(self, name) for name in _PER_BUCKET})
        header = {
            "plan": plan.identity,
            "watermark": self.watermark,
            "clock": self.clock,
            "output": self.output,
            "contents": self.contents.to_json(),
            "inputs": [state.to_json() for state in self.inputs],
        }
        return pack_blob(table, header)


@attrs.frozen
class Clock:
    """Where the clocks of a shard stand at the end of a step (ms), and what its inputs told."""

    watermark: int
    clock: int
    inputs: tuple[InputState, ...]

    @classmethod
    def after(
        cls, plan: Plan, index: Index, watermark: int | Sequence[Heard], clock: int
    ) -> "Clock":
        """Neither ever goes back: a restarted query may report older ones at first.

        Args:
            watermark: The input watermark now, or what the plan's inputs told about theirs.
        """
        clock, inputs = max(clock, index.clock), index.inputs
        if not isinstance(watermark, int):
            assert plan.clocks is not None, "only inputs with clocks of their own tell them"
            inputs, watermark = plan.clocks.listen(inputs, watermark, clock)
        return cls(max(watermark, index.watermark), clock, inputs)

    def moves(self, index: Index) -> bool:
        return self != Clock(index.watermark, index.clock, index.inputs)


_PER_BUCKET = ("event", "timer", "hold")
