"""Sinks of files: one's own and those of the formats here.

Source: Beam Python ``io.filebasedsink``.
"""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from posixpath import basename
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import uuid4

from beamlike.api.pipelines.io.compression import Compression, CompressionTypes, check_compression
from beamlike.api.pipelines.io.errors import BeamIOError, check_number, check_text
from beamlike.api.pipelines.io.filesystems import FileSystems
from beamlike.api.pipelines.io.sinks import Sink, Writer
from beamlike.api.pipelines.python.windows import BoundedWindow, GlobalWindow
from beamlike.api.pipelines.value_providers import StaticValueProvider, ValueProvider
from beamlike.errors import PipelineError

if TYPE_CHECKING:
    from beamlike.api.pipelines.pipeline import Pipeline
    from beamlike.model.panes import PaneInfo

__all__ = ["FileBasedSink", "FileBasedSinkWriter", "remove_folder"]

_LOG: Final = logging.getLogger(__name__)


DEFAULT_TEMPLATE: Final = "-SSSSS-of-NNNNN"
WINDOW_TEMPLATE: Final = "-W-SSSSS-of-NNNNN"

_PART: Final = re.compile(r"(S+)|(N+)|(U+)|(W+)|(V+)")
_SECONDS: Final = "%Y-%m-%dT%H-%M-%S"


class ShardNames:
    """Names of a template.

    ``S`` is the number of the shard, ``N`` how many there are, each with as many digits as there
    are letters; ``U`` is a text that is never the same, ``W`` the window and ``V`` the window in
    UTC. Of each only the first stands for something.

    >>> ShardNames("-SSS-of-NN").of(1, 12)
    '-001-of-12'

    Args:
        template: The template; an empty one names one shard.

    Raises:
        PipelineError: It has no ``S``.
    """

    def __init__(self, template: str) -> None:
        if template and "S" not in template:
            raise PipelineError(
                f"Shard number pattern S+ not found in shard_name_template: {template}; write "
                '"-SSSSS-of-NNNNN", or "" for a single file'
            )
        self.template = template

    def of(self, shard: int, shards: int, window: BoundedWindow | None = None) -> str:
        """The name of a shard.

        Args:
            shard: Its number.
            shards: How many there are.
            window: Of which window; None: there are none.
        """
        texts: dict[str, Callable[[int], str]] = {
            "S": lambda width: f"{shard:0{width}d}",
            "N": lambda width: f"{shards:0{width}d}",
            "U": lambda _width: uuid4().hex,
            "W": lambda _width: str(window),
            "V": lambda _width: str(_in_utc(window)),
        }
        seen: set[str] = set()

        def text(found: re.Match[str]) -> str:
            letter = found[0][0]
            if letter in seen:
                return found[0]
            seen.add(letter)
            return texts[letter](len(found[0]))

        return _PART.sub(text, self.template)

    def pattern(self, shards: int, window: BoundedWindow | None = None) -> re.Pattern[str]:
        """The names of all shards, however many digits there are."""
        known: dict[str, Any] = {
            "S": r"\d+",
            "N": rf"0*{shards}",
            "U": "[0-9a-f]+",
            "W": re.escape(str(window)),
            "V": re.escape(str(_in_utc(window))),
        }
        parts, seen = [], set[str]()
        for each in re.split(r"(S+|N+|U+|W+|V+)", self.template):
            stands = each[:1] in known and each[:1] not in seen
            seen.add(each[:1])
            parts.append(known[each[0]] if stands else re.escape(each))
        return re.compile("".join(parts))


def _in_utc(window: BoundedWindow | None) -> str | None:
    if window is None or isinstance(window, GlobalWindow):
        return None
    start, end = (it.to_utc_datetime().strftime(_SECONDS) for it in (window.start, window.end))
    return f"[{start}, {end})"


def _provider(value: Any) -> Any:
    return StaticValueProvider(str, value) if isinstance(value, str) else value


