"""Files by their paths, wherever they are.

Source: Beam Python ``io.filesystems.FileSystems``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final

from beamlike.api.pipelines.io.compression import Compression, compressing, decompressing
from beamlike.api.pipelines.io.errors import BeamIOError
from beamlike.api.pipelines.io.file_systems import (
    FileMetadata,
    FileSystem,
    LocalFileSystem,
    MatchResult,
)
from beamlike.api.pipelines.io.fsspec_files import FsspecFileSystem

__all__ = ["FileSystems"]

_SCHEME: Final = re.compile(r"([a-zA-Z][-a-zA-Z0-9+.]*)://")


@cache
def _system(scheme: str | None) -> FileSystem:
    return LocalFileSystem() if scheme in (None, "file") else FsspecFileSystem(scheme)


def _all(what: str, work: Callable[..., None], given: Iterable[tuple[str, ...]]) -> None:
    """Do something for each of some files, and report those together that it failed for."""
    failed: dict[Any, Exception] = {}
    for paths in given:
        try:
            work(*paths)
        except OSError as error:
            failed[paths if len(paths) > 1 else paths[0]] = error
    if failed:
        raise BeamIOError(f"{what} operation failed", failed)


class FileSystems:
    """What can be done with files, by their paths.

    Paths that begin with a scheme such as ``s3://`` need fsspec, the extra ``io``. All others, and
    ``file://``, are files of this machine.

    Source: Beam ``FileSystems``.
    """

    URI_SCHEMA_PATTERN: Final = _SCHEME

    @staticmethod
    def set_options(pipeline_options: Any) -> None:
        """Taken, so that programs of Beam need no change."""

    @staticmethod
    def get_scheme(path: str) -> str | None:
        """What stands before ``://``; None for a file of this machine."""
        found = _SCHEME.match(path)
        return found[1] if found else None

    @staticmethod
    def get_filesystem(path: str) -> FileSystem:
        """The system that a path is in."""
        return _system(FileSystems.get_scheme(path))

    @staticmethod
    def _of(path: str) -> tuple[FileSystem, str]:
        return FileSystems.get_filesystem(path), path.removeprefix("file://")

    @staticmethod
    def join(basepath: str, *paths: str) -> str:
        """A path of parts."""
        system, path = FileSystems._of(basepath)
        return system.join(path, *paths)

    @staticmethod
    def split(path: str) -> tuple[str, str]:
        """The folder of a path, and the name in it."""
        system, path = FileSystems._of(path)
        return system.split(path)

    @staticmethod
    def mkdirs(path: str) -> None:
        """Make a folder and those above it.

        Raises:
            OSError: It is there.
        """
        system, path = FileSystems._of(path)
        system.mkdirs(path)

    @staticmethod
    def match(
        patterns: Sequence[str], limits: Sequence[int | None] | None = None
    ) -> list[MatchResult]:
        """The files that fit each of some patterns, see `regex_of`, in the order of their names.

        Args:
            patterns: Names with ``*``, ``**``, ``?`` and ``[...]`` in them.
            limits: How many are wanted of each; None: all.

        Raises:
            BeamIOError: A folder cannot be read.
        """
        found = []
        for at, pattern in enumerate(patterns):
            system, path = FileSystems._of(pattern)
            try:
                files = system.match(path)
            except OSError as error:
                raise BeamIOError("Match operation failed", {pattern: error}) from error
            found.append(MatchResult(pattern, files[: limits[at] if limits else None]))
        return found

    @staticmethod
    def create(
        path: str,
        mime_type: str = "application/octet-stream",
        compression_type: Compression = "auto",
    ) -> Any:
        """A file to write, as bytes. One that is there is replaced."""
        system, path = FileSystems._of(path)
        return compressing(system.create(path), path, compression_type)

    @staticmethod
    def open(
        path: str,
        mime_type: str = "application/octet-stream",
        compression_type: Compression = "auto",
    ) -> Any:
        """The content of a file, as bytes."""
        system, path = FileSystems._of(path)
        return decompressing(system.open(path), path, compression_type)

    @staticmethod
    def copy(source_file_names: Sequence[str], destination_file_names: Sequence[str]) -> None:
        """Copy files.

        Raises:
            BeamIOError: Some could not be copied.
        """
        _each_to("copy", source_file_names, destination_file_names)

    @staticmethod
    def rename(source_file_names: Sequence[str], destination_file_names: Sequence[str]) -> None:
        """Give files other names, in place of those that have them.

        Raises:
            BeamIOError: Some could not be renamed.
        """
        _each_to("rename", source_file_names, destination_file_names)

    @staticmethod
    def delete(paths: Sequence[str]) -> None:
        """Remove files, and folders with what is in them.

        Raises:
            BeamIOError: Some could not be removed.
        """

        def work(path: str) -> None:
            system, path = FileSystems._of(path)
            system.delete(path)

        _all("Delete", work, ((path,) for path in paths))

    @staticmethod
    def exists(path: str) -> bool:
        """Whether there is such a file or folder."""
        system, path = FileSystems._of(path)
        return system.metadata(path) is not None

    @staticmethod
    def last_updated(path: str) -> float:
        """When a file was changed last, seconds since 1970.

        Raises:
            BeamIOError: It is not there.
        """
        return _there(path).last_updated_in_seconds

    @staticmethod
    def checksum(path: str) -> str:
        """Something that differs where files do: here their size.

        Raises:
            BeamIOError: It is not there.
        """
        return str(_there(path).size_in_bytes)

    @staticmethod
    def get_chunk_size(path: str) -> int:
        """How many files are renamed at once."""
        return 100

    @staticmethod
    def report_source_lineage(path: str) -> None:
        """Taken, so that programs of Beam need no change."""

    @staticmethod
    def report_sink_lineage(path: str) -> None:
        """Taken, so that programs of Beam need no change."""


def _each_to(verb: str, sources: Sequence[str], targets: Sequence[str]) -> None:
    """Copy or rename files, each in its own file system."""

    def work(source: str, target: str) -> None:
        system, source = FileSystems._of(source)
        getattr(system, verb)(source, FileSystems._of(target)[1])

    _all(verb.capitalize(), work, zip(sources, targets, strict=True))


def _there(path: str) -> FileMetadata:
    system, place = FileSystems._of(path)
    found = system.metadata(place)
    if found is None:
        raise BeamIOError(f"there is no file {path!r}")
    return found
