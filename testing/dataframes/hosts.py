"""Where a query of a test runs: in this process, or as a streaming query of Spark."""

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from beamlike.errors import TestStreamError, UnsupportedError
from beamlike.hosts.failed_starts import all_processed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from beamlike.testing.dataframes.tables import QueryDescription, TableQuery

Job = Callable[..., Any]
"""A function of frames that returns the frame of a query, or a `Stream`."""


class _DescribedRun:
    """A query that runs micro-batch by micro-batch.

    Each step returns the rows of its micro-batches. ``watermark`` is where the watermark of the
    query stands (ms), 0 while there is none; watermarks and the clock move to instants (ms).
    """

    described: "QueryDescription"

    def describe(
        self, job: Job, frames: Mapping[str, Any], alone: bool, described: "QueryDescription"
    ) -> Any:
        """The frame of a query, dropped rows beside its panes if they are to be had."""
        from beamlike.api.dataframe.stream import Stream

        out = job(*frames.values()) if alone else job(**frames)
        self.described = described
        if isinstance(out, Stream):
            return out.everything
        if not hasattr(out, "isStreaming"):
            raise TestStreamError(
                "the function of a query returns a DataFrame, such as that of bl.windowed, or a "
                f"Stream, got {out!r}"
            )
        if not out.isStreaming:
            raise TestStreamError(
                "the function returned a bounded DataFrame, and a test feeds a stream; have it use "
                "the frames that it is given"
            )
        return described.everything(out)


class LocalRun(_DescribedRun):
    """A query on the runtime of production in this process, without Spark."""

    def __init__(
        self, job: Job, schemas: Mapping[str, "pa.Schema"], alone: bool, clock: int
    ) -> None:
        self._schemas, self._alone, self._clock = schemas, alone, clock
        self._again: Callable[[], list[pa.Table]] | None = None
        self._start(job)

    def _start(self, job: Job, before: "TableQuery | None" = None) -> None:
        from beamlike.hosts.local.tables.frame import TableFrame
        from beamlike.testing.dataframes.tables import QueryDescription, TableQuery

        described = QueryDescription()
        self._query = TableQuery(self._schemas, described, before)
        with _without_spark():
            self._out = self.describe(job, self._query.frames, self._alone, described)
        if not isinstance(self._out, TableFrame):
            raise UnsupportedError(
                "the function returned a DataFrame of Spark, and this test runs without it; have "
                'it use the frames that it is given, or test with host="spark"'
            )

    @property
    def watermark(self) -> int:
        return self._query.watermark

    def send(self, name: str, rows: "pa.Table") -> list["pa.Table"]:
        return self._step({name: rows}, {})

    def move_watermark(self, inputs: Collection[str], to: int) -> list["pa.Table"]:
        return self._step({}, dict.fromkeys(inputs, to))

    def move_clock(self, to: int) -> list["pa.Table"]:
        self._clock = to
        return self._step({}, {})

    def end(self) -> list["pa.Table"]:
        return self._step({}, {}, ended=True)

    def _step(
        self, rows: Mapping[str, "pa.Table"], moves: Mapping[str, int], *, ended: bool = False
    ) -> list["pa.Table"]:
        return self._run(lambda: self._query.step(self._out, rows, moves, self._clock, ended=ended))

    def _run(self, step: "Callable[[], list[pa.Table]]") -> list["pa.Table"]:
        self._again = step
        came = step()
        self._again = None
        return came

    def restart(self, job: Job) -> list["pa.Table"]:
        self._start(job, self._query)
        # A micro-batch that failed runs once more, as from a checkpoint.
        return [] if self._again is None else self._run(self._again)

    def close(self) -> None:
        """Nothing is left behind."""


