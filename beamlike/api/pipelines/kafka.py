"""Topics of Kafka in and out of pipelines, by Spark's ``kafka`` format.

Source: Beam Python ``io.kafka``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.frames import FromDataFrame, WriteRows
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.reading import Length
from beamlike.api.pipelines.rows import Row
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError, UnsupportedError
from beamlike.extras import needs
from beamlike.hosts import kafka_connector as connector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ReadFromKafka", "WriteToKafka"]

_PARTITION: Final = "topic_partition"
"""The column that says which partition of which topic a record is of."""
_OF_RUNNERS: Final = frozenset(
    (
        *("expansion_service", "redistribute", "redistribute_num_keys", "allow_duplicates"),
        *("redistribute_by_record_key", "dynamic_read_poll_interval_seconds"),
        "offset_deduplication",
    )
)
"""Arguments of Beam's that say how its own runners do it, and do not change what comes out."""
_JAVA: Final = "org.apache.kafka.common.serialization."


def _check_host(pipeline: Pipeline, owner: str) -> None:
    if pipeline.host != "spark":
        raise UnsupportedError(
            f"{owner} works on Spark only, and this pipeline is for the host {pipeline.host!r}; "
            'write Pipeline(runner="SparkRunner"), or beamlike run --host spark'
        )
    needs(owner, "spark")


def _read_by(name: str, table: Mapping[str, Callable[[Any], Any]], owner: str) -> Any:
    java_class = name.removeprefix(_JAVA)
    if not name.startswith(_JAVA) or java_class not in table:
        raise UnsupportedError(
            f"{owner} knows {', '.join(_JAVA + known for known in table)}, and not {name!r}; take "
            "bytes, and turn them into something else with Map(...)"
        )
    return table[java_class]


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "ByteArrayDeserializer": _or_none(bytes),
    "StringDeserializer": _or_none(lambda value: bytes(value).decode("utf-8")),
    "LongDeserializer": _or_none(lambda value: int.from_bytes(value, "big", signed=True)),
}
_WRITE: Final[Mapping[str, Callable[[Any], Any]]] = {
    "ByteArraySerializer": _or_none(bytes),
    "StringSerializer": _or_none(lambda value: str(value).encode("utf-8")),
    "LongSerializer": _or_none(lambda value: int(value).to_bytes(8, "big", signed=True)),
}


_HEADERS: Final = "array<struct<key: string, value: binary>>"

Policy = Literal["ProcessingTime", "CreateTime", "LogAppendTime"]


class ReadFromKafka(PTransform[Pipeline, PCollection[Any]]):
    """The records of topics, as pairs of key and value, on Spark.

    It is a stream; with ``max_num_records`` or ``max_read_time`` it is what is there, and ends.
    Each partition of a topic has a watermark of its own, and that of the stream is the least of
    those that are not idle: records of a partition that lags are not late.

    Args:
        consumer_config: What consumers are given, such as ``bootstrap.servers``.
            ``auto.offset.reset`` says where a new query begins: ``latest`` by default.
        topics: The topics.
        key_deserializer: The Java class that reads keys: that of bytes, of texts or of long
            numbers.
        value_deserializer: The same for values.
        start_read_time: From which time on, ms since 1970. A partition without a record from then
            on begins with the next one.
        max_num_records: How many records, of those that are there.
        max_read_time: Whether only those are read that are there: any number.
        commit_offset_in_finalize: Counts for nothing: the checkpoint has the offsets.
        timestamp_policy: When a record happens: ``ProcessingTime``, when it is read, or
            ``CreateTime`` or ``LogAppendTime``, the time that it has in Kafka.
        consumer_polling_timeout: Counts for nothing.
        with_metadata: Whether elements are a `Row` with ``topic``, ``partition``, ``offset``,
            ``timestamp``, ``headers``, ``key`` and ``value``; a header is a `Row` of ``key`` and
            ``value``.
        watermark: How far the event times of a partition may be out of order.
        idle_after: After how much processing time without a record the others no longer wait for a
            partition.
        max_jump: How far ahead of all records before it a record may lie and move the watermark at
            once, see `beamlike.stream`.
        others: Arguments of Beam's for its own runners, which count for nothing:
            ``expansion_service``, ``redistribute`` and what goes with them.

    Raises:
        UnsupportedError: The pipeline is not for Spark, or there is no such deserializer here.
        EnvironmentProblem: Spark has no Kafka connector on its class path.
        PipelineError: An argument cannot be used, Spark refuses an option, or a topic is not there.
    """

    byte_array_deserializer: ClassVar[str] = f"{_JAVA}ByteArrayDeserializer"
    processing_time_policy: Final = "ProcessingTime"
    create_time_policy: Final = "CreateTime"
    log_append_time: Final = "LogAppendTime"

    def __init__(
        self,
        consumer_config: Mapping[str, Any],
        topics: Sequence[str],
        key_deserializer: str = byte_array_deserializer,
        value_deserializer: str = byte_array_deserializer,
        start_read_time: int | None = None,
        max_num_records: int | None = None,
        max_read_time: int | None = None,
        commit_offset_in_finalize: bool = False,
        timestamp_policy: Policy = processing_time_policy,
        consumer_polling_timeout: int = 2,
        with_metadata: bool = False,
        *,
        watermark: Length = "0 seconds",
        idle_after: Length = "1 minute",
        max_jump: Length | None = None,
        **runner_arguments: Any,
    ) -> None:
        super().__init__()
        if unknown := sorted(runner_arguments.keys() - _OF_RUNNERS):
            raise PipelineError(
                f"ReadFromKafka has no argument {unknown[0]!r} here; what a consumer or a producer "
                "is to be given goes into its config, such as {'security.protocol': 'SSL'}"
            )
        self._watermark, self._idle_after, self._max_jump = watermark, idle_after, max_jump
        policies = self.processing_time_policy, self.create_time_policy, self.log_append_time
        if timestamp_policy not in policies:
            raise PipelineError(
                f"timestamp_policy should be one of {', '.join(policies)}, got {timestamp_policy!r}"
            )
        if isinstance(topics, str) or not topics:
            raise PipelineError(f'topics must be a list such as ["clicks"], got {topics!r}')
        config = dict(consumer_config)
        offsets = config.pop("auto.offset.reset", "latest")
        self._config, self._topics = config, tuple(topics)
        self._limit, self._ends = max_num_records, max_num_records or max_read_time
        # What is there already is read from its beginning.
        start = "earliest" if self._ends else offsets
        self._options = {
            **connector.options_of(config, "ReadFromKafka"),
            "subscribe": ",".join(topics),
            "startingOffsets": start,
        }
        if with_metadata:
            self._options["includeHeaders"] = "true"
        if start_read_time is not None:
            self._options["startingTimestamp"] = str(start_read_time)
            # Else the query fails where a partition has no later record.
            self._options["startingOffsetsByTimestampStrategy"] = "latest"
        self._by_clock = timestamp_policy == self.processing_time_policy
        key_of = _read_by(key_deserializer, _READ, "ReadFromKafka")
        value_of = _read_by(value_deserializer, _READ, "ReadFromKafka")

        def element(row: Any) -> Any:
            key, value = key_of(row["key"]), value_of(row["value"])
            return _record(row, key, value) if with_metadata else (key, value)

        self._element = element

    def expand(self, pipeline: Pipeline) -> PCollection[Any]:
        _check_host(pipeline, "ReadFromKafka")
        rows = FromDataFrame(
            self._rows(),
            timestamp="timestamp",
            watermark=self._watermark,
            idle_after=self._idle_after,
            max_jump=self._max_jump,
            watermark_by=_PARTITION,
        )
        return pipeline | "Rows" >> rows | "Records" >> Map(self._element)

    def _rows(self) -> "DataFrame":
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
        from pyspark.sql import functions as F

        from beamlike.hosts.spark.session import local_session

        spark = SparkSession.getActiveSession() or local_session()
        reader: Any = spark.read if self._ends else spark.readStream
        connector.check_topics(spark, self._config, self._topics, "ReadFromKafka")
        try:
            rows: DataFrame = reader.format(connector.FORMAT).options(**self._options).load()
        except PySparkException as error:
            connector.refused(error, "ReadFromKafka")
        if self._limit is not None:
            rows = rows.limit(self._limit)
        # Partitions of several topics have the same numbers.
        partition = F.concat(F.col("topic"), F.lit("/"), F.col("partition"))
        rows = rows.withColumn(_PARTITION, partition)
        return rows.withColumn("timestamp", F.current_timestamp()) if self._by_clock else rows


