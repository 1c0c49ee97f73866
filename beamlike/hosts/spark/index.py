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

__all__ = ["Index", "Standing"]


@attrs.frozen
class Standing:
    """Where a shard stands after a step: windows that it keeps, and its input watermark (ms)."""

    windows_open: int
    watermark: int


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
    ``side``       per bucket, the event time that the   when no key waits for the side
                   side input's watermark has to pass    input
    =============  ====================================  ===============================
    """

    at: Clock
    output: int
    contents: Contents
    event: Any
    timer: Any
    hold: Any
    side: Any

    @classmethod
    def load(cls, plan: Plan, blob: bytes | None) -> "Index":
        if blob is None:
            never = np.full(plan.buckets, NEVER, np.int64)
            rest = (never.copy() for _ in _PER_BUCKET[1:])
            return cls(Clock(), MIN_TIMESTAMP, Contents(), never, *rest)
        table, header = unpack_blob(blob)
        plan.check_identity(header["plan"])
        contents = Contents.from_json(header["contents"])
        if "side" not in table.column_names:
            # It was not always saved: every bucket is asked once.
            ask = np.full(table.num_rows, MIN_TIMESTAMP, np.int64)
            table = table.append_column("side", pa.array(ask))
        columns = [table.column(name).to_numpy().copy() for name in _PER_BUCKET]
        return cls(Clock.from_json(header), header["output"], contents, *columns)

    def move(self, to: "Clock") -> None:
        """The clocks at the end of a step."""
        self.at = to
        self.output = promise(self.output, to.watermark, int(self.hold.min()))

    @property
    def standing(self) -> Standing:
        return Standing(self.contents.living, self.at.watermark)

    def forget_deadlines(self) -> None:
        """As if no key waited or held back anything, before all of them are noted anew."""
        for column in (self.event, self.timer, self.hold, self.side):
            column[:] = NEVER

    def due(self, to: Clock) -> set[int]:
        """The buckets where something is to happen when the clocks are there."""
        due = (self.event < to.watermark) | (self.timer < to.clock) | (self.side < to.side_at)
        return set(np.nonzero(due)[0].tolist())

    def dump(self, plan: Plan) -> bytes:
        table = pa.table({name: getattr(self, name) for name in _PER_BUCKET})
        header = {
            "plan": plan.identity,
            "about": plan.about,
            "output": self.output,
            "contents": self.contents.to_json(),
            **self.at.to_json(),
        }
        return pack_blob(table, header)


_PER_BUCKET = ("event", "timer", "hold", "side")
