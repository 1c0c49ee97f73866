"""What keeps the Python workers of Spark from working between tasks.

Both parts are about memory of a worker process, and decide nothing about panes.
"""

import gc
import sys
from zipimport import zipimporter

__all__ = ["ease_worker"]

_eased = False


def ease_worker() -> None:
    """Have this process spend no time on what modules it has loaded, from its next task on.

    Called at the start of each task, because only a function of a query runs in its workers.
    Without it each task of each micro-batch takes 50 to 150 ms of a core longer:

    * Workers import PySpark from a zip file, and Spark calls `importlib.invalidate_caches` when a
      task starts. Up to Python 3.12, each cached finder of a package in a zip file then reads
      the whole directory of that file again. A finder that is not in the cache is made when an
      import needs it.
    * Spark collects garbage when a task has ended, and Python then looks at every object there
      is: all of numpy, pyarrow and PySpark. What is there in the first task, which is after the
      imports, stays until the process ends. It is moved out of sight once, and not in every task:
      garbage that a task leaves behind has to be found.
    """
    global _eased
    cached = sys.path_importer_cache
    for place in [place for place, finder in cached.items() if isinstance(finder, zipimporter)]:
        del cached[place]
    if not _eased:
        gc.freeze()
        _eased = True
