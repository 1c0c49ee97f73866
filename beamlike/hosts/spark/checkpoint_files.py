"""How Spark names the files of a checkpoint: it has to be able to write one a second time."""

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
