"""Files by their paths, which may have wildcards and schemes such as ``s3://``: by fsspec.

Source: Beam Python ``io.filesystems`` and ``io.filesystem.CompressionTypes``.
"""

import io
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any, Final, Literal

from beamlike.errors import PipelineError, PipelineTypeError, UnsupportedError
from beamlike.extras import missing

Compression = Literal["auto", "bzip2", "zstd", "gzip", "lzma", "uncompressed"]

_CODECS: Final[Mapping[str, str | None]] = {
    "auto": "infer",
    "bzip2": "bz2",
    "gzip": "gzip",
    "lzma": "xz",
    "uncompressed": None,
    "zstd": "zstd",
}
"""What fsspec calls each compression."""

_LOG: Final = logging.getLogger(__name__)


class BeamIOError(PipelineError, OSError):
    """Files could not be found, read or written.

    Args:
        msg: What went wrong.
        exception_details: What was raised for each file, where several were asked for.
    """

    def __init__(self, msg: str, exception_details: Mapping[Any, Any] | None = None) -> None:
        details = "" if exception_details is None else f" with exceptions {exception_details}"
        super().__init__(f"{msg}{details}")
        self.exception_details = exception_details


class CompressionTypes:
    """How a file is compressed."""

    AUTO: Final = "auto"
    BZIP2: Final = "bzip2"
    GZIP: Final = "gzip"
    LZMA: Final = "lzma"
    UNCOMPRESSED: Final = "uncompressed"
    ZSTD: Final = "zstd"


def check_compression(compression_type: object) -> None:
    """Refuse a compression that files cannot have.

    Raises:
        PipelineTypeError: With what to write.
    """
    if compression_type not in _CODECS:
        raise PipelineTypeError(
            f"compression_type must be one of CompressionTypes, got {compression_type!r}; write "
            'CompressionTypes.GZIP, or leave it out: a name that ends with ".gz" says so'
        )


def check_path(path: object, argument: str) -> None:
    """Refuse what is not a path.

    Raises:
        PipelineTypeError: With what to write.
    """
    if not isinstance(path, str):
        raise PipelineTypeError(
            f"{argument} must be a string, got {path!r}; write the path as text"
        )


def _system(path: str) -> tuple[Any, str]:
    """The file system of a path, and the path as that system writes it.

    Raises:
        EnvironmentProblem: fsspec is not installed, or what it needs for the scheme.
        UnsupportedError: fsspec knows no such scheme.
    """
    try:
        from fsspec.core import url_to_fs

        system, inner = url_to_fs(path)
    except ImportError as error:
        raise missing(f"the path {path!r}", [error.name or "fsspec"], "io") from error
    except ValueError as error:
        raise UnsupportedError(f"the path {path!r} cannot be used: {error}") from error
    return system, inner


def matching(pattern: str) -> list[str]:
    """The files that a pattern names, in order.

    A path without wildcards stays as it is written. ``*`` is any text without a slash, ``**`` any
    folders, ``?`` a character and ``[abc]`` one of these.

    Raises:
        BeamIOError: A folder cannot be read.
    """
    system, path = _system(pattern)
    try:
        if system.isfile(path):
            return [pattern]
        details = system.glob(path, detail=True) if any(sign in path for sign in "*?[") else {}
    except OSError as error:
        raise BeamIOError(f"the files of {pattern!r} cannot be listed", {pattern: error}) from error
    has_scheme = "://" in pattern
    return [
        system.unstrip_protocol(name) if has_scheme else name
        for name, detail in sorted(details.items())
        if detail["type"] == "file"
    ]


@contextmanager
def open_file(
    path: str, mode: Literal["rb", "wb"], compression: Compression
) -> Iterator[IO[bytes]]:
    """An open file, whose content is without its compression. Folders of a new file are made.

    Raises:
        EnvironmentProblem: What the compression needs is not installed.
    """
    system, inner = _system(path)
    if mode == "wb":
        system.makedirs(system._parent(inner), exist_ok=True)
    import fsspec

    try:
        file = fsspec.open(path, mode, compression=_CODECS[compression])
        with file as stream:
            # Not every codec reads by lines.
            packed = mode == "rb" and file.compression is not None
            yield io.BufferedReader(stream) if packed else stream
    except ValueError as error:
        if not str(error).startswith("Compression type"):
            raise
        raise missing(f"{path!r}, as it is compressed,", ["zstandard"], "io") from error


def move(source: str, target: str) -> None:
    """Give a file another path, and replace the one of that path.

    Raises:
        BeamIOError: Neither of them is there.
    """
    system, old = _system(source)
    _, new = _system(target)
    if not system.exists(old):
        if system.exists(new):  # a worker that was started anew moves files once more
            return
        raise BeamIOError(f"what was written to {source!r} is not there any more")
    with suppress(FileNotFoundError):
        system.rm(new)
    system.mv(old, new)


def remove(path: str) -> None:
    """Remove a file, or a folder with all that is in it. One that is gone already is no error."""
    system, inner = _system(path)
    try:
        if system.exists(inner):
            system.rm(inner, recursive=True)
    except OSError as error:
        _LOG.warning("%s cannot be removed: %s", path, error)
