"""TFRecord files in and out of pipelines.

A record is its length, a checksum of that, its bytes, and a checksum of those.

Source: Beam Python ``io.tfrecordio``, TensorFlow's ``TFRecord``.
"""

import struct
from collections.abc import Iterator
from functools import cache, partial
from typing import Any, Final

from beamlike.api.pipelines.coders import BytesCoder
from beamlike.api.pipelines.io.compression import Compression
from beamlike.api.pipelines.io.errors import BeamIOError
from beamlike.api.pipelines.io.file_sinks import FileBasedSink
from beamlike.api.pipelines.io.file_sources import FileBasedSource, ReadAllFiles, ReadsAll
from beamlike.api.pipelines.io.range_trackers import RangeTracker
from beamlike.api.pipelines.io.sinks import Writes
from beamlike.api.pipelines.io.sources import Reads
from beamlike.model.coders import Coder

__all__ = ["ReadAllFromTFRecord", "ReadFromTFRecord", "WriteToTFRecord"]

_BYTES: Final = BytesCoder()
_POLYNOMIAL: Final = 0x82F63B78
_MASK: Final = 0xA282EAD8


@cache
def _table() -> tuple[int, ...]:
    found = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return tuple(found)


def masked_crc32c(data: bytes) -> int:
    """The checksum that TFRecord has of some bytes: CRC-32C, turned and moved.

    >>> hex(masked_crc32c(b"123456789"))
    '0xc78ab0e5'
    """
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF


def written(data: bytes) -> bytes:
    """A record of these bytes."""
    length = struct.pack("<Q", len(data))
    sums = [struct.pack("<I", masked_crc32c(part)) for part in (length, data)]
    return length + sums[0] + data + sums[1]


class _Source(FileBasedSource):
    def __init__(
        self,
        file_pattern: Any,
        coder: Coder = _BYTES,
        compression_type: Compression = "auto",
        validate: bool = True,
    ) -> None:
        super().__init__(file_pattern, compression_type=compression_type, validate=validate)
        self._coder = coder

    def read_records(self, file_name: str, offset_range_tracker: RangeTracker) -> Iterator[Any]:
        with self.open_file(file_name) as file:
            while head := file.read(12):
                length = struct.unpack("<Q", head[:8])[0] if len(head) == 12 else 0
                data = file.read(length)
                end = file.read(4)
                if written(data) != head + data + end:
                    raise BeamIOError(
                        f"{file_name!r} is no valid TFRecord file of whole records; write another "
                        "path, or how it is compressed: compression_type=..."
                    )
                yield self._coder.decode(data)


class ReadFromTFRecord(Reads):
    """The records of TFRecord files.

    Args:
        file_pattern: A path, which may have ``*``, ``?`` and ``[...]`` in it.
        coder: Makes elements of bytes; by default elements are bytes.
        compression_type: How the files are compressed; by default as the end of a name says.
        validate: Whether the files must be there when the pipeline is built.

    Raises:
        BeamIOError: There are no such files; when it runs: one is no such file.

    Source: Beam ``ReadFromTFRecord``.
    """

    def __init__(
        self,
        file_pattern: Any,
        coder: Coder = _BYTES,
        compression_type: Compression = "auto",
        validate: bool = True,
    ) -> None:
        super().__init__()
        self._source = _Source(file_pattern, coder, compression_type, validate)


class ReadAllFromTFRecord(ReadsAll):
    """The records of the TFRecord files that a collection names.

    Args:
        coder: Makes elements of bytes; by default elements are bytes.
        compression_type: How the files are compressed; by default as the end of a name says.
        with_filename: Whether elements are pairs of the name of the file and the record.

    Source: Beam ``ReadAllFromTFRecord``.
    """

    def __init__(
        self,
        coder: Coder = _BYTES,
        compression_type: Compression = "auto",
        with_filename: bool = False,
    ) -> None:
        super().__init__()
        source_of = partial(_Source, coder=coder, compression_type=compression_type, validate=False)
        self._read = ReadAllFiles(False, compression_type, 0, 0, source_of, with_filename)


class _Sink(FileBasedSink):
    def write_encoded_record(self, file_handle: Any, encoded_value: bytes) -> None:
        file_handle.write(written(encoded_value))


class WriteToTFRecord(Writes):
    """The elements as records of TFRecord files. The names of the files come out.

    Files are written as by `WriteToText`: all of them, or none.

    Args:
        file_path_prefix: How the names of the files begin.
        coder: Makes bytes of elements; by default they are bytes.
        file_name_suffix: As in `WriteToText`, and so is all else.

    Raises:
        PipelineError: An argument cannot be used.

    Source: Beam ``WriteToTFRecord``.
    """

    def __init__(
        self,
        file_path_prefix: Any,
        coder: Coder = _BYTES,
        file_name_suffix: Any = "",
        num_shards: int = 0,
        shard_name_template: str | None = None,
        compression_type: Compression = "auto",
        triggering_frequency: float | None = None,
    ) -> None:
        super().__init__()
        self._sink = _Sink(
            file_path_prefix,
            coder,
            file_name_suffix,
            num_shards,
            shard_name_template,
            compression_type=compression_type,
            triggering_frequency=triggering_frequency,
        )
