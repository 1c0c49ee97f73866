"""The watermarks and the clock of a streaming query from a script, a micro-batch for each move.

In production the watermark of a source follows from its rows, and processing time is the time of
day. A test moves both. A move of a watermark is a row of a stream beside the source: it has an
event time and is not an element, as a row that `Stream.where` leaves out. A move of the clock is a
blob that reaches all shards and carries the time. Everything else of the query is as in production.
"""

import json
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from beamlike.hosts.frames import EventTimes, StageInput
from beamlike.hosts.spark import bind, query
from beamlike.hosts.spark.verbs import PORTS, SparkFrames
from beamlike.runtime.envelope import Kind, clock_table, sealed
from beamlike.runtime.plan import Plan
from beamlike.testing.dataframes.tables import QueryDescription

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import types as T
    from pyspark.sql.streaming.readwriter import DataStreamReader

_WATERMARKS: Final = "input string, to long"
_CLOCK: Final = "blob binary"


class ScriptedTime:
    """A script of a streaming query, as files that it reads, one in each micro-batch.

    The executors of the session run in the process of the driver.
    """

    def __init__(
        self, spark: "SparkSession", home: Path, inputs: Mapping[str, "T.StructType"], clock: int
    ) -> None:
        self._spark, self._home, self._inputs = spark, home, inputs
        self._files = 0
        for folder in ("watermarks", "clock", *(f"rows/{name}" for name in inputs)):
            (home / folder).mkdir(parents=True)
        self.clock = clock
        self._show_clock()
        self._clock_rows = self._stream(_CLOCK).json(str(home / "clock"))
        self._moves = self._stream(_WATERMARKS).json(str(home / "watermarks"))

    def _stream(self, schema: "str | T.StructType") -> "DataStreamReader":
        return self._spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)

    # -- the script ----------------------------------------------------------------------------

    def send(self, name: str, rows: pa.Table) -> None:
        """Rows arrive at an input."""
        hidden, shown = self._next(f"rows/{name}")
        pq.write_table(rows, hidden)
        hidden.rename(shown)

    def move_watermark(self, inputs: Collection[str], to: int) -> None:
        """The watermarks of some inputs become ``to`` (ms)."""
        self._write("watermarks", [{"input": name, "to": to} for name in inputs])

    def move_clock(self, to: int) -> None:
        """Processing time becomes ``to`` (ms)."""
        self.clock = to
        self._show_clock()
        blob = b64encode(sealed(Kind.CLOCK, clock_table([(0, to)])))
        self._write("clock", [{"blob": blob.decode()}])

    def _write(self, folder: str, rows: list[dict[str, object]]) -> None:
        hidden, shown = self._next(folder)
        hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
        hidden.rename(shown)

    def _next(self, folder: str) -> tuple[Path, Path]:
        name = f"{self._files:08}"
        self._files += 1
        return self._home / folder / f".{name}", self._home / folder / name

    # -- what a query reads --------------------------------------------------------------------

    def rows(self, name: str) -> "DataFrame":
        """What arrives at an input."""
        return self._stream(self._inputs[name]).parquet(str(self._home / "rows" / name))

    def inputs_of(self, df: "DataFrame") -> list[str]:
        """The inputs that a frame reads."""
        plan = df._jdf.queryExecution().analyzed().toString()
        return [name for name in self._inputs if f"{self._home}/rows/{name}]" in plan]

    def moves(self, inputs: Collection[str], delay: int) -> "DataFrame":
        """Event times that move the watermarks of inputs, which trail them by ``delay`` (ms)."""
        moves = self._moves.filter(F.col("input").isin(*inputs))
        return moves.select(F.timestamp_millis(F.col("to") + delay))

    def wakes(self, receivers: Sequence[int]) -> "DataFrame":
        """The moves of the clock as packed rows. All groupings see one in the same micro-batch."""
        shards = F.array(*map(F.lit, receivers)).cast("array<int>")
        return self._clock_rows.select(F.explode(shards).alias("shard"), "blob")

    @property
    def now(self) -> "Column":
        """Processing time, as an expression."""
        # The micro-batch's own timestamp is the time of day, and no expression can say another. So
        # the script says it where every task can see it.
        parts = ("java.lang.System", "getProperty", self._property)
        return F.timestamp_millis(F.java_method(*map(F.lit, parts)).cast("long"))

    @property
    def _property(self) -> str:
        return f"beamlike.clock.{self._home.name}"

    def _show_clock(self) -> None:
        self._system.setProperty(self._property, str(self.clock))

    @property
    def _system(self) -> Any:
        jvm: Any = self._spark.sparkContext._jvm
        return jvm.java.lang.System

    def close(self) -> None:
        """Forget the clock."""
        self._system.clearProperty(self._property)


class ScriptedFrames(SparkFrames):
    """The port of the DataFrames of a script. It records what it is asked for."""

    def __init__(self, script: ScriptedTime, described: QueryDescription) -> None:
        self._script, self._described = script, described

    @contextmanager
    def lent_to(self, spark: "SparkSession") -> Iterator[None]:
        """What is described in the block with the DataFrames of the script goes through this port.

        That is so however they are made of its inputs: by joins, views and texts of SQL, too.
        """
        ports = vars(spark).setdefault(PORTS, [])
        ports.append(self)
        try:
            yield
        finally:
            ports.remove(self)

    def reads(self, df: "DataFrame") -> bool:
        return bool(self._script.inputs_of(df))

    def source_rows(self, df: "DataFrame", times: EventTimes) -> "DataFrame":
        inputs = self._script.inputs_of(df)
        self._described.note_source(inputs, times)
        moves = None if times.delay is None else self._script.moves(inputs, times.delay)
        return bind.source_rows(df, times, moves, self._script.now)

    def run(self, inputs: Sequence[StageInput], plan: Plan, wake_every_ms: int) -> "DataFrame":
        self._described.groupings.append(plan)
        wakes = self._script.wakes(plan.fanout_ids or plan.shard_ids)
        return query.streaming(inputs, plan, wake_every_ms, self._script.clock, wakes)

    def panes(self, everything: "DataFrame") -> "DataFrame":
        panes: DataFrame = super().panes(everything)
        self._described.with_dropped.append((panes, everything))
        return panes
