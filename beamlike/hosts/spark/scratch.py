"""Folders of queries that leave nothing behind.

Spark goes on writing after a query has stopped: up to a minute later it saves a snapshot of the
query's state, and creates its folder again if that was deleted.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SNAPSHOTS: Final = "spark.sql.streaming.stateStore.minDeltasForSnapshot"
_NEVER: Final = 2**31 - 1


def scratch_folder(use: str) -> Path:
    """A new folder that is deleted when this process ends, with everything written until then."""
    return Path(tempfile.mkdtemp(dir=_all_of(use).name))


@cache
def _all_of(use: str) -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix=f"beamlike-{use}-", ignore_cleanup_errors=True)


@contextmanager
def without_snapshots(spark: "SparkSession") -> Iterator[None]:
    """Queries that are started within never save a snapshot of their state.

    They start from their log of changes, which takes long only where there are very many.
    """
    before = spark.conf.get(_SNAPSHOTS)
    spark.conf.set(_SNAPSHOTS, _NEVER)
    try:
        yield
    finally:
        spark.conf.set(_SNAPSHOTS, str(before))
