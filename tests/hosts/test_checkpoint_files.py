"""How the files of a checkpoint get their names, and what a kill in the first of them leaves."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import EnvironmentProblem, StateError
from beamlike.hosts.failed_starts import ADVICE_ON_LEFTOVERS, advising
from beamlike.hosts.spark.drain import mark_end
from beamlike.hosts.spark.requirements import FILE_MANAGER, LOCATION, file_manager_problem
from beamlike.hosts.spark.session import refuse
from beamlike.inspect.metrics.log_lines import log_end
from tests.support.queries.counted import counted

PACKAGE = "org.apache.spark.sql.execution.streaming."
MANAGER = f"{PACKAGE}checkpointing.FileSystemBasedCheckpointFileManager"
VERIFY = "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart"
LEFT = "3b6e1d3e-2c25-4d1d-a4a1-0f6a5f6f0a11"

Setting = Callable[[str, str], None]


class Session:
    """A session as far as it is asked for its settings."""

    def __init__(self, **settings: str) -> None:
        self.conf = settings


def session(*, manager: str = MANAGER, location: str = "", files: str = "") -> Any:
    settings = {FILE_MANAGER: manager, LOCATION: location, "spark.hadoop.fs.defaultFS": files}
    return Session(**{name: value for name, value in settings.items() if value})


UNSET = 'call spark.conf.unset("spark.sql.streaming.checkpointFileManagerClass")'
OVERRIDDEN = (
    "as spark.hadoop.spark.sql.streaming.checkpointFileManagerClass cannot be taken back in a "
    'session that runs, call spark.conf.set("spark.sql.streaming.checkpointFileManagerClass", '
    f'"{PACKAGE}checkpointing.FileContextBasedCheckpointFileManager")'
)


def refusal(disk: str, name: str = MANAGER, mended: str = UNSET) -> str:
    return (
        f"spark.sql.streaming.checkpointFileManagerClass is {name!r}, which on {disk} keeps the "
        "first content of a file that is written twice: a micro-batch that runs again, as after a "
        f"kill, leaves a checkpoint that nothing can read; leave that setting out, or {mended} "
        "before the query starts: Spark's own choice replaces files. Where checkpoints lie on an "
        "object store that needs it, name the place with "
        'spark.conf.set("spark.sql.streaming.checkpointLocation", "s3a://...")'
    )


@pytest.mark.parametrize(
    ("spark", "location", "disk"),
    [
        (session(), "", "a local disk"),
        (session(), "/data/checkpoints", "a local disk"),
        (session(), "file:/data/checkpoints", "a local disk"),
        (session(), "C:\\checkpoints", "a local disk"),
        (session(location="/data"), "", "a local disk"),
        (session(location="s3a://bucket/data"), "FILE:///data", "a local disk"),
        (session(files="file:///"), "/data", "a local disk"),
        (session(files="hdfs://name:8020"), "/data", "HDFS"),
        (session(files="s3a://bucket"), "hdfs:///data", "HDFS"),
    ],
)
def test_files_that_keep_their_first_content_are_refused(spark: Any, location: str, disk: str):
    with pytest.raises(EnvironmentProblem) as refused:
        refuse(file_manager_problem(spark, location))

    assert str(refused.value) == refusal(disk)


def test_the_name_that_the_manager_had_before_is_refused_and_where_hadoop_is_set() -> None:
    older = f"{PACKAGE}FileSystemBasedCheckpointFileManager"
    for setting, mended in ((FILE_MANAGER, UNSET), (f"spark.hadoop.{FILE_MANAGER}", OVERRIDDEN)):
        spark: Any = Session(**{setting: older})
        with pytest.raises(EnvironmentProblem) as refused:
            refuse(file_manager_problem(spark))

        assert str(refused.value) == refusal("a local disk", older, mended)


@pytest.mark.parametrize(
    ("spark", "location"),
    [
        (session(manager=""), "/data"),
        (session(manager=f"{PACKAGE}checkpointing.FileContextBasedCheckpointFileManager"), "/data"),
        (session(manager="com.example.Files"), ""),
        (session(), "s3a://bucket/data"),
        (session(location="gs://bucket/data"), ""),
        (session(files="abfss://files@account"), "/data"),
    ],
)
def test_others_are_taken(spark: Any, location: str) -> None:
    refuse(file_manager_problem(spark, location))


@pytest.mark.spark
def test_a_query_over_a_stream_is_refused_before_it_starts(
    spark: SparkSession, setting: Setting, tmp_path: Path
) -> None:
    setting(FILE_MANAGER, MANAGER)

    with pytest.raises(EnvironmentProblem) as refused:
        counted(spark, tmp_path)
    assert str(refused.value) == refusal("a local disk")
    with pytest.raises(EnvironmentProblem):
        bl.stream(
            spark.readStream.schema("at timestamp").json(str(tmp_path)),
            timestamp="at",
            watermark="1 minute",
        )
    spark.conf.unset(FILE_MANAGER)  # what the error says
    assert counted(spark, tmp_path).isStreaming


@pytest.mark.spark
def test_a_file_of_a_checkpoint_is_replaced_in_a_local_session(spark: SparkSession, tmp_path: Path):
    java: Any = spark._jvm
    path = java.org.apache.hadoop.fs.Path(f"file:{tmp_path}/7.changelog")
    files = (
        java.org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.create(
            path.getParent(), spark._jsparkSession.sessionState().newHadoopConf()
        )
    )
    for content in (b"first", b"second"):
        out = files.createAtomic(path, True)
        out.write(bytearray(content))
        out.close()

    assert (tmp_path / "7.changelog").read_bytes() == b"second"


def kill_in_the_first_write(checkpoint: Path) -> None:
    """Leave what such a kill leaves: no offsets, but the file that was to become them."""
    (checkpoint / "offsets").mkdir(parents=True)
    (checkpoint / "commits").mkdir()
    (checkpoint / "metadata").write_text(json.dumps({"id": LEFT}))
    (checkpoint / "offsets" / f".0.{LEFT}.tmp").write_text("v1\n")
    (checkpoint / "offsets" / f"..0.{LEFT}.tmp.crc").write_bytes(b"")


def start(spark: SparkSession, home: Path, checkpoint: Path) -> list[tuple[str, int]]:
    """What a query writes that takes all that is there."""
    rows: list[tuple[str, int]] = []

    def keep(batch: DataFrame, number: int) -> None:
        rows.extend((row["user"], row["n"]) for row in batch.collect())

    writer = counted(spark, home / "in").writeStream.foreachBatch(keep).trigger(availableNow=True)
    with advising():
        writer.option("checkpointLocation", str(checkpoint)).start().awaitTermination()
    return rows


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The checkpoint of a query that was killed, whose rows are beside it."""
    inbox, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    inbox.mkdir()
    rows = [("ann", "12:00:10"), ("ann", "12:00:20"), ("bob", "12:09:00")]
    lines = [json.dumps({"user": user, "at": f"2024-05-01 {at}"}) for user, at in rows]
    (inbox / "0.json").write_text("\n".join(lines))
    kill_in_the_first_write(checkpoint)
    return checkpoint


