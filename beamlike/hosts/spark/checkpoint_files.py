"""How Spark names the files of a checkpoint: it has to be able to write one a second time."""

import re
from typing import TYPE_CHECKING, Final

from beamlike.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_MANAGER: Final = "spark.sql.streaming.checkpointFileManagerClass"
LOCATION: Final = "spark.sql.streaming.checkpointLocation"
_DEFAULT_FILES: Final = "spark.hadoop.fs.defaultFS"
_KEEPS_THE_FIRST: Final = "FileSystemBasedCheckpointFileManager"
_KEPT_BY: Final = ("file", "hdfs")
"""File systems whose ``rename`` leaves a file that has the name already as it is."""
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def check_file_manager(spark: "SparkSession", location: str = "") -> None:
    """Refuse a session whose checkpoints keep the files of an attempt that was lost.

    A micro-batch that runs again, after a restart or for a second action of ``foreachBatch``, saves
    its state once more. With ``FileSystemBasedCheckpointFileManager`` the first content stays on a
    local disk, and on HDFS, without an error, while the query goes on with the second.

    Args:
        spark: The session.
        location: Where the checkpoint lies; empty: it is not known yet, and the session's default
            counts, or else its default file system.

    Raises:
        EnvironmentProblem: With what to do instead.
    """
    names = [
        spark.conf.get(key, "") or "" for key in (FILE_MANAGER, f"spark.hadoop.{FILE_MANAGER}")
    ]
    refused = next((name for name in names if name.split(".")[-1] == _KEEPS_THE_FIRST), None)
    if refused is None:
        return
    location = location or spark.conf.get(LOCATION, "") or ""
    scheme = _SCHEME.match(location) or _SCHEME.match(spark.conf.get(_DEFAULT_FILES, "") or "")
    files = scheme[1].lower() if scheme else "file"
    if files not in _KEPT_BY:
        return
    disk = "a local disk" if files == "file" else "HDFS"
    raise EnvironmentProblem(
        f"{FILE_MANAGER} is {refused!r}, which on {disk} keeps the first content of a file that is "
        "written twice: a micro-batch that runs again, as after a kill, leaves a checkpoint that "
        "nothing can read; leave that setting out, or call "
        f'spark.conf.unset("{FILE_MANAGER}") before the query starts: Spark\'s own choice replaces '
        "files. Where checkpoints lie on an object store that needs it, name the place with "
        f'spark.conf.set("{LOCATION}", "s3a://...")'
    )
