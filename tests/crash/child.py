"""The process that is killed: ``python -m tests.crash.child HOME FEED WORK...``.

It runs some works over the files of a feed, which arrive one after the other: the next one when
the micro-batch of the last has ended in each query, and one that has seen its watermark in those
that the clock wakes. So micro-batches are cut the same in each run, but for these. It goes on where
the process before it was killed, and leaves ``HOME/done`` at the end.

A query that fails is started again, from its checkpoint and in the same session; ``HOME/failures``
says why it failed. The process ends, with all that it has started, when its standard input does.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from beamlike.hosts.failed_starts import ADVICE_ON_TORN_NOTES, advice_on
from beamlike.hosts.spark.session import SESSION_ZONE
from tests.crash.feed import put_next
from tests.crash.needed import JARS, SERVER_OF_KAFKA, SERVER_OF_POSTGRES
from tests.crash.noted import file_in, forget_commit, last_commit
from tests.crash.surroundings import Surroundings
from tests.crash.work import NO_DATA, Work
from tests.crash.works import WORKS
from tests.support.commands import command_parser

_ZONE: Final = os.environ.get("BEAMLIKE_TEST_ZONE", "UTC")
"""See `tests.support.zones`, which not every Python that runs this can import."""

USUAL: Final = Surroundings(
    cores=2, attempts=1, executors=0, zone=_ZONE, settings={SESSION_ZONE: _ZONE}
)
"""What an undisturbed run has."""

KEPT: Final = (SERVER_OF_KAFKA, SERVER_OF_POSTGRES, JARS)
"""Variables that processes of executors need, too."""

ENOUGH: Final = 20
"""So often in a row a query may fail without having ended a micro-batch."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("tests.crash.child", __doc__)
    add = parser.add_argument
    add("home", type=Path)
    add("feed", type=Path)
    add("works", nargs="+", choices=WORKS)
    add("--surroundings", type=Surroundings.of, default=USUAL, help="as JSON")
    add("--again", type=int, metavar="SEED", help="have some micro-batches run again")
    add("--faults", action="store_true", help="then try each of the faults")
    options = parser.parse_args(arguments)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    home: Path = options.home
    spark = make_session(home, options.surroundings)
    works = [WORKS[name] for name in options.works]
    again = None if options.again is None else random.Random(options.again)
    Queries(spark, home, options.feed, works).run(again)
    if options.faults:
        from tests.crash.faults import try_faults

        try_faults(spark, home, options.feed)
    for work in works:
        if work.read is not None:
            lines = sorted(work.read(spark, home / work.name))
            (home / work.name / "read").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (home / "done").touch()
    spark.stop()
    return 0


def _die_with_parent() -> None:
    # Nobody writes there: it ends when the one who holds the other end is gone.
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def make_session(home: Path, around: Surroundings) -> Any:
    """A session whose files all lie in the folder, and that cleans up after few micro-batches.

    Micro-batches without data are switched off, but for works that want them: Spark leaves one out
    after a restart, and then late rows are judged by the watermark before.
    """
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.session import AVAILABLE_NOW_WRAPPER, ROCKSDB, STATE_STORE

    kept = home / "tmp"
    kept.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.sql.shuffle.partitions": 2,
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
        # A kill in the very first write of offsets leaves a file.
        "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.stateStore.maintenanceInterval": "1s",
        "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
        "spark.sql.streaming.minBatchesToRetain": 3,
        "spark.sql.streaming.fileSource.log.compactInterval": 3,
        "spark.sql.streaming.fileSink.log.compactInterval": 3,
        NO_DATA: "false",
    }
    settings |= around.settings
    if JARS in os.environ:
        name = "spark.driver.extraClassPath"
        settings[name] = ":".join(filter(None, [settings.get(name), os.environ[JARS]]))
    if around.executors:
        settings["spark.executor.memory"] = "512m"
        for name in os.environ.keys() & {"PYTHONPATH", "TZ", *KEPT}:
            settings[f"spark.executorEnv.{name}"] = os.environ[name]
    builder = SparkSession.builder.master(around.master).appName("crash")
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


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

    def run(self, again: random.Random | None = None) -> None:
        """Start all works, or go on, until all files are done; some batches run ``again``."""
        self.start_all()
        while self.next():
            if again is not None:
                work = again.choice(self._works)
                for _ in range(again.choice((0, 0, 0, 0, 1, 2))):
                    self.repeat(work)
        self.stop_all()

    def repeat(self, work: Work) -> bool:
        """Have the last micro-batch run again, as if its end had not been noted; if it can be."""
        self._running[work.name].stop()
        checkpoint = self.checkpoint(work)
        last = last_commit(checkpoint)
        can_be = last >= 0 and not (checkpoint / "offsets" / str(last + 1)).exists()
        if can_be:
            forget_commit(checkpoint, last)
            with (self._home / "again").open("a") as file:
                file.write(f"{work.name} {last}\n")
        self.start(work)
        self._settle(work)
        return can_be

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
        if work.arrive is not None:
            work.arrive(self._inbox, home)
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
            if work.arrive is not None:
                work.arrive(self._inbox, self._home / work.name)
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
                self._note_failure(work, error)
                if advice_on(str(error)) == ADVICE_ON_TORN_NOTES:
                    delete_torn_notes(self.checkpoint(work))
                self.mend()
                self.start(work)

    def _wait(self, work: Work) -> None:
        query = self._running[work.name]
        if not work.ticks:
            query.processAllAvailable()
            return
        arrived = len([path for path in self._inbox.iterdir() if not path.name.startswith(".")])
        checkpoint = self.checkpoint(work)
        # One micro-batch more than the one that took the last file: by then it is known how far
        # the watermark has come.
        while arrived and file_in(checkpoint, last_commit(checkpoint) - 1) < arrived - 1:
            query.awaitTermination(0.05)

    def _note_failure(self, work: Work, error: Exception) -> None:
        """Note a failure; raise it if the query does not get on."""
        commit = last_commit(self.checkpoint(work))
        where, often = self._failed.get(work.name, (commit, 0))
        often = often + 1 if where == commit else 1
        self._failed[work.name] = commit, often
        failure = {"work": work.name, "batch": commit + 1, "time": time.time(), "error": str(error)}
        with (self._home / "failures").open("a") as file:
            file.write(json.dumps(failure) + "\n")
        if often == ENOUGH:
            raise error


def delete_torn_notes(checkpoint: Path) -> None:
    """Delete notes as docs/pages/operating.md says: torn ones of what is not committed."""
    for note in checkpoint.glob("state/*/_metadata/v2/*"):
        if note.stat().st_size == 3 and not (checkpoint / "commits" / note.name).exists():
            note.unlink()


if __name__ == "__main__":
    sys.exit(main())
