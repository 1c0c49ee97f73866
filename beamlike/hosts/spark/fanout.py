"""Hot keys: rows are dealt out to groups that combine them before they reach their shard.

One key's rows all go to one shard, however many they are. With a fanout they first go, in turn,
to as many groups of Spark, whatever their key. Each judges lateness as the shard would, combines
its rows by key and window, and passes on one combined element for each.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from beamlike.hosts.spark.blobs import pack_blob
from beamlike.hosts.spark.lift import lifter_of
from beamlike.hosts.spark.output import OutputTable
from beamlike.hosts.spark.pack import Arrived, heard_blob, packed_shards, read_blobs
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.processor import beam_watermark, wake_at_next_watermark
from beamlike.machine.clocks import InputState
from beamlike.model.time import MIN_TIMESTAMP

__all__ = ["FanoutProcessor", "bounded_fanout"]


@attrs.frozen
class _Seen:
    """What a group remembers: the clocks (ms) of its last step, and what each input told.

    They move as those of a shard do, or the two would not agree on what is late: neither ever
    goes back, whatever the clock of the machine does.
    """

    watermark: int = MIN_TIMESTAMP
    clock: int = 0
    inputs: tuple[InputState, ...] = ()

    def after(self, plan: Plan, arrived: Arrived, spark_watermark: int, clock: int) -> "_Seen":
        clock = max(clock, self.clock)
        if plan.clocks is None:
            return _Seen(max(self.watermark, beam_watermark(spark_watermark)), clock)
        inputs, watermark = plan.clocks.listen(self.inputs, arrived.heard, clock)
        return _Seen(max(self.watermark, watermark), clock, inputs)

    def to_json(self) -> str:
        inputs = [state.to_json() for state in self.inputs]
        return json.dumps([self.watermark, self.clock, inputs])

    @classmethod
    def from_json(cls, text: str) -> "_Seen":
        watermark, clock, inputs = json.loads(text)
        return cls(watermark, clock, tuple(map(InputState.from_json, inputs)))


class _Group:
    """Combines what one group of the fanout receives in a micro-batch."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._lifter = plan, lifter_of(plan)

    def pass_on(self, group: int, arrived: Arrived, watermark: int) -> pa.Table:
        """Blobs for the shards: all of them are woken, and hear what the group heard."""
        plan, shards, blobs = self._plan, list(self._plan.shard_ids), []
        batches = []
        if arrived.tables:
            lifted, dropped = self._lifter.lift(arrived.tables, watermark)
            if lifted.num_rows:
                batches.append(packed_shards(plan, lifted, [group]))
            if dropped:
                blobs.append(pack_blob(OutputTable(plan).build(dropped), {"kind": "out"}))
        blobs += arrived.finished
        ids = [shards[0]] * len(blobs) + shards
        blobs += [heard_blob(plan, arrived.heard)] * len(shards)
        columns = [pa.array(ids, pa.int32()), pa.array(blobs, pa.binary())]
        batches.append(pa.RecordBatch.from_arrays(columns, ["shard", "blob"]))
        return pa.Table.from_batches(batches)


class FanoutProcessor(StatefulProcessor):
    """One group of the fanout in a streaming query. State ``seen``: its watermarks, as JSON."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._seen = handle.getValueState("seen", "seen string")
        self._group = _Group(self._plan)
        self._stepped: set[int] = set()

    def handleInputRows(self, key: Any, rows: Iterable[Row], timerValues: Any) -> Iterator[Row]:
        return self._step(key[0], read_blobs(bytes(row.blob) for row in rows), timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        # Rows come first, and a group that had some has told the shards about this watermark.
        # Spark makes a new processor, and calls `init`, once for each task: no group is taken for
        # one of the micro-batch before.
        if key[0] not in self._stepped:
            yield from self._step(key[0], Arrived([], [], []), timerValues)

    def _step(self, group: int, arrived: Arrived, times: Any) -> Iterator[Row]:
        self._stepped.add(group)
        saved = self._seen.get()
        before = _Seen.from_json(saved[0]) if saved is not None else _Seen()
        passed = self._group.pass_on(group, arrived, before.watermark)
        spark_watermark = times.getCurrentWatermarkInMs()
        clock = times.getCurrentProcessingTimeInMs()
        self._seen.update((before.after(self._plan, arrived, spark_watermark, clock).to_json(),))
        if self._plan.clocks is None:
            wake_at_next_watermark(self._handle, spark_watermark)
        for row in passed.to_pylist():
            yield Row(**row)

    def close(self) -> None:
        pass


def bounded_fanout(plan: Plan) -> Callable[[pa.Table], pa.Table]:
    """The function for ``applyInArrow``: one group of the fanout, over data that ends."""

    def run(blobs: pa.Table) -> pa.Table:
        arrived = read_blobs(iter(blobs.column("blob").to_pylist()))
        group = blobs.column("shard")[0].as_py()
        return _Group(plan).pass_on(group, arrived, MIN_TIMESTAMP)

    return run