class FileBasedSink(Sink):
    """A sink of files. Subclasses say how a record is written.

    Each shard is written into a hidden folder beside its place, and renamed when all of them are
    there. Files with the names of shards that are there before are replaced.

    Args:
        file_path_prefix: How the names of the files begin: a text or a `ValueProvider`.
        coder: Makes bytes of a record.
        file_name_suffix: How they end.
        num_shards: How many files there are; 0: one, or more where ``max_...`` says so.
        shard_name_template: What stands between, see `ShardNames`. None: ``-SSSSS-of-NNNNN``, and
            for a stream ``-W-SSSSS-of-NNNNN``. An empty one is for a single file.
        mime_type: Counts for nothing.
        compression_type: How they are compressed; by default as the end of the name says.
        max_records_per_shard: After how many records another file begins.
        max_bytes_per_shard: After how many bytes, before compression.
        skip_if_empty: Whether there is no file if there is no element.
        convert_fn: A `DoFn` that makes records of the elements of a stream.
        triggering_frequency: The size of the windows that a stream is written by, seconds.

    Raises:
        PipelineTypeError: A path is no text, or the compression is none.
        PipelineError: The template names no shards.

    Source: Beam ``FileBasedSink``.
    """

    def __init__(
        self,
        file_path_prefix: str | ValueProvider,
        coder: Any,
        file_name_suffix: str | ValueProvider = "",
        num_shards: int = 0,
        shard_name_template: str | None = None,
        mime_type: str = "application/octet-stream",
        compression_type: Compression = CompressionTypes.AUTO,
        *,
        max_records_per_shard: int | None = None,
        max_bytes_per_shard: int | None = None,
        skip_if_empty: bool = False,
        convert_fn: Any = None,
        triggering_frequency: float | None = None,
    ) -> None:
        check_text(file_path_prefix, "file_path_prefix")
        check_text(file_name_suffix, "file_name_suffix")
        check_compression(compression_type)
        check_number(num_shards or 0, "num_shards")
        self.file_path_prefix = _provider(file_path_prefix)
        self.file_name_suffix = _provider(file_name_suffix)
        self.num_shards = 1 if shard_name_template == "" else num_shards or 0
        self.coder, self.mime_type, self.compression_type = coder, mime_type, compression_type
        self.shard_name_template = shard_name_template
        self.names = ShardNames(
            DEFAULT_TEMPLATE if shard_name_template is None else shard_name_template
        )
        self.max_records_per_shard = max_records_per_shard
        self.max_bytes_per_shard = max_bytes_per_shard
        self.skip_if_empty = skip_if_empty
        self.convert_fn, self.triggering_frequency = convert_fn, triggering_frequency
        self._run = uuid4().hex

    def begin(self, pipeline: "Pipeline") -> Self:
        """The same sink for one place of a pipeline, with a hidden folder of its own."""
        own = copy(self)
        own._run = uuid4().hex
        pipeline.on_finish.append(partial(own._clean))
        return own

    def _clean(self) -> None:
        if self.file_path_prefix.is_accessible():
            remove_folder(self._folder())

    def _folder(self) -> str:
        before, name = FileSystems.split(self.file_path_prefix.get())
        return FileSystems.join(before, f".temp-{name}-{self._run}")

    def open(self, temp_path: str) -> Any:
        """A file to write; what it answers is given to `write_record` and `close`."""
        return FileSystems.create(temp_path, self.mime_type, self.compression_type)

    def write_record(self, file_handle: Any, value: Any) -> None:
        """Write an element: by default as bytes of the coder."""
        self.write_encoded_record(file_handle, self.coder.encode(value))

    def write_encoded_record(self, file_handle: Any, encoded_value: bytes) -> None:
        """Write the bytes of an element."""
        raise NotImplementedError(
            f"{type(self).__name__} defines neither write_record nor write_encoded_record"
        )

    def close(self, file_handle: Any) -> None:
        """Write the end of a file, and close it."""
        if file_handle is not None:
            file_handle.close()

    def initialize_write(self) -> str:
        folder = self._folder()
        with suppress(FileExistsError):
            FileSystems.mkdirs(folder)
        return folder

    def open_writer(self, init_result: str, uid: str) -> "FileBasedSinkWriter":
        # The end of the name says how the file is compressed.
        name = f"{uid}.{basename(self.file_path_prefix.get())}{self.file_name_suffix.get()}"
        return FileBasedSinkWriter(self, FileSystems.join(init_result, name))

    def pre_finalize(self, init_result: str, writer_results: Sequence[str]) -> None:
        self._remove_old(len(writer_results), None, self.names)

    def _remove_old(
        self, shards: int, window: BoundedWindow | None, names: ShardNames, after: str = ""
    ) -> None:
        """Remove files that have the name of any of so many shards."""
        prefix, suffix = self.file_path_prefix.get(), self.file_name_suffix.get()
        folder, _ = FileSystems.split(prefix)
        fits, end = names.pattern(shards, window), f"{after}{suffix}"
        system = FileSystems.get_filesystem(prefix)
        if system.metadata(folder or ".") is None:
            return
        old = [
            it.path
            for it in system.match(FileSystems.join(folder, "*") if folder else "*")
            if it.path.startswith(prefix)
            and it.path.endswith(end)
            and fits.fullmatch(it.path[len(prefix) : len(it.path) - len(end)])
        ]
        if old:
            _LOG.warning("Deleting %d existing files in target path", len(old))
            FileSystems.delete(old)

    def finalize_write(
        self, init_result: str, writer_results: Sequence[str], pre_finalize_result: Any
    ) -> Iterable[str]:
        return self._rename(writer_results, None, self.names)

    def finalize_pane(
        self, init_result: str, writer_results: Sequence[str], window: Any, pane: "PaneInfo"
    ) -> Iterable[str]:
        """The same for a pane of a stream.

        What follows the first pane of a window has the number of the pane in its name, so that
        nothing of it is lost.
        """
        names = self.names if self.shard_name_template is not None else ShardNames(WINDOW_TEMPLATE)
        after = f"-pane-{pane.index}" if pane.index else ""
        self._remove_old(len(writer_results), window, names, after)
        return self._rename(writer_results, window, names, after)

    def _rename(
        self,
        written: Sequence[str],
        window: BoundedWindow | None,
        names: ShardNames,
        after: str = "",
    ) -> list[str]:
        prefix, suffix = self.file_path_prefix.get(), self.file_name_suffix.get()
        sources = sorted(written)
        targets = [
            f"{prefix}{names.of(shard, len(sources), window)}{after}{suffix}"
            for shard in range(len(sources))
        ]
        # A worker that was started anew may do it again.
        gone = [
            source
            for source, target in zip(sources, targets, strict=True)
            if not FileSystems.exists(source) and not FileSystems.exists(target)
        ]
        if gone:
            raise BeamIOError(f"what was written to {gone[0]!r} is not there any more")
        left = [it for it in zip(sources, targets, strict=True) if FileSystems.exists(it[0])]
        FileSystems.rename([source for source, _ in left], [target for _, target in left])
        return targets


