"""Checks that a session which a user has set up can run queries over streams.

All problems are reported at once. Every setting that is needed can be made after a session has
started, because a platform may have started it. A setting from its start that prevents queries is
named with what to do about it.
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
"""Up to so many partitions, as on a machine or two, idle ones cost too little for a warning."""
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
"""File systems where ``rename`` does not replace a file that has the name already."""
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
    """The problem of checkpoints that keep files of a lost attempt; None if there is none.

    A micro-batch that runs again, after a restart or for a second action of ``foreachBatch``, saves
    its state again. With ``FileSystemBasedCheckpointFileManager`` on a local disk or HDFS the file
    keeps its first content, without an error, while the query goes on with the second.

    Args:
        location: The path of the checkpoint; empty: it is not known yet, and the session's default
            path counts, or its default file system.
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
    """The problem of a Spark Connect server that is older than its client; None if it is not."""
    if tuple(int(part) for part in spark.version.split(".")[:2]) >= (4, 1):
        return None
    return (
        f"the server runs Spark {spark.version}, and streaming windows need 4.1 or later there; "
        "connect to another one"
    )


def _chain_problem(spark: "SparkSession") -> str | None:
    """The problem of a session that allows only one stateful operator in a query, so that no
    grouping can follow another; None if it allows several."""
    if (spark.conf.get(_SEVERAL_GROUPINGS, "true") or "").lower() != "false":
        return None
    return (
        f"{_SEVERAL_GROUPINGS} is false, with which Spark refuses a grouping after another one; "
        f'call spark.conf.set("{_SEVERAL_GROUPINGS}", "true") before the query starts'
    )


def _python_problem(spark: "SparkSession") -> str | None:
    """The problem of a missing worker Python on the driver, where Spark starts it to plan a
    stateful query; None if it is there."""
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
    """Let the processes that plan a stateful query import the files of ``--py-files``.

    Spark gives these files to its workers and to the driver's own Python, but not to the processes
    that it starts on the driver for a stateful operator and for a source in Python: without this
    they end with ``No module named 'beamlike'``. A function takes the variables of the time at
    which it was made.
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
    """The Spark context of a session; None with Spark Connect."""
    return getattr(spark, "_sc", None)


def notice_partitions(spark: "SparkSession", shards: int) -> None:
    """Warn of a session that gives a micro-batch many tasks without work.

    Args:
        shards: The shards of the grouping: at most so many tasks have work.
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
