"""What is in a sink when the driver has died before, within and after the commit of a micro-batch,
and that each row counts once when the query has gone on.

Tables have theirs in ``tests/landing/test_stops.py`` and `tests.catalogs`, Kafka in `tests.kafka`.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FILES = 6
BATCH = 2
"""The micro-batch in which the driver dies."""


@pytest.fixture(scope="module")
def stops() -> Any:
    """The module that stops a query, if there is a compiler of Java."""
    from tests.crash import stops, unsteady

    assert unsteady.can_be_unsteady(), "javac is missing: install a JDK, not a JRE"
    return stops


def numbers_of_files(home: Path) -> set[int]:
    """The micro-batches that count, where each is a file or a row of a table."""
    from tests.crash.outputs import output_of

    return set(output_of(home).rows)


def numbers_of_log(home: Path) -> set[int]:
    """The micro-batches in the log by which Spark reads what its file sink has written."""
    names = (path.name for path in (home / "out" / "_spark_metadata").glob("[0-9]*"))
    return {int(name.split(".")[0]) for name in names}


SINKS: dict[str, tuple[Callable[[Path], set[int]], str]] = {
    "sessions": (numbers_of_files, "half"),
    "database": (numbers_of_files, "half"),
    "parquet": (numbers_of_log, r"rename before .*/out/_spark_metadata/{batch}(\.compact)?"),
}
"""By the name of a work: which micro-batches count in its sink, and the point within the commit."""


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.xdist_group("own sessions")
@pytest.mark.parametrize("point", ["before", "within", "after"])
@pytest.mark.parametrize("work", SINKS)
def test_a_driver_that_dies_around_a_commit_loses_and_doubles_nothing(
    work: str, point: str, stops: Any, tmp_path: Path
) -> None:
    from tests.crash.feed import write_feed
    from tests.crash.outputs import output_of

    counted, within = SINKS[work]
    operations = {"before": stops.BEGUN, "within": within, "after": stops.ENDED}
    feed, checkpoint = tmp_path / "feed", tmp_path / work / "checkpoint"
    write_feed(feed, FILES, seed=3)
    if operations[point] == "half":  # all is written there, and does not count
        (tmp_path / work / "out").mkdir(parents=True)
        (tmp_path / work / "out" / "die").write_text(f"half {BATCH}")

    stops.run_until(operations[point].format(batch=BATCH), tmp_path, feed, work)

    # It had begun, and its end was not noted.
    assert newest(checkpoint / "offsets") == BATCH
    assert newest(checkpoint / "commits") == BATCH - 1
    assert counted(tmp_path / work) == set(range(BATCH + 1 if point == "after" else BATCH))

    stops.run_until(None, tmp_path, feed, work)

    output = output_of(tmp_path / work)
    assert rows_of(output) == plain_rows(feed, checkpoint)
    assert output.changed == []
    if work != "parquet":  # which writes nothing for a number that it has
        assert output.repeated == ([BATCH] if point == "after" else [])


def rows_of(output: Any) -> list[str]:
    """What came out, in plain form."""
    from tests.crash.played import plain

    rows = [row for of_batch in plain(output).values() for row in of_batch]
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def plain_rows(feed: Path, checkpoint: Path) -> list[str]:
    """What has to come out of the micro-batches that Spark noted, by a plain computation."""
    from tests.crash.frames import SESSIONS
    from tests.crash.noted import noted
    from tests.crash.played import played

    batches = played(feed, SESSIONS, noted(checkpoint), begins=True)
    rows = [row for of_batch in batches.values() for row in of_batch]
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def newest(folder: Path) -> int:
    """The greatest number that is the name of a file."""
    return max(int(path.name) for path in folder.iterdir() if path.name.isdecimal())


@pytest.mark.spark
def test_a_table_in_memory_does_not_go_on_from_a_checkpoint(spark: Any, tmp_path: Path) -> None:
    from pyspark.errors import AnalysisException

    import beamlike as bl

    (tmp_path / "in").mkdir()
    row = {"user": "ann", "at": "2020-01-01 12:00:00Z"}
    (tmp_path / "in" / "0.json").write_text(json.dumps(row))
    files = spark.readStream.schema("user string, at string").json(str(tmp_path / "in"))
    panes = bl.windowed(
        files,
        key="user",
        timestamp="at",
        watermark="0 s",
        window=bl.FixedWindows("1 hour"),
        aggregate={"n": bl.count()},
        shards=1,
    )
    writer = panes.writeStream.format("memory").queryName("lost_with_its_driver")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()

    with pytest.raises(AnalysisException, match=re.escape("recovering from checkpoint location")):
        writer.start()
