"""What a query over streams needs of a session that is not beamlike's: all of it in one list."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import SparkFiles
from pyspark.sql import SparkSession

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import EnvironmentProblem, UnwiseSessionWarning
from beamlike.hosts.failed_starts import ADVICE_WITHOUT_BEAMLIKE, advice_on
from beamlike.hosts.spark import requirements
from beamlike.hosts.spark.requirements import FILE_MANAGER
from beamlike.hosts.spark.session import ROCKSDB, STATE_STORE

HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
STREAMING = "org.apache.spark.sql.execution.streaming"
KEEPS_FIRST = f"{STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
REPLACES = f"{STREAMING}.checkpointing.FileContextBasedCheckpointFileManager"
SEVERAL = "spark.sql.streaming.statefulOperator.allowMultiple"
WRAPPER = "spark.sql.streaming.triggerAvailableNowWrapper.enabled"

NO_ROCKSDB = (
    f"streaming windows need the RocksDB state store, and this session has {HDFS}; add "
    f'.config("{STATE_STORE}", "{ROCKSDB}") to the builder of the session, or call spark.conf.set '
    "with the same before the query starts"
)
ONE_GROUPING = (
    f"{SEVERAL} is false, with which Spark refuses a grouping after another one; call "
    f'spark.conf.set("{SEVERAL}", "true") before the query starts'
)


def keeps_first(mended: str) -> str:
    return (
        f"{FILE_MANAGER} is {KEEPS_FIRST!r}, which on a local disk keeps the first content of a "
        "file that is written twice: a micro-batch that runs again, as after a kill, leaves a "
        f"checkpoint that nothing can read; leave that setting out, or {mended}: Spark's own "
        "choice replaces files. Where checkpoints lie on an object store that needs it, name the "
        'place with spark.conf.set("spark.sql.streaming.checkpointLocation", "s3a://...")'
    )


UNSET = f'call spark.conf.unset("{FILE_MANAGER}") before the query starts'
OF_HADOOP = (
    f"as spark.hadoop.{FILE_MANAGER} cannot be taken back in a session that runs, call "
    f'spark.conf.set("{FILE_MANAGER}", "{REPLACES}") before the query starts'
)


class Session:
    """A session as far as it is asked for its version, its settings and its Python.

    Without ``python`` it is one of Spark Connect.
    """

    def __init__(
        self, *, version: str = "4.3.0", python: str = "", folder: str = "", **settings: str
    ) -> None:
        self.version, self.conf = version, {STATE_STORE: ROCKSDB} | settings
        if python:
            system = SimpleNamespace(getProperty=lambda name: {"user.dir": folder}[name])
            java = SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(System=system)))
            self._sc = SimpleNamespace(pythonExec=python, _jvm=java, environment={})


def refusal(spark: Any, location: str = "") -> str:
    with pytest.raises(EnvironmentProblem) as refused:
        requirements.check_session(spark, location)
    return str(refused.value)


def test_all_that_is_wrong_is_in_one_list() -> None:
    spark = Session(
        version="4.0.1", **{STATE_STORE: HDFS, SEVERAL: "false", FILE_MANAGER: KEEPS_FIRST}
    )

    assert refusal(spark).splitlines() == [
        "5 things of this session stand in the way of a query:",
        "1. the server runs Spark 4.0.1, and streaming windows need 4.1 or later there; connect to "
        "another one",
        f"2. {NO_ROCKSDB}",
        f"3. {keeps_first(UNSET)}",
        f"4. {ONE_GROUPING}",
        "5. a trigger on processing time or idle_after adds a source of ticks to the query, with "
        "which Spark 4.0.1 gives no panes under trigger(availableNow=True); add "
        f'.config("{WRAPPER}", "true") to the builder of the session, or call spark.conf.set with '
        "the same before the query starts, or use Spark 4.2 or later",
    ]


def test_one_thing_needs_no_list() -> None:
    assert refusal(Session(**{STATE_STORE: HDFS})) == NO_ROCKSDB
    assert refusal(Session(**{SEVERAL: "false"})) == ONE_GROUPING


def test_a_session_of_4_1_without_ticks_needs_no_setting_for_them() -> None:
    session: Any = Session(version="4.1.4")
    requirements.check_session(session)


def test_what_hadoop_was_started_with_is_outdone_by_a_setting_of_the_query() -> None:
    hadoop = {f"spark.hadoop.{FILE_MANAGER}": KEEPS_FIRST}

    assert refusal(Session(**hadoop)) == keeps_first(OF_HADOOP)
    mended: Any = Session(**hadoop, **{FILE_MANAGER: REPLACES})
    requirements.check_session(mended)


def python_refusal(program: str, more: str) -> str:
    return (
        f"the Python of the workers is {program!r}, which Spark starts on the driver, too, to plan "
        f"a query with state, and there is none{more}"
    )


@pytest.mark.spark
def test_a_python_that_only_workers_have_is_named(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(python="./environment/bin/python", folder=str(tmp_path))
    assert refusal(session) == python_refusal(
        "./environment/bin/python",
        f" in {tmp_path}; where 'environment' is an archive of the session (spark.archives), link "
        'what Spark has unpacked: import os, pyspark; os.symlink(pyspark.SparkFiles.get("'
        f'environment"), "{tmp_path}/environment")',
    )
    (tmp_path / "environment" / "bin").mkdir(parents=True)
    (tmp_path / "environment" / "bin" / "python").touch()
    requirements.check_session(session)  # type: ignore[arg-type]

    install = (
        "; install it there, or before the session starts set spark.pyspark.python to one that the "
        "driver has, too; a session that runs keeps the one that it has"
    )
    for program in ("/nowhere/python", "python2.4"):
        session = Session(python=program, folder=str(tmp_path))
        assert refusal(session) == python_refusal(program, install)
    requirements.check_session(Session(python=sys.executable, folder="/"))  # type: ignore[arg-type]


Setting = Callable[[str, str], None]


# It stands here: a warning names the file that asks for the windows.
def counted(spark: SparkSession, folder: Path, shards: int = 2) -> Any:
    return bl.windowed(
        spark.readStream.schema("user string, at timestamp").json(str(folder)),
        key="user",
        timestamp="at",
        watermark="1 minute",
        window=bl.FixedWindows("1 minute"),
        aggregate={"n": bl.count()},
        shards=shards,
    )


@pytest.mark.spark
def test_a_query_and_a_pipeline_are_refused_for_all_reasons_and_run_once_they_are_mended(
    spark: SparkSession, setting: Setting, tmp_path: Path
) -> None:
    setting(STATE_STORE, HDFS)
    setting(FILE_MANAGER, KEEPS_FIRST)
    setting(SEVERAL, "false")
    pipeline = beam.Pipeline()
    stream = spark.readStream.schema("user string, at timestamp").json(str(tmp_path))
    rows = pipeline | beam.FromDataFrame(stream, timestamp="at", watermark="1 minute")
    users = rows | beam.Map(lambda row: (row.user,))
    _ = users | beam.WriteRows("user string", lambda frame, number: None)
    said = [
        "3 things of this session stand in the way of a query:",
        f"1. {NO_ROCKSDB}",
        f"2. {keeps_first(UNSET)}",
        f"3. {ONE_GROUPING}",
    ]

    for start in (
        lambda: counted(spark, tmp_path),
        lambda: bl.stream(stream, timestamp="at", watermark="1 minute"),
        lambda: pipeline.run("spark", spark, checkpoint=str(tmp_path / "checkpoint")),
    ):
        with pytest.raises(EnvironmentProblem) as refused:
            start()
        assert str(refused.value).splitlines() == said

    # What the lines say.
    spark.conf.set(STATE_STORE, ROCKSDB)
    spark.conf.unset(FILE_MANAGER)
    spark.conf.set(SEVERAL, "true")
    assert counted(spark, tmp_path).isStreaming


def test_tasks_without_work_are_noticed_with_what_to_set() -> None:
    session: Any = Session(**{requirements.PARTITIONS: "200"})
    with pytest.warns(UnwiseSessionWarning) as caught:
        requirements.notice_partitions(session, 8)

    assert [(str(each.message), each.filename) for each in caught] == [
        (
            "spark.sql.shuffle.partitions is 200, and a grouping with shards=8 has work for 8 "
            "tasks at most: the other 192 take time in each micro-batch and each grouping. Call "
            'spark.conf.set("spark.sql.shuffle.partitions", "8") before the query starts for the '
            "first time, or raise shards. A query that has a checkpoint keeps its number: see "
            "bl.repartition",
            __file__,
        )
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for partitions, shards in (("200", 100), ("16", 1), ("64", 32)):
            few: Any = Session(**{requirements.PARTITIONS: partitions})
            requirements.notice_partitions(few, shards)


@pytest.mark.spark
def test_a_query_and_a_pipeline_with_200_partitions_are_warned_of_where_they_are_written(
    spark: SparkSession, setting: Setting, tmp_path: Path
) -> None:
    setting(requirements.PARTITIONS, "200")

    with pytest.warns(UnwiseSessionWarning, match="is 200, and a grouping with shards=2") as caught:
        counted(spark, tmp_path)
    assert [each.filename for each in caught] == [__file__]
    bounded = spark.createDataFrame([("ann", "2026-01-01 12:00:00")], "user string, at string")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnwiseSessionWarning)
        counted(spark, tmp_path, shards=100)
        bl.windowed(
            bounded,
            key="user",
            timestamp="at",
            window=bl.FixedWindows("1 minute"),
            aggregate={"n": bl.count()},
        )


@pytest.mark.spark
def test_what_came_by_py_files_is_there_where_a_query_is_planned(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = f"{SparkFiles.getRootDirectory()}/beamlike.zip"
    monkeypatch.syspath_prepend(shipped)
    for before, after in (
        ({}, shipped),
        ({"PYTHONPATH": "/jobs"}, f"/jobs:{shipped}"),
        ({"PYTHONPATH": shipped}, shipped),
    ):
        session: Any = Session(python=sys.executable, folder="/")
        session._sc.environment = dict(before)
        requirements.ship_modules(session)
        assert session._sc.environment == {"PYTHONPATH": after}
    connected: Any = Session()
    requirements.ship_modules(connected)  # the server has files of its own


def test_a_worker_without_beamlike_is_told_apart() -> None:
    for words in (
        "ModuleNotFoundError: No module named 'beamlike'",
        "ModuleNotFoundError: No module named 'beamlike.hosts'",
    ):
        assert advice_on(words) == ADVICE_WITHOUT_BEAMLIKE
    assert advice_on("ModuleNotFoundError: No module named 'beamlikely'") is None


UNUSUAL = {
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    "spark.sql.execution.arrow.maxBytesPerBatch": "1",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.execution.arrow.compression.codec": "zstd",
    "spark.sql.execution.pyspark.binaryAsBytes": "false",
    "spark.sql.streaming.stateStore.encodingFormat": "avro",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "1",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "false",
    "spark.sql.streaming.stateStore.rowChecksum.enabled": "true",
    "spark.sql.streaming.multipleWatermarkPolicy": "max",
    "spark.sql.streaming.minBatchesToRetain": "1",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
}
"""Settings that a platform may have made, each away from the default of Spark or of beamlike."""


@pytest.mark.spark
@pytest.mark.parametrize("column", ["at", "timestamp(at)", "to_timestamp(at)"])
def test_nothing_else_that_a_session_may_have_set_changes_a_pane(
    spark: SparkSession, tmp_path: Path, column: str
) -> None:
    session = spark.newSession()
    for name, value in UNUSUAL.items():
        session.conf.set(name, value)
    lines = [("ann", "12:00:10"), ("ann", "12:00:50"), ("bob", "12:09:00"), ("bob", "15:09:00")]
    inbox, panes = tmp_path / "in", list[tuple[str, int, str]]()
    inbox.mkdir()
    for number, (user, at) in enumerate(lines):
        text = f'{{"user": "{user}", "at": "2024-05-01 {at}"}}'
        (inbox / f"{number}.json").write_text(text)
    files = session.readStream.schema("user string, at string").json(str(inbox))
    visits = bl.stream(files.selectExpr("user", f"{column} AS at"), timestamp="at", watermark="0 s")
    users = visits.window(bl.FixedWindows("1 minute")).group("user", {"n": bl.count()}, shards=2)
    all_users = users.window(bl.FixedWindows("1 hour"), accumulation="discarding")
    hours = all_users.group([], {"n": bl.sum("n"), "users": bl.count()}, shards=2)

    def keep(batch: Any, number: int) -> None:
        rows = batch.selectExpr("n", "users", "string(window.start)").collect()
        panes.extend(tuple(row) for row in rows)

    writer = hours.rows.writeStream.foreachBatch(keep).trigger(availableNow=True)
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()

    # Texts are times in New York, the others wall-clock times in no zone; so they are shown.
    assert panes == [(3, 2, "2024-05-01 12:00:00")]


_BADLY_SET_UP = f"""
import sys
from pyspark.sql import SparkSession
import beamlike as bl
from beamlike.errors import EnvironmentProblem

