"""A micro-batch that runs again, in Spark: after a kill, and for a second action of a sink.

Rows come in another order each time that they are read. Before state is read, Java forgets what it
has in memory, so that all comes from the files of the checkpoint.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import beamlike as bl

pytestmark = pytest.mark.spark

FORMAT: Final = "spark.sql.streaming.stateStore.checkpointFormatVersion"
DELTAS: Final = "spark.sql.streaming.stateStore.minDeltasForSnapshot"
MAINTENANCE: Final = "spark.sql.streaming.stateStore.maintenanceInterval"
KEYS: Final = 1_200
"""More than `ALWAYS_REWRITTEN_ROWS`: a step appends to a log what it has changed."""
WHOLE: Final = {"n": bl.count(), "sum": bl.sum("points")}
ORDERED: Final = {**WHOLE, "share": bl.sum("share"), "all": bl.collect("points")}
"""These depend on the order of rows: their bytes differ from attempt to attempt."""


def shuffled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.take(pa.array(random.sample(range(batch.num_rows), batch.num_rows)))


@attrs.define
class Job:
    """A query over files, each of which is a micro-batch, and what it has written."""

    spark: SparkSession
    home: Path
    aggregate: Mapping[str, Any]
    sums: dict[str, int] = attrs.field(factory=dict)
    """Of the sessions that stand, the sum of points by user."""
    _files: int = 0

    @property
    def checkpoint(self) -> Path:
        return self.home / "checkpoint"

    def arrive(self, count: int) -> None:
        """A file of rows of so many users, of which the first are always the same."""
        inbox = self.home / "in"
        inbox.mkdir(parents=True, exist_ok=True)
        number, self._files = self._files, self._files + 1
        rows = [
            {
                "user": f"user {user}",
                "at": f"2024-05-01 12:{number:02}:00",
                "points": user % 7,
                "share": user / 10,
            }
            for user in range(count)
        ]
        for row in rows:
            self.sums[row["user"]] = self.sums.get(row["user"], 0) + row["points"]
        (inbox / f"{number:03}.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def run(self, look: Callable[[DataFrame], Any] = lambda batch: None) -> None:
        """Take what has arrived; ``look`` is an action before the sink writes."""
        forget(self.spark)
        schema = "user string, at timestamp, points long, share double"
        rows = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        rows = rows.json(str(self.home / "in")).mapInArrow(shuffled, schema)
        sessions = bl.windowed(
            rows,
            key="user",
            timestamp="at",
            watermark="1 day",
            window=bl.Sessions("1 hour"),
            aggregate=self.aggregate,
            shards=1,
            buckets=4,
        )

        def write(batch: DataFrame, number: int) -> None:
            look(batch)
            batch.write.format("noop").mode("append").save()

        writer = sessions.writeStream.foreachBatch(write).trigger(availableNow=True)
        writer.option("checkpointLocation", str(self.checkpoint)).start().awaitTermination()

    def forget_commit(self, *, of_state: bool = False) -> None:
        """As if a kill had come before the last micro-batch was noted as done.

        Args:
            of_state: And before the partition with the shard had committed its state.
        """
        commits = self.checkpoint / "commits"
        last = max(int(path.name) for path in commits.iterdir() if path.name.isdecimal())
        for name in (f"{last}", f".{last}.crc"):
            (commits / name).unlink(missing_ok=True)
        for path in (self.checkpoint / "state" / "0").glob("*/*") if of_state else ():
            if path.name.split(".")[0].split("_")[0] == str(last + 1):
                path.unlink()

    def saved(self) -> dict[str, int]:
        """The sum of points by user, as the files of the checkpoint say."""
        forget(self.spark)
        [stage] = bl.open_state(self.spark, str(self.checkpoint)).stages
        windows = stage.windows
        users, sums = (windows.column(name).to_pylist() for name in ("key_user", "acc1_sum"))
        assert len(set(users)) == len(users)
        return dict(zip(users, sums, strict=True))


def forget(spark: SparkSession) -> None:
    """Have Java read state from files next time, once it has saved snapshots that wait for it."""
    time.sleep(0.5)
    spark._jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()


ROUNDS: Final = ("once", "twice", "thrice", "half", "two actions", "once")
"""How often a micro-batch runs: also with half of its state committed, or read by two actions."""


@pytest.mark.parametrize(
    ("version", "snapshot_every", "aggregate", "rounds"),
    [
        pytest.param("1", 100, ORDERED, ROUNDS[3:5], id="as Spark is set, before a snapshot"),
        pytest.param("1", 100, ORDERED, ROUNDS, id="and all rounds", marks=pytest.mark.nightly),
        pytest.param("1", 2, WHOLE, ROUNDS, id="and with snapshots", marks=pytest.mark.nightly),
        pytest.param("2", 2, ORDERED, ROUNDS, id="as local is set", marks=pytest.mark.nightly),
    ],
)
def test_micro_batches_that_run_again_leave_state_that_can_be_read(
    spark: SparkSession,
    setting: Callable[[str, str], None],
    tmp_path: Path,
    version: str,
    snapshot_every: int,
    aggregate: Mapping[str, Any],
    rounds: Sequence[str],
) -> None:
    setting(FORMAT, version)
    setting(DELTAS, str(snapshot_every))
    setting(MAINTENANCE, "100ms")
    job = Job(spark, tmp_path, aggregate)
    job.arrive(KEYS)
    job.run()

    for again in rounds:
        # What goes on in memory from the attempt that counts comes after it in the files.
        job.arrive(40)
        job.arrive(40)
        job.run((lambda batch: batch.isEmpty()) if again == "two actions" else lambda batch: None)
        for _ in range({"twice": 1, "thrice": 2, "half": 1}.get(again, 0)):
            job.forget_commit(of_state=again == "half")
            job.arrive(40)
            job.run()
        assert job.saved() == job.sums, again
