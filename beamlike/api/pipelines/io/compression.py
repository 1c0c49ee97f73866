"""Compressed files: which compression a name means, and streams that undo or do it.

Source: Beam Python ``io.filesystem.CompressionTypes``.
"""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any, Final, Literal

from beamlike.errors import PipelineTypeError
from beamlike.extras import missing

Compression = Literal["auto", "bzip2", "deflate", "zstd", "gzip", "lzma", "uncompressed"]

_ENDINGS: Final[Mapping[str, Compression]] = {
    ".bz2": "bzip2",
    ".deflate": "deflate",
    ".gz": "gzip",
    ".zst": "zstd",
    ".zstd": "zstd",
    ".xz": "lzma",
    ".lzma": "lzma",
}

_MIME: Final[Mapping[str, str]] = {
    "bzip2": "application/x-bz2",
    "deflate": "application/x-deflate",
    "gzip": "application/x-gzip",
    "zstd": "application/zstd",
    "lzma": "application/lzma",
}


class Deflated:
    """Writes into a file, compressed."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw, self._compressor = raw, zlib.compressobj()

    def write(self, data: bytes) -> int:
        """Write some bytes; how many."""
        self._raw.write(self._compressor.compress(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back but what the compression needs."""

    def close(self) -> None:
        """Write the end."""
        self._raw.write(self._compressor.flush())


class _Inflating(io.RawIOBase):
    def __init__(self, raw: IO[bytes]) -> None:
        self._raw, self._decompressor, self._left = raw, zlib.decompressobj(), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            data = self._raw.read(1 << 16)
            if not data:
                self._left = self._decompressor.flush()
                break
            self._left = self._decompressor.decompress(data)
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def inflated(raw: IO[bytes]) -> io.BufferedReader:
    """What a compressed file has."""
    return io.BufferedReader(_Inflating(raw))


class CompressionTypes:
    """How a file is compressed. Source: Beam ``CompressionTypes``."""

    AUTO: Final = "auto"
    """By the end of the file's name."""
    BZIP2: Final = "bzip2"
    DEFLATE: Final = "deflate"
    ZSTD: Final = "zstd"
    GZIP: Final = "gzip"
    LZMA: Final = "lzma"
    UNCOMPRESSED: Final = "uncompressed"

    @classmethod
    def is_valid_compression_type(cls, compression_type: object) -> bool:
        """Whether it is one of these."""
        return compression_type in {"auto", "uncompressed", *_MIME}

    @classmethod
    def mime_type(
        cls, compression_type: Compression, default: str = "application/octet-stream"
    ) -> str:
        """The MIME type of files that are compressed so."""
        return _MIME.get(compression_type, default)

    @classmethod
    def detect_compression_type(cls, file_path: str) -> Compression:
        """The compression that the end of a name means."""
        name = file_path.lower()
        return next((kind for end, kind in _ENDINGS.items() if name.endswith(end)), "uncompressed")


def check_compression(compression_type: object) -> None:
    """Refuse what is no compression.

    Raises:
        PipelineTypeError: With those that there are.
    """
    if not CompressionTypes.is_valid_compression_type(compression_type):
        raise PipelineTypeError(
            f"compression_type must be one of CompressionTypes, got {compression_type!r}; write "
            'CompressionTypes.GZIP, or leave it out: a name that ends with ".gz" says so'
        )


def _kind(path: str, compression_type: Compression) -> str:
    check_compression(compression_type)
    if compression_type == CompressionTypes.AUTO:
        return CompressionTypes.detect_compression_type(path)
    return compression_type


_WRAP: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    # Without a name and a time: the same content is the same file.
    "gzip": lambda raw, mode: gzip.GzipFile("", mode, fileobj=raw, mtime=0),
    "bzip2": bz2.BZ2File,
    "lzma": lzma.LZMAFile,
    "deflate": lambda raw, mode: inflated(raw) if mode == "rb" else Deflated(raw),
}


class _Closing:
    """A stream with the file below it: both are closed together."""

    def __init__(self, stream: Any, raw: IO[bytes]) -> None:
        self._stream, self._raw = stream, raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Any:
        return iter(self._stream)

    def __enter__(self) -> "_Closing":
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the stream, and then the file."""
        try:
            self._stream.close()
        finally:
            self._raw.close()


def _wrapped(raw: IO[bytes], path: str, compression_type: Compression, mode: str) -> Any:
    kind = _kind(path, compression_type)
    if kind == "uncompressed":
        return raw
    if kind == "zstd":
        return _Closing(_zstandard(raw, mode, path), raw)
    return _Closing(_WRAP[kind](raw, mode), raw)


def _zstandard(raw: IO[bytes], mode: str, path: str) -> Any:
    try:
        import zstandard
    except ImportError as error:
        raw.close()
        raise missing(f"{path!r}, which is compressed with zstd,", ["zstandard"], "io") from error
    if mode == "rb":
        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(raw))
    return zstandard.ZstdCompressor().stream_writer(raw, closefd=False)


def decompressing(raw: IO[bytes], path: str, compression_type: Compression = "auto") -> Any:
    """The content of a file that is open.

    Args:
        raw: The open file.
        path: Its name, whose end says how it is compressed if nothing else does.
        compression_type: One of `CompressionTypes`.
    """
    return _wrapped(raw, path, compression_type, "rb")


def compressing(raw: IO[bytes], path: str, compression_type: Compression = "auto") -> Any:
    """A stream into a file that is open, likewise."""
    return _wrapped(raw, path, compression_type, "wb")
