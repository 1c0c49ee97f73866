"""`beamlike.kafka.write`: panes as records of a topic that may be compacted."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import attrs

from beamlike.api.arguments import check_choice, column_names
from beamlike.api.dataframe.stream import Stream
from beamlike.api.kafka.formats import JSON, Format, analysed, json_bytes
from beamlike.api.kafka.reading import clients
from beamlike.errors import ColumnError, PipelineError, UnsupportedError, WindowingError
from beamlike.extras import lazily
from beamlike.hosts import kafka_connector as connector
from beamlike.hosts.finding import frames_of
from beamlike.hosts.landing.landed_columns import LandedColumns, backquoted
from beamlike.hosts.landing.letters import CANNOT_LAND
from beamlike.model.graph import GroupNode
from beamlike.model.options import AccumulationMode, ClosingBehavior
from beamlike.model.report import outlives_its_end
from beamlike.model.trigger_analysis import can_stay_open
from beamlike.runtime.session_identity import SESSION_IDENTITY

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql import functions as F
else:
    F = lazily("pyspark.sql.functions")

_WRITE: Final = "beamlike.kafka.write"
_LARGEST: Final = 1_048_576
"""How many bytes producers of Kafka send at most, where ``max.request.size`` is not set."""
_AROUND: Final = 1_024
"""More bytes than a record has beside its key and value: its headers and what Kafka adds."""
_SHOWN: Final = 100_000
"""How many letters of an element a dead letter shows."""

Expired = Literal["keep", "delete"]


def write(
    panes: "Stream | DataFrame",
    servers: str | Sequence[str],
    topic: str,
    *,
    key: str | Sequence[str],
    value: Format = JSON,
    dead_letters: str | None = None,
    expired: Expired = "keep",
    config: Mapping[str, Any] | None = None,
) -> Any:
    """What writes panes to a topic of Kafka: one record for each, by key and window.

    The topic may be compacted: the last record of a key is the result that stands. The key of a
    record is JSON of the key and the window, or with ``render="upserts"`` of the key and its
    session. Its value has the key, the window, the aggregates and ``timestamp``. Its headers say of
    which pane it is: ``pane.timing``, ``pane.index``, ``pane.nonspeculative_index``,
    ``pane.is_first``, ``pane.is_last``; and ``change``: ``upsert``, or for a record without value,
    a tombstone, why: ``delete`` where a pane was withdrawn, ``expired`` where its window is over.

    Records of one key and window come in the order of their panes. After a failure Spark writes
    records of the last micro-batch again: at least once, and by key the same result. It cannot be
    more, because Spark's sink does not take part in the transactions of Kafka. A worker that was
    given up and goes on can put an older record behind a newer one; the newer one has the greater
    ``pane.index``.

    Args:
        panes: A `Stream` after a grouping, or a DataFrame of panes, streaming or bounded.
        servers: Addresses such as ``"host:9092"``.
        topic: The topic.
        key: The columns that the grouping has as its key.
        value: How values are written: `Json` or `Avro`, without a schema.
        dead_letters: The topic for rows that were dropped, as JSON with the reason, and for panes
            that are larger than producers send: of these a tombstone goes to ``topic``, since an
            older pane does not stand any longer. A DataFrame has to have the dropped rows, as
            ``windowed(..., output="all")`` has. None: dropped rows are left out, and a pane that is
            too large ends the query.
        expired: What becomes of a result whose window is over: it stays, or with ``"delete"`` a
            tombstone follows the last pane, so that a compacted topic does not grow for ever. This
            needs a last pane: ``closing_behavior="fire_always"``, or no allowed lateness.
        config: What producers are given besides, as Kafka names it: ``compression.type``.

    Returns:
        Spark's ``DataStreamWriter`` of a stream: ``.option("checkpointLocation", ...).start()``;
        its ``DataFrameWriter`` of bounded panes: ``.save()``.

    Raises:
        ColumnError: A column is missing or cannot be written; there are no dropped rows.
        PipelineError: A topic is not there, or producers have no such setting.
        WindowingError: Panes that discard, several for a window, and a compacted topic; or
            ``expired="delete"`` without a last pane.
        EnvironmentProblem: Spark lacks its Kafka connector, or its module of Avro.

    For example::

        query = bl.kafka.write(hours, "localhost:9092", "clicks-by-hour", key="user")
        query.option("checkpointLocation", "/data/checkpoints/clicks").start()

    Source: Spark, ``kafka`` format; Kafka, compacted topics.
    """
    check_choice("expired", expired, get_args(Expired))
    if not isinstance(value, Format):
        raise PipelineError(f"value must be Json() or Avro() of beamlike.kafka, got {value!r}")
    for argument, name in (("topic", topic), ("dead_letters", dead_letters)):
        if not (isinstance(name, str) and name) and (name is not None or argument == "topic"):
            raise PipelineError(f"{argument} must be the name of a topic, got {name!r}")
    frame = _frame_of(panes, dead_letters)
    spark = frame.sparkSession
    settings = clients(servers, config)
    options = connector.options_of(settings, _WRITE)
    connector.check_connector(spark, settings, topic, _WRITE)
    connector.check_settings(spark, settings, _WRITE, reads=False)
    connector.check_topics(spark, settings, [topic, *filter(None, [dead_letters])], _WRITE)
    if dead_letters is not None and connector.is_compacted(spark, settings, dead_letters):
        raise PipelineError(
            f"{_WRITE}: the topic {dead_letters!r} is compacted, and dead letters have no key; "
            'create it with cleanup.policy="delete"'
        )
    if isinstance(panes, Stream):
        _check_strategies(panes, topic, expired, connector.is_compacted(spark, settings, topic))
    largest = int(settings.get("max.request.size", _LARGEST)) - _AROUND
    schema = frames_of(frame).columns_of(frame).schema
    columns = LandedColumns.of(schema, column_names(key, "key"), _WRITE)
    if dead_letters is not None and not columns.has_dropped:
        raise ColumnError(
            f"{_WRITE}: dead_letters needs the rows that were dropped, and there is no column "
            "'dropped'; give it the Stream, or windowed(..., output=\"all\")"
        )
    records = _Records(columns, value, topic, dead_letters, expired, largest)
    rows = analysed(lambda: records.of(frame))
    writer: Any = rows.writeStream if frame.isStreaming else rows.write.mode("append")
    return writer.format(connector.FORMAT).options(**options)


def _frame_of(panes: "Stream | DataFrame", dead_letters: str | None) -> "DataFrame":
    """The panes, and what was dropped if it is wanted."""
    frame: Any = panes
    if isinstance(panes, Stream):
        frame = panes.rows if dead_letters is None else panes.everything
    if not hasattr(frame, "sparkSession"):
        if not hasattr(frame, "schema"):
            frames_of(frame)  # which says that this has no rows
        raise UnsupportedError(
            f"{_WRITE} works on Spark only, and these are rows of pyarrow; make a DataFrame of "
            "them, spark.createDataFrame(table)"
        )
    return frame  # type: ignore[no-any-return]


def _check_strategies(panes: Stream, topic: str, expired: Expired, is_compacted: bool) -> None:
    """Refuse panes of which a topic would not hold what it seems to."""
    nodes = {node for rows in panes.inputs.rows for node, _ in rows.groupings}
    for strategy in (node.strategy for node in nodes if isinstance(node, GroupNode)):
        lives_on = outlives_its_end(strategy)
        is_part = strategy.accumulation is AccumulationMode.DISCARDING
        if is_compacted and is_part and can_stay_open(strategy.trigger, lives_on):
            raise WindowingError(
                f"{_WRITE}: the topic {topic!r} is compacted, and of panes that discard, each a "
                'part of its result, the last part would stay; use accumulation="accumulating" or '
                '"retracting", or a topic that is not compacted'
            )
        has_last = strategy.closing_behavior is ClosingBehavior.FIRE_ALWAYS or not lives_on
        if expired == "delete" and not has_last:
            raise WindowingError(
                f'{_WRITE}: expired="delete" follows the last pane of a window, and with '
                f"closing_behavior={strategy.closing_behavior.value!r} a window may have none; add "
                'closing_behavior="fire_always"'
            )


@attrs.frozen
class _Records:
    """Makes records of panes, in SQL.

    Attributes:
        largest: How many bytes a key and a value may have together.
    """

    columns: LandedColumns
    format: Format
    topic: str
    dead_letters: str | None
    expired: Expired
    largest: int

    def of(self, frame: "DataFrame") -> "DataFrame":
        """The records, in the order of the panes."""
        if self.expired == "delete" and not self.columns.has_pane:
            raise ColumnError(
                f"{_WRITE}: expired=\"delete\" follows a last pane, and there is no column 'pane'; "
                "keep the grouping's"
            )
        dropped = F.col("dropped").isNotNull() if self.columns.has_dropped else F.lit(False)
        encoded = frame.select(
            "*",
            dropped.alias(_IS_DROPPED),
            self._key().alias(_KEY),
            self._value(frame).alias(_VALUE),
            self._headers().alias(_HEADERS),
        )
        return encoded.select(F.explode(self._records()).alias("record")).select("record.*")

    def _key(self) -> "Column":
        by_session = self.columns.rendering == "upserts"
        names = [*self.columns.key, SESSION_IDENTITY if by_session else "window"]
        return json_bytes(F.struct(*map(_column, names)))

    def _value(self, frame: "DataFrame") -> "Column":
        key = self.columns.key
        names = [*key, "window", *(name for name in self.columns.users if name not in key)]
        record = F.struct(*map(_column, names))
        return self.format.write(record, frame.select(*map(_column, names)).schema)

    def _headers(self) -> "Column":
        marks = _PANE if self.columns.has_pane else ()
        return F.array(
            *(_header(f"pane.{mark}", F.col("pane").getField(mark)) for mark in marks)
        ).cast(_HEADERS_TYPE)

    def _records(self) -> "Column":
        value = F.col(_VALUE)
        put, delete = self._record(value, "upsert"), self._record(_nothing(), "delete")
        records = F.array(put)
        if self.expired == "delete":
            over = F.array(put, self._record(_nothing(), "expired"))
            records = F.when(F.col("pane").getField("is_last"), over).otherwise(records)
        if self.dead_letters is not None:
            size = F.octet_length(value) + F.octet_length(F.col(_KEY))
            refused = F.array(delete, self._letter(self._too_large(size)))
            records = F.when(size > self.largest, refused).otherwise(records)
        if self.columns.rendering != "rows":
            is_retraction = self.columns.rendering == "retractions"
            withdraws = F.col("retraction") if is_retraction else F.col("change") == "delete"
            records = F.when(withdraws, F.array(delete)).otherwise(records)
        if self.columns.has_dropped:
            letters = F.array() if self.dead_letters is None else F.array(self._dropped())
            letters = letters.cast(f"array<{_RECORD_TYPE}>")
            records = F.when(F.col(_IS_DROPPED), letters).otherwise(records)
        return records

    def _record(self, value: "Column", change: str) -> "Column":
        headers = F.concat(F.col(_HEADERS), F.array(_header("change", F.lit(change))))
        known = F.filter(headers, lambda header: header.getField("value").isNotNull())
        return _as_record(self.topic, F.col(_KEY), value, known)

    def _dropped(self) -> "Column":
        element = F.left(F.col("dropped").getField("element"), F.lit(_SHOWN))
        return self._letter(F.col("dropped").withField("element", element))

    def _too_large(self, size: "Column") -> "Column":
        """A pane that producers do not send, as what was dropped."""
        from beamlike.runtime.row_metadata import time_types

        error = F.concat(
            *(F.lit("the record has "), size, F.lit(f" bytes, and {self.largest} may be sent: ")),
            F.lit("max.request.size in config= and max.message.bytes of the topic say how many"),
        )
        fields = {
            "stage": F.lit(_WRITE),
            "reason": F.lit(CANNOT_LAND),
            "window": F.col("window"),
            "count": F.lit(1).cast("long"),
            "error": error,
            "element": F.left(F.col(_KEY).cast("string"), F.lit(_SHOWN)),
        }
        names = [field.name for field in time_types(wall_clock=False).dropped]
        return F.struct(*(fields.get(name, F.lit(None)).alias(name) for name in names))

    def _letter(self, dropped: "Column") -> "Column":
        headers = F.array(
            *(_header(name, dropped.getField(name)) for name in ("stage", "reason"))
        ).cast(_HEADERS_TYPE)
        return _as_record(self.dead_letters or "", _nothing(), json_bytes(dropped), headers)


_IS_DROPPED, _KEY, _VALUE, _HEADERS = (
    *("__beamlike_dropped", "__beamlike_key", "__beamlike_value", "__beamlike_headers"),
)
_PANE: Final = ("timing", "index", "nonspeculative_index", "is_first", "is_last")
_HEADERS_TYPE: Final = "array<struct<key: string, value: binary>>"
_RECORD_TYPE: Final = f"struct<topic: string, key: binary, value: binary, headers: {_HEADERS_TYPE}>"


def _column(name: str) -> "Column":
    return F.col(backquoted(name))


def _nothing() -> "Column":
    return F.lit(None).cast("binary")


def _header(name: str, value: "Column") -> "Column":
    return F.struct(F.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))


def _as_record(topic: str, key: "Column", value: "Column", headers: "Column") -> "Column":
    return F.struct(
        F.lit(topic).alias("topic"),
        key.alias("key"),
        value.alias("value"),
        headers.alias("headers"),
    ).cast(_RECORD_TYPE)
