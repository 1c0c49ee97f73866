"""The trials of a format, run by the Python of its environment:
``python -m tests.catalogs.trials FORMAT TRIAL HOME``. Exit status 0 if the trial holds.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, Final

import attrs
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import beamlike as bl
from beamlike.errors import ColumnError, StateError
from beamlike.hosts.landing.batch import Batch
from beamlike.tables import SparkTable
from tests.catalogs import connect
from tests.catalogs.formats import FORMATS, Format
from tests.landing import test_web_server as web
from tests.support.landing import changes
from tests.support.landing.places import Place

Row = dict[str, Any]
LINES: Final = int(os.environ.get("BEAMLIKE_LINES", "700"))


def settings_of(table_format: Format, home: Path) -> dict[str, str]:
    """Settings of a session whose catalog has tables of the format."""
    return {name: value.format(home=home) for name, value in table_format.settings.items()} | {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraClassPath": os.environ["BEAMLIKE_JARS"],
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "Asia/Kathmandu",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        # Spark before 4.2 needs this beside a source of ticks.
        "spark.sql.streaming.triggerAvailableNowWrapper.enabled": "true",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def session(table_format: Format, home: Path) -> SparkSession:
    """A session whose catalog has tables of the format."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = settings_of(table_format, home)
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    if table_format.namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {table_format.namespace.rstrip('.')}")
    return spark


@attrs.frozen
class Trial:
    """What a trial works on."""

    format: Format
    home: Path

    @property
    def spark(self) -> SparkSession:
        return session(self.format, self.home)

    def table(self, name: str) -> SparkTable:
        return SparkTable(f"{self.format.namespace}{name}", using=self.format.name)

    def rows(self, name: str) -> list[Row]:
        """The rows of a table; instants with their zone."""
        rows = self.spark.table(f"{self.format.namespace}{name}").toArrow().to_pylist()
        return [dict(row) for row in rows]

    def place(self, name: str) -> Place:
        return Place(self.table(name), self.rows)


def batches_land_once(trial: Trial) -> None:
    """Micro-batches come twice; an older one is refused, and with accept_rollback put over."""
    table, last = trial.table("sessions"), 11
    assert trial.spark, "a session has to be active"

    def standing() -> tuple[list[tuple[str, int, int]], list[str]]:
        rows = trial.rows("sessions")
        return (
            sorted(
                (row["user"], row["window_end"].astimezone(UTC).minute, row["n"]) for row in rows
            ),
            sorted(row["element"] for row in trial.rows("lost")),
        )

    write = bl.upsert_into(table, "user", dead_letters="lost")
    for number in range(last + 1):
        write(changes.random_batch(number), number)
        write(changes.random_batch(number), number)
    expected = changes.standing_after(range(last + 1))
    assert standing() == expected, (standing(), expected)
    with pytest.raises(StateError, match="the checkpoint of the query is older than the table"):
        write(changes.random_batch(last - 3), last - 3)
    again = bl.upsert_into(table, "user", dead_letters="lost", accept_rollback=True)
    for number in range(last - 3, last + 3):
        again(changes.random_batch(number), number)
    expected = changes.standing_after(range(last + 3))
    assert standing() == expected, (standing(), expected)


@attrs.frozen
class Killing(SparkTable):
    """A table whose driver is killed at one moment of one micro-batch.

    Attributes:
        moment: ``"before"`` the rows are merged; ``"within"``: they are, and the number of the
            batch is not kept; ``"after"`` both, before Spark commits the batch.
        number: Of which micro-batch.
    """

    moment: str = ""
    number: int = -1

    def _ends(self, moment: str, batch: Batch) -> None:
        if (moment, batch.number) == (self.moment, self.number):
            os.killpg(0, signal.SIGKILL)

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        self._ends("before", batch)
        is_written = super().write(batch, dead_letters)
        self._ends("after", batch)
        return is_written

    def _merge(self, catalog: Any, batch: Batch, rollbacks: int) -> None:
        super()._merge(catalog, batch, rollbacks)
        self._ends("within", batch)


def start(trial: Trial, stream: bl.Stream, table: SparkTable, name: str, key: Any) -> Any:
    write = bl.upsert_into(table, key, dead_letters=f"{name}_lost")
    writer = stream.everything.writeStream.foreachBatch(write)
    writer = writer.option("checkpointLocation", str(trial.home / f"checkpoint of {name}"))
    return writer.trigger(availableNow=True).start()


