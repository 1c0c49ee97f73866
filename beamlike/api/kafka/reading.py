"""`beamlike.kafka.read`: the records of topics as a stream, each partition with its watermark."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from beamlike.api.dataframe.stream import Stream, stream
from beamlike.api.kafka.formats import BYTES, TEXT, Format, analysed
from beamlike.errors import PipelineError
from beamlike.extras import lazily, needs
from beamlike.hosts import kafka_connector as connector
from beamlike.machine.events import UNREADABLE_RECORD, RowProblem
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike
from beamlike.runtime.options import MAX_AHEAD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as F
else:
    F = lazily("pyspark.sql.functions")

_READ: Final = "beamlike.kafka.read"
_RECORD: Final = ("key", "value", "headers", "topic", "partition", "offset", "timestamp")
"""Columns of Spark's ``kafka`` format that are kept."""
_PART: Final = "topic_partition"
"""The column that says which partition of which topic a record is of."""
_PROBLEM, _FIELDS = "__beamlike_unreadable", "__beamlike_fields"


def read(
    spark: "SparkSession",
    servers: str | Sequence[str],
    topics: str | Sequence[str],
    *,
    key: Format = TEXT,
    value: Format = BYTES,
    timestamp: str | None = None,
    watermark: DurationLike | None = None,
    idle_after: DurationLike = "1 minute",
    max_ahead: DurationLike | None = MAX_AHEAD,
    max_jump: DurationLike | None = None,
    start: Literal["earliest", "latest"] | datetime = "earliest",
    bounded: bool = False,
    max_per_batch: int | None = None,
    config: Mapping[str, Any] | None = None,
) -> Stream:
    """The records of topics of Kafka, as a stream to be windowed and grouped.

    Each partition has a watermark of its own, and that of the stream is the least of them, so that
    records of a partition that lags are not late. A partition that is silent for ``idle_after`` no
    longer holds the others back.

    The columns are those of Spark's ``kafka`` format: ``key``, ``value``, ``headers``, ``topic``,
    ``partition``, ``offset`` and ``timestamp``, with ``topic_partition`` besides; and the fields of
    ``value``, if it is `Json` or `Avro`. Where a field has the name of one of these columns, the
    column gives way and is called ``kafka_timestamp``, and so on.

    A record that cannot be read stops nothing: the next grouping drops it as ``unreadable_value``
    or ``unreadable_key``, and one whose value is null, where it should have fields, as
    ``null_value``. A record without key has the key null.

    Args:
        spark: The session, with Spark's Kafka connector on its class path.
        servers: Addresses such as ``"host:9092"``.
        topics: The topics.
        key: How keys are written. `Json` and `Avro` make a struct of it.
        value: How values are written.
        timestamp: The field with the event time; None: the time of the record.
        watermark: How far the event times of a partition may be out of order. A stream needs it.
        idle_after: After how much processing time without a record a partition is idle.
        max_ahead: How far ahead of the clock an event time may lie, see `beamlike.stream`.
        max_jump: How far ahead of all records before it a record may lie and move the watermark at
            once, see there.
        start: Where a query without checkpoint begins: with the first record that there is, with
            those that come, or with the first one that is not older than a ``datetime`` with its
            zone. A partition without such a record begins with the next one.
        bounded: Whether only those records are read that are there.
        max_per_batch: The most records of a micro-batch, from each partition in proportion to what
            it has; None: all there are.
        config: What consumers are given besides, as Kafka names it: ``security.protocol``.

    Raises:
        PipelineError: A topic is not there, consumers have no such setting, or Spark refuses it.
        ColumnError: A schema cannot be read, or ``timestamp`` is not a field.
        EnvironmentProblem: Spark lacks its Kafka connector, or its module of Avro.
        WindowingError: A stream without ``watermark``.
        TimeError: A duration cannot be read.

    For example::

        clicks = bl.kafka.read(
            spark,
            "localhost:9092",
            "clicks",
            value=bl.kafka.Json("user string, at timestamp"),
            timestamp="at",
            watermark="5 minutes",
        )

    Source: Spark, ``kafka`` format; Flink, ``WatermarkStrategy`` of each split.
    """
    needs(_READ, "spark")
    names = [topics] if isinstance(topics, str) else list(topics)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise PipelineError(f'topics must name topics, such as "clicks", got {topics!r}')
    for argument, written in (("key", key), ("value", value)):
        if not isinstance(written, Format):
            raise PipelineError(
                f"{argument} must be Bytes(), Text(), Json(...) or Avro(...) of "
                f"beamlike.kafka, got {written!r}"
            )
    settings = clients(servers, config)
    options = {
        **connector.options_of(settings, _READ),
        **_starting(start, bounded=bounded),
        "subscribe": ",".join(names),
        "includeHeaders": "true",
    }
    if max_per_batch is not None:
        if bounded:
            raise PipelineError("max_per_batch limits micro-batches, and bounded=True has none")
        options["maxOffsetsPerTrigger"] = str(
            whole_number(max_per_batch, 1, "max_per_batch", PipelineError)
        )
    connector.check_settings(spark, settings, _READ, reads=True)
    connector.check_topics(spark, settings, names, _READ)
    rows, named = _decoded(spark, _loaded(spark, options, bounded=bounded), key, value)
    records = stream(
        rows,
        timestamp=timestamp or named["timestamp"],
        watermark=watermark,
        idle_after=idle_after,
        max_ahead=max_ahead,
        max_jump=max_jump,
        watermark_by=named[_PART],
    )
    return _without_unreadable(records)