def remove_folder(folder: str) -> None:
    """Remove a folder if it is there, and say so in the log if that fails."""
    try:
        if FileSystems.exists(folder):
            FileSystems.delete([folder])
    except OSError as error:
        _LOG.warning("Unable to delete %s: %s", folder, error)


class FileBasedSinkWriter(Writer):
    """Writes a shard of a `FileBasedSink`. Source: Beam ``FileBasedSinkWriter``."""

    def __init__(self, sink: FileBasedSink, temp_shard_path: str) -> None:
        self.sink, self.temp_shard_path = sink, temp_shard_path
        self.temp_handle = sink.open(temp_shard_path)
        self.num_records_written = 0
        self._counted = _Counting(self.temp_handle) if sink.max_bytes_per_shard else None

    def write(self, value: Any) -> None:
        self.num_records_written += 1
        self.sink.write_record(self._counted or self.temp_handle, value)

    def at_capacity(self) -> bool:
        records, size = self.sink.max_records_per_shard, self.sink.max_bytes_per_shard
        is_full = records is not None and self.num_records_written >= records
        return is_full or (self._counted is not None and self._counted.written >= (size or 0))

    def close(self) -> str:
        self.sink.close(self.temp_handle)
        return self.temp_shard_path

    def abort(self) -> None:
        with suppress(Exception):
            self.temp_handle.close()
        FileSystems.delete([self.temp_shard_path])


class _Counting:
    """A file with the number of bytes that were written."""

    def __init__(self, file: Any) -> None:
        self._file, self.written = file, 0

    def write(self, data: bytes) -> None:
        self.written += len(data)
        self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
