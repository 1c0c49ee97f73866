"""Text files in and out of pipelines.

Source: Beam Python ``io.textio``.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, ClassVar, Final

from beamlike.api.pipelines.coders import StrUtf8Coder
from beamlike.api.pipelines.io.compression import Compression, CompressionTypes
from beamlike.api.pipelines.io.errors import check_number
from beamlike.api.pipelines.io.file_sinks import FileBasedSink
from beamlike.api.pipelines.io.file_sources import FileBasedSource, ReadAllFiles, ReadsAll
from beamlike.api.pipelines.io.range_trackers import RangeTracker
from beamlike.api.pipelines.io.records import check_delimiter, check_escape, records
from beamlike.api.pipelines.io.sinks import Writes
from beamlike.api.pipelines.io.sources import Reads
from beamlike.api.pipelines.more_coders import ToBytesCoder
from beamlike.api.pipelines.value_providers import ValueProvider
from beamlike.model.coders import Coder

__all__ = ["ReadAllFromText", "ReadFromText", "ReadFromTextWithFilename", "WriteToText"]

_UTF8: Final = StrUtf8Coder()
_BYTES: Final = ToBytesCoder()


Header = tuple[Callable[[Any], bool] | None, Callable[[Sequence[Any]], Any] | None]


class TextSource(FileBasedSource):
    """The records of text files: what `ReadFromText` reads. Its arguments are those of it.

    Args:
        header_processor_fns: What says whether a first record is part of a header, and what is
            called with those that are.
    """

    def __init__(
        self,
        file_pattern: Any,
        min_bundle_size: int = 0,
        compression_type: Compression = "auto",
        strip_trailing_newlines: bool = True,
        coder: Coder = _UTF8,
        buffer_size: int = 8192,
        validate: bool = True,
        skip_header_lines: int = 0,
        header_processor_fns: Header = (None, None),
        delimiter: bytes | None = None,
        escapechar: bytes | None = None,
    ) -> None:
        super().__init__(file_pattern, min_bundle_size, compression_type, validate=validate)
        check_number(skip_header_lines, "skip_header_lines")
        check_delimiter(delimiter)
        check_escape(escapechar)
        self._strip, self._coder = strip_trailing_newlines, coder
        self._skip, self._header = skip_header_lines, header_processor_fns
        self._delimiter, self._escape = delimiter, escapechar

    def read_records(self, file_name: str, offset_range_tracker: RangeTracker) -> Iterator[Any]:
        with self.open_file(file_name) as file:
            found = records(file, self._delimiter, self._escape, keep=not self._strip)
            decoded = map(self._coder.decode, islice(found, self._skip, None))
            yield from self._after_header(decoded)

    def _after_header(self, decoded: Iterator[Any]) -> Iterator[Any]:
        is_header, process = self._header
        if is_header is None:
            return decoded
        header, rest = [], decoded
        for record in decoded:
            if not is_header(record):
                rest = chain([record], decoded)
                break
            header.append(record)
        if process is not None:
            process(header)
        return rest


class TextSourceWithFilename(TextSource):
    """The same, as pairs of the name of the file and the record."""

    def read_records(self, file_name: str, offset_range_tracker: RangeTracker) -> Iterator[Any]:
        for record in super().read_records(file_name, offset_range_tracker):
            yield file_name, record


class TextSink(FileBasedSink):
    """Lines of text: what `WriteToText` writes into. Its arguments are those of it."""

    def __init__(
        self,
        file_path_prefix: Any,
        file_name_suffix: Any = "",
        append_trailing_newlines: bool = True,
        num_shards: int = 0,
        shard_name_template: str | None = None,
        coder: Coder = _BYTES,
        compression_type: Compression = "auto",
        header: Any = None,
        footer: Any = None,
        **how: Any,
    ) -> None:
        super().__init__(
            file_path_prefix,
            coder,
            file_name_suffix,
            num_shards,
            shard_name_template,
            "text/plain",
            compression_type,
            **how,
        )
        self._end = b"\n" if append_trailing_newlines else b""
        self._header, self._footer = header, footer

    def open(self, temp_path: str) -> Any:
        handle = super().open(temp_path)
        self._write_line(handle, self._header)
        return handle

    def close(self, file_handle: Any) -> None:
        self._write_line(file_handle, self._footer)
        super().close(file_handle)

    def _write_line(self, handle: Any, text: Any) -> None:
        if text is not None:
            handle.write(_BYTES.encode(text) + self._end)

    def write_encoded_record(self, file_handle: Any, encoded_value: bytes) -> None:
        file_handle.write(encoded_value + self._end)


class ReadFromText(Reads):
    r"""The lines of text files, which end with ``\n`` or ``\r\n``.

        lines = pipeline | ReadFromText("/data/2026-*.txt.gz", skip_header_lines=1)

    Args:
        file_pattern: A path, which may have ``*``, ``?`` and ``[...]`` in it.
        min_bundle_size: Counts for nothing: a file is read as a whole.
        compression_type: How the files are compressed; by default as the end of a name says.
        strip_trailing_newlines: Whether lines come without their ends.
        coder: Makes elements of bytes.
        validate: Whether the files must be there when the pipeline is built.
        skip_header_lines: How many lines at the beginning of each file are left out.
        delimiter: What ends a record in place of a newline.
        escapechar: A byte before a delimiter that does not end a record.

    Raises:
        BeamIOError: There are no such files.
        PipelineError: An argument cannot be used.

    Source: Beam ``ReadFromText``.
    """

    _source_class: ClassVar[type[TextSource]] = TextSource

    def __init__(
        self,
        file_pattern: "str | ValueProvider",
        min_bundle_size: int = 0,
        compression_type: Compression = CompressionTypes.AUTO,
        strip_trailing_newlines: bool = True,
        coder: Coder = _UTF8,
        validate: bool = True,
        skip_header_lines: int = 0,
        delimiter: bytes | None = None,
        escapechar: bytes | None = None,
        **label: Any,
    ) -> None:
        super().__init__(**label)
        self._source = self._source_class(
            file_pattern,
            min_bundle_size,
            compression_type,
            strip_trailing_newlines,
            coder,
            validate=validate,
            skip_header_lines=skip_header_lines,
            delimiter=delimiter,
            escapechar=escapechar,
        )


class ReadFromTextWithFilename(ReadFromText):
    """The same, as pairs of the name of the file and the line.

    Source: Beam ``ReadFromTextWithFilename``.
    """

    _source_class = TextSourceWithFilename


class ReadAllFromText(ReadsAll):
    """The lines of the text files that a collection names, or has found with ``MatchFiles``.

    Args:
        min_bundle_size: Counts for nothing, as the next one.
        desired_bundle_size: A file is read as a whole.
        validate: Counts for nothing: a pattern without files has no lines.
        with_filename: Whether elements are pairs of the name of the file and the line.
        compression_type: As in `ReadFromText`, and so is all else.

    Source: Beam ``ReadAllFromText``.
    """

    DEFAULT_DESIRED_BUNDLE_SIZE: ClassVar[int] = 64 * 1024 * 1024

    def __init__(
        self,
        min_bundle_size: int = 0,
        desired_bundle_size: int = DEFAULT_DESIRED_BUNDLE_SIZE,
        compression_type: Compression = CompressionTypes.AUTO,
        strip_trailing_newlines: bool = True,
        validate: bool = False,
        coder: Coder = _UTF8,
        skip_header_lines: int = 0,
        with_filename: bool = False,
        delimiter: bytes | None = None,
        escapechar: bytes | None = None,
        **label: Any,
    ) -> None:
        super().__init__(**label)
        source_of = partial(
            TextSource,
            compression_type=compression_type,
            strip_trailing_newlines=strip_trailing_newlines,
            coder=coder,
            validate=False,
            skip_header_lines=skip_header_lines,
            delimiter=delimiter,
            escapechar=escapechar,
        )
        source_of("")  # so that what cannot be used is refused now
        self._read = ReadAllFiles(
            True, compression_type, desired_bundle_size, min_bundle_size, source_of, with_filename
        )


class WriteToText(Writes):
    """The elements as lines of text files. The names of the files come out.

        lines | WriteToText("/data/out", file_name_suffix=".txt")

    All files are written, or none: each under another name, and renamed at the end. They replace
    files of the same names. Of a collection that ends, the file is one, ``out-00000-of-00001.txt``,
    if nothing else is said; it is there, too, if there are no elements. Of a stream each pane is
    written when it comes, under the name of its window.

    Args:
        file_path_prefix: How the names of the files begin.
        file_name_suffix: How they end.
        append_trailing_newlines: Whether a newline follows each element.
        num_shards: How many files there are; elements go to them in turn. 0: one.
        shard_name_template: What stands between the beginning and the end: ``S`` is the number of
            a file, ``N`` how many there are, ``W`` the window and ``V`` the window in UTC. None:
            ``-SSSSS-of-NNNNN``, and for a stream ``-W-SSSSS-of-NNNNN``; an empty text is for one
            file.
        coder: Makes bytes of an element; by default those of its text.
        compression_type: How the files are compressed; by default as the end of the name says.
        header: The first line of each file.
        footer: The last line of each file.
        max_records_per_shard: After how many lines another file begins, if ``num_shards`` is not
            said.
        max_bytes_per_shard: After how many bytes, before compression.
        skip_if_empty: Whether there is no file if there is no element.
        triggering_frequency: The size of the windows that a stream is written by, seconds; None:
            its own.

    Raises:
        PipelineError: An argument cannot be used; or a stream has no windows.

    Source: Beam ``WriteToText``.
    """

    def __init__(
        self,
        file_path_prefix: "str | ValueProvider",
        file_name_suffix: "str | ValueProvider" = "",
        append_trailing_newlines: bool = True,
        num_shards: int = 0,
        shard_name_template: str | None = None,
        coder: Coder = _BYTES,
        compression_type: Compression = CompressionTypes.AUTO,
        header: Any = None,
        footer: Any = None,
        *,
        max_records_per_shard: int | None = None,
        max_bytes_per_shard: int | None = None,
        skip_if_empty: bool = False,
        triggering_frequency: float | None = None,
    ) -> None:
        super().__init__()
        self._sink = TextSink(
            file_path_prefix,
            file_name_suffix,
            append_trailing_newlines,
            num_shards,
            shard_name_template,
            coder,
            compression_type,
            header,
            footer,
            max_records_per_shard=max_records_per_shard,
            max_bytes_per_shard=max_bytes_per_shard,
            skip_if_empty=skip_if_empty,
            triggering_frequency=triggering_frequency,
        )