def clients(servers: str | Sequence[str], config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings of Kafka's clients."""
    settings = dict(config or {})
    addresses = servers if isinstance(servers, str) else ",".join(servers)
    if connector.SERVERS in settings:
        raise PipelineError(f"config has {connector.SERVERS!r}, which is what servers= says")
    return {connector.SERVERS: addresses, **settings}


def _starting(start: object, *, bounded: bool) -> dict[str, str]:
    """Where reading begins, as options of Spark."""
    if isinstance(start, datetime):
        if start.tzinfo is None:
            raise PipelineError(
                f"start: {start} is not an instant without its zone; write "
                "datetime(..., tzinfo=timezone.utc)"
            )
        return {
            "startingTimestamp": str(int(start.timestamp() * 1000)),
            # Else the query fails where a partition has no later record.
            "startingOffsetsByTimestampStrategy": "latest",
        }
    if start not in ("earliest", "latest"):
        raise PipelineError(f'start must be "earliest", "latest" or a datetime, got {start!r}')
    if bounded and start == "latest":
        raise PipelineError(
            'start="latest" with bounded=True reads nothing; leave start out, or give it a datetime'
        )
    return {"startingOffsets": str(start)}


def _loaded(spark: Any, options: Mapping[str, str], *, bounded: bool) -> "DataFrame":
    from pyspark.errors import PySparkException

    reader = spark.read if bounded else spark.readStream
    try:
        rows: DataFrame = reader.format(connector.FORMAT).options(**options).load()
        _ = rows.schema
    except PySparkException as error:
        connector.refused(error, _READ)
    return rows


def _decoded(
    spark: Any, rows: "DataFrame", key: Format, value: Format
) -> tuple["DataFrame", dict[str, str]]:
    """The columns of records, and what those of Kafka are called."""
    from beamlike.hosts.landing.landed_columns import free_name
    from beamlike.hosts.spark.sql_columns import column

    raw_key, raw_value = F.col("key"), F.col("value")
    key_column, bad_key = key.read(spark, raw_key, "key")
    value_column, bad_value = value.read(spark, raw_value, "value")
    no_value, no_key, null_value = map(F.lit, UNREADABLE_RECORD)
    problem = F.when(raw_value.isNotNull() & bad_value, no_value)
    problem = problem.when(raw_key.isNotNull() & bad_key, no_key)
    if value.is_record:
        problem = F.when(raw_value.isNull(), null_value).otherwise(problem)
    part = F.concat(F.col("topic"), F.lit("/"), F.col("partition"))
    read_columns = [key_column.alias("key"), value.shown(raw_value).alias("value")]
    read_columns += [F.col(name) for name in _RECORD[2:]]
    fields = [value_column.alias(_FIELDS)] if value.is_record else []
    columns = [*read_columns, part.alias(_PART), problem.alias(_PROBLEM), *fields]
    known = analysed(lambda: rows.select(*columns))
    names = known.select(f"{_FIELDS}.*").columns if fields else []
    named = {name: free_name(name, names, "kafka_") for name in (*_RECORD, _PART)}
    shown = [F.col(_FIELDS).getField(name).alias(name) for name in names]
    kept = [column(name).alias(other) for name, other in named.items()]
    return known.select(*shown, *kept, _PROBLEM), named


def _without_unreadable(records: Stream) -> Stream:
    """The stream, in which records that cannot be read are marked: the next step drops them.

    That they cannot be read is why their event time may be missing, and so it comes first.
    """
    from beamlike.hosts.spark.sql_columns import mark
    from beamlike.runtime.row_metadata import MARKS

    def marked(rows: "DataFrame") -> "DataFrame":
        # One that is far ahead may not move the watermark, whatever else is wrong with it.
        far = F.when(mark("problem") == RowProblem.FAR_FUTURE.value, mark("problem"))
        problem = F.coalesce(far, F.col(_PROBLEM), mark("problem"))
        return rows.withColumn(MARKS, F.col(MARKS).withField("problem", problem)).drop(_PROBLEM)

    return Stream(records.strategy, records.inputs.changed_by(marked).after("unreadable"))
