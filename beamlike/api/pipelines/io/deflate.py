"""Streams of the ``deflate`` compression: zlib's, for which Python's library has no files."""

import io
import zlib
from typing import IO, Any


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
