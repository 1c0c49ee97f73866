"""Frames in and rows out, for the tests of the DataFrame face."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Rows = list[dict[str, Any]]


class Feed:
    """A stream of JSON files, one a micro-batch, and the query over it.

    The sink keeps rows as JSON: names and nulls included, times in UTC.
    """

    def __init__(self, spark: Any, home: Path, schema: str) -> None:
        self._spark = spark
        self._home = home
        self._inbox = home / "in"
        self._inbox.mkdir(parents=True)
        self._files = 0
        self._rows: list[tuple[int, dict[str, Any]]] = []
        self.schema = schema
        self.query: Any = None

    @property
    def frame(self) -> Any:
        """The stream as a DataFrame."""
        files = self._spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return files.json(str(self._inbox))

    def start(self, out: Any, **trigger: Any) -> None:
        """Run a query from the feed's checkpoint; what it emits is kept."""

        def keep(batch: Any, number: int) -> None:
            self._rows += [(number, row) for row in as_json(batch)]

        writer = out.writeStream.foreachBatch(keep).outputMode("append")
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
        hidden.rename(self._inbox / name)

    def send(self, *rows: dict[str, Any]) -> Rows:
        """Rows arrive together; what comes out, also by the watermark that they move."""
        before = len(self._rows)
        self.put(*rows)
        self.query.processAllAvailable()
        return [row for _, row in self._rows[before:]]

    @property
    def numbered(self) -> list[tuple[int, dict[str, Any]]]:
        """Everything that came out, with the number of the micro-batch."""
        return self._rows


def as_json(frame: Any) -> Rows:
    from pyspark.sql import functions as F

    row = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
    return [json.loads(text) for (text,) in frame.select(row).collect()]


@pytest.fixture(scope="session")
def shown() -> Callable[[Any], Rows]:
    """The rows of a bounded frame, as JSON."""
    return as_json


@pytest.fixture
def feed(spark: Any, tmp_path: Path) -> Iterator[Callable[[str], Feed]]:
    """Makes feeds of a schema. Their queries are stopped when the test is over."""
    made: list[Feed] = []

    def make(schema: str) -> Feed:
        made.append(Feed(spark, tmp_path / str(len(made)), schema))
        return made[-1]

    yield make
    for each in made:
        each.stop()
