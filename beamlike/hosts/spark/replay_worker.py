"""Scripts on a real streaming query: what happens on Spark's workers.

Each stage of a script is a *lane* with a state of its own. A step of the script is one
micro-batch: rows with elements, and one control row with the number of the step and the clocks of
the lanes. Each lane then steps as a shard does in production.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import cloudpickle
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from beamlike.errors import StateError, UserFunctionError
from beamlike.hosts.spark.deferred import Processor
from beamlike.hosts.spark.processor import SparkStore, register_watermark_timer
from beamlike.hosts.spark.worker_errors import cause_lines
from beamlike.hosts.spark.workers import ease_worker
from beamlike.machine.clocks import HostWatermark, WatermarkUpdate
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.packing import Batches
from beamlike.runtime.plan import Plan
from beamlike.runtime.shard import KeyedEffect
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.store.blobs import pack_blob, unpack_blob

LANE_ROWS = "lane int, rows binary, control string, mark timestamp"
"""The Spark schema of a step. ``rows`` are what arrives in a lane, as a blob; ``mark`` is what
Spark takes its watermark from."""

OUTPUT = "run int, lane int, step int, key long, effect binary"
"""The Spark schema of the output: an effect is a pickled `Pane` or `Drop`; or the
`UserFunctionError` that ended the lane, without a key of its own."""


@attrs.frozen
class WatermarkScale:
    """Where a script's watermarks lie on Spark's own scale (all in ms).

    A query's watermark starts at 0 and never goes back, while scripts begin at minus infinity
    one after the other. Each gets a stretch of the query's scale: up to ``base`` it has no
    watermark yet, then each millisecond is one of the script, and ``infinity`` is its end.
    """

    base: int
    first: int
    infinity: int

    def to_beam(self, spark_watermark: int) -> int:
        if spark_watermark <= self.base:
            return MIN_TIMESTAMP
        if spark_watermark >= self.infinity:
            return MAX_TIMESTAMP
        return self.first + (spark_watermark - self.base - 1)

    def to_spark(self, watermark: int) -> int:
        if watermark == MAX_TIMESTAMP:
            return self.infinity
        return self.base + 1 + (watermark - self.first)


def lane_packer(batches: Batches) -> Batches:
    """The function for ``mapInArrow``: all lanes are one shard, the control row with them."""
    ease_worker()
    for batch in batches:
        table = pa.Table.from_batches([batch]).drop_columns(["mark"])
        controls = [text for text in table.column("control").to_pylist() if text is not None]
        lanes = table.column("lane").to_pylist()
        rows = table.filter(pa.array([lane is not None for lane in lanes], pa.bool_()))
        blob = pack_blob(rows.drop_columns(["control"]).combine_chunks(), {"controls": controls})
        yield pa.RecordBatch.from_arrays(
            [pa.array([0], pa.int32()), pa.array([blob], pa.binary())], ["shard", "blob"]
        )


class LaneProcessor(Processor):
    """Steps every lane through the current step of its script."""

    def open(self, handle: StatefulProcessorHandle, state: Any) -> None:
        self._handle = handle
        self._control, self._stages, self._blobs = state

    def rows(self, key: Any, rows: Iterable[Row], times: Any) -> Iterator[Row]:
        arrivals: dict[int, list[pa.Table]] = {}
        control = None
        for row in rows:
            table, header = unpack_blob(bytes(row.blob))
            for text in header["controls"]:
                self._control.update((text,))
                control = json.loads(text)
            for lane, rows_of_lane in zip(*table.to_pydict().values(), strict=True):
                arrivals[lane] = [unpack_blob(rows_of_lane)[0]]
        if control is not None:
            yield from self._step(control, arrivals, times)

    def timer(self, key: Any, times: Any) -> Iterator[Row]:
        saved = self._control.get()
        if saved is not None:
            yield from self._step(json.loads(saved[0]), {}, times)

    def _step(self, control: Any, arrivals: dict[int, list[pa.Table]], times: Any) -> Iterator[Row]:
        spark_watermark = times.getCurrentWatermarkInMs()
        scale = control["scale"] and WatermarkScale(*control["scale"])
        if scale:
            register_watermark_timer(self._handle, spark_watermark)
        for number, lane_control in control["lanes"].items():
            lane = int(number)
            if lane_control["stage"] is not None:
                self._stages.updateValue((lane,), (bytes.fromhex(lane_control["stage"]),))
            watermark = scale.to_beam(spark_watermark) if scale else lane_control["watermark"]
            updates = [HostWatermark(watermark, begins=bool(scale))]
            stepped = self._step_lane(lane, arrivals.get(lane, []), updates, lane_control["clock"])
            effects: list[tuple[int | None, Any]] = (
                [(None, stepped)]
                if isinstance(stepped, UserFunctionError)
                else [(of_key, effect) for (of_key,), effect in stepped]
            )
            for of_key, effect in effects:
                yield Row(
                    run=control["run"],
                    lane=lane,
                    step=control["step"],
                    key=of_key,
                    effect=cloudpickle.dumps(effect),
                )

    def _step_lane(
        self,
        lane: int,
        arrivals: Sequence[pa.Table],
        updates: Sequence[WatermarkUpdate],
        clock: int,
    ) -> list[KeyedEffect] | UserFunctionError:
        try:
            store = SparkStore(self._blobs, lane)
            stepper = stepper_of(self._plan(lane))
            return stepper.effects(store, arrivals, updates, clock)
        except UserFunctionError as error:
            # It ends its own script. Raised here, it would end the query, and all the others. Its
            # cause may be of a class that only this process has.
            error.__notes__ = cause_lines(error)
            return error

    def _plan(self, lane: int) -> Plan:
        saved = self._stages.getValue((lane,))
        if saved is None:
            raise StateError(f"lane {lane} has no stage: its first step never arrived")
        return cloudpickle.loads(bytes(saved[0]))  # type: ignore[no-any-return]