def _record(row: Any, key: Any, value: Any) -> Row:
    """A row of Spark's ``kafka`` format, with what Kafka says of the record."""
    return Row(
        topic=row["topic"],
        partition=row["partition"],
        offset=row["offset"],
        timestamp=int(row["timestamp"].timestamp() * 1000),
        headers=[Row(key=header["key"], value=header["value"]) for header in row["headers"] or ()],
        key=key,
        value=value,
    )


class WriteToKafka(PTransform[PCollection[Any], None]):
    """Pairs of key and value as records of a topic, on Spark.

    After a restart what was written last may be written again.

    Args:
        producer_config: What producers are given, such as ``bootstrap.servers``.
        topic: The topic.
        key_serializer: The Java class that writes keys: that of bytes, of texts or of long
            numbers.
        value_serializer: The same for values.
        with_headers: Whether elements are a `Row` with ``key``, ``value`` and ``headers``, a list
            of rows with ``key``, a text, and ``value``, bytes.
        expansion_service: Counts for nothing: there is no Java behind it.

    Raises:
        UnsupportedError: The pipeline is not for Spark, or there is no such serializer here.
        EnvironmentProblem: When it runs: Spark has no Kafka connector on its class path.
    """

    byte_array_serializer: ClassVar[str] = f"{_JAVA}ByteArraySerializer"

    def __init__(
        self,
        producer_config: Mapping[str, Any],
        topic: str,
        key_serializer: str = byte_array_serializer,
        value_serializer: str = byte_array_serializer,
        with_headers: bool = False,
        expansion_service: Any = None,
    ) -> None:
        super().__init__()
        self._options = {**connector.options_of(producer_config, "WriteToKafka"), "topic": topic}
        self._key = _read_by(key_serializer, _WRITE, "WriteToKafka")
        self._value = _read_by(value_serializer, _WRITE, "WriteToKafka")
        self._with_headers = with_headers

    def expand(self, pcoll: PCollection[Any]) -> None:
        check_collection(pcoll, self)
        _check_host(pcoll.pipeline, "WriteToKafka")
        key, value, options = self._key, self._value, self._options

        def write(rows: "DataFrame", _number: int) -> None:
            from pyspark.errors import PySparkException

            try:
                rows.write.format(connector.FORMAT).options(**options).mode("append").save()
            except PySparkException as error:
                connector.refused(error, "WriteToKafka")

        def record(row: Any) -> tuple[Any, ...]:
            headers = [(header.key, header.value) for header in row.headers or ()]
            return key(row.key), value(row.value), headers

        columns, make = "key binary, value binary", lambda pair: (key(pair[0]), value(pair[1]))
        if self._with_headers:
            columns, make = f"{columns}, headers {_HEADERS}", record
        _ = pcoll | "Records" >> Map(make) | "Write" >> WriteRows(columns, write)
