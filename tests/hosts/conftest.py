"""What tests of the Spark host's shard share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

import pytest

from beamlike.runtime.store import pages
from tests.support.machines.shard_of_numbers import Limit, Worker
from tests.support.queries.counted import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def count_in_minutes(spark: "SparkSession", tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """A query that counts the rows of each user and minute; called with a time, it takes one."""
    inbox = tmp_path / "in"
    inbox.mkdir()
    writer = counted(spark, inbox).writeStream.format("noop")
    query = writer.option("checkpointLocation", str(tmp_path / "state")).start()

    def take(at: str) -> None:
        number = len(list(inbox.iterdir()))
        (inbox / f"{number}.json").write_text(f'{{"user": "kim", "at": "{at}"}}')
        query.processAllAvailable()

    try:
        yield take
    finally:
        query.stop()


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Limit:
    """Sets one of the limits of pages."""
    return lambda name, to: monkeypatch.setattr(pages, name, to)


@pytest.fixture
def another_worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    """From now on it is a worker that knows nothing; a test with this begins with one."""

    def take_over() -> None:
        monkeypatch.setattr(pages, "_MEMORY", pages.rows_memory())

    take_over()
    return take_over


@pytest.fixture
def warnings_are_errors() -> Iterator[None]:
    """As those of numpy are, when a number leaves its range."""
    with catch_warnings():
        simplefilter("error")
        yield
