"""Groups of Spark that combine the rows of hot keys, see `beamlike.runtime.fanout`."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from beamlike.hosts.spark.processor import GroupProcessor
from beamlike.machine.clocks import WatermarkUpdate
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.clock import Clock
from beamlike.runtime.fanout import FanoutGroup
from beamlike.runtime.packing import Arrived, read_blobs
from beamlike.runtime.plan import Plan


class FanoutProcessor(GroupProcessor):
    """One group of the fanout in a streaming query. State ``seen``: its `Clock`, as JSON."""

    def open(self, handle: StatefulProcessorHandle, state: Any) -> None:
        super().open(handle, state)
        self._seen = state
        self._group = FanoutGroup(self._plan)

    def step(
        self,
        group: int,
        arrived: Arrived,
        updates: Sequence[WatermarkUpdate],
        clock: int,
    ) -> Iterator[Row]:
        saved = self._seen.get()
        before = Clock() if saved is None else Clock.from_json(json.loads(saved[0]))
        passed, after = self._group.step(group, before, arrived, updates, clock)
        self._seen.update((json.dumps(after.to_json()),))
        for row in passed.to_pylist():
            yield Row(**row)


def bounded_fanout(plan: Plan) -> Callable[[pa.Table], pa.Table]:
    """The function for ``applyInArrow``: one group of the fanout, over data that ends."""

    def run(blobs: pa.Table) -> pa.Table:
        arrived = read_blobs(iter(blobs.column("blob").to_pylist()))
        group = blobs.column("shard")[0].as_py()
        return FanoutGroup(plan).pass_on(group, arrived, MIN_TIMESTAMP)

    return run
