"""The trials: a job runs on a cluster, something goes wrong, and the result is what it must be."""

import errno
import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from tests.cluster import events, scaling
from tests.cluster.archive import Packed
from tests.cluster.cluster import DRIVER, EXECUTOR, WORKERS, Cluster, cluster, kill, wait_until
from tests.cluster.quota import quotas

JOB: Final = Path(__file__).with_name("job.py")
_ENDS_WITHIN: Final = 420.0
_FILES: Final = 12
_LINES: Final = 9_000


@attrs.frozen
class Place:
    """What each trial gets."""

    home: Path
    spark: Path
    packed: Packed


@attrs.frozen
class Trial:
    """A job over lines that lie in the shared folder."""

    cluster: Cluster
    lines: list[events.Line]

    @classmethod
    def on(cls, built: Cluster) -> "Trial":
        lines = events.lines_of(1128, _LINES)
        events.write_files(lines, built.shared / "in", _FILES)
        return cls(built, lines)

    @property
    def folders(self) -> list[str]:
        return [str(self.cluster.shared / name) for name in ("in", "out", "checkpoint")]

    def submit(self, *options: str, **settings: str) -> "subprocess.Popen[bytes]":
        """Send the job in client mode."""
        return self.cluster.submit(
            "job", self.cluster.settings(**settings), *options, JOB, *self.folders
        )

    def batches(self) -> int:
        """How many micro-batches have landed."""
        return len(list((self.cluster.shared / "out").glob("*/_SUCCESS")))

    def wait_for_batch(self, number: int, job: "subprocess.Popen[bytes] | None" = None) -> None:
        """Wait until so many micro-batches have landed."""

        def has_ended() -> bool:
            return job is not None and job.poll() is not None

        wait_until(lambda: self.batches() >= number or has_ended(), f"batch {number}", 240)
        assert self.batches() >= number, _last(self.cluster.log(DRIVER, "job"))

    def lands_or_ends(self, job: "subprocess.Popen[bytes]") -> bool:
        """Whether four micro-batches have landed, or the job has ended."""
        return self.batches() >= 4 or job.poll() is not None

    def goes_on(self, job: "subprocess.Popen[bytes]") -> bool:
        """Whether a job lands ten micro-batches, or ends well before."""
        wait_until(lambda: job.poll() is not None or self.batches() >= 10, "progress", 240)
        return job.poll() in (None, 0)

    def wait_for_end(self, job: "subprocess.Popen[bytes]", name: str = "job") -> None:
        """Wait for a job to end well."""
        wait_until(lambda: job.poll() is not None, "end of the job", _ENDS_WITHIN)
        assert job.returncode == 0, _last(self.cluster.log(DRIVER, name))

    def check(self) -> None:
        """Compare what has landed with the plain computation."""
        rows = [
            json.loads(line)
            for part in sorted((self.cluster.shared / "out").glob("*/part-*.json"))
            for line in part.read_text(encoding="utf-8").splitlines()
        ]
        rows = [row for row in rows if row["country"]]  # not those that only end windows
        names = ("country", "hour", "visits", "hits", "longest")
        came = sorted(tuple(row[name] for name in names) for row in rows)
        wanted = events.expected(self.lines)
        assert came == wanted, f"{len(came)} rows, not {len(wanted)}: {came[:5]}, {wanted[:5]}"


def _last(log: str) -> str:
    """The last of what matters: without plans, stacks of Java and reports of progress."""
    unwanted = re.compile(r" \+- |\tat | INFO |^ *[\"{}\]]")
    lines = [line[:300] for line in log.splitlines() if unwanted.search(line) is None]
    return "\n".join(lines[-50:])


@contextmanager
def _trial(place: Place, local_folders: Mapping[str, Path] | None = None) -> Iterator[Trial]:
    with cluster(place.home, place.spark, place.packed, local_folders) as built:
        yield Trial.on(built)


def client_mode(place: Place) -> str:
    """Python from an archive: executors unpack it, and the driver has it in its folder."""
    with _trial(place) as trial:
        trial.wait_for_end(trial.submit())
        trial.check()
        used = trial.cluster.hosts_of_tasks()
        assert used == set(WORKERS), used
        came_from = trial.cluster.home / DRIVER / "environment"
        assert f"with beamlike of {came_from}/" in trial.cluster.log(DRIVER, "job")
        return f"{trial.batches()} micro-batches on {len(used)} workers"


