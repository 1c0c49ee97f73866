"""The records of text files, as a source.

Source: Beam Python ``io.textio``.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from beamlike.api.pipelines.coders import StrUtf8Coder
from beamlike.api.pipelines.io.errors import check_number
from beamlike.api.pipelines.io.file_sources import FileBasedSource
from beamlike.api.pipelines.io.range_trackers import RangeTracker
from beamlike.api.pipelines.io.records import check_delimiter, check_escape, records
from beamlike.model.coders import Coder

_UTF8 = StrUtf8Coder()

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
        compression_type: str = "auto",
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
