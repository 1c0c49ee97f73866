"""What a query over streams needs of a session that its user has set up: all of it, at once.

Nothing that is needed has to be set before a session starts, so that it can be had where a platform
has started it. What is set then and stands in the way is named with what to do about it.
"""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from beamlike.errors import EnvironmentProblem, UnwiseSessionWarning
from beamlike.hosts.spark.session import available_now_problem, state_store_problem
from beamlike.model.warn import warn_user

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS: Final = "spark.sql.shuffle.partitions"
_SEVERAL_GROUPINGS: Final = "spark.sql.streaming.statefulOperator.allowMultiple"
_FEW: Final = 16
"""Partitions of a machine or two: what idle ones take is not worth a word."""
_PATH: Final = "PYTHONPATH"

FILE_MANAGER: Final = "spark.sql.streaming.checkpointFileManagerClass"
LOCATION: Final = "spark.sql.streaming.checkpointLocation"
_OF_HADOOP: Final = f"spark.hadoop.{FILE_MANAGER}"
_DEFAULT_FILES: Final = "spark.hadoop.fs.defaultFS"
_KEEPS_THE_FIRST: Final = "FileSystemBasedCheckpointFileManager"
_REPLACES: Final = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager"
)
_KEPT_BY: Final = ("file", "hdfs")
"""File systems whose ``rename`` leaves a file that has the name already as it is."""
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def check_session(spark: "SparkSession", location: str = "") -> None:
    """Refuse a session in which a query over a stream cannot run.

    Args:
        location: Where the checkpoint lies, if that is known.
    """
    ship_modules(spark)
    problems = [
        problem
        for problem in (
            _version_problem(spark),
            state_store_problem(spark),
            file_manager_problem(spark, location),
            _chain_problem(spark),
            _python_problem(spark),
        )
        if problem is not None
    ]
    if not problems:
        return
    # Whether the query has a source of ticks is not known yet. A session that is to be changed
    # anyway is changed once.
    problems += filter(None, [available_now_problem(spark)])
    if len(problems) == 1:
        raise EnvironmentProblem(problems[0])
    lines = (f"{number}. {problem}" for number, problem in enumerate(problems, 1))
    raise EnvironmentProblem(
        "\n".join([f"{len(problems)} things of this session stand in the way of a query:", *lines])
    )


def file_manager_problem(spark: "SparkSession", location: str = "") -> str | None:
    """How the checkpoints of a session keep the files of an attempt that was lost.

    A micro-batch that runs again, after a restart or for a second action of ``foreachBatch``, saves
    its state once more. With ``FileSystemBasedCheckpointFileManager`` the first content stays on a
    local disk, and on HDFS, without an error, while the query goes on with the second.

    Args:
        location: Where the checkpoint lies; empty: it is not known yet, and the session's default
            counts, or else its default file system.
    """
    # Settings of a query go before those that Hadoop is started with.
    of_query = spark.conf.get(FILE_MANAGER, "") or ""
    name = of_query or spark.conf.get(_OF_HADOOP, "") or ""
    if name.split(".")[-1] != _KEEPS_THE_FIRST:
        return None
    location = location or spark.conf.get(LOCATION, "") or ""
    scheme = _SCHEME.match(location) or _SCHEME.match(spark.conf.get(_DEFAULT_FILES, "") or "")
    files = scheme[1].lower() if scheme else "file"
    if files not in _KEPT_BY:
        return None
    disk = "a local disk" if files == "file" else "HDFS"
    mended = (
        f'call spark.conf.unset("{FILE_MANAGER}") before the query starts'
        if of_query
        else f"as {_OF_HADOOP} cannot be taken back in a session that runs, call "
        f'spark.conf.set("{FILE_MANAGER}", "{_REPLACES}") before the query starts'
    )
    return (
        f"{FILE_MANAGER} is {name!r}, which on {disk} keeps the first content of a file that is "
        "written twice: a micro-batch that runs again, as after a kill, leaves a checkpoint that "
        f"nothing can read; leave that setting out, or {mended}: Spark's own choice replaces "
        "files. Where checkpoints lie on an object store that needs it, name the place with "
        f'spark.conf.set("{LOCATION}", "s3a://...")'
    )


