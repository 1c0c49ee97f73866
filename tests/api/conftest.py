"""Frames in and rows out, for the tests of the DataFrame face."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.inspect.queries.progress import observed_metrics
from tests.support.queries.shown import IN_UTC, Rows, shown


class Sink:
    """Keeps what queries emit as JSON: names and nulls included, times in UTC.

    What Spark Connect calls runs in a process of its own. There it leaves files.
    """

    def __init__(self, spark: Any, home: Path) -> None:
        self._files = None if hasattr(spark, "sparkContext") else home
        self._rows: list[tuple[int, dict[str, Any]]] = []

    def of(self, out: Any) -> Any:
        """What starts a query that emits to here."""

        def keep(batch: Any, number: int) -> None:
            self._rows += [(number, row) for row in shown(batch)]

        return out.writeStream.foreachBatch(keep if self._files is None else writer_to(self._files))

    @property
    def numbered(self) -> list[tuple[int, dict[str, Any]]]:
        """Everything that came out, with the number of the micro-batch."""
        return self._rows if self._files is None else read_back(self._files)

    @property
    def rows(self) -> Rows:
        """Everything that came out."""
        return [row for _, row in self.numbered]


class Feed:
    """A stream of JSON files, one a micro-batch, and the query over it."""

    def __init__(self, spark: Any, home: Path, schema: str) -> None:
        self._spark = spark
        self._home = home
        self._inbox = home / "in"
        self._inbox.mkdir(parents=True)
        self._files = 0
        self._written = 0
        self._sink = Sink(spark, home / "out")
        self.schema = schema
        self.query: Any = None

    @property
    def frame(self) -> Any:
        """The stream as a DataFrame."""
        files = self._spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return files.json(str(self._inbox))

    def start(self, out: Any, **trigger: Any) -> None:
        """Run a query from the feed's checkpoint; what it emits is kept."""
        writer = self._sink.of(out).outputMode("append")
        writer = writer.option("checkpointLocation", str(self._home / "checkpoint"))
        self.query = (writer.trigger(**trigger) if trigger else writer).start()

    def stop(self) -> None:
        if self.query is not None:
            self.query.stop()

    def put(self, *rows: dict[str, Any]) -> None:
        """Rows arrive together."""
        name = f"{self._files:04}.json"
        self._files += 1
        hidden = self._inbox / f".{name}"
        hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
        # Spark reads files in order of their time, in milliseconds.
        self._written = max(hidden.stat().st_mtime_ns, self._written + 2_000_000)
        os.utime(hidden, ns=(self._written, self._written))
        hidden.rename(self._inbox / name)

    def send(self, *rows: dict[str, Any]) -> Rows:
        """Rows arrive together; what comes out, also by the watermark that they move."""
        before = len(self.numbered)
        if rows:
            self.put(*rows)
        self.query.processAllAvailable()
        return [row for _, row in self.numbered[before:]]

    def settle(self) -> Rows:
        """What comes out of all that has arrived, here and at other feeds of the query."""
        return self.send()

    @property
    def numbered(self) -> list[tuple[int, dict[str, Any]]]:
        """Everything that came out, with the number of the micro-batch."""
        return self._sink.numbered

    @property
    def progress(self) -> list[Any]:
        """What the query reports of its last micro-batches, counts by their names."""
        reports = list(self.query.recentProgress)
        if hasattr(self._spark, "sparkContext"):
            return reports
        for report in reports:
            observed = observed_metrics(json.loads(report.json))
            report["observedMetrics"] = {
                name: Row(**reported) for name, reported in observed.items()
            }
        return reports


def writer_to(out: Path) -> Callable[[Any, int], None]:
    """What writes the rows of a micro-batch as JSON to a folder with its number."""
    folder = str(out)

    def write(batch: Any, number: int) -> None:

        row = F.to_json(F.struct("*"), IN_UTC).alias("value")
        batch.select(row).write.mode("overwrite").text(f"{folder}/{number}")

    return write


def read_back(out: Path) -> list[tuple[int, dict[str, Any]]]:
    """What `writer_to` has written, in the order in which it was."""
    batches = sorted((int(path.name), path) for path in out.glob("*"))
    return [
        (number, json.loads(line))
        for number, batch in batches
        for part in sorted(batch.glob("part-*"))
        for line in part.read_text().splitlines()
    ]


@pytest.fixture
def no_empty_batches(setting: Callable[[str, str], None]) -> None:
    """Spark runs no micro-batch without data. Streams with watermarks of their own need none."""
    setting("spark.sql.streaming.noDataMicroBatches.enabled", "false")


@pytest.fixture
def sink(spark: Any, tmp_path: Path) -> Sink:
    """Keeps what a query emits that is no feed's."""
    return Sink(spark, tmp_path / "sink")


@pytest.fixture
def feed(spark: Any, tmp_path: Path) -> Iterator[Callable[[str], Feed]]:
    """Makes feeds of a schema. Their queries are stopped when the test is over."""
    feeds: list[Feed] = []

    def make(schema: str) -> Feed:
        feeds.append(Feed(spark, tmp_path / str(len(feeds)), schema))
        return feeds[-1]

    yield make
    for each in feeds:
        each.stop()


@pytest.fixture
def orders(spark: Any) -> bl.Stream:
    """One row has no readable time, so that a grouping drops it."""
    frame = spark.sql(
        """
        select * from values
            ('ann', '2020-01-01 00:01:00Z', 'book', array('new', 'red')),
            ('ann', '2020-01-01 00:02:00Z', 'ink', array()),
            ('bob', '2020-01-01 00:03:00Z', 'pen', null),
            ('bob', '2020-01-01 00:04:00Z', 'cup', array('red', null)),
            ('cat', 'soon', 'mug', array('red'))
            as (user, at, item, tags)
        """
    )
    return bl.stream(frame, timestamp="at").window(bl.FixedWindows("10 minutes"))
