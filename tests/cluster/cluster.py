"""A standalone master and workers, each on a host of its own, and drivers that are submitted."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import attrs

from tests.cluster.archive import Packed
from tests.cluster.network import Network, network
from tests.cluster.quota import limited_to

MASTER: Final = "master"
DRIVER: Final = "driver"
EXECUTOR: Final = "CoarseGrainedExecutorBackend"
"""In the command of an executor."""
WORKERS: Final = ("worker1", "worker2", "worker3")
_PORT: Final = 7077
_STARTS_WITHIN: Final = 90.0
_JAVA: Final = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

SETTINGS: Final[Mapping[str, str]] = {
    "spark.cores.max": "3",
    "spark.driver.memory": "1g",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "6",
    "spark.sql.streaming.stateStore.providerClass": _ROCKSDB,
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
}
"""Of each job: what beamlike needs, and executors that are small."""


@attrs.define
class Cluster:
    """What runs, and how jobs are sent there.

    Attributes:
        network: The hosts.
        home: A folder for all that is written. ``shared`` in it is what hosts share; each has one
            of its own beside.
        spark: The folder of Spark.
        packed: Python for the hosts.
        local_folders: The folder for Spark's own files on a worker, if not the usual one.
        groups: The control group of each host, if it has one.
    """

    network: Network
    home: Path
    spark: Path
    packed: Packed
    local_folders: Mapping[str, Path] = {}
    groups: Mapping[str, Path] = {}

    @property
    def shared(self) -> Path:
        return self.home / "shared"

    @property
    def address(self) -> str:
        """Of the master, as ``--master`` takes it."""
        return f"spark://{self.network.addresses[MASTER]}:{_PORT}"

    @property
    def _in_home(self) -> str:
        """For Java: files that are left behind lie in the folder, too."""
        return f"-Djava.io.tmpdir={self.home}"

    def start(
        self, host: str, name: str, command: Sequence[str | Path]
    ) -> "subprocess.Popen[bytes]":
        """Start a process on a host; what it prints goes to ``NAME.log`` in the host's folder."""
        folder = self.home / host
        folder.mkdir(exist_ok=True)
        address = self.network.addresses[host]
        local = self.local_folders.get(host, folder / "local")
        local.mkdir(exist_ok=True)
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "SPARK_HOME": str(self.spark),
            "SPARK_LOCAL_IP": address,
            "SPARK_LOCAL_HOSTNAME": address,
            "SPARK_LOCAL_DIRS": str(local),
            # That of a server of Spark Connect, too.
            "SPARK_DAEMON_MEMORY": "1g" if host == DRIVER else "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"{_JAVA} {self._in_home}",
            "SPARK_SUBMIT_OPTS": self._in_home,
            "TMPDIR": str(self.home),
        }
        if "JAVA_HOME" in os.environ:
            variables["JAVA_HOME"] = os.environ["JAVA_HOME"]
        command = self.network.inside(host, command)
        if host in self.groups:  # from outside: a namespace has a /sys of its own
            command = limited_to(self.groups[host], command)
        with (folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                command, cwd=folder, env=variables, stdout=log, stderr=log, start_new_session=True
            )

    def log(self, host: str, name: str) -> str:
        """What a process has printed."""
        path = self.home / host / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def start_master(self) -> None:
        """Start the master and wait until it listens."""
        address = ("--host", self.network.addresses[MASTER], "--port", str(_PORT))
        name = "org.apache.spark.deploy.master.Master"
        self.start(MASTER, "master", [self.spark / "bin" / "spark-class", name, *address])
        wait_until(lambda: "I have been elected leader" in self.log(MASTER, "master"), "a master")

    def start_worker(self, host: str) -> None:
        """Start a worker and wait until the master knows of it."""
        work = self.home / host / "work"
        arguments = ("--host", self.network.addresses[host], "--cores", "1", "--memory", "1g")
        name = "org.apache.spark.deploy.worker.Worker"
        before = self._registered(host)
        command = [self.spark / "bin" / "spark-class", name, *arguments, "--work-dir", work]
        self.start(host, "worker", [*command, self.address])
        wait_until(lambda: self._registered(host) > before, f"{host} at the master")

    def _registered(self, host: str) -> int:
        line = f"Registering worker {self.network.addresses[host]}:"
        return self.log(MASTER, "master").count(line)

    def running(self, host: str, name: str) -> list[int]:
        """The processes on a host whose command has a name."""
        processes = self.network.processes(host)
        return [process for process in processes if name.encode() in _command_of(process)]

    def hosts_of_tasks(self) -> set[str]:
        """The workers on which an executor has run a task."""
        return {
            host
            for host in WORKERS
            for log in (self.home / host).glob("work/app-*/*/stderr")
            if "Finished task" in log.read_text(encoding="utf-8", errors="replace")
        }

    def settings(self, **more: str) -> dict[str, str]:
        """The settings of a job on the driver's host."""
        address = self.network.addresses[DRIVER]
        return {
            **SETTINGS,
            "spark.driver.extraJavaOptions": f"{_JAVA} {self._in_home}",
            "spark.executor.extraJavaOptions": f"{_JAVA} {self._in_home}",
            "spark.driver.host": address,
            "spark.driver.bindAddress": address,
            "spark.archives": f"{self.packed.archive}#environment",
            "spark.pyspark.python": "./environment/bin/python",
            **more,
        }

    def submit(
        self,
        name: str,
        settings: Mapping[str, str],
        *command: str | Path,
        variables: Mapping[str, str] | None = None,
    ) -> "subprocess.Popen[bytes]":
        """Send a job by ``spark-submit`` from the driver's host.

        Args:
            variables: Of its environment, besides those of all hosts.
        """
        folder = self.home / DRIVER
        folder.mkdir(exist_ok=True)
        with suppress(FileExistsError):
            # What the driver needs: the archive, unpacked in its working folder.
            (folder / "environment").symlink_to(self.packed.unpacked)
        listed = [part for pair in settings.items() for part in ("--conf", "=".join(pair))]
        script = [self.spark / "bin" / "spark-submit", "--master", self.address, *listed, *command]
        named = ["=".join(pair) for pair in (variables or {}).items()]
        return self.start(DRIVER, name, ["env", *named, *script])


def _command_of(process: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def wait_until(condition: Callable[[], bool], what: str, seconds: float = _STARTS_WITHIN) -> None:
    """Wait for a condition."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"no {what} within {seconds:.0f} seconds"
        time.sleep(0.1)


@contextmanager
def cluster(
    home: Path,
    spark: Path,
    packed: Packed,
    local_folders: Mapping[str, Path] | None = None,
    groups: Mapping[str, Path] | None = None,
) -> Iterator[Cluster]:
    """A master and three workers, until the end of the block."""
    with network([MASTER, DRIVER, *WORKERS]) as hosts:
        built = Cluster(hosts, home, spark, packed, local_folders or {}, groups or {})
        built.shared.mkdir(exist_ok=True)
        built.start_master()
        for host in WORKERS:
            built.start_worker(host)
        yield built


def kill(process: int) -> None:
    """``kill -9``."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
