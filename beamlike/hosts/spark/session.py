"""A Spark session that can host beamlike, and a clear error where there is none."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beamlike.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
STATE_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
"""With 2 each attempt of a micro-batch saves state under names of its own, and the note that the
micro-batch has ended names the files that count. With 1, Spark's default, attempts share names: a
snapshot of a lost attempt may end up under the changes of the attempt that counts. Spark keeps the
format with which a checkpoint began."""
ALL_NEW = "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart"
"""Whether Spark refuses a checkpoint that has files and no offsets. A kill during the very first
write of offsets leaves such a file: ``offsets/.0.<uuid>.tmp``."""
LOCAL_FILES = "spark.hadoop.fs.AbstractFileSystem.file.impl"
"""How checkpoints use the local file system. Hadoop's default keeps a file of checksums beside each
file, and renames both, for which it starts eight processes, ``readlink``: 40 in a micro-batch of
one grouping, a third of the CPU time of that. Without checksums there are half as many. Errors of a
disk are found anyway: in state by the checksums of Spark's changelog and of RocksDB."""
WITHOUT_CHECKSUMS = "org.apache.hadoop.fs.local.RawLocalFs"
SHORT_LIVED = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Options of Java for short runs: without its second compiler, which takes a third of their time
and pays off only later, and without verifying the classes that Spark loads, which takes a tenth."""
LONG_LIVED = (
    "-XX:+UseParallelGC -XX:Tier4InvocationThreshold=50000 "
    "-XX:Tier4MinInvocationThreshold=10000 -XX:Tier4CompileThreshold=150000"
)
"""Options of Java for all other runs. Batches of megabytes are garbage in each micro-batch, and
Java's default collector keeps each in regions of its own. Its second compiler would take a third of
the processor for minutes, for methods that plan micro-batches: it waits for ten times as many
calls, which methods that run for each row soon have."""
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
"""Chooses Java's garbage collector."""
_COMPILES_NOTHING: "dict[str, bool | float | int | str | None]" = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings with which Spark interprets its plans: compiling them takes seconds at first."""
_PACKAGES = "spark.jars.packages"
_JAVA_OF_DRIVER = "spark.driver.extraJavaOptions"
_AFTER_SPARKS_OWN = (_JAVA_OF_DRIVER, "spark.executor.extraJavaOptions")
"""Settings whose values Spark shows after options of its own."""
SESSION_ZONE = "spark.sql.session.timeZone"
SETTINGS: "dict[str, bool | float | int | str | None]" = {
    SESSION_ZONE: "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.daemon.module": "beamlike.hosts.spark.daemon",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # With a limit of bytes Spark adds up the size of a batch again at each of its rows.
    "spark.sql.execution.arrow.maxRecordsPerBatch": 20_000,
    "spark.sql.execution.arrow.maxBytesPerBatch": 2**31 - 1,
    STATE_STORE: ROCKSDB,
    STATE_FORMAT: "2",
    LOCAL_FILES: WITHOUT_CHECKSUMS,
    # Of each file another one, with renames of its own: see LOCAL_FILES.
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    # Spark sets it for some Python operators and not for others, and starts a daemon for each
    # environment, which imports all that queries need: one serves them all.
    "spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK": "1",
    ALL_NEW: "false",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""The settings of a session on one machine, whatever its cores and its memory."""
_LOG = Path(__file__).with_name("log4j2.properties")
AVAILABLE_NOW_WRAPPER = "spark.sql.streaming.triggerAvailableNowWrapper.enabled"


def check_environment() -> None:
    """Look for Java and for a suitable PySpark before anything is started."""
    check_spark_version()
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = "there is no java on PATH"
        if home:
            where = f"JAVA_HOME is {home!r}, which has no bin/java"
        raise EnvironmentProblem(
            f"Spark needs Java 17 or later, and {where}; install a JRE, for example "
            '"apt-get install openjdk-17-jre-headless" or "brew install openjdk@17"'
        )
    version = java_version(java)
    if version is not None and version < 17:
        raise EnvironmentProblem(
            f"Spark needs Java 17 or later, and {java} is Java {version}; install a newer JRE, "
            'for example "apt-get install openjdk-17-jre-headless", and point JAVA_HOME to it'
        )


def check_spark_version() -> None:
    """Refuse a PySpark without row-based ``transformWithState``."""
    import pyspark

    major, minor = (int(part) for part in pyspark.__version__.split(".")[:2])
    if (major, minor) < (4, 1):
        raise EnvironmentProblem(
            f"the Spark host needs PySpark 4.1 or later, and this is {pyspark.__version__}; run: "
            'pip install -U "pyspark>=4.1"'
        )


def java_version(java: str) -> int | None:
    """The major version that a ``java`` command reports, None if it cannot be read."""
    try:
        version = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', version.stderr)
    if match is None:
        return None
    return int(match[2] or 0) if match[1] == "1" else int(match[1])


def state_store_problem(spark: "SparkSession") -> str | None:
    """The problem of a session whose state store cannot run ``transformWithState``; None if it
    can."""
    provider = spark.conf.get(STATE_STORE, "") or ""
    if "RocksDB" in provider:
        return None
    return (
        "streaming windows need the RocksDB state store, and this session has "
        f'{provider or "another"}; add .config("{STATE_STORE}", "{ROCKSDB}") to the builder '
        "of the session, or call spark.conf.set with the same before the query starts"
    )


def refuse(problem: str | None) -> None:
    """Refuse a session that has a problem."""
    if problem is not None:
        raise EnvironmentProblem(problem)


