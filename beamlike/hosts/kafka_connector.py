"""Spark's connector of Kafka: its options, what topics there are, and its errors in plain words."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, NoReturn

from beamlike.errors import EnvironmentProblem, PipelineError

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT = "kafka"
SERVERS: Final = "bootstrap.servers"
_PATIENCE: Final = {"default.api.timeout.ms": 10_000, "request.timeout.ms": 5_000}


def options_of(config: Mapping[str, Any], owner: str) -> dict[str, str]:
    """Settings of Kafka's clients as options of Spark's source and sink."""
    if not config.get(SERVERS):
        raise PipelineError(
            f'{owner} needs the servers, {SERVERS!r}, such as "host:9092"; got settings of '
            f"{', '.join(sorted(config)) or 'nothing'}"
        )
    return {f"kafka.{name}": str(value) for name, value in config.items()}


def check_settings(spark: Any, config: Mapping[str, Any], owner: str, *, reads: bool) -> None:
    """Refuse settings that Kafka's clients do not have, which they would leave out with a warning.

    Where these cannot be asked, as over Spark Connect, nothing is refused.
    """
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        return
    clients = jvm.org.apache.kafka.clients
    settings = clients.consumer.ConsumerConfig if reads else clients.producer.ProducerConfig
    try:
        known = [str(name) for name in settings.configNames().toArray()]
    except Exception:  # no client of Kafka on the class path: Spark says so itself
        return
    for name in config:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; {near[0]!r} is one" if near else ""
            side = "consumers" if reads else "producers"
            raise PipelineError(f"{owner}: {side} of Kafka have no setting {name!r}{hint}")


def check_topics(spark: Any, config: Mapping[str, Any], topics: Sequence[str], owner: str) -> None:
    """Refuse topics that the servers do not have.

    Spark would say so in Java, when the query runs. Where the servers cannot be asked from here, as
    over Spark Connect, nothing is refused.
    """
    with _admin(spark, config) as admin:
        if admin is None:
            return
        described = admin.describeTopics(list(topics)).topicNameValues()
        missing = [topic for topic in topics if _is_unknown(described.get(topic))]
    if missing:
        raise PipelineError(
            f"{owner}: {config[SERVERS]} has no topic {missing[0]!r}; create it, or check its name"
        )


def check_connector(spark: Any, config: Mapping[str, Any], topic: str, owner: str) -> None:
    """Refuse a session without Spark's connector, which would say so when it writes."""
    from pyspark.errors import PySparkException

    reader = spark.read.format(FORMAT).option(f"kafka.{SERVERS}", config[SERVERS])
    try:
        _ = reader.option("subscribe", topic).load().schema  # asks no server
    except PySparkException as error:
        refused(error, owner)


def is_compacted(spark: Any, config: Mapping[str, Any], topic: str) -> bool:
    """Whether a topic keeps the last record of a key alone; False where it cannot be asked."""
    with _admin(spark, config) as admin:
        if admin is None:
            return False
        configs = spark._jvm.org.apache.kafka.common.config
        resource = configs.ConfigResource(
            getattr(configs, "ConfigResource$Type").valueOf("TOPIC"), topic
        )
        try:
            described = admin.describeConfigs([resource]).all().get()
        except Exception:  # as where one may write to a topic and not look at it
            return False
        return "compact" in described.get(resource).get("cleanup.policy").value()


def refused(error: Exception, owner: str) -> NoReturn:
    """Say what to do where Spark does not know the format, or takes an option for a mistake."""
    import pyspark
    from pyspark.errors import IllegalArgumentException

    message = str(error)
    if "Failed to find data source" in message or "DATA_SOURCE_NOT_FOUND" in message:
        raise EnvironmentProblem(
            f"{owner} needs Spark's Kafka connector, which is not on its class path; start Spark "
            f"with --packages org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}, or "
            "set spark.jars.packages to that"
        ) from error
    if isinstance(error, IllegalArgumentException):
        raise PipelineError(
            f"{owner}: Spark refuses an option: {message.splitlines()[0]} Leave it out of the "
            "configuration; Spark says itself what is read, and keeps the offsets"
        ) from error
    raise error


@contextmanager
def _admin(spark: Any, config: Mapping[str, Any]) -> "Iterator[Any]":
    """A client that asks the servers, while the context is open; None: there cannot be one."""
    jvm = getattr(spark, "_jvm", None)
    admin = None
    if jvm is not None:
        properties = jvm.java.util.Properties()
        for name, value in (_PATIENCE | dict(config)).items():
            properties.put(name, str(value))
        try:
            admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
        except Exception:  # no client of Kafka on the class path, or settings for Spark to judge
            admin = None
    try:
        yield admin
    finally:
        if admin is not None:
            admin.close()


def _is_unknown(described: Any) -> bool:
    try:
        described.get()
    except Exception as error:  # what else is wrong Spark says when it reads
        return "UnknownTopicOrPartition" in str(error)
    return False
