"""What a system of files can do.

Source: Beam Python ``io.filesystem.FileSystem``.
"""

import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import attrs

from beamlike.errors import PipelineError

__all__ = ["FileMetadata", "FileSystem", "LocalFileSystem", "MatchResult", "regex_of"]


@attrs.frozen
class FileMetadata:
    """A file that was found. Source: Beam ``FileMetadata``.

    Args:
        path: Its full name.
        size_in_bytes: Its size.
        last_updated_in_seconds: When it was changed last, seconds since 1970; 0: not known.
    """

    path: str
    size_in_bytes: int
    last_updated_in_seconds: float = 0.0


@attrs.frozen
class MatchResult:
    """The files whose names fit a pattern. Source: Beam ``MatchResult``."""

    pattern: str
    metadata_list: Sequence[FileMetadata]


class FileSystem(ABC):
    """A system of files. Paths are full names, with their scheme if they have one.

    Args:
        pipeline_options: Counts for nothing.
    """

    def __init__(self, pipeline_options: Any = None) -> None:
        self.pipeline_options = pipeline_options

    @abstractmethod
    def open(self, path: str) -> IO[bytes]:
        """The content of a file, as it is."""

    @abstractmethod
    def create(self, path: str) -> IO[bytes]:
        """A file to write; its folder is made if it is not there."""

    @abstractmethod
    def files_below(self, folder: str, depth: int | None) -> Iterator[FileMetadata]:
        """All files in a folder and the folders in it; nothing if it is not there.

        Args:
            folder: The folder.
            depth: How many folders down; None: all.
        """

    @abstractmethod
    def metadata(self, path: str) -> FileMetadata | None:
        """A file, or a folder; None if it is not there."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Give a file another name, in place of the file that has it."""

    @abstractmethod
    def copy(self, source: str, target: str) -> None:
        """Copy a file, or a folder and what is in it."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Remove a file, or a folder and what is in it."""

    @abstractmethod
    def mkdirs(self, path: str) -> None:
        """Make a folder and those above it.

        Raises:
            OSError: It is there.
        """

    @abstractmethod
    def join(self, first: str, *others: str) -> str:
        """A path of parts."""

    @abstractmethod
    def split(self, path: str) -> tuple[str, str]:
        """The folder of a path, and the name in it."""

    def match(self, pattern: str) -> list[FileMetadata]:
        """The files whose names fit a pattern, in the order of their names."""
        if pattern.endswith(("/", "\\")):
            pattern += "*"
        plain = _PLAIN.match(pattern)
        assert plain is not None
        if plain[0] == pattern:
            found = self.metadata(pattern)
            return [] if found is None else [found]
        fits = regex_of(pattern).match
        folder, _ = self.split(plain[0])
        # The folders beside the pattern may be large, and others may change them meanwhile.
        depth = None if "**" in pattern else len(re.findall(r"[/\\]", pattern[len(plain[0]) :]))
        inside = self.files_below(folder, depth)
        return sorted((it for it in inside if fits(it.path)), key=lambda it: it.path)


_PLAIN: Final = re.compile(r"[^\[*?]*")
_PART: Final = re.compile(r"\*\*|\*|\?|\[(!?\]?[^\]]*)\]|.", re.DOTALL)


def regex_of(pattern: str) -> re.Pattern[str]:
    """The names that fit a pattern.

    ``*`` is any text without a slash, ``**`` any text, ``?`` a character, ``[abc]`` one of these,
    ``[!abc]`` any other.

    >>> bool(regex_of("a/*.txt").match("a/b.txt")), bool(regex_of("a/*.txt").match("a/b/c.txt"))
    (True, False)

    Raises:
        PipelineError: It cannot be read.
    """

    def part(found: re.Match[str]) -> str:
        text: str = found[0]
        inside: Any = found[1]
        if inside is not None:
            inside = inside.replace("\\", "\\\\")
            inside = f"^{inside[1:]}" if inside.startswith("!") else inside
            return f"[{inside}]"
        known = {"**": ".*", "*": r"[^/\\]*", "?": "."}
        return known.get(text) or re.escape(text)

    try:
        return re.compile(_PART.sub(part, pattern) + r"\Z", re.DOTALL)
    except re.error as error:
        raise PipelineError(
            f"the file pattern {pattern!r} cannot be read: {error}; write * for any name, "
            "and [abc] for one of some characters"
        ) from error


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