@pytest.mark.spark
def test_a_local_session_starts_a_query_that_was_killed_in_its_first_write(
    spark: SparkSession, tmp_path: Path, killed: Path
) -> None:
    assert start(spark, tmp_path, killed) == [("ann", 2)]
    assert start(spark, tmp_path, killed) == []


@pytest.mark.spark
def test_in_another_session_the_error_says_what_to_do(
    spark: SparkSession, setting: Setting, tmp_path: Path, killed: Path
) -> None:
    setting(VERIFY, "true")

    with pytest.raises(Exception, match="STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY") as failed:
        start(spark, tmp_path, killed)
    assert failed.value.__notes__ == [ADVICE_ON_LEFTOVERS]

    setting(VERIFY, "false")  # what the error says
    assert start(spark, tmp_path, killed) == [("ann", 2)]


def test_the_log_of_metrics_says_what_to_do_too(caplog: pytest.LogCaptureFixture) -> None:
    says = "[STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY] The checkpoint location should be empty"
    log_end("orders", "5", says)

    assert [record.getMessage() for record in caplog.records] == [
        f"query orders (5) has failed: {says}",
        f"query orders (5): {ADVICE_ON_LEFTOVERS}",
    ]


def test_what_such_a_kill_leaves_is_not_drained(killed: Path) -> None:
    with pytest.raises(StateError) as refused:
        mark_end(str(killed))

    assert str(refused.value) == (
        f"{killed} is no checkpoint of a query that has run: it has no offsets; give the folder "
        "that the query has as checkpointLocation"
    )


@pytest.mark.spark
def test_a_pipeline_is_refused_where_its_checkpoint_would_lie(
    spark: SparkSession, setting: Setting, tmp_path: Path
) -> None:
    setting(FILE_MANAGER, MANAGER)
    setting(LOCATION, "s3a://bucket/data")
    pipeline = beam.Pipeline()
    stream = spark.readStream.schema("user string, at timestamp").json(str(tmp_path))
    rows = pipeline | beam.FromDataFrame(stream, timestamp="at", watermark="1 minute")
    users = rows | beam.Map(lambda row: (row.user,))
    users | beam.WriteRows("user string", lambda frame, number: None)

    with pytest.raises(EnvironmentProblem) as refused:
        pipeline.run("spark", spark, checkpoint=str(tmp_path / "checkpoint"))

    assert str(refused.value) == refusal("a local disk")
    assert not (tmp_path / "checkpoint").exists()
