"""The trials: ``python -m tests.kafka.trials SERVERS TRIAL HOME``, in an environment of its own."""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.errors import BeamlikeError, PipelineError, WindowingError
from tests.kafka.client import JAVA, NOON, TEXTS, Kafka
from tests.kafka.dying import a_driver_that_dies
from tests.kafka.frames import a_million_events, avro, the_page, windows_that_are_over


def there_and_back(kafka: Kafka, home: Path) -> None:
    """Records are read, summed by minute, and written to another topic."""
    kafka.topic("counted", 2)
    kafka.send("counted", ("ann", "1", 0, 0), ("ann", "2", 1, 30), ("bob", "4", 1, 90))
    pipeline = beam.Pipeline(runner="SparkRunner")
    clicks = pipeline | ReadFromKafka(
        kafka.config, ["counted"], *TEXTS, max_read_time=1, timestamp_policy="CreateTime"
    )
    sums = (
        clicks
        | beam.Map(lambda pair: (pair[0], int(pair[1])))
        | beam.WindowInto(beam.FixedWindows(60))
        | beam.CombinePerKey(sum)
        | beam.Map(lambda pair: (pair[0], str(pair[1])))
    )
    kafka.topic("sums")
    serializers = (f"{JAVA}Serializer", f"{JAVA}Serializer")
    _ = sums | WriteToKafka(kafka.config, "sums", *serializers)
    pipeline.run().wait_until_finish()
    assert kafka.read(["sums"], max_read_time=1) == [("ann", "3"), ("bob", "4")]


def a_partition_that_lags(kafka: Kafka, home: Path) -> None:
    """Records of a partition that is an hour behind the other are not late."""
    kafka.topic("uneven", 2)
    ahead = [("ann", "x", 0, 3600 + seconds) for seconds in range(0, 600, 60)]
    behind = [("bob", "x", 1, seconds) for seconds in range(0, 600, 60)]
    kafka.send("uneven", *ahead)
    kafka.send("uneven", *behind, ("bob", "x", 1, 4200), ("ann", "x", 0, 4200))
    counted = kafka.counts(["uneven"], home, idle_after="1 day")
    assert counted == [("ann", 5), ("ann", 5), ("bob", 5), ("bob", 5)]


def from_a_time_on(kafka: Kafka, home: Path) -> None:
    """A partition without a later record begins with the next one."""
    kafka.topic("sparse", 2)
    kafka.send("sparse", ("ann", "early", 0, 0), ("bob", "early", 1, 0), ("bob", "late", 1, 600))
    since = (NOON + 300) * 1000
    assert kafka.read(["sparse"], max_read_time=1, start_read_time=since) == [("bob", "late")]


def what_is_refused(kafka: Kafka, home: Path) -> None:
    """An option that Spark refuses and a topic that is not there are named."""
    kafka.topic("empty")
    with pytest.raises(PipelineError, match=r"enable\.auto\.commit"):
        kafka.read(["empty"], max_read_time=1, config={"enable.auto.commit": "true"})
    with pytest.raises(BeamlikeError, match="nowhere"):
        kafka.read(["nowhere"], max_read_time=1)
    servers = kafka.servers
    for options, words in (
        ({"topics": "nowhere"}, "has no topic 'nowhere'"),
        ({"config": {"enable.auto.commit": "true"}}, r"refuses an option: .*enable\.auto\.commit"),
        ({"config": {"security.protocl": "SSL"}}, "'security.protocl'; 'security.protocol' is one"),
        ({"config": {"key.deserializer": "x"}}, r"refuses an option: .*key\.deserializer"),
    ):
        with pytest.raises(PipelineError, match=words):
            bl.kafka.read(
                kafka.spark, servers, **{"topics": "empty", "watermark": "0 s", **options}
            )
    read = bl.kafka.read(kafka.spark, servers, "empty", watermark="0 s")
    hour = bl.FixedWindows("1 hour")
    parts = {"trigger": bl.AfterWatermark(late=bl.AfterCount(1)), "allowed_lateness": "1 day"}
    panes = read.window(hour).group("key", {"n": bl.count()})
    with pytest.raises(PipelineError, match="has no topic 'nowhere'"):
        bl.kafka.write(panes, servers, "nowhere", key="key")
    with pytest.raises(PipelineError, match="has no topic 'lost'"):
        bl.kafka.write(panes, servers, "empty", key="key", dead_letters="lost")
    with pytest.raises(PipelineError, match=r"'compresion\.type'; 'compression\.type' is one"):
        bl.kafka.write(panes, servers, "empty", key="key", config={"compresion.type": "lz4"})
    kafka.topic("compacted", cleanup_policy="compact")
    assert bl.kafka.write(panes, servers, "compacted", key="key"), "one pane for each window"
    with pytest.raises(PipelineError, match="'compacted' is compacted, and dead letters have no"):
        bl.kafka.write(panes, servers, "empty", key="key", dead_letters="compacted")
    several = read.window(hour, accumulation="discarding", **parts)
    with pytest.raises(WindowingError, match="the last part would stay"):
        bl.kafka.write(several.group("key", {"n": bl.count()}), servers, "compacted", key="key")


TRIALS: Final[Mapping[str, Callable[[Kafka, Path], str | None]]] = {
    "there and back": there_and_back,
    "a partition that lags": a_partition_that_lags,
    "from a time on": from_a_time_on,
    "what is refused": what_is_refused,
    "the page": the_page,
    "avro": avro,
    "windows that are over": windows_that_are_over,
    "a million events": a_million_events,
    "a driver that dies around a commit": a_driver_that_dies,
}


def main() -> None:
    """Run the trials that are named, against a broker."""
    servers, home, *names = sys.argv[1:]
    kafka = Kafka(servers)
    for name in names:
        started = time.monotonic()
        print(f"{name}: begins", flush=True)
        said = TRIALS[name](kafka, Path(home)) or ""
        print(f"{name}: holds, {time.monotonic() - started:.0f} s | {said}", flush=True)
    with suppress(Exception):
        kafka.spark.stop()


if __name__ == "__main__":
    main()
