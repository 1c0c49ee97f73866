"""Files of other systems, by fsspec: ``s3://``, ``gs://``, ``hdfs://`` and others."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO, Any

from beamlike.api.pipelines.io.file_systems import FileMetadata, FileSystem
from beamlike.errors import UnsupportedError
from beamlike.extras import missing


def _changed(found: dict[str, Any]) -> float:
    for name in ("mtime", "LastModified", "updated", "created"):
        at = found.get(name)
        if isinstance(at, datetime):
            # Without a zone it is in UTC, and not in that of the process.
            return at.replace(tzinfo=at.tzinfo or UTC).timestamp()
        if isinstance(at, int | float):
            return float(at)
    return 0.0


class FsspecFileSystem(FileSystem):
    """The files of a scheme.

    Args:
        scheme: What stands before ``://``.

    Raises:
        EnvironmentProblem: fsspec is not installed, or what it needs for this scheme.
        UnsupportedError: fsspec knows no such scheme.
    """

    def __init__(self, scheme: str) -> None:
        super().__init__()
        try:
            import fsspec
        except ImportError as error:
            raise missing(f'a path that begins with "{scheme}://"', ["fsspec"], "io") from error
        try:
            self._files = fsspec.filesystem(scheme)
        except ImportError as error:
            raise missing(
                f'a path that begins with "{scheme}://"', [error.name or str(error)], "io"
            ) from error
        except ValueError as error:
            raise UnsupportedError(
                f'nothing here reads paths that begin with "{scheme}://": {error}'
            ) from error
        self._before = f"{scheme}://"

    def _inside(self, path: str) -> str:
        return str(self._files._strip_protocol(path))

    def _whole(self, path: str) -> str:
        return self._before + path.removeprefix("/") if self._rooted else self._before + path

    @property
    def _rooted(self) -> bool:
        # Some give their paths a root, which stands in no pattern.
        return self._before == "memory://"

    def _found(self, found: dict[str, Any]) -> FileMetadata:
        return FileMetadata(
            self._whole(found["name"]), int(found.get("size") or 0), _changed(found)
        )

    def open(self, path: str) -> IO[bytes]:
        opened: IO[bytes] = self._files.open(path, "rb")
        return opened

    def create(self, path: str) -> IO[bytes]:
        self._files.makedirs(self._files._parent(path), exist_ok=True)
        opened: IO[bytes] = self._files.open(path, "wb")
        return opened

    def files_below(self, folder: str, depth: int | None) -> Iterator[FileMetadata]:
        levels = None if depth is None else depth + 1
        found = self._files.find(folder, maxdepth=levels, detail=True)
        yield from map(self._found, found.values())

    def metadata(self, path: str) -> FileMetadata | None:
        if not self._files.exists(path):
            return None
        found = self._files.info(path)
        return FileMetadata(path, int(found.get("size") or 0), _changed(found))

    def rename(self, source: str, target: str) -> None:
        self._files.makedirs(self._files._parent(target), exist_ok=True)
        if self._files.exists(target):
            self._files.rm(target)
        self._files.mv(source, target)

    def copy(self, source: str, target: str) -> None:
        self._files.copy(source, target, recursive=self._files.isdir(source))

    def delete(self, path: str) -> None:
        self._files.rm(path, recursive=True)

    def mkdirs(self, path: str) -> None:
        self._files.makedirs(path, exist_ok=False)

    def join(self, first: str, *others: str) -> str:
        return "/".join([first.rstrip("/"), *(it.strip("/") for it in others)])

    def split(self, path: str) -> tuple[str, str]:
        folder, _, name = path.rpartition("/")
        return (path, "") if folder.endswith(":/") else (folder, name)
