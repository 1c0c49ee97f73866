"""A server of Spark Connect, and a client of it whose queries write to a table of its catalog:
``python -m tests.catalogs.connect URL FORMAT HOME``.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyspark

from tests.catalogs.formats import FORMATS, Format
from tests.support.listening import DoesNotListen, free_port, listening

_SERVER: Final = "org.apache.spark.sql.connect.service.SparkConnectServer"
_STARTS_WITHIN: Final = 120


def check(table_format: Format, settings: Mapping[str, str], home: Path) -> None:
    """Start a server and run the client against it."""
    with _server(settings, home) as url:
        command = [sys.executable, "-m", __spec__.name, url, table_format.name, str(home)]
        subprocess.run(command, check=True, timeout=900)


def main(url: str, table_format: str, home: str) -> None:
    """What queries of two checkpoints write, with one name and with two, and a restart."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(url).getOrCreate()
    namespace = FORMATS[table_format].namespace
    if namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace.rstrip('.')}")
    for table, names in (("by_two_names", ("one", "two")), ("by_one_name", ("one", "one"))):
        for name, user in zip(names, ("ann", "bob"), strict=True):
            _arrive(Path(home), f"{table} {user}", 0, user)
            _run(spark, table_format, f"{namespace}{table}", name, Path(home), user)
        counts = _counts(spark, f"{namespace}{table}")
        assert counts == {"ann": 1, "bob": 1}, (table, counts)
    _arrive(Path(home), "by_two_names ann", 1, "ann")
    _run(spark, table_format, f"{namespace}by_two_names", "one", Path(home), "ann")
    assert _counts(spark, f"{namespace}by_two_names") == {"ann": 2, "bob": 1}
    letters = spark.table(f"{namespace}lost").select("query", "reason").collect()
    assert sorted(map(tuple, letters)) == [
        (f"{name} {namespace}{table}", "null_key")
        for table, name in (
            ("by_one_name", "one"),
            ("by_two_names", "one"),
            ("by_two_names", "two"),
        )
    ], letters


def _arrive(home: Path, folder: str, number: int, user: str) -> None:
    inbox = home / folder
    inbox.mkdir(exist_ok=True)
    users: list[str | None] = [user] if number else [user, None]
    rows = [{"user": name, "at": f"2026-05-04 12:{number:02}:00"} for name in users]
    (inbox / f"{number}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _run(spark: Any, using: str, table: str, name: str, home: Path, user: str) -> None:
    import beamlike as bl
    from beamlike.tables import SparkTable

    folder = f"{table.rpartition('.')[2]} {user}"
    files = spark.readStream.schema("user string, at string").json(str(home / folder))
    rows = bl.stream(files, timestamp="at", watermark="0 s").window(
        bl.Sessions("10 minutes"), **bl.every_update("1 day")
    )
    stream = rows.group("user", {"n": bl.count()}, name="visits", shards=2, buckets=2)
    write = bl.upsert_into(SparkTable(table, using=using), "user", name=name, dead_letters="lost")
    writer = stream.everything.writeStream.foreachBatch(write)
    writer = writer.option("checkpointLocation", str(home / f"checkpoint of {folder}"))
    writer.trigger(availableNow=True).start().awaitTermination()


def _counts(spark: Any, table: str) -> dict[str, int]:
    return {row["user"]: row["n"] for row in spark.table(table).collect()}


@contextmanager
def _server(settings: Mapping[str, str], home: Path) -> Iterator[str]:
    """A server that runs until the end of the block; its address."""
    port = free_port()
    spark_home = Path(pyspark.__file__).parent
    jars = settings["spark.driver.extraClassPath"].split(os.pathsep)
    chosen = {
        **settings,
        "spark.master": "local[2]",
        "spark.jars": ",".join(jars),
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
    }
    options = [word for name, text in chosen.items() for word in ("--conf", f"{name}={text}")]
    command = [spark_home / "bin" / "spark-submit", *options, "--class", _SERVER, "spark-internal"]
    environment = os.environ | {
        "SPARK_HOME": str(spark_home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    log = home / "server.log"
    with log.open("w", encoding="utf-8") as written:
        process = subprocess.Popen(
            command, env=environment, stdout=written, stderr=written, start_new_session=True
        )
    try:
        with listening(process, port, _STARTS_WITHIN):
            yield f"sc://127.0.0.1:{port}"
    except DoesNotListen as problem:
        raise AssertionError(f"{problem}\n{log.read_text(encoding='utf-8')[-2000:]}") from problem


if __name__ == "__main__":
    main(*sys.argv[1:])