builder = SparkSession.builder.remote("local[1]")
for name, value in {{
    "{STATE_STORE}": "{HDFS}",
    "spark.hadoop.{FILE_MANAGER}": "{KEEPS_FIRST}",
    "{SEVERAL}": "false",
}}.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
rows = spark.readStream.format("rate").load()
try:
    bl.stream(rows, timestamp="timestamp", watermark="0 s")
except EnvironmentProblem as problem:
    print(problem, flush=True)
spark.conf.set("{STATE_STORE}", "{ROCKSDB}")
spark.conf.set("{FILE_MANAGER}", "{REPLACES}")
spark.conf.set("{SEVERAL}", "true")
bl.stream(rows, timestamp="timestamp", watermark="0 s")
print("taken", flush=True)
spark.stop()
"""


@pytest.mark.spark
@pytest.mark.xdist_group("own sessions")
def test_over_connect_what_was_set_when_the_server_started_is_in_the_list_too() -> None:
    pytest.importorskip("grpc")
    ran = subprocess.run(
        [sys.executable, "-c", _BADLY_SET_UP], capture_output=True, text=True, check=False
    )

    assert ran.stdout.splitlines() == [
        "3 things of this session stand in the way of a query:",
        f"1. {NO_ROCKSDB}",
        f"2. {keeps_first(OF_HADOOP)}",
        f"3. {ONE_GROUPING}",
        "taken",
    ], ran.stderr[-3000:]


_STARTED_OTHERWISE = f"""
import json, os, pathlib, sys, tempfile
from pyspark.sql import SparkSession
import beamlike as bl

