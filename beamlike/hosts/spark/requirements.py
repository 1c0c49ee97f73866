"""What a query over streams needs of a session that its user has set up: all of it, at once.

Nothing that is needed has to be set before a session starts, so that it can be had where a platform
has started it. What is set then and stands in the way is named with what to do about it.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from beamlike.errors import EnvironmentProblem, UnwiseSessionWarning
from beamlike.hosts.spark.checkpoint_files import file_manager_problem
from beamlike.hosts.spark.session import available_now_problem, state_store_problem
from beamlike.model.warn import warn_user

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS: Final = "spark.sql.shuffle.partitions"
_SEVERAL_GROUPINGS: Final = "spark.sql.streaming.statefulOperator.allowMultiple"
_FEW: Final = 16
"""Partitions of a machine or two: what idle ones take is not worth a word."""
_PATH: Final = "PYTHONPATH"


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
