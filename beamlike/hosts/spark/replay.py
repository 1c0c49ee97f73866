"""Scripts on a real streaming query: what the driver does.

Two ways. `run_on_spark` moves Spark's own watermark, as production does: it comes from a
control row in one micro-batch and is in force in the next. `replay_on_spark` runs many
scripts side by side, step n of all of them in one micro-batch; their watermarks travel in
the control row, because a query has only one of its own.
"""

import atexit
import json
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import cloudpickle
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from beamlike.errors import UnsupportedError, UserFunctionError, because_of
from beamlike.hosts.failed_starts import all_processed
from beamlike.hosts.spark.deferred import Deferred, states_of_lanes
from beamlike.hosts.spark.replay_worker import (
    LANE_ROWS,
    OUTPUT,
    LaneProcessor,
    WatermarkScale,
    lane_packer,
)
from beamlike.hosts.spark.scratch import scratch_folder
from beamlike.hosts.spark.session import local_session
from beamlike.hosts.spark.worker_errors import as_raised, cause_of, reported
from beamlike.machine.events import AdvanceClock, AdvanceWatermark
from beamlike.machine.failures import OnFailure
from beamlike.model.combine import CombineFn
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP, show_duration
from beamlike.runtime.script import Arrive, Output, Run, Script
from beamlike.runtime.scripted import ScriptedStage, Staged
from beamlike.runtime.store.blobs import pack_blob
from beamlike.runtime.store.state import StateLayout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Stage = tuple[Staged, CombineFn | None, Script]
"""A stage and its script. Only a strategy has a combine function."""

_PARTITIONS = "spark.sql.shuffle.partitions"

_ROWS = pa.schema(
    [
        ("lane", pa.int32()),
        ("rows", pa.binary()),
        ("control", pa.string()),
        ("mark", pa.timestamp("us", tz="UTC")),
    ]
)


def run_on_spark(
    strategy: Staged,
    combine: CombineFn | None,
    script: Script,
    spark: "SparkSession | None" = None,
    *,
    on_error: OnFailure = OnFailure.FAIL,
) -> Run:
    """Run one script on a streaming query whose own watermark the script moves.

    Every element step is a micro-batch. Returns what `run_in_memory` returns, without trace.

    Args:
        on_error: What a strategy does when a function of the user's raises, as `Grouping`.

    Raises:
        UnsupportedError: The strategy's state has no layout on Spark, the script moves the
            watermark of a side input, or its watermarks lie further apart than Spark's time
            reaches.
        UserFunctionError: A function of the user's raised, and that is to be reported. Its cause is
            of the type of what was raised, with the user's frames.
    """
    stage = (strategy, combine, script)
    return _replayer(spark).run([stage], spark_watermark=True, on_error=on_error)[0]


def replay_on_spark(stages: Sequence[Stage], spark: "SparkSession | None" = None) -> list[Run]:
    """Run many scripts side by side in one streaming query, in their order.

    Raises:
        UnsupportedError: A strategy's state has no layout on Spark, or a script moves the watermark
            of a side input.
        UserFunctionError: A function of the user's raised.
    """
    return _replayer(spark).run(stages, spark_watermark=False)


_running: list["Replayer"] = []


def _replayer(spark: "SparkSession | None") -> "Replayer":
    """The one open query of this process: starting one costs seconds, a step a fraction."""
    if _running and not _running[0].usable_with(spark):
        close_replayer()
    if not _running:
        _running.append(Replayer(spark or local_session("beamlike replay")))
    return _running[0]


@atexit.register
def close_replayer() -> None:
    """Stop the open query, if any, and remove its files."""
    while _running:
        _running.pop().close()


def _beside(spark: "SparkSession") -> "SparkSession":
    """A new session with the settings of this one, and nothing else of it."""
    own = spark.newSession()
    for name, value in spark.conf.getAll.items():
        if own.conf.isModifiable(name):
            own.conf.set(name, value)
    return own


