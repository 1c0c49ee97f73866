"""A streaming query somewhere else than in this process: over Spark Connect, or on a cluster.

Run as a script, in an environment where beamlike is installed: ``python probe.py KIND [PYTHON]``.
On a cluster the workers run another Python, which has all that beamlike needs, and not beamlike: it
comes to them as a zip file. So does the process of a stateful query beside the driver, to which
Spark does not add that file: it finds it by its ``PYTHONPATH``. ``python probe.py submit PYTHON
FILE`` has ``spark-submit`` send that file to a master and two workers; there the driver has no
beamlike of its own either. The last line that is printed is ``ok``, and what was seen there.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

MAIN: Final = __name__ == "__main__"

ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STATE_STORE: Final = "spark.sql.streaming.stateStore.providerClass"
MICRO_BATCHES: Final = (
    [("a", "2020-01-01 00:01:00"), ("b", "2020-01-01 00:04:00")],
    [("a", "2020-01-01 00:08:00")],  # one session, with the first
    [("a", "2020-01-01 05:01:00"), (None, "2020-01-01 05:01:00")],
)
PANES: Final = [
    ("a", "2020-01-01 00:01:00", "2020-01-01 00:18:00", 2, "ON_TIME"),
    ("b", "2020-01-01 00:04:00", "2020-01-01 00:14:00", 1, "ON_TIME"),
]
COUNTS: Final = {
    "beamlike_elements_total": 5,
    "beamlike_merges_total": 0,
    "beamlike_dropped_total": 1,
    "beamlike_panes_total": 2,
}


def zipped(home: Path) -> Path:
    """The package as a file that Spark can ship.

    A wheel is such a file too, once it is called ``.zip``: Spark does not take it by its own name.
    """
    made = home / "beamlike.zip"
    with zipfile.ZipFile(made, "w") as out:
        for package, prefix in (("beamlike", "beamlike"), ("beamlike.testing", "beamlike/testing")):
            folder = Path(str(files(package)))
            for path in sorted(folder.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    out.write(path, f"{prefix}/{path.relative_to(folder)}")
    return made


def panes_of(spark: Any, home: Path) -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    """What a query over sessions emits, and what a listener counts."""
    import beamlike as bl

    inbox = home / "in"
    inbox.mkdir()
    sessions = bl.windowed(
        spark.readStream.schema("k string, at string").json(str(inbox)),
        key="k",
        timestamp="at",
        watermark="0 seconds",
        window=bl.Sessions("10 minutes"),
        aggregate={"n": bl.count()},
        shards=4,
    )
    writer = sessions.writeStream.format("memory").queryName("panes")
    query = writer.option("checkpointLocation", str(home / "checkpoint")).start()
    with bl.metrics_listener(spark) as listener:
        for number, rows in enumerate(MICRO_BATCHES):
            lines = (json.dumps({"k": key, "at": at}) for key, at in rows)
            hidden = inbox / f".{number}.json"
            hidden.write_text("\n".join(lines))
            hidden.rename(inbox / f"{number}.json")
            query.processAllAvailable()
        # Spark tells a listener of a micro-batch some time after it. Spark Connect does not name
        # the counts in `recentProgress`.
        for _ in range(60):
            if (counts := counted(listener.text())) == COUNTS:
                break
            time.sleep(0.5)
    query.stop()
    shown = spark.table("panes").selectExpr(
        "k", "cast(window.start as string)", "cast(window.end as string)", "n", "pane.timing"
    )
    return sorted(tuple(row) for row in shown.collect()), counts


def counted(text: str) -> dict[str, int]:
    """The totals of some metrics, whatever they are of."""
    totals = dict.fromkeys(COUNTS, 0)
    for line in text.splitlines():
        name, value = re.split(r"[ {]", line)[0], line.split()[-1]
        if name in totals:
            totals[name] += int(float(value))
    return totals


def where_workers_are(spark: Any) -> list[str]:
    """From where the workers import beamlike."""

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        import beamlike

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"place": [str(beamlike.__file__)]})

    rows = spark.range(4, numPartitions=4).mapInArrow(look, "place string").distinct().collect()
    return sorted(row.place for row in rows)


def zone_of_run() -> str:
    """The time zone of the test run, if it is part of one."""
    return os.environ.get("BEAMLIKE_TEST_ZONE", "UTC")


def builder_of(kind: str, master: str, home: Path) -> Any:
    """How the session of a kind of Spark is made."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if kind == "submitted":  # all that a cluster needs to know was said to spark-submit
        return builder
    package = str(zipped(home))
    builder = builder.remote("local[2]") if kind == "connect" else builder.master(master)
    builder = (
        builder.config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.session.timeZone", zone_of_run())
        .config(STATE_STORE, ROCKSDB)
    )
    if kind == "connect":
        return builder
    return (
        builder.config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.memory", "512m")
        .config("spark.cores.max", 2)
        .config("spark.submit.pyFiles", package)
        .config("spark.executorEnv.PYTHONPATH", package)
    )


