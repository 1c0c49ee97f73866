"""What a Python worker of Spark finds when it starts, and still does between tasks once eased."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile
from zipimport import zipimporter

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import beamlike as bl
from beamlike.hosts.spark import workers
from beamlike.hosts.spark.workers import tune_worker_process


@pytest.fixture(autouse=True)
def new_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process as one that no task has run in."""
    monkeypatch.setattr(workers, "_eased", False)
    yield
    gc.unfreeze()


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The name of a package with two modules in a zip file, of which one was imported."""
    with ZipFile(tmp_path / "zipped.zip", "w") as file:
        file.writestr("zipped_for_test/__init__.py", "")
        file.writestr("zipped_for_test/used.py", "value = 1")
        file.writestr("zipped_for_test/later.py", "value = 2")
    monkeypatch.syspath_prepend(str(tmp_path / "zipped.zip"))
    assert import_module("zipped_for_test.used").value == 1
    for name in ("zipped_for_test", "zipped_for_test.used"):
        monkeypatch.delitem(sys.modules, name)
    return "zipped_for_test"


def zip_finders() -> list[str]:
    return [
        place
        for place, finder in sys.path_importer_cache.items()
        if isinstance(finder, zipimporter)
    ]


def test_no_directory_of_a_zip_file_is_read_again_when_the_next_task_starts(package: str) -> None:
    assert [place for place in zip_finders() if place.endswith(package)]

    tune_worker_process()

    assert not zip_finders()


def test_modules_in_zip_files_are_found_as_before(package: str) -> None:
    tune_worker_process()

    assert import_module(f"{package}.later").value == 2


def test_what_is_there_in_the_first_task_is_not_looked_at_when_garbage_is_collected() -> None:
    there = object.__new__(type("There", (), {}))

    tune_worker_process()

    assert not any(get_object is there for get_object in gc.get_objects())


def test_garbage_of_later_tasks_is_collected() -> None:
    tune_worker_process()
    frozen = gc.get_freeze_count()
    first: list[object] = []
    second: list[object] = [first]
    first.append(second)
    del first, second

    tune_worker_process()

    assert gc.get_freeze_count() <= frozen
    assert gc.collect() > 0


FORKED = """
import os

from beamlike.hosts.spark.daemon import _prepare

_prepare()
import numpy as np
import pandas as pd
import pyarrow as pa

if (child := os.fork()) == 0:
    column = pa.chunked_array([np.arange(100_000)] * 20)
    table = pa.table({"key": column, "v": column})
    grouped = table.group_by("key", use_threads=True).aggregate([("v", "sum")])
    matrix = np.ones((300, 300))
    right = grouped.num_rows == 100_000 and (matrix @ matrix)[0, 0] == 300
    right = right and pd.Series(range(10)).sum() == 45
    os._exit(0 if right else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_of_the_daemon_calculates_in_threads() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == "0\n"


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes as Linux shows them")
def test_workers_of_a_local_session_have_imported_what_queries_need(spark: SparkSession) -> None:
    def looked_at(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            parent = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().split(b"\0")
            there = "beamlike.runtime.column_shard" in sys.modules
            yield pa.RecordBatch.from_pydict({"daemon": [parent[2].decode()], "there": [there]})

    rows = spark.range(1).coalesce(1).mapInArrow(looked_at, "daemon string, there boolean")

    assert [(row.daemon, row.there) for row in rows.collect()] == [
        ("beamlike.hosts.spark.daemon", True)
    ]


class Parent(bl.CombineFn):
    """The process that has forked the worker which merges."""

    def create(self) -> Any:
        return 0

    def add(self, accumulator: Any, values: Any, timestamps: Any) -> Any:
        return os.getppid()

    def merge(self, first: Any, second: Any) -> Any:
        return max(first, second)

    def extract(self, accumulator: Any) -> Any:
        return accumulator


@pytest.mark.spark
def test_one_daemon_forks_workers_for_operators_with_state_and_without(
    spark: SparkSession, tmp_path: Path
) -> None:
    def parents(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            parent = pa.array([os.getppid()] * batch.num_rows, pa.int64())
            yield pa.RecordBatch.from_arrays(
                [batch.column("key"), batch.column("at"), parent], ["key", "at", "parent"]
            )

    schema = "key string, at timestamp"
    (tmp_path / "in").mkdir()
    for minute in (0, 30):
        line = f'{{"key": "ann", "at": "2024-05-01T12:{minute:02}:00Z"}}\n'
        (tmp_path / "in" / f"{minute}.json").write_text(line)
    rows = spark.readStream.schema(schema).json(str(tmp_path / "in"))
    panes = bl.windowed(
        rows.mapInArrow(parents, f"{schema}, parent bigint"),
        key="key",
        timestamp="at",
        window=bl.FixedWindows("10 minutes"),
        watermark="0 s",
        aggregate={
            "stateless": bl.max("parent"),
            "stateful": bl.combine(Parent(), "parent", "bigint", accumulator="bigint"),
        },
    )

    came: list[Any] = []
    query = (
        panes.writeStream.trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .foreachBatch(lambda batch, number: came.extend(batch.collect()))
        .start()
    )
    query.awaitTermination()

    assert [row.stateless for row in came] == [row.stateful for row in came] != []
    # Nor does the checkpoint have files of checksums, each of which Spark would rename, too.
    assert list((tmp_path / "checkpoint").glob("[oc]*/.*.crc")) == []
