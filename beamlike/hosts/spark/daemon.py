"""Forks the Python workers of Spark after importing what queries need.

Spark starts a Python process, the daemon, which forks a worker for each task that has none. With
Spark's own daemon each worker then imports numpy, pandas, pyarrow and beamlike: more than a second
of a core, for each of the three operators of a grouping and each core of an executor, when a query
starts. This one imports them once, before the first fork, and the workers share their memory.

Spark uses it if a session sets ``spark.python.daemon.module``, which needs beamlike installed on
each executor before that starts; `local_session` sets it.

PySpark's own daemon imports nothing, because some packages start threads, and a thread does not
live on in a fork. Of these packages numpy's OpenBLAS is kept to one thread, as Spark keeps a worker
to the cores of its task; pyarrow starts its threads when they are needed, also in a fork, and its
second allocator, which has a thread, makes it anew there.
"""

import gc
import os
import sys


def _prepare() -> None:
    """Import what the tasks of a query need."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    import pyspark.worker  # noqa: F401  # and with it pandas, numpy and pyarrow

    import beamlike.hosts.spark.processor
    import beamlike.hosts.spark.unpack
    import beamlike.runtime.packing  # noqa: F401

    # A collection of garbage writes to each object that it looks at, and what is written is not
    # shared any more.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from pyspark.daemon import manager

    if sys.argv[1:2] == ["pyspark.worker"]:  # others plan and commit data sources, once each
        _prepare()
    manager()