def shipped_alone(place: Place) -> str:
    """beamlike comes by ``--py-files``, with no other setting, to a Python that has the rest."""
    with _trial(place) as trial:
        settings = trial.cluster.settings() | {"spark.pyspark.python": str(place.packed.plain)}
        del settings["spark.archives"]
        files = ("--py-files", str(place.packed.wheel))
        job = trial.cluster.submit("job", settings, *files, JOB, *trial.folders)
        trial.wait_for_end(job)
        trial.check()
        assert "beamlike.zip/beamlike" in trial.cluster.log(DRIVER, "job")
        return f"{trial.batches()} micro-batches"


def cluster_mode(place: Place) -> str:
    """A worker runs the driver, which is killed; the master starts it again (``--supervise``)."""
    with _trial(place) as trial:
        built = trial.cluster
        settings = {
            **built.settings(),
            "spark.cores.max": "2",
            # The classes of Spark for Python are in the driver, too.
            "spark.pyspark.driver.python": str(place.packed.unpacked / "bin" / "python"),
        }
        # A worker knows its own address, and the driver takes that.
        for name in ("spark.driver.host", "spark.driver.bindAddress"):
            del settings[name]
        settings["spark.driver.memory"] = "600m"
        main_class = ("--class", "org.apache.spark.deploy.PythonRunner")
        (any_jar,) = (place.spark / "jars").glob("spark-launcher_*.jar")
        sent = built.submit(
            *("submit", settings, "--deploy-mode", "cluster", "--supervise", *main_class),
            *(any_jar, JOB, "", *trial.folders, "--link", str(place.packed.unpacked)),
        )
        trial.wait_for_end(sent, "submit")
        trial.wait_for_batch(4)
        (driver,) = _drivers(built)
        kill(driver)
        wait_until(lambda: bool(_drivers(built) - {driver}), "second driver", 120)
        wait_until(lambda: not _drivers(built), "end of the driver", _ENDS_WITHIN)
        trial.check()
        return f"{trial.batches()} micro-batches, the driver killed once and started again"


def _drivers(built: Cluster) -> set[int]:
    """The processes of Java that are drivers on workers."""
    return {process for host in WORKERS for process in built.running(host, "DriverWrapper")}


def spark_connect(place: Place) -> str:
    """A server of Spark Connect on the driver's host, its client on another one."""
    with _trial(place) as trial:
        built = trial.cluster
        address = built.network.addresses[DRIVER]
        # It listens on all addresses of its namespace: what calls the function of foreachBatch is a
        # client on the loopback.
        server = built.settings() | {"spark.connect.grpc.binding.port": "15002"}
        name = "org.apache.spark.sql.connect.service.SparkConnectServer"
        # The server knows the Python of the workers by this variable, and by no setting.
        variables = {"PYSPARK_PYTHON": server["spark.pyspark.python"]}
        running = built.submit(
            "server", server, "--class", name, "spark-internal", variables=variables
        )
        has_started = "Spark Connect server started"
        wait_until(
            lambda: has_started in built.log(DRIVER, "server") or running.poll() is not None,
            "server",
        )
        assert has_started in built.log(DRIVER, "server"), _last(built.log(DRIVER, "server"))
        python = place.packed.unpacked / "bin" / "python"
        libraries = ":".join(map(str, sorted((place.spark / "python" / "lib").glob("*.zip"))))
        client = ["env", f"PYTHONPATH={libraries}", python, JOB, *trial.folders]
        job = built.start("master", "client", [*client, "--remote", f"sc://{address}:15002"])
        wait_until(partial(trial.lands_or_ends, job), "batch 4", 240)
        assert job.poll() is None, _last(built.log("master", "client"))
        built.network.signal_host(WORKERS[0], signal.SIGKILL)
        wait_until(lambda: job.poll() is not None, "end of the client", _ENDS_WITHIN)
        log = built.log("master", "client")
        assert job.returncode == 0, _last(log) + _last(built.log(DRIVER, "server"))
        running.terminate()
        trial.check()
        return f"{trial.batches()} micro-batches, a worker killed"


def killed_workers(place: Place) -> str:
    """An executor is killed, then a whole host, which comes back, and then another host."""
    with _trial(place) as trial:
        built, job = trial.cluster, trial.submit()
        trial.wait_for_batch(3, job)
        (executor,) = built.running(WORKERS[0], EXECUTOR)
        kill(executor)
        trial.wait_for_batch(6, job)
        built.network.signal_host(WORKERS[1], signal.SIGKILL)
        trial.wait_for_batch(8, job)
        built.start_worker(WORKERS[1])
        trial.wait_for_batch(10, job)
        built.network.signal_host(WORKERS[2], signal.SIGKILL)
        trial.wait_for_end(job)
        trial.check()
        lost = len(set(re.findall(r"Lost executor (\d+)", built.log(DRIVER, "job"))))
        assert lost >= 3, f"the driver lost {lost} executors"
        return f"{trial.batches()} micro-batches, {lost} executors lost"