@contextmanager
def _without_spark() -> Iterator[None]:
    """Refuse expressions of Spark by name, where there is no session that could make them."""
    try:
        yield
    except Exception as error:
        # PySpark's error for a missing session, and what it asserts without a message.
        of_spark = type(error).__module__.startswith("pyspark.") and "SESSION" in str(error)
        *_, (frame, _) = walk_tb(error.__traceback__)
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        asserted = isinstance(error, AssertionError) and not str(error)
        if not of_spark and not (asserted and package == "pyspark"):
            raise
        raise UnsupportedError(
            "the function of this query makes an expression of Spark, such as F.col(...), and this "
            'test runs without it; test with host="spark"'
        ) from error


class SparkRun(_DescribedRun):
    """A real streaming query, with a checkpoint. Its watermarks and its clock follow a script."""

    def __init__(
        self,
        job: Job,
        schemas: Mapping[str, "pa.Schema"],
        alone: bool,
        clock: int,
        spark: "SparkSession | None",
    ) -> None:
        from beamlike.hosts.pyspark_types import spark_schema
        from beamlike.hosts.spark.scratch import scratch_folder
        from beamlike.hosts.spark.session import local_session
        from beamlike.testing.dataframes.scripted import ScriptedTime

        self._spark = spark or local_session("beamlike query test")
        self._home, self._alone = scratch_folder("query"), alone
        self._frames, self._watermark = dict.fromkeys(schemas), 0
        self._script = ScriptedTime(
            self._spark,
            self._home,
            {schema: spark_schema(schemas[schema]) for schema in schemas},
            clock,
        )
        self._came: list[pa.Table] = []
        self._start(job)

    def _start(self, job: Job) -> None:
        from beamlike.hosts.spark.scratch import without_snapshots
        from beamlike.runtime.row_metadata import canonical
        from beamlike.testing.dataframes.scripted import ScriptedFrames
        from beamlike.testing.dataframes.tables import QueryDescription

        frames = {name: self._script.rows(name) for name in self._frames}
        described = QueryDescription()
        with ScriptedFrames(self._script, described).lent_to(self._spark):
            out = self.describe(job, frames, self._alone, described)

        def keep(batch: Any, _: int) -> None:
            self._came.append(canonical(batch.toArrow()))

        sink = out.writeStream.foreachBatch(keep)
        self._writer = sink.option("checkpointLocation", self._checkpoint)
        with without_snapshots(self._spark):
            self._query = self._writer.start()

    @property
    def _checkpoint(self) -> str:
        return str(self._home / "checkpoint")

    @property
    def watermark(self) -> int:
        from datetime import datetime

        last = self._query.lastProgress
        watermark = None if last is None else last["eventTime"].get("watermark")
        if watermark is not None:  # there is none at first after a restart
            reached = round(datetime.fromisoformat(watermark).timestamp() * 1000)
            self._watermark = max(self._watermark, reached)
        return self._watermark

    def send(self, name: str, rows: "pa.Table") -> list["pa.Table"]:
        self._script.send(name, rows)
        return self._settle()

    def move_watermark(self, inputs: Collection[str], to: int) -> list["pa.Table"]:
        self._script.move_watermark(inputs, to)
        return self._settle()

    def move_clock(self, to: int) -> list["pa.Table"]:
        self._script.move_clock(to)
        return self._settle()

    def end(self) -> list["pa.Table"]:
        from beamlike.hosts.spark.drain import drain
        from beamlike.hosts.spark.worker_errors import as_raised

        self._query.stop()
        with as_raised():
            drain(self._writer, self._checkpoint)
        return self._taken()

    def restart(self, job: Job) -> list["pa.Table"]:
        self._query.stop()
        self._start(job)
        return self._settle()

    def _settle(self) -> list["pa.Table"]:
        from beamlike.hosts.spark.worker_errors import as_raised

        with as_raised():
            self._query = all_processed(self._query, self._writer.start)
        return self._taken()

    def _taken(self) -> list["pa.Table"]:
        came, self._came = self._came, []
        return came

    def close(self) -> None:
        self._query.stop()
        self._script.close()
        shutil.rmtree(self._home, ignore_errors=True)


QueryRun = LocalRun | SparkRun
