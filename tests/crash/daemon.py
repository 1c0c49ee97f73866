"""What Spark's Python workers come from: here it has loaded what they need, so they start at once.

Each start of a child starts some ten workers. Each would spend a second or more on imports.
"""

import importlib
from typing import Final

from pyspark.daemon import manager

LOADED: Final = (
    "pandas",
    "pyarrow.compute",
    "pyspark.sql.streaming.stateful_processor_util",
    "beamlike.runtime.column_shard",
    "beamlike.runtime.graph.layer_work",
    "beamlike.hosts.spark.processor",
    "tests.crash.works",
)

if __name__ == "__main__":
    for name in LOADED:
        importlib.import_module(name)
    manager()