def visits_in_a_driver(trial: Trial, moment: str = "", number: int = -1) -> None:
    """One driver of the job of a web server, which may be killed."""
    files = trial.spark.readStream.schema(web.COLUMNS).option("maxFilesPerTrigger", 1)
    lines = files.json(str(trial.home / "in"))
    plain = trial.table("visits")
    table = Killing(plain.table, plain.using, {}, moment, number)
    stream = web.visits(lines, render="upserts")
    start(trial, stream, table, "visits", ["user", "country"]).awaitTermination()


def killed_drivers(trial: Trial) -> None:
    """The job of a web server, killed before, within and after a commit, Java with it."""
    lines = list(web.web_lines(Random(23), LINES))
    inbox = trial.home / "in"
    inbox.mkdir()
    for number, part in enumerate(web.batched(lines, len(lines) // 7)):
        text = "".join(json.dumps(line) + "\n" for line in part)
        (inbox / f"{number:03}.json").write_text(text)
    command = [sys.executable, "-m", __spec__.name, trial.format.name, "driver", str(trial.home)]
    for moment, number in (("within", "1"), ("before", "2"), ("after", "3"), ("within", "4")):
        ended = subprocess.run([*command, moment, number], start_new_session=True)
        assert ended.returncode == -signal.SIGKILL, (moment, ended.returncode)
    subprocess.run(command, start_new_session=True, check=True)
    web.check_visits(lines, trial.place("visits"))


def two_queries(trial: Trial) -> None:
    """Two queries write to one table at the same time; another writer stands in the way of both."""
    spark = trial.spark
    table = trial.table("sessions")
    queries = []
    for name in ("left", "right"):
        inbox = trial.home / name
        inbox.mkdir()
        for number in range(5):
            rows = [
                {"user": f"{name} {user}", "at": f"2026-05-04 12:{number * 10:02}:00"}
                for user in range(4)
            ]
            (inbox / f"{number}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        files = spark.readStream.schema("user string, at string").option("maxFilesPerTrigger", 1)
        rows = bl.stream(files.json(str(inbox)), timestamp="at", watermark="0 s").window(
            bl.FixedWindows("1 hour"), **bl.every_update("1 day")
        )
        stream = rows.group("user", {"n": bl.count()}, name=name, shards=2, buckets=2)
        queries.append(start(trial, stream, table, name, "user"))
    failures: list[str] = []

    def wait(query: Any) -> None:
        try:
            query.awaitTermination()
        except Exception as error:
            failures.append(str(error))

    threads = [Thread(target=wait, args=(query,)) for query in queries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    counts = {row["user"]: row["n"] for row in trial.rows("sessions")}
    assert counts == {f"{name} {user}": 5 for name in ("left", "right") for user in range(4)}


def a_restored_checkpoint(trial: Trial) -> None:
    """An older copy of a checkpoint is refused; with accept_rollback the table is right again."""
    inbox = trial.home / "in"
    inbox.mkdir()

    def arrive(number: int, *users: str) -> None:
        rows = [{"user": user, "at": f"2026-05-04 12:{number:02}:00"} for user in users]
        (inbox / f"{number}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(**options: Any) -> None:
        files = trial.spark.readStream.schema("user string, at string").json(str(inbox))
        rows = bl.stream(files, timestamp="at", watermark="0 s").window(
            bl.Sessions("10 minutes"), **bl.every_update("1 day")
        )
        stream = rows.group("user", {"n": bl.count()}, name="visits", shards=2, buckets=2)
        write = bl.upsert_into(trial.table("visits"), "user", **options)
        writer = stream.rows.writeStream.foreachBatch(write)
        writer = writer.option("checkpointLocation", str(trial.home / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()

    arrive(0, "ann", "bob")
    run()
    shutil.copytree(trial.home / "checkpoint", trial.home / "backup")
    for number in (1, 2, 3):
        arrive(number, "ann")
        run()
    shutil.rmtree(trial.home / "checkpoint")
    shutil.copytree(trial.home / "backup", trial.home / "checkpoint")
    with pytest.raises(Exception, match="the checkpoint of the query is older than the table"):
        run()
    run(accept_rollback=True)
    arrive(4, "bob")
    run(accept_rollback=True)
    assert {row["user"]: row["n"] for row in trial.rows("visits")} == {"ann": 4, "bob": 2}


VALUES: Final[Mapping[str, tuple[pa.DataType, Sequence[Any]]]] = {
    "flag": (pa.bool_(), [True, None]),
    "tiny": (pa.int8(), [-128, None]),
    "small": (pa.int16(), [32767, None]),
    "whole": (pa.int32(), [-(2**31), None]),
    "long": (pa.int64(), [2**63 - 1, None]),
    "single": (pa.float32(), [0.5, None]),
    "double": (pa.float64(), [float("inf"), -0.0]),
    "exact": (pa.decimal128(38, 18), [Decimal("-99999999999999999999.999999999999999999"), None]),
    "text": (pa.string(), ["\u0000 it's `\\ 'ü' \U0001f600", ""]),
    "bytes": (pa.binary(), [b"\x00\xff", None]),
    "day": (pa.date32(), [date(1582, 10, 4), date(9999, 12, 31)]),
    "instant": (pa.timestamp("us", "UTC"), [datetime(2024, 11, 3, 5, 30, 0, 9, UTC), None]),
    "wall": (pa.timestamp("us"), [datetime(2024, 3, 10, 2, 30, 0, 1), None]),
    "items": (pa.list_(pa.int64()), [[1, None], []]),
    "record": (pa.struct([("a", pa.int64()), ("b", pa.string())]), [{"a": 1, "b": None}, None]),
    "pairs": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], None]),
    "it's a `name`": (pa.int64(), [1, None]),
}


def values_come_back(trial: Trial) -> None:
    """What lands comes back as it was, and a table with other columns is refused."""
    assert trial.spark, "a session has to be active"
    base = changes.batch(changes.put("ann", 0, 5, 1), changes.put("bob", 0, 5, 2))
    names = [
        name for name in VALUES if not (trial.format.name == "delta" and set(name) & set(" ,;{}()"))
    ]
    for name in names:
        dtype, cells = VALUES[name]
        base = base.add_column(1, name, pa.array(cells, dtype))
    write = bl.upsert_into(trial.table("values"), "user")
    write(base, 0)
    rows = {row["user"]: row for row in trial.rows("values")}
    for name in names:
        for user, cell in zip(("ann", "bob"), VALUES[name][1], strict=True):
            came = rows[user][name]
            assert came == cell, (name, came, cell)
            assert str(came) == str(cell), (name, came, cell)  # -0.0 is not 0.0
    with pytest.raises(ColumnError, match="'text' is string and would be left out"):
        write(base.drop_columns(["text"]), 1)


def conflicting_writers(trial: Trial) -> None:
    """Writers of one table at the same moment all land; other columns and types are refused."""
    assert trial.spark, "a session has to be active"
    table = trial.table("visits")
    users = [f"user {number}" for number in range(4)]
    bl.upsert_into(table, "user", name="first")(changes.batch(changes.put("ann", 0, 5, 1)), 0)
    session = trial.spark

    def land(user: str) -> None:
        session._jvm.SparkSession.setActiveSession(session._jsparkSession)
        write = bl.upsert_into(table, "user", name=user)
        for number in range(3):
            write(changes.batch(changes.put(user, 0, 5, number)), number)

    with ThreadPoolExecutor(len(users)) as pool:
        list(pool.map(land, users))
    assert {row["user"]: row["n"] for row in trial.rows("visits")} == {
        "ann": 1,
        **dict.fromkeys(users, 2),
    }
    before = trial.rows("visits")
    rows = changes.batch(changes.put("ann", 0, 5, 9))
    write = bl.upsert_into(table, "user", name="first")
    for changed, words in (
        (rows.append_column("more", pa.array([1])), "'more' is missing and would be bigint"),
        (rows.drop_columns(["n"]), "'n' is bigint and would be left out"),
        (rows.set_column(rows.column_names.index("n"), "n", pa.array(["9"])), "would be string"),
    ):
        with pytest.raises(ColumnError, match=words):
            write(changed, 1)
    assert trial.rows("visits") == before, "a batch that is refused changes nothing"
    trial.spark.sql(f"ALTER TABLE {table.table} ADD COLUMNS (more bigint)")
    write(rows.append_column("more", pa.array([1])), 1)
    assert {row["user"]: row["more"] for row in trial.rows("visits")}["ann"] == 1


def over_connect(trial: Trial) -> None:
    """Two checkpoints of one job write to a table by a server of Spark Connect, see `connect`."""
    connect.check(trial.format, settings_of(trial.format, trial.home), trial.home)


TRIALS: Final[Mapping[str, Callable[[Trial], None]]] = {
    "batches land once": batches_land_once,
    "drivers killed before, within and after the commit": killed_drivers,
    "two queries into one table": two_queries,
    "a restored checkpoint": a_restored_checkpoint,
    "values come back": values_come_back,
    "writers that conflict, and columns that change": conflicting_writers,
    "over Spark Connect": over_connect,
}


def main(table_format: str, name: str, home: str, *moment: str) -> None:
    trial = Trial(FORMATS[table_format], Path(home))
    if name == "driver":
        run = partial(visits_in_a_driver, trial)
        run(moment[0], int(moment[1])) if moment else run()
    else:
        TRIALS[name](trial)


if __name__ == "__main__":
    main(*sys.argv[1:])