def cut_network(place: Place) -> str:
    """A worker is cut off for 30 s: the driver gives it up, and then it comes back."""
    with _trial(place) as trial:
        built = trial.cluster
        job = trial.submit(
            **{
                "spark.network.timeout": "12s",
                "spark.network.timeoutInterval": "4s",
                "spark.executor.heartbeatInterval": "2s",
            }
        )
        trial.wait_for_batch(4, job)
        before = trial.batches()
        built.network.cut(WORKERS[0])
        time.sleep(30)
        during = trial.batches() - before
        assert built.running(WORKERS[0], EXECUTOR), "the executor that was cut off has ended"
        built.network.mend(WORKERS[0])
        trial.wait_for_end(job)
        trial.check()
        assert "Executor heartbeat timed out" in built.log(DRIVER, "job")
        return f"{trial.batches()} micro-batches, {during} of them while a worker was cut off"


def slow_worker(place: Place) -> str:
    """A worker stands still four fifths of the time; Spark tries its tasks elsewhere, too."""
    with _trial(place) as trial:
        built = trial.cluster
        job = trial.submit(
            **{
                "spark.speculation": "true",
                "spark.speculation.interval": "100ms",
                "spark.speculation.quantile": "0.3",
                "spark.speculation.multiplier": "1.2",
                "spark.speculation.minTaskRuntime": "300ms",
            }
        )
        trial.wait_for_batch(3, job)
        is_over = threading.Event()
        slowing = threading.Thread(target=_pulse, args=(built, WORKERS[0], is_over))
        slowing.start()
        try:
            trial.wait_for_end(job)
        finally:
            is_over.set()
            slowing.join()
        trial.check()
        again = len(re.findall(r"as speculatable", built.log(DRIVER, "job")))
        assert again, "no task was tried twice"
        return f"{trial.batches()} micro-batches, {again} tasks tried twice"


def _pulse(built: Cluster, host: str, is_over: threading.Event) -> None:
    """Stop all that runs on a host for 0.8 s of each second."""
    while not is_over.is_set():
        built.network.signal_host(host, signal.SIGSTOP)
        is_over.wait(0.8)
        built.network.signal_host(host, signal.SIGCONT)
        is_over.wait(0.2)


def full_disk(place: Place) -> str:
    """The disk of a worker for Spark's own files is full for a while."""
    small = place.home / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=260m", "beamlike", small], check=True)
    try:
        with _trial(place, {WORKERS[0]: small}) as trial:
            settings = {
                "spark.excludeOnFailure.enabled": "true",
                "spark.excludeOnFailure.timeout": "20s",
            }
            job = trial.submit(**settings)
            trial.wait_for_batch(3, job)
            _fill(small / "ballast")
            starts = 1
            while not trial.goes_on(job):
                # What a supervisor does. The state is in the shared folder.
                starts += 1
                assert starts <= 3, _last(trial.cluster.log(DRIVER, "job"))
                job = trial.submit(**settings)
            (small / "ballast").unlink()
            trial.wait_for_end(job)
            trial.check()
            failed = trial.cluster.log(DRIVER, "job").count("No space left on device")
            assert failed, "no task has found the disk full"
            return f"{trial.batches()} micro-batches, {starts} starts"
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def _fill(path: Path) -> None:
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError as failure:
            if failure.errno != errno.ENOSPC:
                raise


def one_two_three(place: Place) -> str:
    """The model of cost beside one, two and three executors with seven tenths of a core each."""
    hosts = [DRIVER, *WORKERS]
    with (
        quotas(hosts, scaling.CORES) as groups,
        cluster(place.home, place.spark, place.packed, groups=groups) as built,
    ):
        seen, ratios = scaling.shown(scaling.measured(built))
    wrong = [
        one for one, ratio in ratios.items() if not 1 / scaling.FACTOR <= ratio <= scaling.FACTOR
    ]
    assert not wrong, f"{wrong}, {seen}"
    return seen


TRIALS: Final[Mapping[str, Callable[[Place], str]]] = {
    "client mode, Python from an archive": client_mode,
    "beamlike by --py-files alone": shipped_alone,
    "cluster mode, the driver killed": cluster_mode,
    "Spark Connect, a worker killed": spark_connect,
    "workers killed": killed_workers,
    "a network cut for 30 s": cut_network,
    "a slow worker, with speculation": slow_worker,
    "a full disk": full_disk,
    "one, two and three executors": one_two_three,
}
