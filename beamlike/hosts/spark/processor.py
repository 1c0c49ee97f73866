"""The stateful processors of Spark: a shard is a group, its blobs are the group's state."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from beamlike.hosts.garbage import paused_gc
from beamlike.hosts.spark.deferred import Processor
from beamlike.hosts.spark.nearby import nearby_of_worker
from beamlike.hosts.spark.unpack import OutputBlobs
from beamlike.hosts.spark.workers import prepare_logs
from beamlike.machine.clocks import HostWatermark, WatermarkUpdate
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.micro_batch import known_watermark, stepped_shard
from beamlike.runtime.packing import Arrived, read_blobs
from beamlike.runtime.plan import Plan
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.stores import NOTHING_NEARBY, Nearby
from beamlike.runtime.tally import EXAMPLES, METRICS, TALLY_TYPE

STEPPED: Final = f"blob binary, {TALLY_TYPE}"
"""The Spark schema of what comes out of a shard: blobs of rows, and in one more row of each step
what it has counted."""

_ROW: Final = Row("blob", *METRICS, *EXAMPLES)
_UNCOUNTED: Final = (None,) * len((*METRICS, *EXAMPLES))

_INDEX = -1
_LOGGED: Final = set[Hashable]()
"""Which failures this worker has logged: each once, however many tasks it does."""


class SparkStore:
    """A shard's blobs in Spark's state of the current group, by number; -1 is the index.

    One state for both: each costs every task some milliseconds before it has done anything.

    Args:
        blobs: The state, see `beamlike.hosts.spark.deferred.blobs_of`.
        place: What comes before the number, where one state has the blobs of several stages.
        nearby: Where copies are.
    """

    def __init__(self, blobs: Any, *place: int, nearby: Nearby = NOTHING_NEARBY) -> None:
        self._blobs, self._place, self.nearby = blobs, place, nearby

    def read(self, number: int) -> bytes | None:
        row = self._blobs.getValue((*self._place, number))
        return None if row is None else bytes(row[0])

    def write(self, number: int, blob: bytes | None) -> None:
        if blob is None:
            self._blobs.removeKey((*self._place, number))
        else:
            self._blobs.updateValue((*self._place, number), (blob,))

    def read_index(self) -> bytes | None:
        return self.read(_INDEX)

    def write_index(self, blob: bytes) -> None:
        self.write(_INDEX, blob)


def register_watermark_timer(handle: StatefulProcessorHandle, spark_watermark: int) -> None:
    """Have the group called whenever the watermark moves.

    The shard's own index knows what is due; Spark only has to call. A single timer just
    ahead of the watermark does that, and Spark removes it when it fires.
    """
    handle.registerTimer(spark_watermark + 1)


class GroupProcessor(Processor):
    """Has each group of Spark step once in a micro-batch, with rows or without."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def open(self, handle: StatefulProcessorHandle, state: Any) -> None:
        prepare_logs()
        self._handle = handle
        self._stepped: set[int] = set()

    def rows(self, key: Any, rows: Iterable[Row], times: Any) -> Iterator[Row]:
        arrived = read_blobs(bytes(row.blob) for row in rows)
        yield from self._step(key[0], arrived, times)

    def timer(self, key: Any, times: Any) -> Iterator[Row]:
        # Rows come first. A group that had some has seen this watermark, and waits for the next.
        # Spark makes a new processor once for each task: no group is taken for one of the
        # micro-batch before.
        if key[0] not in self._stepped:
            yield from self._step(key[0], Arrived([], [], []), times)

    def _step(self, group: int, arrived: Arrived, times: Any) -> Iterator[Row]:
        self._stepped.add(group)
        updates = list(arrived.updates)
        spark_watermark = times.getCurrentWatermarkInMs()
        if spark_watermark >= MAX_TIMESTAMP:
            # The query is drained: all inputs have come to their end.
            updates.append(HostWatermark(MAX_TIMESTAMP))
        elif self._plan.clocks is None:
            register_watermark_timer(self._handle, spark_watermark)
            # Spark's watermark follows from the micro-batches before: it is there first.
            updates.append(HostWatermark(known_watermark(spark_watermark), begins=True))
        else:
            # Updates of its inputs trigger its steps, but for the drain, which needs a timer. One
            # would do; to check that it is set takes as long as to set it again.
            self._handle.registerTimer(MAX_TIMESTAMP)
        clock = self._plan.clock if arrived.clock is None else arrived.clock
        if clock is None:
            clock = times.getCurrentProcessingTimeInMs()
        yield from self.step(group, arrived, updates, clock)

    @abstractmethod
    def step(
        self,
        group: int,
        arrived: Arrived,
        updates: Sequence[WatermarkUpdate],
        clock: int,
    ) -> Iterator[Row]:
        """Take the group through the micro-batch.

        Args:
            group: Its grouping key.
            arrived: What it was sent.
            updates: Updates of the watermark.
            clock: Processing time (ms).
        """


class ShardProcessor(GroupProcessor):
    """Carries micro-batches to a shard's step and what comes out onwards. Decides nothing.

    Args:
        plan: Of its grouping.
        copies: Whether the workers of an executor may share copies of state.
    """

    def __init__(self, plan: Plan, copies: bool = False) -> None:
        super().__init__(plan)
        self._copies = copies

    def open(self, handle: StatefulProcessorHandle, state: Any) -> None:
        super().open(handle, state)
        self._store = SparkStore(state, nearby=nearby_of_worker(self._copies))
        self._stepper, self._output = stepper_of(self._plan), OutputBlobs()
        self._stepper.share_logged(_LOGGED)

    def step(
        self,
        group: int,
        arrived: Arrived,
        updates: Sequence[WatermarkUpdate],
        clock: int,
    ) -> Iterator[Row]:
        if group not in self._plan.shard_ids:
            # The state was written with a different shard count; loading the index raises the right
            # error.
            Index.load(self._plan, self._store.read_index())
        shard = self._plan.shard_ids.index(group)
        with paused_gc():
            tables, tally = stepped_shard(
                self._stepper, self._store, shard, arrived, updates, clock
            )
            blobs = [self._output.of(table) for table in tables]
        yield from (_ROW(blob, *_UNCOUNTED) for blob in blobs)
        yield _ROW(None, *tally.columns)

    def close(self) -> None:
        # Between tasks a worker keeps what it remembers, and not what it needed meanwhile.
        pa.default_memory_pool().release_unused()
