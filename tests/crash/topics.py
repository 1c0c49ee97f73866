"""A work from Kafka to Kafka: rows of one topic, panes as records of another."""

import json
import os
from pathlib import Path
from typing import Any, Final

import beamlike as bl
from tests.crash.feed import SCHEMA, rows_of
from tests.crash.frames import TREE
from tests.crash.needed import SERVER_OF_KAFKA
from tests.crash.work import Work

_JAVA: Final = "org.apache.kafka.common.serialization.String"


class _Broker:
    """The broker as the session sees it, and the topics of a folder."""

    def __init__(self, spark: Any, home: Path) -> None:
        self.spark, self.server = spark, os.environ[SERVER_OF_KAFKA]
        run = "-".join(home.parts[-3:])
        self.rows, self.panes, self.lost = (f"{run}-{name}" for name in ("rows", "panes", "lost"))
        self._properties = spark._jvm.java.util.Properties()
        self._properties.put("bootstrap.servers", self.server)
        for name in ("key", "value"):
            self._properties.put(f"{name}.serializer", f"{_JAVA}Serializer")

    def create(self) -> None:
        """Make the topics that are not there."""
        java = self.spark._jvm
        admin = java.org.apache.kafka.clients.admin.AdminClient.create(self._properties)
        known = set(admin.listTopics().names().get())
        array_list = java.java.util.ArrayList()
        for name in (self.rows, self.panes, self.lost):
            if name not in known:
                array_list.add(java.org.apache.kafka.clients.admin.NewTopic(name, 1, 1))
        admin.createTopics(array_list).all().get()
        admin.close()

    def records(self, topic: str) -> list[Any]:
        """All records of a topic, in their order."""
        reader = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.server)
        rows = reader.option("subscribe", topic).load().orderBy("offset")
        return list(rows.selectExpr("string(key) key", "string(value) value").collect())

    def send(self, values: list[str]) -> None:
        """Append to the topic of rows."""
        java = self.spark._jvm.org.apache.kafka.clients.producer
        producer = java.KafkaProducer(self._properties)
        for value in values:
            producer.send(java.ProducerRecord(self.rows, value)).get()
        producer.close()


def _arrive(inbox: Path, home: Path) -> None:
    from pyspark.sql import SparkSession

    broker = _Broker(SparkSession.getActiveSession(), home)
    broker.create()
    files = len([path for path in inbox.iterdir() if not path.name.startswith(".")])
    arrived = [json.dumps(row) for number in range(files) for row in rows_of(inbox, number)]
    # What was sent before a kill is not sent again.
    broker.send(arrived[len(broker.records(broker.rows)) :])


def _start(spark: Any, inbox: Path, home: Path) -> Any:
    broker = _Broker(spark, home)
    rows = bl.kafka.read(
        spark,
        broker.server,
        broker.rows,
        value=bl.kafka.Json(SCHEMA.replace("at string", "at timestamp")),
        timestamp="at",
        watermark="1 minute",
        max_ahead=None,
    )
    # A micro-batch may hold a part of what is sent at once, so nothing may depend on that.
    windows = rows.window(
        bl.Sessions("1 minute"), trigger=TREE, accumulation="retracting", allowed_lateness="1 day"
    )
    aggregate = {"n": bl.count(), "points": bl.sum("points")}
    panes = windows.group("user", aggregate, shards=2)
    writer = bl.kafka.write(
        panes, broker.server, broker.panes, key="user", dead_letters=broker.lost
    )
    return writer.option("checkpointLocation", str(home / "checkpoint")).start()


def _read(spark: Any, home: Path) -> list[str]:
    """What stands: the last record of each key; and the dead letters, each once."""
    broker = _Broker(spark, home)
    last = {record.key: record.value for record in broker.records(broker.panes)}
    lost = {_without_place(record.value) for record in broker.records(broker.lost)}
    stand = [value for value in last.values() if value is not None]
    return [*stand, *sorted(lost)]


def _without_place(letter: str) -> str:
    content = json.loads(letter)
    return json.dumps({"dropped": content["reason"], "element": content["element"]})


TOPICS: Final = (
    Work(
        "kafka",
        "sessions, retracting, from Kafka to Kafka",
        _start,
        obeys=False,
        read=_read,
        arrive=_arrive,
        needs="kafka",
    ),
)
"""The last record of each key is what stands, however often records came."""