@contextmanager
def standalone(workers: int = 2, memory: str = "1g") -> Iterator[str]:
    """A master and workers of one core each on this machine; the address of the master."""
    import pyspark

    home = Path(str(pyspark.__file__)).parent
    spark_class = home / "bin" / "spark-class"
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    started: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(
        prefix="beamlike-cluster-", ignore_cleanup_errors=True
    ) as made:
        work = Path(made)

        def start(log: Path, *arguments: str) -> None:
            with log.open("wb") as out:
                command = [str(spark_class), *arguments]
                started.append(subprocess.Popen(command, env=environment, stdout=out, stderr=out))

        ports = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        try:
            start(work / "master.log", "org.apache.spark.deploy.master.Master", *ports)
            master = _address(work / "master.log")
            for number in range(workers):
                start(
                    work / f"worker{number}.log",
                    "org.apache.spark.deploy.worker.Worker",
                    *("--cores", "1", "--memory", memory, *ports),
                    *("--work-dir", str(work / str(number)), master),
                )
            yield master
        finally:
            for one in started:
                one.terminate()
                one.wait()


def _address(log: Path) -> str:
    for _ in range(240):
        for line in log.read_text(errors="replace").splitlines():
            if "Starting Spark master at " in line:
                return line.rsplit(" at ", 1)[1].strip()
        time.sleep(0.5)
    raise RuntimeError(f"the master did not start: {log.read_text(errors='replace')[-2000:]}")


def run(kind: str, master: str) -> str:
    """Try it; what was seen."""
    with tempfile.TemporaryDirectory(prefix="beamlike-probe-") as made:
        home = Path(made)
        spark = builder_of(kind, master, home).getOrCreate()
        try:
            panes, counts = panes_of(spark, home)
            assert panes == PANES, panes
            assert counts == COUNTS, counts
            places = where_workers_are(spark)
            if kind != "connect":
                assert all("beamlike.zip" in place for place in places), places
                # Their own copies, and not the file that the driver has.
                given = str(home) if kind != "submitted" else sys.argv[-1]
                assert not any(place.startswith(given) for place in places), places
            if kind == "submitted":
                import beamlike

                assert "beamlike.zip" in str(beamlike.__file__), beamlike.__file__
            return f"{len(panes)} panes as they must be, with PySpark {spark.version}"
        finally:
            spark.stop()


def submit(master: str, package: str) -> str:
    """The same by ``spark-submit``, as docs/pages/operating.md has it; what was seen."""
    import pyspark

    spark_submit = Path(str(pyspark.__file__)).parent / "bin" / "spark-submit"
    settings = {
        "spark.executorEnv.PYTHONPATH": package,
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.cores.max": "2",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": zone_of_run(),
        STATE_STORE: ROCKSDB,
    }
    command = [str(spark_submit), "--master", master, "--py-files", package]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += [__file__, "submitted", sys.executable, package]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("ok: "), last
    return last.removeprefix("ok: ")


def main(kind: str, python: str = sys.executable, package: str = "") -> None:
    os.environ["PYSPARK_PYTHON"] = python
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if kind == "standalone":
        with standalone() as master:
            print("ok:", run(kind, master))
    elif kind == "submit":
        with standalone() as master:
            print("ok:", submit(master, package))
    else:
        print("ok:", run(kind, "local-cluster[2,1,1024]"))


if MAIN:
    main(*sys.argv[1:])
