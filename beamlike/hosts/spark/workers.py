"""What a Python worker of Spark sets up once: its log, and less work between tasks.

Workers are processes of their own, and know nothing of the logging that the driver has set up.
Their standard error goes where that of the executor goes: to ``stderr`` of the executor in the work
folder of a standalone worker, to the container's log, or to the driver's own in local mode.
"""

import gc
import logging
import os
import sys
from typing import Final
from zipimport import zipimporter

from beamlike.errors import EnvironmentProblem

LOG_LEVEL: Final = "BEAMLIKE_LOG"
"""The environment variable with the level from which on workers log; without it they do not log."""

_prepared = False
_eased = False


def tune_worker_process() -> None:
    """Stop this process from going through all loaded modules at each of its next tasks.

    Called at the start of each task, because only a function of a query runs in its workers.
    Without it each task of each micro-batch takes 50 to 150 ms of a core longer:

    * Workers import PySpark from a zip file, and Spark calls `importlib.invalidate_caches` when a
      task starts. Up to Python 3.12, each cached finder of a package in a zip file then reads
      the whole directory of that file again. A finder that is not in the cache is made when an
      import needs it.
    * Spark collects garbage when a task has ended, and Python then looks at every object: all of
      numpy, pyarrow and PySpark. The objects that exist in the first task, after the imports, stay
      until the process ends. They are excluded from collections once, and not in every task:
      garbage that a task leaves behind has to be found.
    """
    global _eased
    cached = sys.path_importer_cache
    for place in [place for place, finder in cached.items() if isinstance(finder, zipimporter)]:
        del cached[place]
    if not _eased:
        gc.freeze()
        _eased = True


def task_number() -> int:
    """The number of the partition that this task works on; 0 where there is no task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context else 0


def local_folder() -> str:
    """The folder of Spark's files on the machine of this worker; empty if Spark does not say. It is
    deleted when the application ends, with the files of failed tasks."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]


def prepare_logs() -> None:
    """Set up the log of this worker as configured, once in its life."""
    global _prepared
    if _prepared:
        return
    wanted = os.environ.get(LOG_LEVEL)
    if wanted:
        level = logging.getLevelNamesMapping().get(wanted.upper())
        if level is None:
            raise EnvironmentProblem(
                f"{LOG_LEVEL}={wanted!r} is no level of logging; use DEBUG, INFO, WARNING or ERROR"
            )
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger = logging.getLogger("beamlike")
        logger.addHandler(handler)
        logger.setLevel(level)
    _prepared = True  # only now: a task that is tried again in this worker fails again
