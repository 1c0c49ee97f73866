"""Text files in and out of pipelines, found and opened by fsspec.

A pattern has ``*``, any text without a slash, ``**``, any folders, ``?``, a character, and
``[abc]``, one of these. All files of a collection are written, or none: each shard into a hidden
folder beside its place, and it gets its name when all of them are there. Functions of the pipeline
read and write: in this process, or in tasks of Spark, which must see the same files.

Source: Beam Python ``io.textio``, ``io.filebasedsink`` and ``io.filesystem``.
"""

import io
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, islice
from typing import IO, Any, ClassVar, Final, Literal
from uuid import uuid4

from beamlike.api.pipelines.beams_own import needs_beams_sdk, without_beams_own
from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.coders import StrUtf8Coder
from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.groups import GroupByKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.window_fns import GlobalWindows
from beamlike.api.pipelines.python.windowing import WindowInto
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.windowing import Flatten
from beamlike.errors import PipelineError, PipelineTypeError, UnsupportedError
from beamlike.extras import missing
from beamlike.model import windowfns
from beamlike.model.coders import Coder
from beamlike.model.options import AccumulationMode, whole_number
from beamlike.model.triggers import DefaultTrigger

__all__ = ["ReadAllFromText", "ReadFromText", "ReadFromTextWithFilename", "WriteToText"]

_UTF8: Final = StrUtf8Coder()
_NOT_READ: Final = ("delimiter", "escapechar", "min_bundle_size", "desired_bundle_size")
_NOT_WRITTEN: Final = (
    *("max_records_per_shard", "max_bytes_per_shard", "skip_if_empty", "triggering_frequency"),
)
"""Arguments that only Beam's own SDK takes."""
Compression = Literal["auto", "bzip2", "gzip", "lzma", "uncompressed", "zstd"]
_CODECS: Final[Mapping[Compression, str | None]] = {
    **{"auto": "infer", "bzip2": "bz2", "gzip": "gzip"},
    **{"lzma": "xz", "uncompressed": None, "zstd": "zstd"},
}
"""What fsspec calls each compression."""


class BeamIOError(PipelineError, OSError):
    """Files could not be found."""


class CompressionTypes:
    """How a file is compressed."""

    AUTO: Final = "auto"
    BZIP2: Final = "bzip2"
    GZIP: Final = "gzip"
    LZMA: Final = "lzma"
    UNCOMPRESSED: Final = "uncompressed"
    ZSTD: Final = "zstd"


def _check_compression(compression_type: object) -> None:
    if compression_type not in _CODECS:
        raise PipelineTypeError(
            f"compression_type must be one of CompressionTypes, got {compression_type!r}; write "
            'CompressionTypes.GZIP, or leave it out: a name that ends with ".gz" says so'
        )


def _check_path(path: object, argument: str) -> None:
    if not isinstance(path, str):
        raise PipelineTypeError(
            f"{argument} must be a string, got {path!r}; write the path as text"
        )


# -- files -----------------------------------------------------------------------------------


def _system(path: str) -> tuple[Any, str]:
    """The file system of a path, and the path as that system writes it."""
    try:
        from fsspec.core import url_to_fs

        system, inner = url_to_fs(path)
    except ImportError as error:
        raise missing(f"the path {path!r}", [error.name or "fsspec"], "io") from error
    except ValueError as error:
        raise UnsupportedError(f"the path {path!r} cannot be used: {error}") from error
    return system, inner


def _matching(pattern: str) -> list[str]:
    """The files that a pattern names, in order. A path without wildcards stays as it is written."""
    system, path = _system(pattern)
    if system.isfile(path):
        return [pattern]
    details = system.glob(path, detail=True) if any(sign in path for sign in "*?[") else {}
    names = sorted(name for name, detail in details.items() if detail["type"] == "file")
    return [*map(system.unstrip_protocol, names)] if "://" in pattern else names


@contextmanager
def _opened(path: str, mode: Literal["rb", "wb"], compression: Compression) -> Iterator[IO[bytes]]:
    """An open file, whose content is without its compression. Folders of a new file are made."""
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


def _move(source: str, target: str) -> None:
    """Give a file another path, and replace the one of that path."""
    system, old = _system(source)
    _, new = _system(target)
    if not system.exists(old) and system.exists(new):
        return  # a worker that was started anew moves files once more
    with suppress(FileNotFoundError):
        system.rm(new)
    system.mv(old, new)


def _remove(folder: str) -> None:
    """Remove a folder with all that is in it. One that is gone already is no error."""
    system, inner = _system(folder)
    try:
        if system.exists(inner):
            system.rm(inner, recursive=True)
    except OSError as error:
        logging.getLogger(__name__).warning("%s cannot be removed: %s", folder, error)


# -- reading ---------------------------------------------------------------------------------


