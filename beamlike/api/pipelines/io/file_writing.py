"""Collections written to files whose names depend on the elements.

Source: Beam Python ``io.fileio``.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import copy
from functools import partial
from typing import Any, ClassVar, NamedTuple
from uuid import uuid4

from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.groups import GroupByKey
from beamlike.api.pipelines.io.compression import Compression, CompressionTypes
from beamlike.api.pipelines.io.errors import check_number, check_text
from beamlike.api.pipelines.io.file_names import FileNaming, default_file_naming
from beamlike.api.pipelines.io.file_sinks import remove_folder
from beamlike.api.pipelines.io.filesystems import FileSystems
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.value_providers import StaticValueProvider, ValueProvider
from beamlike.errors import PipelineError

__all__ = ["FileResult", "FileSink", "SinkMetadata", "TextSink", "WriteToFiles"]


class SinkMetadata(NamedTuple):
    """How a file is made. Source: Beam ``fileio.FileMetadata``."""

    mime_type: str
    compression_type: Compression


class FileSink:
    """How elements are written to a file. Subclasses write `open`, `write` and `flush`.

    Source: Beam ``FileSink``.
    """

    def create_metadata(self, destination: str, full_file_name: str) -> SinkMetadata:
        """How the file is made; by default without compression."""
        return SinkMetadata("application/octet-stream", CompressionTypes.AUTO)

    def open(self, fh: Any) -> None:
        """Begin with a file of bytes."""
        raise NotImplementedError(f"{type(self).__name__} does not define open")

    def write(self, record: Any) -> None:
        """Write an element."""
        raise NotImplementedError(f"{type(self).__name__} does not define write")

    def flush(self) -> None:
        """Write what was held back; the file is closed after it."""
        raise NotImplementedError(f"{type(self).__name__} does not define flush")


class TextSink(FileSink):
    """Texts as lines. Source: Beam ``fileio.TextSink``."""

    def open(self, fh: Any) -> None:
        self._fh = fh

    def write(self, record: str) -> None:
        self._fh.write(record.encode("utf8") + b"\n")

    def flush(self) -> None:
        self._fh.flush()


class FileResult(NamedTuple):
    """A file that was written. Source: Beam ``FileResult``."""

    file_name: str
    shard_index: int
    total_shards: int
    window: Any
    pane: Any
    destination: Any


class WriteToFiles(PTransform[PCollection[Any], PCollection[FileResult]]):
    """The elements written to files, by destination: a `FileResult` for each file comes out.

        records | WriteToFiles(
            "/data/out",
            destination=lambda record: record["type"],
            sink=lambda destination: MySink(),
            file_naming=destination_prefix_naming(".txt"),
        )

    The files of a destination and pane are written under other names, and renamed when all of
    them are there. A file of the same name is replaced.

    Args:
        path: The folder: a text or a `ValueProvider`.
        file_naming: The names in it, see `default_file_naming`. By default they begin with
            ``output``.
        destination: What an element belongs to: a function of it, or the same for all.
        temp_directory: The folder of files that are not complete; by default one in ``path``.
        sink: How a file is written: a `FileSink`, a class of them, or a function of the
            destination.
        shards: How many files a destination has, if ``max_writers_per_bundle`` is 0; elements go
            to them in turn. Else it has one.
        output_fn: Counts for nothing, as in Beam.
        max_writers_per_bundle: See ``shards``.

    Raises:
        PipelineError: ``shards`` is no number of 1 or more, or the path is no text.

    Source: Beam ``WriteToFiles``.
    """

    MAX_NUM_WRITERS_PER_BUNDLE: ClassVar[int] = 20
    DEFAULT_SHARDING: ClassVar[int] = 5

    def __init__(
        self,
        path: str | ValueProvider,
        file_naming: FileNaming | None = None,
        destination: Any = None,
        temp_directory: str | ValueProvider | None = None,
        sink: Any = None,
        shards: int | None = None,
        output_fn: Any = None,
        max_writers_per_bundle: int = MAX_NUM_WRITERS_PER_BUNDLE,
    ) -> None:
        super().__init__()
        check_text(path, "path")
        if shards is not None:
            check_number(shards, "shards", least=1)
        self.path: Any = StaticValueProvider(str, path) if isinstance(path, str) else path
        self.file_naming_fn = file_naming or default_file_naming("output")
        self.destination_fn = _destination(destination)
        self.sink_fn = _sinks(sink)
        self.shards = (shards or self.DEFAULT_SHARDING) if max_writers_per_bundle == 0 else 1
        temporary: Any = temp_directory
        if isinstance(temporary, str):
            temporary = StaticValueProvider(str, temporary)
        self._temporary = temporary

    def expand(self, given: PCollection[Any]) -> PCollection[FileResult]:
        check_collection(given, self)
        place = _Place(self.path, self._temporary, uuid4().hex)
        given.pipeline.on_finish.append(partial(remove_unless_late, place))
        given.pipeline.writes_itself = True
        return (
            given
            | "ByDestination" >> ParDo(_ByDestination(self.destination_fn))
            | "GroupRecordsByDestination" >> GroupByKey()
            | "Write" >> ParDo(_Writing(place, self.file_naming_fn, self.sink_fn, self.shards))
        )


def _destination(destination: Any) -> Callable[[Any], Any]:
    if isinstance(destination, ValueProvider):
        return lambda element: destination.get()
    return destination if callable(destination) else lambda element: destination


def _sinks(sink: Any) -> Callable[[Any], FileSink]:
    if sink is None:
        return lambda destination: TextSink()
    if isinstance(sink, type):
        return lambda destination: sink()
    if isinstance(sink, FileSink):
        return lambda destination: copy(sink)
    if callable(sink):
        return sink  # type: ignore[no-any-return]
    raise PipelineError(
        f"WriteToFiles sink must be a FileSink or a function of the destination, got {sink!r}; "
        "write sink=TextSink()"
    )


class _Place:
    """The folder of the files, and the one of files that are not complete."""

    def __init__(self, path: Any, temporary: Any, run: str) -> None:
        self._path, self._temporary, self._run = path, temporary, run

    def is_known(self) -> bool:
        return all(it is None or it.is_accessible() for it in (self._path, self._temporary))

    @property
    def folder(self) -> str:
        return str(self._path.get())

    @property
    def temporary(self) -> str:
        within = self._path if self._temporary is None else self._temporary
        return FileSystems.join(within.get(), f".temp-{self._run}")


def remove_unless_late(place: _Place) -> None:
    """Remove what is not complete, if the options are known that say where it is."""
    if place.is_known():
        remove_folder(place.temporary)


class _ByDestination(DoFn[Any, Any]):
    def __init__(self, destination_fn: Callable[[Any], Any]) -> None:
        self._destination = destination_fn

    def process(self, element: Any) -> list[Any]:
        return [(self._destination(element), element)]


class _Writing(DoFn[Any, FileResult]):
    """Writes the files of a destination."""

    def __init__(
        self,
        place: _Place,
        naming: FileNaming,
        sink_fn: Callable[[Any], FileSink],
        shards: int,
    ) -> None:
        self._place, self._naming, self._sink, self._shards = place, naming, sink_fn, shards

    def process(
        self, element: Any, window: Any = DoFn.WindowParam, pane: Any = DoFn.PaneInfoParam
    ) -> Iterator[FileResult]:
        destination, records = element
        records = list(records)
        shards = min(self._shards, len(records))
        written = [self._written(destination, records[at::shards]) for at in range(shards)]
        results = [
            FileResult(
                self._naming(window, pane, at, shards, "", destination),
                at,
                shards,
                window,
                pane,
                destination,
            )
            for at in range(shards)
        ]
        names = [FileSystems.join(self._place.folder, it.file_name) for it in results]
        FileSystems.rename(written, names)
        yield from results

    def _written(self, destination: Any, records: Iterable[Any]) -> str:
        """Write a file under another name; which."""
        sink = self._sink(destination)
        path = FileSystems.join(self._place.temporary, uuid4().hex)
        metadata = sink.create_metadata(destination, path)
        file = FileSystems.create(path, *metadata)
        try:
            sink.open(file)
            for record in records:
                sink.write(record)
            sink.flush()
            file.close()
        except BaseException:
            with suppress(Exception):
                file.close()
            FileSystems.delete([path])
            raise
        return path
