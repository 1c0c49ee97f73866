"""Groupings in a project of Spark Declarative Pipelines, run by its own command.

What its tables hold then is compared with the same queries on the local host.
"""

import json
import os
import subprocess
import sys
from datetime import UTC
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pyspark
import pytest

import beamlike as bl
from beamlike.testing import QueryTest

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

Row = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
HITS = "user string, at string"
SPEC = """\
name: visits
storage: file://{home}/storage
libraries:
  - glob:
      include: definitions/**
configuration:
  spark.sql.shuffle.partitions: "2"
  spark.sql.streaming.stateStore.providerClass: \
org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider
"""
DEFINITIONS = """\
from pyspark import pipelines as dp
from pyspark.sql import SparkSession

from beamlike.errors import UnsupportedError
from tests.api.test_declarative_pipelines import HITS, hours, visits

spark = SparkSession.active()
inbox = {inbox!r}


def hits():
    return spark.readStream.schema(HITS).option("maxFilesPerTrigger", 1).json(inbox)


visits_of_hits, hours_of_hits = visits(hits()).rows, hours(hits()).rows
so_far = visits(spark.read.schema(HITS).json(inbox)).rows
dp.create_streaming_table("appended")


@dp.table(name="visits")
def as_table():
    try:
        visits(hits())
    except UnsupportedError as error:
        with open({said!r}, "w") as file:
            file.write(str(error))
    return visits_of_hits


@dp.append_flow(target="appended")
def appending():
    return visits_of_hits


@dp.table(name="hours")
def of_hours():
    return hours_of_hits


@dp.materialized_view
def visits_so_far():
    return so_far
"""


def visits(hits: Any) -> bl.Stream:
    rows = bl.stream(hits, timestamp="at", watermark="0 s").window(
        bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="1 day",
    )
    return rows.group("user", {"n": bl.count()}, name="visits", shards=2, buckets=2)


def hours(hits: Any) -> bl.Stream:
    eager: dict[str, Any] = {"accumulation": "retracting", "allowed_lateness": "1 day"}
    windowed = visits(hits).window(bl.FixedWindows("1 hour"), **eager)
    wanted = {"visits": bl.count(), "hits": bl.sum("n")}
    return windowed.group([], wanted, name="hours", shards=2, buckets=2)


def arrived(*hits: tuple[str, str]) -> list[Row]:
    return [{"user": user, "at": f"2026-05-04 {at}:00Z"} for user, at in hits]


FIRST = arrived(("ann", "12:00"), ("bob", "12:01"), ("ann", "12:30"))
SECOND = arrived(("ann", "12:05"), ("ann", "14:00"), ("bob", "13:30"))


def shown(rows: list[Row]) -> list[str]:
    """Each row in short, whether it comes from a query or from a file."""
    found = []
    for row in rows:
        start = row["window"]["start"].replace(tzinfo=UTC)  # a file of Spark's has no zone
        values = " ".join(str(row[name]) for name in ("user", "n", "visits", "hits") if name in row)
        sign = "-" if row.get("retraction") else "+"
        found.append(
            f"{sign} {start:%H:%M} {values} {row['pane']['timing']} {row['pane']['index']}"
        )
    return sorted(found)


def table(home: Path, name: str) -> list[str]:
    files = sorted((home / "spark-warehouse" / name).glob("*.parquet"))
    return shown([row for file in files for row in pq.read_table(file).to_pylist()])


def run(home: Path, definitions: str) -> None:
    """A project with these definitions and the hits, by the command that Spark has for it."""
    inbox = home / "in"
    for folder in (inbox, home / "definitions"):
        folder.mkdir()
    (home / "spark-pipeline.yml").write_text(SPEC.format(home=home))
    (home / "definitions" / "visits.py").write_text(definitions)
    for number, rows in enumerate((FIRST, SECOND)):
        file = inbox / f"{number}.json"
        file.write_text("\n".join(map(json.dumps, rows)))
        os.utime(file, (number, number))  # Spark reads the older one first
    installed = Path(pyspark.__file__).parent
    environment = os.environ | {
        "SPARK_HOME": str(installed),
        "PYSPARK_PYTHON": sys.executable,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [installed / "bin" / "spark-pipelines", "run"],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_the_tables_of_a_project_are_those_of_the_same_queries(tmp_path: Path) -> None:
    said = tmp_path / "said"
    run(tmp_path, DEFINITIONS.format(inbox=str(tmp_path / "in"), said=str(said)))

    for name, job in (("visits", visits), ("appended", visits), ("hours", hours)):
        with QueryTest(job, HITS) as query:
            expected = shown([*query.send(*FIRST), *query.send(*SECOND)])
        assert expected
        assert table(tmp_path, name) == expected
    # Bounded rows bring each visit out early, withdraw that, and bring it out on time.
    ended = ("12:00 ann 2", "12:01 bob 1", "12:30 ann 1", "13:30 bob 1", "14:00 ann 1")
    assert table(tmp_path, "visits_so_far") == sorted(
        f"{sign} {visit} {pane}"
        for visit in ended
        for sign, pane in (("+", "EARLY 0"), ("-", "EARLY 0"), ("+", "ON_TIME 1"))
    )
    assert said.read_text().startswith(
        "the function of a flow of Spark Declarative Pipelines may not ask Spark for a schema"
    )