class _ReadFiles(DoFn[str, Any]):
    """The lines of the files that an element names, maybe each with the name of its file."""

    def __init__(
        self,
        compression: Compression,
        strip_newlines: bool,
        coder: Coder,
        skip_header_lines: int,
        with_filename: bool,
    ) -> None:
        _check_compression(compression)
        self._compression, self._strip_newlines = compression, strip_newlines
        self._skipped = whole_number(skip_header_lines, 0, "skip_header_lines", PipelineError)
        self._coder, self._with_filename = coder, with_filename

    def process(self, element: str) -> Iterator[Any]:
        _check_path(element, "ReadAllFromText: the name of a file")
        for path in _matching(element):
            for line in self._lines(path):
                yield (path, line) if self._with_filename else line

    def _lines(self, path: str) -> Iterator[Any]:
        with _opened(path, "rb", self._compression) as file:
            for line in islice(file, self._skipped, None):
                if self._strip_newlines and line.endswith(b"\n"):
                    line = line[: -2 if line.endswith(b"\r\n") else -1]
                yield self._coder.decode(line)


class ReadFromText(PTransform[Pipeline, PCollection[Any]]):
    """The lines of text files, which end with ``\\n`` or ``\\r\\n``.

        lines = pipeline | ReadFromText("/data/2026-*.txt.gz", skip_header_lines=1)

    Args:
        file_pattern: A path, which may have ``*``, ``**``, ``?`` and ``[...]`` in it, and a scheme
            such as ``s3://``.
        compression_type: How the files are compressed; by default as the end of a name says.
        strip_trailing_newlines: Whether lines come without their ends.
        coder: Makes elements of bytes.
        validate: Whether the files must be there when the pipeline is built.
        skip_header_lines: How many lines at the beginning of each file are left out.

    Raises:
        BeamIOError: There are no such files.
        PipelineError: An argument cannot be used.
        UnsupportedError: It is one of Beam's own SDK: ``delimiter``, ``escapechar``,
            ``min_bundle_size``: a file is read as a whole.
        EnvironmentProblem: fsspec is not installed.
    """

    _with_filename: ClassVar[bool] = False

    def __init__(
        self,
        file_pattern: str,
        *,
        compression_type: Compression = CompressionTypes.AUTO,
        strip_trailing_newlines: bool = True,
        coder: Coder = _UTF8,
        validate: bool = True,
        skip_header_lines: int = 0,
        **label: Any,
    ) -> None:
        super().__init__(**without_beams_own("ReadFromText", label, *_NOT_READ))
        _check_path(file_pattern, f"{type(self).__name__} file_pattern")
        self._pattern = file_pattern
        how = compression_type, strip_trailing_newlines, coder, skip_header_lines
        self._read = _ReadFiles(*how, self._with_filename)
        if validate and not _matching(file_pattern):
            raise BeamIOError(
                f"No files found based on the file pattern {file_pattern}; write another, or "
                "validate=False if they come later"
            )

    def expand(self, pbegin: Any) -> PCollection[Any]:
        pattern: PCollection[str] = pbegin.pipeline | "Pattern" >> Create([self._pattern])
        return pattern | "ReadFiles" >> ParDo(self._read)


class ReadFromTextWithFilename(ReadFromText):
    """The lines of text files as pairs of the name of the file and the line, see `ReadFromText`."""

    _with_filename = True


class ReadAllFromText(PTransform[PCollection[str], PCollection[Any]]):
    """The lines of the text files that a collection names.

    Args:
        compression_type: As in `ReadFromText`, and so is all that has its name.
        validate: No effect: a pattern without files has no lines.
        with_filename: Whether elements are pairs of the name of the file and the line.
    """

    def __init__(
        self,
        *,
        compression_type: Compression = CompressionTypes.AUTO,
        strip_trailing_newlines: bool = True,
        validate: bool = False,
        coder: Coder = _UTF8,
        skip_header_lines: int = 0,
        with_filename: bool = False,
        **label: Any,
    ) -> None:
        super().__init__(**without_beams_own("ReadAllFromText", label, *_NOT_READ))
        how = compression_type, strip_trailing_newlines, coder, skip_header_lines
        self._read = _ReadFiles(*how, with_filename)

    def expand(self, names: PCollection[str]) -> PCollection[Any]:
        return names | "ReadFiles" >> ParDo(self._read)


