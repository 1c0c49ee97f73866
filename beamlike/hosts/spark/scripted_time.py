"""The watermarks and the clock of a streaming query from a script, a micro-batch for each move.

In production the watermark of a source follows from its rows, and processing time is the time of
day. A test moves both. A move of a watermark is a row of a stream beside the source: it has an
event time and is no element, as a row that `Stream.where` leaves out. A move of the clock is a row
that reaches all shards and carries the time. Everything else of the query is as in production.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from beamlike.hosts.describing import Source, noted
from beamlike.machine.clocks import SourceClock

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import types as T
    from pyspark.sql.streaming.readwriter import DataStreamReader

MOVES: Final = "__beamlike_moves"
"""The column that is true in rows that only move a watermark."""

_WATERMARKS: Final = "input string, to long"
_CLOCK: Final = "clock long"


def scripted_time() -> "ScriptedTime | None":
    """Where the queries described here get their time from; None: from their rows and the day."""
    described = noted()
    return None if described is None else described.time


class ScriptedTime:
    """A script of a streaming query, as files that it reads, one in each micro-batch.

    Args:
        spark: The session of the query. Its executors run in the process of the driver.
        home: A folder for the files.
        inputs: The names of its inputs, and the types of their rows.
        clock: Processing time at first (ms).
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
        self._write("clock", [{"clock": to}])

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
        plan = df._jdf.queryExecution().logical().toString()
        return [name for name in self._inputs if f"{self._home}/rows/{name}]" in plan]

    def with_moves(
        self, df: "DataFrame", timestamp: str, instant: str, clock: SourceClock
    ) -> "DataFrame":
        """The rows of a source, and beside them those that move its watermark.

        Args:
            df: Its rows.
            timestamp: The column of the user's that has their event time.
            instant: The column that has it as a time.
            clock: How the watermark of the source follows its rows.
        """
        inputs = self.inputs_of(df)
        described = noted()
        assert described is not None, "only what a test describes has its time from a script"
        described.sources.append(Source(inputs, timestamp, clock))
        moves = self._moves.filter(F.col("input").isin(inputs)).select(
            F.timestamp_millis(F.col("to") + clock.delay).alias(instant), F.lit(True).alias(MOVES)
        )
        return df.unionByName(moves, allowMissingColumns=True)

    @property
    def clock_rows(self) -> "DataFrame":
        """The moves of the clock, which all groupings of a query see in the same micro-batch."""
        return self._clock_rows

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
