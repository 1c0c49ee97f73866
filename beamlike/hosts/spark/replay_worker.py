"""Scripts on a real streaming query: what happens on Spark's workers.

Each stage of a script is a *lane* with a state of its own. A step of the script is one
micro-batch: rows with elements, and one control row that tells which step it is and what the
clocks of the lanes say. Each lane then steps as a shard does in production.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import cloudpickle
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from beamlike.errors import StateError, UserFunctionError
from beamlike.hosts.script import Machine
from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.columns import AccumulatorColumns, PickledColumn
from beamlike.hosts.spark.operation import Operation
from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.plan import Aggregation, Plan
from beamlike.hosts.spark.processor import SparkStore, blobs_of, wake_at_next_watermark
from beamlike.hosts.spark.shard import Shard, Stepped
from beamlike.hosts.spark.values import pickled_value
from beamlike.hosts.spark.workers import ease_worker
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn, EmptyPane
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP

__all__ = [
    "LANE_ROWS",
    "OUTPUT",
    "LaneProcessor",
    "OverPickles",
    "ScriptedPlan",
    "WatermarkScale",
    "lane_packer",
]

LANE_ROWS = (
    "lane int, key long, ts long, start long, end long, value binary, control string, "
    "mark timestamp"
)
"""The Spark schema of a step's rows. ``mark`` is what Spark takes its watermark from."""

OUTPUT = "run int, lane int, step int, key long, effect binary"
"""The Spark schema of the output: an effect is a pickled `Pane` or `Drop`; or the
`UserFunctionError` that ended the lane, without a key of its own."""

_PICKLED = "the values of its elements are pickles"


@attrs.frozen
class _Alone(CombineFn):
    """A combine function whose accumulators and results are tuples of one, as those of a plan
    are. Otherwise it is the function itself, and what goes wrong is said in its name."""

    fn: CombineFn

    def create(self) -> tuple[Any]:
        return (self.fn.create(),)

    def add(
        self, accumulator: tuple[Any], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any]:
        return (self.fn.add(accumulator[0], values, timestamps),)

    def merge(self, first: tuple[Any], second: tuple[Any]) -> tuple[Any]:
        return (self.fn.merge(first[0], second[0]),)

    def compact(self, accumulator: tuple[Any]) -> tuple[Any]:
        return (self.fn.compact(accumulator[0]),)

    def extract(self, accumulator: tuple[Any]) -> tuple[Any]:
        return (self.fn.extract(accumulator[0]),)

    @property
    def evicts(self) -> bool:
        return self.fn.evicts

    def after_pane(self, accumulator: tuple[Any]) -> tuple[Any]:
        return (self.fn.after_pane(accumulator[0]),)

    @property
    def on_empty(self) -> EmptyPane:
        of_one = self.fn.on_empty
        return attrs.evolve(of_one, value=(of_one.value,))

    def __str__(self) -> str:
        return str(self.fn)


@attrs.frozen
class _AggregationOfPickles(Aggregation):
    """An aggregation of pickled values by its only part."""

    @property
    def why_key_by_key(self) -> str:
        return _PICKLED

    @property
    def machine(self) -> Grouping:
        (part,) = self.parts
        return Grouping(self.strategy, _Alone(part.fn), self.on_error)

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        return map(pickled_value, rows)


class ScriptedPlan(Plan):
    """The plan of a grouping whose elements are pickled values.

    It differs from one of columns in that the machine gets the values themselves, and not rows:
    so its drops and its errors are those of the memory host.
    """

    @cached_property
    def operation(self) -> Operation:
        return _AggregationOfPickles(self.strategy, self.values, self.parts, self.on_error)


@attrs.frozen
class OverPickles(Operation):
    """Any machine, over pickled values."""

    of: Machine

    @property
    def machine(self) -> Machine:
        return self.of

    @property
    def accumulator(self) -> AccumulatorColumns:
        return PickledColumn()

    @property
    def results(self) -> Mapping[str, pa.DataType]:
        return {"value": pa.binary()}

    @property
    def why_key_by_key(self) -> str:
        return _PICKLED

    @property
    def words(self) -> Mapping[str, str]:
        return {"machine": type(self.of).__name__}

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        return map(pickled_value, rows)

    def fields(self, value: Any) -> Mapping[str, Any]:
        return {"value": value}

    def show(self, values: Sequence[Any]) -> list[pa.Array]:
        pickles = [None if it is None else cloudpickle.dumps(it) for it in values]
        return [pa.array(pickles, pa.binary())]


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


class LaneProcessor(StatefulProcessor):
    """Steps every lane through the current step of its script.

    State ``control`` keeps the last control row, for the batches in which only Spark's
    watermark moves; ``stages`` keeps each lane's plan; ``blobs`` the lanes' own state.
    """

    def init(self, handle: StatefulProcessorHandle) -> None:
        ease_worker()
        self._handle = handle
        self._control = handle.getValueState("control", "json string")
        self._stages = handle.getMapState("stages", "lane int", "stage binary")
        self._blobs = blobs_of(handle, "lane")

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
            watermark = scale.to_beam(spark_watermark) if scale else told["watermark"]
            stepped = self._step_lane(lane, arrivals.get(lane, []), watermark, told["clock"])
            effects: list[tuple[int | None, Any]] = (
                [(None, stepped)]
                if isinstance(stepped, UserFunctionError)
                else [(of_key, effect) for (of_key,), effect in stepped.effects]
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
        self, lane: int, arrivals: Sequence[pa.Table], watermark: int, clock: int
    ) -> Stepped | UserFunctionError:
        try:
            store = SparkStore(self._blobs, lane)
            return Shard(self._plan(lane)).step(store, arrivals, watermark, clock)
        except UserFunctionError as error:
            # It ends its own script. Raised here, it would end the query, and all the others.
            return error

    def _plan(self, lane: int) -> Plan:
        saved = self._stages.getValue((lane,))
        if saved is None:
            raise StateError(f"lane {lane} has no stage: its first step never arrived")
        return cloudpickle.loads(bytes(saved[0]))  # type: ignore[no-any-return]

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
                    "start": rows.column("start"),
                    "end": rows.column("end"),
                    "value_value": rows.column("value"),
                    "bucket": pa.array([0] * rows.num_rows, pa.int32()),
                }
            )
        )
