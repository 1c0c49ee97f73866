"""Scripts on a real streaming query: what happens on Spark's workers.

Each stage of a script is a *lane* with a state of its own. A step of the script is one
micro-batch: rows with elements, and one control row that tells which step it is and what the
clocks of the lanes say. Each lane then steps as a shard does in production.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs
import cloudpickle
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from beamlike.errors import StateError
from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.processor import wake_at_next_watermark
from beamlike.hosts.spark.shard import KeyedEffect, Shard
from beamlike.machine.events import Bundle, Element
from beamlike.machine.passthrough import PassThrough
from beamlike.machine.reference.state import KeyState
from beamlike.model.combine import CombineFn
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP

__all__ = ["LANE_ROWS", "OUTPUT", "Decoded", "LaneProcessor", "WatermarkScale", "lane_packer"]

LANE_ROWS = "lane int, key long, ts long, value binary, control string, mark timestamp"
"""The Spark schema of a step's rows. ``mark`` is what Spark takes its watermark from."""

OUTPUT = "run int, lane int, step int, key long, effect binary"
"""The Spark schema of the output: an effect is a pickled `Pane` or `Drop`."""


@attrs.frozen
class Decoded(CombineFn):
    """A combine function over pickled values."""

    fn: CombineFn

    def create(self) -> Any:
        return self.fn.create()

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        return self.fn.add(accumulator, [cloudpickle.loads(value) for value in values], timestamps)

    def merge(self, first: Any, second: Any) -> Any:
        return self.fn.merge(first, second)

    def extract(self, accumulator: Any) -> Any:
        return self.fn.extract(accumulator)


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
    for batch in batches:
        table = pa.Table.from_batches([batch]).drop_columns(["mark"])
        controls = [text for text in table.column("control").to_pylist() if text is not None]
        lanes = table.column("lane").to_pylist()
        rows = table.filter(pa.array([lane is not None for lane in lanes], pa.bool_()))
        blob = pack_blob(rows.drop_columns(["control"]).combine_chunks(), {"controls": controls})
        yield pa.RecordBatch.from_arrays(
            [pa.array([0], pa.int32()), pa.array([blob], pa.binary())], ["shard", "blob"]
        )


class _LaneStore:
    """The blobs of one lane within the state of its shard."""

    def __init__(self, blobs: Any, lane: int) -> None:
        self._blobs = blobs
        self._lane = lane

    def read(self, bucket: int) -> bytes | None:
        row = self._blobs.getValue((self._lane, bucket))
        return None if row is None else bytes(row[0])

    def write(self, bucket: int, blob: bytes | None) -> None:
        if blob is None:
            self._blobs.removeKey((self._lane, bucket))
        else:
            self._blobs.updateValue((self._lane, bucket), (blob,))

    def read_index(self) -> bytes | None:
        return self.read(-1)

    def write_index(self, blob: bytes) -> None:
        self.write(-1, blob)


def _stepper(stage: Any) -> Callable[..., list[KeyedEffect]]:
    """How a lane steps: as a shard of production, or without state if nothing is grouped."""
    if isinstance(stage, Plan):
        return Shard(stage).step
    return lambda store, arrivals, watermark, clock: _pass_through(stage, arrivals)


def _pass_through(stage: PassThrough, arrivals: Sequence[pa.Table]) -> list[KeyedEffect]:
    effects: list[KeyedEffect] = []
    for table in arrivals:
        for row in table.to_pylist():
            bundle = Bundle((Element(cloudpickle.loads(row["value_value"]), row["ts"]),))
            _, out = stage.step(KeyState(), bundle)
            effects += [((row["key_key"],), effect) for effect in out]
    return effects


class LaneProcessor(StatefulProcessor):
    """Steps every lane through the current step of its script.

    State ``control`` keeps the last control row, for the batches in which only Spark's
    watermark moves; ``stages`` keeps each lane's plan; ``blobs`` the lanes' own state.
    """

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._control = handle.getValueState("control", "json string")
        self._stages = handle.getMapState("stages", "lane int", "stage binary")
        self._blobs = handle.getMapState("blobs", "lane int, bucket int", "blob binary")

    def handleInputRows(self, key: Any, rows: Iterable[Row], timerValues: Any) -> Iterator[Row]:
        arrivals: dict[int, list[pa.Table]] = {}
        control = None
        for row in rows:
            table, header = unpack_blob(bytes(row.blob))
            for text in header["controls"]:
                self._control.update((text,))
                control = json.loads(text)
            _by_lane(table, arrivals)
        if control is not None:
            yield from self._step(control, arrivals, timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        saved = self._control.get()
        if saved is not None:
            yield from self._step(json.loads(saved[0]), {}, timerValues)

    def _step(self, control: Any, arrivals: dict[int, list[pa.Table]], times: Any) -> Iterator[Row]:
        spark_watermark = times.getCurrentWatermarkInMs()
        scale = control["scale"] and WatermarkScale(*control["scale"])
        if scale:
            wake_at_next_watermark(self._handle, spark_watermark)
        for lane, told in ((int(lane), told) for lane, told in control["lanes"].items()):
            if told["stage"] is not None:
                self._stages.updateValue((lane,), (bytes.fromhex(told["stage"]),))
            effects = _stepper(self._stage(lane))(
                _LaneStore(self._blobs, lane),
                arrivals.get(lane, []),
                scale.to_beam(spark_watermark) if scale else told["watermark"],
                told["clock"],
            )
            for (of_key,), effect in effects:
                yield Row(
                    run=control["run"],
                    lane=lane,
                    step=control["step"],
                    key=of_key,
                    effect=cloudpickle.dumps(effect),
                )

    def _stage(self, lane: int) -> Any:
        saved = self._stages.getValue((lane,))
        if saved is None:
            raise StateError(f"lane {lane} has no stage: its first step never arrived")
        return cloudpickle.loads(bytes(saved[0]))

    def close(self) -> None:
        pass


def _by_lane(table: pa.Table, arrivals: dict[int, list[pa.Table]]) -> None:
    """Sort a shard's rows to their lanes, named as a plan's packer would name them."""
    lanes = table.column("lane").to_pylist()
    for lane in dict.fromkeys(lanes):
        rows = table.filter(pa.array([it == lane for it in lanes], pa.bool_()))
        arrivals.setdefault(lane, []).append(
            pa.table(
                {
                    "key_key": rows.column("key"),
                    "ts": rows.column("ts"),
                    "value_value": rows.column("value"),
                    "bucket": pa.array([0] * rows.num_rows, pa.int32()),
                }
            )
        )
