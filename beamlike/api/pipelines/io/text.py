"""Text files in and out of pipelines.

Source: Beam Python ``io.textio``.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar, Final

from beamlike.api.pipelines.beams_own import needs_beams_sdk, without_beams_own
from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.coders import StrUtf8Coder
from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.io.files import (
    BeamIOError,
    Compression,
    CompressionTypes,
    check_compression,
    check_path,
    matching,
    open_file,
)
from beamlike.api.pipelines.io.writing import Shards, write_files
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.model.coders import Coder
from beamlike.model.options import whole_number

__all__ = ["ReadAllFromText", "ReadFromText", "ReadFromTextWithFilename", "WriteToText"]

_UTF8: Final = StrUtf8Coder()
_OF_BEAMS_SDK: Final = ("delimiter", "escapechar")
_NOT_WRITTEN: Final = (
    *("max_records_per_shard", "max_bytes_per_shard", "skip_if_empty", "triggering_frequency"),
)
"""Arguments that only Beam's own SDK takes."""


class _ReadFiles(DoFn[str, Any]):
    """The lines of the files that an element names, maybe each with the name of its file.

    Raises:
        PipelineError: An argument cannot be used.
    """

    def __init__(
        self,
        compression: Compression,
        strip_newlines: bool,
        coder: Coder,
        skip_header_lines: int,
        with_filename: bool,
    ) -> None:
        check_compression(compression)
        self._compression, self._strip_newlines = compression, strip_newlines
        self._skipped = whole_number(skip_header_lines, 0, "skip_header_lines", PipelineError)
        self._coder, self._with_filename = coder, with_filename

    def process(self, element: str) -> Iterator[Any]:
        check_path(element, "ReadAllFromText: the name of a file")
        for path in matching(element):
            for line in self._lines(path):
                yield (path, line) if self._with_filename else line

    def _lines(self, path: str) -> Iterator[Any]:
        with open_file(path, "rb", self._compression) as file:
            for line in islice(file, self._skipped, None):
                if self._strip_newlines and line.endswith(b"\n"):
                    line = line[: -2 if line.endswith(b"\r\n") else -1]
                yield self._coder.decode(line)


class ReadFromText(PTransform[Pipeline, PCollection[Any]]):
    """The lines of text files, which end with ``\n`` or ``\r\n``.

        lines = pipeline | ReadFromText("/data/2026-*.txt.gz", skip_header_lines=1)

    Args:
        file_pattern: A path, which may have ``*``, ``**``, ``?`` and ``[...]`` in it, and a scheme
            such as ``s3://``.
        min_bundle_size: No effect: a file is read as a whole.
        compression_type: How the files are compressed; by default as the end of a name says.
        strip_trailing_newlines: Whether lines come without their ends.
        coder: Makes elements of bytes.
        validate: Whether the files must be there when the pipeline is built.
        skip_header_lines: How many lines at the beginning of each file are left out.

    Raises:
        BeamIOError: There are no such files.
        PipelineError: An argument cannot be used.
        UnsupportedError: It is ``delimiter`` or ``escapechar``, of Beam's own SDK.
        EnvironmentProblem: fsspec is not installed.
    """

    _with_filename: ClassVar[bool] = False

    def __init__(
        self,
        file_pattern: str,
        min_bundle_size: int = 0,
        compression_type: Compression = CompressionTypes.AUTO,
        strip_trailing_newlines: bool = True,
        coder: Coder = _UTF8,
        validate: bool = True,
        skip_header_lines: int = 0,
        **label: Any,
    ) -> None:
        super().__init__(**without_beams_own("ReadFromText", label, *_OF_BEAMS_SDK))
        check_path(file_pattern, f"{type(self).__name__} file_pattern")
        self._pattern = file_pattern
        how = compression_type, strip_trailing_newlines, coder, skip_header_lines
        self._read = _ReadFiles(*how, self._with_filename)
        if validate and not matching(file_pattern):
            raise BeamIOError(
                f"No files found based on the file pattern {file_pattern}; write another, or "
                "validate=False if they come later"
            )

    def expand(self, pbegin: Any) -> PCollection[Any]:
        pipeline = pbegin if isinstance(pbegin, Pipeline) else pbegin.pipeline
        pattern: PCollection[str] = pipeline | "Pattern" >> Create([self._pattern])
        return pattern | "ReadFiles" >> ParDo(self._read)


class ReadFromTextWithFilename(ReadFromText):
    """The lines of text files as pairs of the name of the file and the line, see `ReadFromText`."""

    _with_filename = True


class ReadAllFromText(PTransform[PCollection[str], PCollection[Any]]):
    """The lines of the text files that a collection names.

    Args:
        min_bundle_size: No effect, as the next one.
        desired_bundle_size: A file is read as a whole.
        compression_type: As in `ReadFromText`, and so is all that has its name.
        validate: No effect: a pattern without files has no lines.
        with_filename: Whether elements are pairs of the name of the file and the line.
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
        **label: Any,
    ) -> None:
        super().__init__(**without_beams_own("ReadAllFromText", label, *_OF_BEAMS_SDK))
        how = compression_type, strip_trailing_newlines, coder, skip_header_lines
        self._read = _ReadFiles(*how, with_filename)

    def expand(self, names: PCollection[str]) -> PCollection[Any]:
        return names | "ReadFiles" >> ParDo(self._read)


class WriteToText(PTransform[PCollection[Any], PCollection[str]]):
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
        shard_name_template: What stands between the beginning and the end. None: the number of
            the file and how many there are, ``-00000-of-00001``, for a stream after the window. An
            empty text: nothing, for one file.
        coder: Makes bytes of an element; by default those of its text.
        compression_type: How the files are compressed; by default as the end of the name says.
        header: The first line of each file.
        footer: The last line of each file.

    Raises:
        PipelineError: An argument cannot be used; or a stream has no windows.
        UnsupportedError: It is one of Beam's own SDK: another template, ``max_records_per_shard``,
            ``max_bytes_per_shard``, ``skip_if_empty`` or ``triggering_frequency``.
    """

    def __init__(
        self,
        file_path_prefix: str,
        file_name_suffix: str = "",
        append_trailing_newlines: bool = True,
        num_shards: int = 0,
        shard_name_template: str | None = None,
        coder: Coder | None = None,
        compression_type: Compression = CompressionTypes.AUTO,
        header: Any = None,
        footer: Any = None,
        **others: Any,
    ) -> None:
        super().__init__(**without_beams_own("WriteToText", others, *_NOT_WRITTEN))
        if shard_name_template:
            raise needs_beams_sdk("WriteToText(shard_name_template=...)")
        check_path(file_path_prefix, "file_path_prefix")
        check_path(file_name_suffix, "file_name_suffix")
        check_compression(compression_type)
        number = whole_number(num_shards, 0, "num_shards", PipelineError)
        self._shards = Shards(
            *(file_path_prefix, file_name_suffix, shard_name_template is None),
            _as_bytes if coder is None else coder.encode,
            b"\n" if append_trailing_newlines else b"",
            None if header is None else _as_bytes(header),
            None if footer is None else _as_bytes(footer),
            compression_type,
            max(1, number) if shard_name_template is None else 1,
        )

    def expand(self, pcoll: PCollection[Any]) -> Any:
        check_collection(pcoll, self)
        return write_files(pcoll, self._shards)


def _as_bytes(value: Any) -> bytes:
    """The text of a value, as bytes."""
    return value if isinstance(value, bytes) else str(value).encode()
