"""Sources of files: one's own and those of the formats here.

Source: Beam Python ``io.filebasedsource``.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from beamlike.api.pipelines.io.compression import Compression, CompressionTypes, check_compression
from beamlike.api.pipelines.io.errors import BeamIOError, check_text
from beamlike.api.pipelines.io.file_systems import FileMetadata
from beamlike.api.pipelines.io.filesystems import FileSystems
from beamlike.api.pipelines.io.range_trackers import OffsetRangeTracker, RangeTracker
from beamlike.api.pipelines.io.sources import BoundedSource, SourceBundle
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.value_providers import StaticValueProvider, ValueProvider

__all__ = ["FileBasedSource", "ReadAllFiles"]


class FileBasedSource(BoundedSource):
    """The records of files. Subclasses say in `read_records` what is in one.

    Args:
        file_pattern: The files, see `FileSystems.match`: a text or a `ValueProvider`.
        min_bundle_size: Counts for nothing: a file is read as a whole.
        compression_type: How they are compressed; by default as the end of the name says.
        splittable: Counts for nothing.
        validate: Whether the files must be there already.

    Raises:
        PipelineTypeError: The pattern is no text, or the compression is none.
        BeamIOError: There are no such files.

    Source: Beam ``FileBasedSource``.
    """

    MIN_NUMBER_OF_FILES_TO_STAT = 100
    MIN_FRACTION_OF_FILES_TO_STAT = 0.01

    def __init__(
        self,
        file_pattern: str | ValueProvider,
        min_bundle_size: int = 0,
        compression_type: Compression = CompressionTypes.AUTO,
        splittable: bool = True,
        validate: bool = True,
    ) -> None:
        check_text(file_pattern, f"{type(self).__name__} file_pattern")
        check_compression(compression_type)
        pattern: Any = file_pattern
        if isinstance(pattern, str):
            pattern = StaticValueProvider(str, pattern)
        self._pattern = pattern
        self._min_bundle_size = min_bundle_size
        self._compression_type = compression_type
        self._splittable = splittable
        if validate and self._pattern.is_accessible():
            self.check_files()

    def check_files(self) -> None:
        """Look for the files.

        Raises:
            BeamIOError: There are none.
        """
        pattern = self._pattern.get()
        if not FileSystems.match([pattern], limits=[1])[0].metadata_list:
            raise BeamIOError(
                f"No files found based on the file pattern {pattern}; write another, or "
                "validate=False if they come later"
            )

    @property
    def splittable(self) -> bool:
        """Whether it may be read in parts."""
        return self._splittable

    def open_file(self, file_name: str) -> Any:
        """The content of a file, without its compression."""
        return FileSystems.open(file_name, compression_type=self._compression_type)

    def read_records(self, file_name: str, offset_range_tracker: RangeTracker) -> Iterable[Any]:
        """The records of a file, from positions that the tracker lets it claim.

        Args:
            file_name: The file, for `open_file`.
            offset_range_tracker: A range of bytes: all that the file has.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define read_records")

    def _files(self) -> list[FileMetadata]:
        found = FileSystems.match([self._pattern.get()])[0].metadata_list
        return [file for file in found if file.size_in_bytes > 0]

    def records_of(self, file: FileMetadata) -> Iterable[Any]:
        """All records of a file."""
        return self.read_records(file.path, self._range_of(file))

    def _range_of(self, file: FileMetadata) -> OffsetRangeTracker:
        kind = self._compression_type
        if kind == CompressionTypes.AUTO:
            kind = CompressionTypes.detect_compression_type(file.path)
        known = kind == CompressionTypes.UNCOMPRESSED
        return OffsetRangeTracker(0, file.size_in_bytes if known else float("inf"))

    def estimate_size(self) -> int:
        return sum(file.size_in_bytes for file in self._files())

    def split(
        self,
        desired_bundle_size: float | None = None,
        start_position: Any = None,
        stop_position: Any = None,
    ) -> Iterator[SourceBundle]:
        yield SourceBundle(self.estimate_size(), self, start_position, stop_position)

    def get_range_tracker(self, start_position: Any, stop_position: Any) -> RangeTracker:
        return OffsetRangeTracker(0, float("inf"))

    def read(self, range_tracker: RangeTracker) -> Iterator[Any]:
        for file in self._files():
            yield from self.records_of(file)


class ReadAllFiles(PTransform[PCollection[Any], PCollection[Any]]):
    """The records of the files that a collection names.

    Args:
        splittable: Counts for nothing: a file is read as a whole.
        compression_type: Likewise: the source knows it.
        desired_bundle_size: Likewise.
        min_bundle_size: Likewise.
        source_from_file: Makes the source of a file, from its name.
        with_filename: Whether elements are pairs of the name of the file and the record.

    Source: Beam ``ReadAllFiles``.
    """

    def __init__(
        self,
        splittable: bool,
        compression_type: Compression,
        desired_bundle_size: int,
        min_bundle_size: int,
        source_from_file: Callable[[str], FileBasedSource],
        with_filename: bool = False,
    ) -> None:
        super().__init__()
        self._source_of, self._with_filename = source_from_file, with_filename

    def expand(self, given: PCollection[Any]) -> PCollection[Any]:
        return given | "ReadFiles" >> ParDo(_ReadingFiles(self._source_of, self._with_filename))


class ReadsAll(PTransform[PCollection[Any], PCollection[Any]]):
    """A transform that reads the files that a collection names."""

    _read: ReadAllFiles

    def expand(self, given: PCollection[Any]) -> PCollection[Any]:
        return given | "ReadAllFiles" >> self._read


class _ReadingFiles(DoFn[Any, Any]):
    def __init__(self, source_of: Callable[[str], FileBasedSource], with_filename: bool) -> None:
        self._source_of, self._with_filename = source_of, with_filename

    def process(self, element: Any) -> Iterator[Any]:
        files = (
            [element]
            if isinstance(element, FileMetadata)
            else FileSystems.match([getattr(element, "metadata", element)])[0].metadata_list
        )
        for file in files:
            for record in self._source_of(file.path).records_of(file):
                yield (file.path, record) if self._with_filename else record
