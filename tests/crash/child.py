"""The process that is killed: ``python -m tests.crash.child HOME FEED WORK...``.

It runs some works over the files of a feed, which arrive one after the other: the next one when
the micro-batch of the last has ended in each query, and one that has seen its watermark in those
that the clock wakes. So micro-batches are cut the same in each run, but for these. It goes on where
the process before it was killed, and leaves ``HOME/done`` at the end.

A query that fails is started again, from its checkpoint and in the same session; ``HOME/failures``
tells why it failed. The process ends, with all that it has started, when its standard input does.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from tests.crash.feed import put_next
from tests.crash.noted import file_in, last_commit
from tests.crash.sinks import lines_of
from tests.crash.work import NO_DATA, Work
from tests.crash.works import WORKS
from tests.support.zones import zone_of_run

__all__ = ["Queries", "main", "make_session"]

ENOUGH: Final = 20
"""So often in a row a query may fail without having ended a micro-batch."""

CORES: Final = (2, 1, 4, 3)
"""Of one session after the other in a folder: Spark then reads rows in other tasks and orders."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.child", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("feed", type=Path)
    parser.add_argument("works", nargs="+", choices=WORKS)
    parser.add_argument("--retries", type=int, default=1, help="attempts of a task; default 1")
    parser.add_argument("--faults", action="store_true", help="then try each of the faults")
    options = parser.parse_args(arguments)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    home: Path = options.home
    spark = make_session(home, options.retries)
    Queries(spark, home, options.feed, [WORKS[name] for name in options.works]).run()
    if options.faults:
        from tests.crash.faults import try_faults

        try_faults(spark, home, options.feed)
    for name in options.works:
        if name == "parquet":
            lines = sorted(lines_of(spark.read.parquet(str(home / name / "out"))))
            (home / name / "read").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (home / "done").touch()
    spark.stop()
    return 0


def _die_with_parent() -> None:
    # Nobody writes there: it ends when the one who holds the other end is gone.
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def make_session(home: Path, retries: int) -> Any:
    """A session whose files all lie in the folder, and that cleans up after few micro-batches.

    Micro-batches without data are switched off, but for works that want them: Spark leaves one out
    after a restart, and then late rows are judged by the watermark before.
    """
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.session import (
        AVAILABLE_NOW_WRAPPER,
        ROCKSDB,
        SESSION_ZONE,
        STATE_STORE,
    )

    kept = home / "tmp"
    kept.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.sql.shuffle.partitions": 2,
        SESSION_ZONE: zone_of_run(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # It lives for seconds: the first compiler is enough.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 "
        "-XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -XX:-UsePerfData "
        f"-Djava.io.tmpdir={kept}",
        "spark.python.daemon.module": "tests.crash.daemon",
        # Code that is generated and compiled comes too late here.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # A machine with much to do starts workers slowly.
        "spark.python.authenticate.socketTimeout": "120s",
        "spark.local.dir": kept,
        "spark.sql.warehouse.dir": kept / "warehouse",
        STATE_STORE: ROCKSDB,
        AVAILABLE_NOW_WRAPPER: "true",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.stateStore.maintenanceInterval": "1s",
        "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
        "spark.sql.streaming.minBatchesToRetain": 3,
        "spark.sql.streaming.fileSource.log.compactInterval": 3,
        "spark.sql.streaming.fileSink.log.compactInterval": 3,
        NO_DATA: "false",
    }
    master = f"local[{_next_cores(home)},{retries}]"
    builder = SparkSession.builder.master(master).appName("crash")
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _next_cores(home: Path) -> int:
    """How many cores the next session in a folder has. What it goes on with, others wrote."""
    starts = home / "starts"
    with starts.open("a+") as lines:
        lines.write("started\n")
        lines.seek(0)
        return CORES[(sum(1 for _ in lines) - 1) % len(CORES)]


class Queries:
    """Some works that run at once, over the files of one folder.

    ``mend`` is called when a query has failed, before it is started again.
    """

    def __init__(self, spark: Any, home: Path, feed: Path, works: Sequence[Work]) -> None:
        self._spark, self._home, self._feed, self._works = spark, home, feed, works
        self._inbox = home / "inbox"
        self._inbox.mkdir(parents=True, exist_ok=True)
        self.mend: Callable[[], None] = lambda: None
        self._running: dict[str, Any] = {}
        self._failed: dict[str, tuple[int, int]] = {}

    def checkpoint(self, work: Work) -> Path:
        return self._home / work.name / work.checkpoint

    def run(self) -> None:
        """Start all works, or go on, until all files have arrived and are done with."""
        self.start_all()
        while self.next():
            pass
        self.stop_all()

    def start_all(self) -> None:
        # One after the other: each starts processes, for which Spark waits a few seconds only.
        for work in self._works:
            self.start(work)
            self._settle(work)

    def stop_all(self) -> None:
        for query in self._running.values():
            query.stop()

    def start(self, work: Work) -> Any:
        home = self._home / work.name
        home.mkdir(exist_ok=True)
        usual = {name: self._spark.conf.get(name) for name in work.settings}
        try:
            # A query keeps the settings that it has started with.
            for name, value in work.settings.items():
                self._spark.conf.set(name, value)
            self._running[work.name] = work.start(self._spark, self._inbox, home)
        finally:
            for name, value in usual.items():
                self._spark.conf.set(name, value)
        return self._running[work.name]

    def next(self) -> bool:
        """Have the next file arrive and wait until it is done with; False if there is none."""
        before = {work.name: last_commit(self.checkpoint(work)) for work in self._works}
        if not put_next(self._feed, self._inbox):
            return False
        for work in self._works:
            self._settle(work)
            # A query may have looked for files just before.
            while last_commit(self.checkpoint(work)) == before[work.name]:
                self._settle(work)
        return True

    def _settle(self, work: Work) -> None:
        from pyspark.errors import StreamingQueryException

        while True:
            try:
                self._wait(work)
                return
            except StreamingQueryException as error:
                self._tell(work, error)
                self.mend()
                self.start(work)

    def _wait(self, work: Work) -> None:
        query = self._running[work.name]
        if not work.ticks:
            query.processAllAvailable()
            return
        arrived = len([it for it in self._inbox.iterdir() if not it.name.startswith(".")])
        checkpoint = self.checkpoint(work)
        # One micro-batch more than the one that took the last file: by then it is known how far
        # the watermark has come.
        while arrived and file_in(checkpoint, last_commit(checkpoint) - 1) < arrived - 1:
            query.awaitTermination(0.05)

    def _tell(self, work: Work, error: Exception) -> None:
        """Note a failure; raise it if the query does not get on."""
        at = last_commit(self.checkpoint(work))
        where, often = self._failed.get(work.name, (at, 0))
        often = often + 1 if where == at else 1
        self._failed[work.name] = at, often
        told = {"work": work.name, "batch": at + 1, "time": time.time(), "error": str(error)}
        with (self._home / "failures").open("a") as file:
            file.write(json.dumps(told) + "\n")
        if often == ENOUGH:
            raise error


if __name__ == "__main__":
    sys.exit(main())