# -- writing ---------------------------------------------------------------------------------


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
        **beam_arguments: Any,
    ) -> None:
        super().__init__(**without_beams_own("WriteToText", beam_arguments, *_NOT_WRITTEN))
        if shard_name_template:
            raise needs_beams_sdk("WriteToText(shard_name_template=...)")
        _check_path(file_path_prefix, "file_path_prefix")
        _check_path(file_name_suffix, "file_name_suffix")
        _check_compression(compression_type)
        number = whole_number(num_shards, 0, "num_shards", PipelineError)
        self._prefix, self._suffix = file_path_prefix, file_name_suffix
        self._is_numbered, self._compression = shard_name_template is None, compression_type
        self._number = max(1, number) if self._is_numbered else 1
        self._encode = _as_bytes if coder is None else coder.encode
        self._end = end = b"\n" if append_trailing_newlines else b""
        lines = (b"" if line is None else _as_bytes(line) + end for line in (header, footer))
        self._header, self._footer = lines
        self._folder = ""

    def expand(self, pcoll: PCollection[Any]) -> Any:
        check_collection(pcoll, self)
        pcoll.pipeline.writes_itself = True
        shards, (parent, slash, name) = self._copy(), self._prefix.rpartition("/")
        shards._folder = f"{parent}{slash}.temp-{name}-{uuid4().hex}"  # no other run has it
        pcoll.pipeline.on_finish.append(lambda: _remove(shards._folder))
        return shards._write_all(pcoll) if pcoll.is_bounded else shards._write_panes(pcoll)

    def _write_all(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        """Write a collection that ends: everything, then it gets its names."""
        names = pcoll.pipeline.free_label("Shards")
        # Nothing stands in each shard, so that one of no elements is written too.
        nothing = [(shard, ()) for shard in range(self._number)]
        sources = {
            "Elements": pcoll | "Number" >> ParDo(_NumberInTurn(self._number)),
            "Marks": pcoll.pipeline | names >> Create(nothing),
        }
        one_window = WindowInto(
            GlobalWindows(), trigger=DefaultTrigger(), accumulation_mode=AccumulationMode.DISCARDING
        )
        return (
            tuple(source | name >> one_window for name, source in sources.items())
            | "WithMarks" >> Flatten()
            | "Group" >> GroupByKey()
            | "WriteShards"
            >> Map(lambda group: (None, self._written(chain.from_iterable(group[1]), group[0])))
            | "GroupShards" >> GroupByKey()
            | "NameShards" >> FlatMap(lambda paths: self._named(paths[1]))
        )

    def _write_panes(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        """Write a stream: each pane, and then its files get their names."""
        if isinstance(pcoll.windowing.window_fn, windowfns.GlobalWindows):
            raise PipelineError(
                "To write a GlobalWindow unbounded PCollection, put it into windows with "
                "WindowInto(...) before: each pane becomes files of its own"
            )

        def written(
            group: Any, window: Any = DoFn.WindowParam, pane: Any = DoFn.PaneInfoParam
        ) -> list[str]:
            values, count = list(group[1]), self._number
            paths = [self._written(values[shard::count], shard) for shard in range(count)]
            return self._named(paths, window, pane.index)

        pairs = pcoll | "Pair" >> Map(lambda value: (None, value))
        return pairs | "GroupByWindow" >> GroupByKey() | "WriteWindow" >> FlatMap(written)

    def _written(self, values: Iterable[Any], shard: int) -> str:
        """Write elements into the file of a shard, and return its path in the hidden folder."""
        # The end of the name says how the file is compressed.
        name = f"{self._prefix.rpartition('/')[2]}{self._suffix}"
        path = f"{self._folder}/{shard:05}-{uuid4().hex}.{name}"
        with _opened(path, "wb", self._compression) as file:
            file.write(self._header)
            for value in values:
                file.write(self._encode(value) + self._end)
            file.write(self._footer)
        return path

    def _named(self, written: Iterable[str], window: Any = None, pane: int = 0) -> list[str]:
        """Give files their names, and replace those of these names.

        Args:
            written: The paths in the hidden folder.
            window: The window of a stream; None: the collection ends.
            pane: The index of its pane. What follows the first has it in its name, so that
                nothing is lost.
        """
        sources = sorted(written)
        before = self._prefix if window is None else f"{self._prefix}-{window}"
        after = f"-pane-{pane}{self._suffix}" if pane else self._suffix
        targets = [f"{self._prefix}{after}"]
        if self._is_numbered:
            count = len(sources)
            targets = [f"{before}-{shard:05}-of-{count:05}{after}" for shard in range(count)]
        for source, target in zip(sources, targets, strict=True):
            _move(source, target)
        return targets


def _as_bytes(value: Any) -> bytes:
    """The text of a value, as bytes."""
    return value if isinstance(value, bytes) else str(value).encode()


class _NumberInTurn(DoFn[Any, Any]):
    """Elements, each in a tuple, with the numbers of shards, in turn."""

    def __init__(self, shards: int) -> None:
        self._shards, self._next = shards, 0

    def process(self, element: Any) -> Iterator[Any]:
        yield self._next, (element,)
        self._next = (self._next + 1) % self._shards
