"""What a shard knows without reading its rows: its clocks, its deadlines, where the rows are."""

from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.clock import Clock
from beamlike.hosts.spark.pages import Contents
from beamlike.hosts.spark.plan import Plan
from beamlike.machine.clocks import promise
from beamlike.machine.columnar.arrays import NEVER
from beamlike.model.time import MIN_TIMESTAMP

__all__ = ["Index"]


@attrs.define
class Index:
    """Where the shard's clocks and rows are, and each bucket's earliest deadlines.

    =============  ====================================  ===============================
    field          stored                                cleared
    =============  ====================================  ===============================
    ``at``         its clocks after its last step        never, see `Clock`
    ``output``     the output watermark: the largest so  never, only forward
                   far of min(watermark, all holds), ms
    ``contents``   where the rows are, see `Contents`    see there
    ``event``      per bucket, the event time that the   when no key of the bucket waits
                   watermark has to pass                 for the watermark
    ``timer``      per bucket, the same of the clock     when no key waits for the clock
    ``hold``       per bucket, its earliest hold of      when nothing holds any more
                   the output watermark, ms
    =============  ====================================  ===============================
    """

    at: Clock
    output: int
    contents: Contents
    event: Any
    timer: Any
    hold: Any

    @classmethod
    def load(cls, plan: Plan, blob: bytes | None) -> "Index":
        if blob is None:
            never = np.full(plan.buckets, NEVER, np.int64)
            return cls(Clock(), MIN_TIMESTAMP, Contents(), never, never.copy(), never.copy())
        table, header = unpack_blob(blob)
        plan.check_identity(header["plan"])
        contents = Contents.from_json(header["contents"])
        columns = [table.column(name).to_numpy().copy() for name in _PER_BUCKET]
        return cls(Clock.from_json(header), header["output"], contents, *columns)

    def move(self, to: "Clock") -> None:
        """The clocks at the end of a step."""
        self.at = to
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
            "output": self.output,
            "contents": self.contents.to_json(),
            **self.at.to_json(),
        }
        return pack_blob(table, header)


_PER_BUCKET = ("event", "timer", "hold")
