"""Folders of queries that leave nothing behind."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark
from beamlike.hosts.spark.scratch import scratch_folder, without_snapshots

LATE_WRITER = """
import shutil
from beamlike.hosts.spark.scratch import scratch_folder

first, second = scratch_folder("pipeline"), scratch_folder("pipeline")
assert first != second and first.is_dir() and first.name
shutil.rmtree(first)
(first / "checkpoint" / "state").mkdir(parents=True)
(first / "checkpoint" / "state" / "11.zip").write_text("late")
"""


def test_what_is_written_into_a_folder_that_is_gone_goes_with_the_process(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", LATE_WRITER], check=True, env=environment)

    assert list(tmp_path.iterdir()) == []


class Session:
    """Remembers settings, as those of a Spark session do."""

    def __init__(self) -> None:
        self.settings = {"spark.sql.streaming.stateStore.minDeltasForSnapshot": "10"}
        self.conf = self

    def get(self, name: str) -> str:
        return self.settings[name]

    def set(self, name: str, value: Any) -> None:
        self.settings[name] = str(value)


def test_only_what_is_started_within_saves_no_snapshots() -> None:
    session: Any = Session()
    with without_snapshots(session):
        assert list(session.settings.values()) == ["2147483647"]
    assert list(session.settings.values()) == ["10"]


@pytest.mark.spark
def test_a_pipeline_that_was_played_on_spark_leaves_no_folder_and_no_setting(spark: Any) -> None:
    pipeline = beam.Pipeline()
    pipeline | beam.Create([("a", 1)]) | beam.GroupByKey()
    beside = scratch_folder("pipeline")
    before = spark.conf.get("spark.sql.streaming.stateStore.minDeltasForSnapshot")

    run_pipelines_on_spark([Scripted(pipeline.nodes)], spark)

    assert list(beside.parent.iterdir()) == [beside]
    assert spark.conf.get("spark.sql.streaming.stateStore.minDeltasForSnapshot") == before
