"""Copies of a shard's blobs in files, for all Python workers of an executor.

Spark gives a partition to any of its Python workers. A worker would have to read from state what
another one wrote, and then Java makes text of each blob, byte by byte: that took a quarter of its
time. A file is read at once. It lies among Spark's own files on that machine, which are deleted
when the application ends.
"""

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from beamlike.hosts.spark.workers import local_folder
from beamlike.runtime.store.stores import NO_STATE_CACHE, StateCache

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_CACHED_BYTES: Final = 2**30
"""The bytes of all copies of an executor, at most about so many."""

_NAME: Final = re.compile(r"[0-9a-f]+-[0-9]+")
_ENCRYPTED: Final = "spark.io.encryption.enabled"


def may_copy(spark: "SparkSession") -> bool:
    """Whether Spark leaves its own files on local disks unencrypted."""
    return str(spark.conf.get(_ENCRYPTED, "false")).lower() != "true"


def worker_state_cache(copies: bool = True) -> StateCache:
    """The cache that the workers of this executor share; one that keeps nothing if ``copies`` is
    not set, or if the folder of Spark's files is not known."""
    folder = local_folder()
    return FileCache(Path(folder) / "beamlike-nearby") if copies and folder else NO_STATE_CACHE


class FileCache(StateCache):
    """Copies in a folder. A copy that the disk refuses is not kept.

    Args:
        folder: The folder; it need not exist.
        most: The most bytes; beyond them the copies that were used longest ago are deleted.
    """

    def __init__(self, folder: Path, most: int = MOST_CACHED_BYTES) -> None:
        self._folder, self._most = folder, most
        self._written = 0
        """Bytes written since the folder was last cleaned up."""

    def find(self, name: str) -> bytes | None:
        with suppress(OSError):
            path = self._path(name)
            blob = path.read_bytes()
            os.utime(path)
            return blob
        return None

    def keep(self, name: str, blob: bytes) -> None:
        with suppress(OSError):
            path = self._path(name)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            place, unfinished = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(place, "wb") as file:
                    file.write(blob)
                Path(unfinished).rename(path)
            except OSError:
                Path(unfinished).unlink()
                raise
            self._written += len(blob)
            if self._written > self._most // 16:
                self._written = 0
                self._make_room()

    def forget(self, name: str) -> None:
        with suppress(OSError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        """The file of a copy.

        Raises:
            OSError: The name is not fit for a file. Names come from checkpoints, which may be
                hostile.
        """
        if _NAME.fullmatch(name) is None:
            raise FileNotFoundError(name)
        return self._folder / name

    def _make_room(self) -> None:
        with os.scandir(self._folder) as entries:
            files = [(entry.stat(), entry.path) for entry in entries]
        size = sum(stat.st_size for stat, _ in files)
        for stat, path in sorted(files, key=lambda file: file[0].st_mtime):
            if size <= self._most:
                break
            Path(path).unlink(missing_ok=True)
            size -= stat.st_size
