"""DataFrames in and out of pipelines."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from beamlike.api.arguments import check_idle, check_jump, counted
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.reading import Length, in_millis
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.extras import needs
from beamlike.machine.input_clocks import Idle, IdleLike, SourceClock
from beamlike.model.coders import Coder
from beamlike.model.graph import ReadNode
from beamlike.model.options import option
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.options import MAX_AHEAD, SHARDS, WAKE_EVERY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def clock_of_rows(
    rows: "DataFrame",
    timestamp: str | None,
    idle: IdleLike,
    in_ms: Callable[[Any, str], int],
    *,
    by_part: bool = False,
    **durations: Any,
) -> SourceClock:
    """The clock of a DataFrame that is read as elements, once its arguments are what they must be.

    Args:
        in_ms: Reads a duration under its name, in milliseconds.
        durations: ``watermark``, ``idle_after``, ``max_ahead`` and ``max_jump``.
    """
    if not hasattr(rows, "isStreaming"):
        raise PipelineError(f"FromDataFrame needs a DataFrame of Spark, got {rows!r}")
    if rows.isStreaming and (timestamp is None or durations["watermark"] is None):
        raise PipelineError(
            "the rows of a stream need event time: write FromDataFrame(df, "
            'timestamp="ts", watermark="1 minute")'
        )
    ms = {name: None if value is None else in_ms(value, name) for name, value in durations.items()}
    delay, when_idle = ms["watermark"] or 0, option(Idle, idle, "idle")
    check_idle(when_idle is Idle.ADVANCE, ms["idle_after"], PipelineError)
    check_jump(ms["max_jump"], delay, PipelineError)
    by_part = by_part and rows.isStreaming
    ahead, jump = ms["max_ahead"], ms["max_jump"]
    return SourceClock(delay, ms["idle_after"], when_idle, ahead, by_part, max_jump=jump)


def check_writer(write: Any) -> None:
    """Refuse what cannot be called with the rows of a micro-batch and its number."""
    if not callable(write):
        raise PipelineError(
            f"WriteRows needs a function of a DataFrame and a number, got {write!r}; write "
            'lambda rows, number: rows.write.mode("append").parquet("/path")'
        )


class FromDataFrame(PTransform[Pipeline, PCollection[Any]]):
    """The rows of a DataFrame, batch or streaming, as elements: `pyspark.sql.Row`.

    A row whose event time is null, no time or too far ahead of the clock, or whose element cannot
    be decoded, is dropped. The result of `Pipeline.run` lists it in ``lost`` and ``lost_counts``;
    the progress of a streaming query counts it.

    A batch may stand beside streams in a pipeline that is run, as side input for example. It is
    read once, when the checkpoint is new: what is in it later is not seen.

    Args:
        rows: The DataFrame.
        timestamp: The column of event time. A batch without one happens at the minimum timestamp.
        watermark: How far event time may be out of order, a number of seconds, `Duration`, a
            ``timedelta`` or text, as are all durations here. Required for a stream.
        max_ahead: How far ahead of the clock it may lie in a stream, see `beamlike.windowed`; None:
            any time counts.
        idle_after: After how much processing time without a row a stream is idle, or with
            ``watermark_by`` a part of it.
        idle: What happens then, see `Idle`.
        encoded: The binary column that holds the elements, if the rows are not the elements.
        coder: How these were encoded.
        watermark_by: The column that names the part of a stream that a row is of, such as the
            ``partition`` of Kafka. Each part has a watermark of its own, and the least of those
            that are not idle is that of the stream: a part that lags is not late.
        max_jump: How far ahead of all rows before it a row of a stream may lie and move the
            watermark at once, see `beamlike.stream`.

    Raises:
        PipelineError: It is no DataFrame, a stream without timestamp or watermark; only one of
            ``encoded`` and ``coder`` is given, or ``idle="advance"``, ``watermark_by`` or
            ``max_jump`` without ``idle_after``; a ``max_jump`` shorter than ``watermark``.
        ColumnError: When it runs: a column is missing or of another type.
        TimeError: A duration cannot be read.
    """

    def __init__(
        self,
        rows: "DataFrame",
        *,
        timestamp: str | None = None,
        watermark: Length | None = None,
        max_ahead: Length | None = MAX_AHEAD,
        idle_after: Length | None = None,
        idle: IdleLike = Idle.RELEASE,
        encoded: str | None = None,
        coder: Coder | None = None,
        watermark_by: str | None = None,
        max_jump: Length | None = None,
    ) -> None:
        if watermark_by is not None and idle_after is None:
            raise PipelineError(
                f"watermark_by={watermark_by!r} needs idle_after, because a part that falls silent "
                'would hold the others back for ever; add idle_after="1 minute", or as long as no '
                "row may mean nothing"
            )
        spans: dict[str, Any] = {"watermark": watermark, "idle_after": idle_after}
        limits: dict[str, Any] = {"max_ahead": max_ahead, "max_jump": max_jump}
        by_part = watermark_by is not None
        self.clock = clock_of_rows(
            rows, timestamp, idle, in_millis, by_part=by_part, **spans, **limits
        )
        if (encoded is None) != (coder is None):
            raise PipelineError(
                "encoded= names the column and coder= how to read it; say both, or neither"
            )
        self.rows, self.timestamp = rows, timestamp
        self.encoded, self.coder, self.part = encoded, coder, watermark_by

    def expand(self, pipeline: Pipeline) -> PCollection[Any]:
        from beamlike.hosts.spark.graph.frames import Frame

        bounded = not self.rows.isStreaming
        frame = Frame(self.rows, self.timestamp, self.clock, self.encoded, self.coder, self.part)
        node = ReadNode(pipeline.label, (), frame, bounded)
        return pipeline.add(node, WindowingStrategy.unwindowed(), bounded)


class WriteRows(PTransform[PCollection[Any], None]):
    """The elements written as rows, when the pipeline runs on Spark.

    All writers of a pipeline share one query: what they write was computed once.

    Args:
        schema: The Spark schema of the rows, or a coder, see `to_data_frame`.
        write: Called with the rows of each micro-batch as a DataFrame, and its number, like the
            function of Spark's ``foreachBatch``. After a restart it may be called again with a
            number that it has seen.

    Raises:
        PipelineError: ``write`` cannot be called.
    """

    def __init__(self, schema: str | Coder, write: "Callable[[DataFrame, int], Any]") -> None:
        check_writer(write)
        self.schema, self.write = schema, write

    def expand(self, pcoll: PCollection[Any]) -> None:
        from beamlike.hosts.spark.graph.running import Sink

        label = pcoll.pipeline.label
        pcoll.pipeline.sinks.append(Sink(pcoll.edge, self.schema, self.write, label))


def to_data_frame(
    pcoll: PCollection[Any],
    schema: str | Coder,
    *,
    spark: "SparkSession | None" = None,
    shards: int = SHARDS,
    wake_every: Length = WAKE_EVERY,
) -> "DataFrame":
    """The elements of a collection as rows: a DataFrame like any other, streaming if a source is.

    Everything that the collection stands on is one query. Each call makes a query of its own. Over
    a stream, side inputs that come to an end in the global window are computed first, by a job that
    runs when this is called.

    What is dropped on the way, late elements and rows that cannot be read, is missing in the rows.
    The progress of a streaming query counts it, by the label of the transform; write with
    `WriteRows` and run the pipeline to have it. A streaming query that continues from a checkpoint
    needs the same transforms that keep state, in the same places: here nothing compares them, as
    `Pipeline.run` does.

    Args:
        pcoll: The collection.
        schema: The Spark schema of the rows, as ``"user string, n long"``. An element is a `Row`,
            a mapping, a named tuple, a data class or attrs object, or a tuple of the columns; any
            other element is the only column. With a coder in its place, elements of any kind are
            one column ``value binary``. A column of timestamps takes a `Timestamp`, such as
            ``window.start``, or a ``datetime``, which without a zone is UTC; a number is refused,
            because it may count seconds or milliseconds. What a column would change is refused: a
            float in a column of integers, for example, also a whole one.
        spark: The session; None takes the active one or starts one.
        shards: The groups of Spark that share the keys of a grouping.
        wake_every: How often a query that waits on processing time runs without data: a
            duration, of which a number counts seconds.

    Raises:
        PipelineError: It is no schema. In the query: an element does not fit it.
        UnsupportedError: Some sources are streams and others are not, and not all of these make
            nothing but such side inputs.
        WindowingError: ``shards`` is no whole number of 1 or more.
        TimeError: A duration cannot be read.
    """
    needs("to_data_frame", "spark")
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.graph.frames import frame_of
    from beamlike.hosts.spark.session import local_session

    session = spark or SparkSession.getActiveSession() or local_session()
    every = in_millis(wake_every, "wake_every")
    return frame_of(
        session, pcoll.edge, schema, shards=counted("shards", shards), wake_every_ms=every
    )