def available_now_problem(spark: "SparkSession") -> str | None:
    """The problem of a source of ticks with ``trigger(availableNow=True)``; None if there is none.

    If a single source does not support that trigger, Spark takes the whole backlog as one
    micro-batch, and leaves out the micro-batch that the watermark needs: no pane comes out. A
    Python source can support it since Spark 4.2. Before that a setting makes Spark wrap such
    sources. With Spark Connect the version of the server counts.
    """
    if _python_sources_end(spark.version):
        return None
    if (spark.conf.get(AVAILABLE_NOW_WRAPPER, "false") or "").lower() == "true":
        return None
    return (
        "a trigger on processing time or idle_after adds a source of ticks to the query, with "
        f"which Spark {spark.version} gives no panes under trigger(availableNow=True); add "
        f'.config("{AVAILABLE_NOW_WRAPPER}", "true") to the builder of the session, or call '
        "spark.conf.set with the same before the query starts, or use Spark 4.2 or later"
    )


def _python_sources_end(version: str) -> bool:
    """Whether a Python source can support ``availableNow`` in this version of Spark."""
    return tuple(int(part) for part in version.split(".")[:2]) >= (4, 2)


def _has_log() -> bool:
    """Whether a user has set up the log of this installation of Spark."""
    home = Path(os.environ.get("SPARK_HOME", ""), "conf")
    folder = Path(os.environ.get("SPARK_CONF_DIR", home))
    return any(folder.glob("log4j2.*"))


def java_options(asked: str, short_lived: bool) -> str:
    """The options of Java for a local session: ours, and those that its user asked for."""
    ours = SHORT_LIVED if short_lived else LONG_LIVED
    of_all = (os.environ.get(name, "") for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"))
    if any(map(_COLLECTOR.search, [asked, *of_all])):
        ours = _COLLECTOR.sub("", ours)  # Java does not start with two
    log = "" if _has_log() else f'"-Dlog4j2.configurationFile={_LOG.as_uri()}"'
    return " ".join([*ours.split(), *filter(None, [log, asked])])


def _check_taken(spark: "SparkSession", wanted: Mapping[str, str]) -> None:
    """Refuse settings that a session which was running already has not taken over."""
    context = spark.sparkContext.getConf()
    for name, value in wanted.items():
        # Those of a query alone may change; a session shows any other as if it had taken it.
        is_of_query = name.startswith("spark.sql.")
        running = spark.conf.get(name, None) if is_of_query else context.get(name)
        takes_more = name in _AFTER_SPARKS_OWN and (running or "").endswith(value)
        if running != value and not takes_more:
            raise EnvironmentProblem(
                f"local_session: Spark runs already, with {name} = {running!r}, and takes "
                f"{value!r} only as it starts; stop the session before, spark.stop()"
            )


def local_session(
    app_name: str = "beamlike",
    cores: int = 2,
    *,
    short_lived: bool = False,
    packages: Sequence[str] = (),
    conf: Mapping[str, str] | None = None,
) -> "SparkSession":
    """A quiet local session with all that beamlike needs. Reuses one that runs already.

    Its time zone is UTC, so that what it prints is the same everywhere. One that runs already keeps
    its own.

    What it sets for speed is fit for this machine: see ``How fast`` in ``docs/pages/operating.md``
    before it goes into the session of a cluster. Java has its parallel garbage collector, unless
    ``conf`` or the environment choose another.

    Args:
        app_name: The name of the application.
        cores: So many tasks run at a time.
        short_lived: For a session of a minute, such as that of a notebook or a test: Java and Spark
            compile less, so that it starts sooner, and is slower later.
        packages: What Spark fetches by Maven before it starts, such as
            ``"io.delta:delta-spark_4.2_2.13:4.4.0"``: the connector of a source or a table.
        conf: Settings besides, such as those of a catalog. They go before those of beamlike.

    Raises:
        EnvironmentProblem: Java or a suitable PySpark is missing; there is a session of Spark
            Connect in this process; or one runs already that cannot take ``packages`` or ``conf``.

    For example::

        spark = bl.local_session(cores=4)
        orders = spark.createDataFrame([("tea", "2024-05-01 12:00:00")], "item string, at string")
    """
    check_environment()
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import is_remote

    if is_remote():
        raise EnvironmentProblem(
            "local_session starts Spark in this process, which has a session of Spark Connect; use "
            "that one, SparkSession.builder.getOrCreate(), or start another process"
        )
    if isinstance(packages, str):
        packages = [packages]

    from beamlike.hosts.spark.worker_errors import show_reason_last

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    settings = dict(SETTINGS)
    running = SparkSession._instantiatedSession
    if running is not None and running._sc._jsc is not None:  # what getOrCreate then returns
        del settings[SESSION_ZONE]
    wanted = {**({_PACKAGES: ",".join(packages)} if packages else {}), **(conf or {})}
    settings |= wanted
    builder = SparkSession.builder.master(f"local[{cores}]").appName(app_name)
    settings[_JAVA_OF_DRIVER] = java_options(wanted.get(_JAVA_OF_DRIVER, ""), short_lived)
    if short_lived:
        builder = builder.config(map=_COMPILES_NOTHING)
    spark = (
        builder.config("spark.sql.shuffle.partitions", cores)
        .config("spark.driver.memory", "4g")
        .config(map=settings)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    show_reason_last()
    _check_taken(spark, wanted)
    if not _python_sources_end(spark.version):
        spark.conf.set(AVAILABLE_NOW_WRAPPER, "true")
    return spark