builder = SparkSession.builder.master("local[2]")
for name, value in {{
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "{STATE_STORE}": "{ROCKSDB}",
    "spark.io.encryption.enabled": "true",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.python.worker.reuse": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.worker.faulthandler.enabled": "true",
    "spark.python.use.daemon": sys.argv[1],
    "spark.memory.offHeap.enabled": "true",
    "spark.memory.offHeap.size": "64m",
}}.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
    inbox = pathlib.Path(home, "in")
    inbox.mkdir()
    for number, at in enumerate(("12:00:10", "12:00:50", "12:09:00")):
        line = {{"user": "ann", "at": f"2024-05-01T{{at}}Z"}}
        path = inbox / f"{{number}}.json"
        path.write_text(json.dumps(line))
        os.utime(path, (number + 1, number + 1))
    files = spark.readStream.schema("user string, at timestamp").option("maxFilesPerTrigger", 1)
    rows = bl.stream(files.json(str(inbox)), timestamp="at", watermark="0 s")
    minutes = rows.window(bl.FixedWindows("1 minute")).group("user", {{"n": bl.count()}}, shards=2)
    writer = minutes.rows.writeStream.format("memory").queryName("panes")
    writer = writer.option("checkpointLocation", f"{{home}}/checkpoint")
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    print([tuple(row) for row in spark.table("panes").select("user", "n").collect()])
    spark.stop()
"""


@pytest.mark.spark
@pytest.mark.xdist_group("own sessions")
@pytest.mark.parametrize("uses_daemon", ["true", "false"])
def test_what_a_platform_sets_when_it_starts_a_session_changes_no_pane(uses_daemon: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _STARTED_OTHERWISE, uses_daemon],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout.splitlines()[-1:] == ["[('ann', 2)]"], ran.stderr[-3000:]