class Replayer:
    """A streaming query that runs one set of scripts after another. Close it when done.

    It runs in a session of its own, so that it is not among the queries of the one that was given.
    """

    def __init__(self, spark: "SparkSession") -> None:
        self._given, self._spark = spark, _beside(spark)
        self._home = scratch_folder("replay")
        self._inbox = self._home / "in"
        self._inbox.mkdir()
        self._runs = 0
        self._lanes = 0
        self._base = 0
        self._files = 0
        self._table = f"beamlike_replay_{id(self)}"
        self._query = self._start()

    def _start(self) -> "StreamingQuery":
        rows = (
            self._spark.readStream.schema(LANE_ROWS)
            .option("maxFilesPerTrigger", 1)
            .parquet(str(self._inbox))
        )
        marked = rows.withWatermark("mark", "0 seconds")
        packed = marked.mapInArrow(reported(lane_packer), "shard int, blob binary")
        out = packed.groupBy("shard").transformWithState(
            Deferred(LaneProcessor(), states_of_lanes), OUTPUT, "append", "EventTime"
        )
        # The sink cannot go on from a checkpoint. A query starts again before it has any rows.
        shutil.rmtree(self._home / "checkpoint", ignore_errors=True)
        # Steps are tiny and there are many: one task is quicker than several.
        self._spark.conf.set(_PARTITIONS, "1")
        return (
            out.writeStream.format("memory")
            .queryName(self._table)
            .option("checkpointLocation", str(self._home / "checkpoint"))
            .outputMode("append")
            .start()
        )

    def usable_with(self, spark: "SparkSession | None") -> bool:
        """Whether the query still runs, in the session that is given."""
        return self._query.isActive and (spark is None or spark is self._given)

    def close(self) -> None:
        """Stop the query and remove its files."""
        try:
            self._query.stop()
            self._spark.catalog.dropTempView(self._table)
        except Exception:  # the session may be gone already, and the files must go all the same
            pass
        shutil.rmtree(self._home, ignore_errors=True)

    def run(
        self,
        stages: Sequence[Stage],
        *,
        spark_watermark: bool,
        on_error: OnFailure = OnFailure.FAIL,
    ) -> list[Run]:
        """Run the scripts to their ends, each in a lane of its own.

        Raises:
            UserFunctionError: A function of the user's raised, and that is to be reported.
        """
        lanes = []
        for strategy, combine, script in stages:
            lanes.append(_Lane.prepare(self._lanes, strategy, combine, script, on_error))
            self._lanes += 1
        scale = self._scale(stages[0][2]) if spark_watermark else None
        run = self._runs
        self._runs += 1
        for step in range(max((len(lane.script) for lane in lanes), default=0)):
            playing = [lane for lane in lanes if step < len(lane.script)]
            self._send(_step_rows(run, step, playing, scale))
        found = self._spark.table(self._table).filter(F.col("run") == run).collect()
        by_lane: dict[int, list[Any]] = {}
        for row in found:
            by_lane.setdefault(row.lane, []).append(row)
        return [lane.collect(by_lane.get(lane.number, [])) for lane in lanes]

    def _scale(self, script: Script) -> WatermarkScale:
        """A stretch of the query's own time for a script, after all that were used."""
        marks = [step.to for step in script if isinstance(step, AdvanceWatermark)]
        finite = [mark for mark in marks if mark != MAX_TIMESTAMP]
        first, last = min(finite, default=0), max(finite, default=0)
        base = self._base
        infinity = base + (last - first) + 2
        if infinity >= MAX_TIMESTAMP:
            raise UnsupportedError(
                f"the script's watermarks span {show_duration(last - first)}, more than is left of "
                "Spark's time in this query; use replay_on_spark, which does not move Spark's "
                "watermark"
            )
        self._base = infinity
        return WatermarkScale(base, first, infinity)

    def _send(self, rows: list[dict[str, Any]]) -> None:
        """One step, one file, one micro-batch; and the batch that a new watermark causes."""
        name = f"{self._files:08}.parquet"
        self._files += 1
        columns = {field.name: [row.get(field.name) for row in rows] for field in _ROWS}
        hidden = self._inbox / f".{name}"
        pq.write_table(pa.table(columns, schema=_ROWS), hidden)
        hidden.rename(self._inbox / name)
        with as_raised():
            if self._files > 1:
                self._query.processAllAvailable()
            else:
                self._query = all_processed(self._query, self._start)


@attrs.define
class _Lane:
    """One stage on its way through its script."""

    number: int
    stage: ScriptedStage
    script: Script
    watermark: int = MIN_TIMESTAMP
    clock: int = 0

    @classmethod
    def prepare(
        cls,
        number: int,
        does: Staged,
        combine: CombineFn | None,
        script: Script,
        on_error: OnFailure,
    ) -> "_Lane":
        stage = ScriptedStage.of(does, combine, script, on_error)
        StateLayout(stage.plan)  # refuses here what would otherwise end the query in a worker
        for step in script:
            if isinstance(step, AdvanceWatermark) and step.side is not None:
                raise UnsupportedError(
                    f"{step} moves the watermark of a side input, and a replay on Spark has one "
                    "watermark for all inputs; leave side out, or run the script in memory"
                )
        return cls(number, stage, script)

    def collect(self, rows: Sequence[Any]) -> Run:
        """The run, from the rows of this lane.

        Raises:
            UserFunctionError: One of them is that.
        """
        found: list[Output] = []
        for row in sorted(rows, key=lambda row: row.step):
            effect = cloudpickle.loads(row.effect)
            if isinstance(effect, UserFunctionError):
                cause = cause_of(getattr(effect, "__notes__", ()))
                raise because_of(self.stage.named(effect), cause) from cause
            shown = self.stage.shown([((row.key,), effect)])
            found += (Output(row.step, key, it) for key, it in shown)
        return Run(self.script, tuple(found))


def _step_rows(
    run: int, step: int, lanes: Sequence[_Lane], scale: WatermarkScale | None
) -> list[dict[str, Any]]:
    """The rows of one step: every lane's elements, and the control row."""
    rows: list[dict[str, Any]] = []
    mark = 0
    for lane in lanes:
        happens = lane.script[step]
        if isinstance(happens, Arrive):
            blob = pack_blob(lane.stage.rows(happens), {})
            rows.append({"lane": lane.number, "rows": blob, "mark": 0})
        elif isinstance(happens, AdvanceClock):
            lane.clock = happens.to
        else:
            lane.watermark = happens.to
            mark = scale.to_spark(happens.to) if scale else 0
    control = {
        "run": run,
        "step": step,
        "scale": scale and attrs.astuple(scale),
        "lanes": {
            lane.number: {
                "stage": cloudpickle.dumps(lane.stage.plan).hex() if step == 0 else None,
                "watermark": lane.watermark,
                "clock": lane.clock,
            }
            for lane in lanes
        },
    }
    rows.append({"control": json.dumps(control), "mark": mark * 1000})
    return rows
