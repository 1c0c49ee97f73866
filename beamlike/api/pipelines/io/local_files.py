"""Files of this machine.

Source: Beam Python ``io.localfilesystem``.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from beamlike.api.pipelines.io.file_systems import FileMetadata, FileSystem

__all__ = ["LocalFileSystem"]


def _there(path: str) -> FileMetadata | None:
    try:
        return _found(path)
    except FileNotFoundError:  # it has been removed meanwhile, or is a link to nothing
        return None


def _found(path: str) -> FileMetadata:
    found = os.stat(path)
    return FileMetadata(path, found.st_size, found.st_mtime)


class LocalFileSystem(FileSystem):
    """Files of this machine. Source: Beam ``LocalFileSystem``."""

    def open(self, path: str) -> IO[bytes]:
        return Path(path).open("rb")

    def create(self, path: str) -> IO[bytes]:
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place.open("wb")

    def files_below(self, folder: str, depth: int | None) -> Iterator[FileMetadata]:
        # Paths keep the beginning that the pattern has: relative if it is.
        top = folder or "."
        for root, folders, names in os.walk(top):
            folders.sort()
            inside = os.path.relpath(root, top)
            level = 0 if inside == "." else len(Path(inside).parts)
            if level == depth:
                folders.clear()
            for name in names:
                path = os.path.join(root, name)
                found = _there(path if folder else os.path.relpath(path))
                if found is not None:
                    yield found

    def metadata(self, path: str) -> FileMetadata | None:
        return _found(path) if os.path.exists(path) else None

    def rename(self, source: str, target: str) -> None:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, target)

    def copy(self, source: str, target: str) -> None:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)

    def delete(self, path: str) -> None:
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)

    def mkdirs(self, path: str) -> None:
        os.makedirs(path)

    def join(self, first: str, *others: str) -> str:
        return os.path.join(first, *others)

    def split(self, path: str) -> tuple[str, str]:
        return os.path.split(path)