def _version_problem(spark: "SparkSession") -> str | None:
    """Over Spark Connect the server may be older than the client."""
    if tuple(int(part) for part in spark.version.split(".")[:2]) >= (4, 1):
        return None
    return (
        f"the server runs Spark {spark.version}, and streaming windows need 4.1 or later there; "
        "connect to another one"
    )


def _chain_problem(spark: "SparkSession") -> str | None:
    """Without several stateful operators in a query there is no grouping after another one."""
    if (spark.conf.get(_SEVERAL_GROUPINGS, "true") or "").lower() != "false":
        return None
    return (
        f"{_SEVERAL_GROUPINGS} is false, with which Spark refuses a grouping after another one; "
        f'call spark.conf.set("{_SEVERAL_GROUPINGS}", "true") before the query starts'
    )


def _python_problem(spark: "SparkSession") -> str | None:
    """Spark starts the Python of its workers on the driver, too, to plan a stateful query."""
    context = _context_of(spark)
    if context is None:
        return None  # on the server: what fails there says so
    program: str = context.pythonExec
    folder = Path(context._jvm.java.lang.System.getProperty("user.dir"))
    is_there = (folder / program).exists() if os.sep in program else shutil.which(program)
    if is_there:
        return None
    wrong = (
        f"the Python of the workers is {program!r}, which Spark starts on the driver, too, to plan "
        "a query with state, and there is none"
    )
    if os.sep not in program or os.path.isabs(program):
        return (
            f"{wrong}; install it there, or before the session starts set spark.pyspark.python to "
            "one that the driver has, too; a session that runs keeps the one that it has"
        )
    archive = Path(program).parts[0]
    return (
        f"{wrong} in {folder}; where {archive!r} is an archive of the session (spark.archives), "
        f"link what Spark has unpacked: import os, pyspark; os.symlink(pyspark.SparkFiles.get("
        f'"{archive}"), "{folder / archive}")'
    )


def ship_modules(spark: "SparkSession") -> None:
    """Let the process that plans a stateful query find what ``--py-files`` has brought.

    Spark gives such files to its workers and to the driver's own Python. The processes that it
    starts on the driver for a stateful operator and for a source in Python do not get them: without
    this they end with ``No module named 'beamlike'``. A function takes its variables along when
    it is made.
    """
    context = _context_of(spark)
    if context is None:
        return
    from pyspark import SparkFiles

    root = SparkFiles.getRootDirectory()
    shipped = [path for path in sys.path if path == root or path.startswith(root + os.sep)]
    known = context.environment.get(_PATH, "").split(os.pathsep)
    missing = [path for path in shipped if path != root and path not in known]
    if missing:
        context.environment[_PATH] = os.pathsep.join([*filter(None, known), *missing])


def _context_of(spark: "SparkSession") -> Any:
    """The context of a session that runs in this process; None: Spark Connect."""
    return getattr(spark, "_sc", None)


def notice_partitions(spark: "SparkSession", shards: int) -> None:
    """Warn of a session that gives a micro-batch many tasks without any work.

    Args:
        shards: Of the grouping. At most as many tasks have work.
    """
    partitions = int(spark.conf.get(PARTITIONS, "200") or 200)
    if partitions <= max(_FEW, 2 * shards):
        return
    warn_user(
        f"{PARTITIONS} is {partitions}, and a grouping with shards={shards} has work for {shards} "
        f"tasks at most: the other {partitions - shards} take time in each micro-batch and each "
        f'grouping. Call spark.conf.set("{PARTITIONS}", "{shards}") before the query starts for '
        "the first time, or raise shards. A query that has a checkpoint keeps its number: see "
        "bl.repartition",
        UnwiseSessionWarning,
    )
