"""Files as elements: found by patterns, and opened by functions.

Source: Beam Python ``io.fileio``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from beamlike.api.pipelines.elements import Create, FlatMap
from beamlike.api.pipelines.io.compression import Compression, CompressionTypes
from beamlike.api.pipelines.io.errors import BeamIOError
from beamlike.api.pipelines.io.file_systems import FileMetadata
from beamlike.api.pipelines.io.filesystems import FileSystems
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError

__all__ = ["EmptyMatchTreatment", "MatchAll", "MatchFiles", "ReadMatches", "ReadableFile"]


EmptyMatch = Literal["ALLOW", "DISALLOW", "ALLOW_IF_WILDCARD"]


class EmptyMatchTreatment:
    """What a pattern means that no file fits. Source: Beam ``EmptyMatchTreatment``."""

    ALLOW: Final = "ALLOW"
    DISALLOW: Final = "DISALLOW"
    ALLOW_IF_WILDCARD: Final = "ALLOW_IF_WILDCARD"

    @staticmethod
    def allow_empty_match(pattern: str, setting: str) -> bool:
        """Whether this pattern may have no files.

        Raises:
            PipelineError: There is no such setting.
        """
        allowed: Mapping[str, bool] = {
            EmptyMatchTreatment.ALLOW: True,
            EmptyMatchTreatment.DISALLOW: False,
            EmptyMatchTreatment.ALLOW_IF_WILDCARD: "*" in pattern,
        }
        if setting not in allowed:
            raise PipelineError(
                f"empty_match_treatment must be one of {', '.join(allowed)}, got {setting!r}"
            )
        return allowed[setting]


class MatchFiles(PTransform[Any, PCollection[FileMetadata]]):
    """The files that fit a pattern.

    Args:
        file_pattern: See `FileSystems.match`.
        empty_match_treatment: Whether there must be some.

    Raises:
        BeamIOError: When it runs: there must be some, and are none.

    Source: Beam ``MatchFiles``.
    """

    def __init__(
        self,
        file_pattern: str,
        empty_match_treatment: EmptyMatch = EmptyMatchTreatment.ALLOW_IF_WILDCARD,
    ) -> None:
        super().__init__()
        self._pattern, self._empty = file_pattern, empty_match_treatment

    def expand(self, given: Any) -> PCollection[FileMetadata]:
        pipeline = getattr(given, "pipeline", given)
        patterns = pipeline | pipeline.free_label("Create") >> Create([self._pattern])
        made: PCollection[FileMetadata] = patterns | MatchAll(self._empty)
        return made


class MatchAll(PTransform[PCollection[Any], PCollection[FileMetadata]]):
    """The files that fit the patterns of a collection.

    Args:
        empty_match_treatment: Whether there must be some.

    Raises:
        BeamIOError: When it runs: there must be some, and are none.

    Source: Beam ``MatchAll``.
    """

    def __init__(self, empty_match_treatment: EmptyMatch = EmptyMatchTreatment.ALLOW) -> None:
        super().__init__()
        self._empty = empty_match_treatment

    def expand(self, given: PCollection[Any]) -> PCollection[FileMetadata]:
        return given | "Match" >> FlatMap(matched, self._empty)


def matched(pattern: Any, empty: EmptyMatch) -> Iterable[FileMetadata]:
    """The files that fit a pattern.

    Raises:
        BeamIOError: There must be some, and are none.
    """
    text = pattern.get() if hasattr(pattern, "get") else pattern
    found = FileSystems.match([text])[0].metadata_list
    if not found and not EmptyMatchTreatment.allow_empty_match(text, empty):
        raise BeamIOError(
            f"Empty match for pattern {text}. Disallowed. Write another pattern, or "
            "empty_match_treatment=EmptyMatchTreatment.ALLOW"
        )
    return found


class ReadableFile:
    """A file that was found, to be read. Source: Beam ``ReadableFile``.

    Args:
        metadata: Its name and size.
        compression: How it is compressed; None: as the end of the name says.
    """

    def __init__(self, metadata: FileMetadata, compression: Compression | None = None) -> None:
        self.metadata, self._compression = metadata, compression

    def open(
        self, mime_type: str = "text/plain", compression_type: Compression | None = None
    ) -> Any:
        """Its content, without compression, as a file of bytes."""
        kind = compression_type or self._compression or CompressionTypes.AUTO
        return FileSystems.open(self.metadata.path, compression_type=kind)

    def read(self, mime_type: str = "application/octet-stream") -> bytes:
        """All of its bytes."""
        with self.open() as file:
            found: bytes = file.read()
        return found

    def read_utf8(self) -> str:
        """All of its text."""
        return self.read().decode("utf-8")

    def __repr__(self) -> str:
        return f"ReadableFile({self.metadata!r})"


class ReadMatches(PTransform[PCollection[Any], PCollection[ReadableFile]]):
    """The files of a collection of names, or of files that were found, as `ReadableFile`.

    Args:
        compression: How they are compressed; None: as the end of the name says.
        skip_directories: Whether names that end with a slash are left out; else they are refused.

    Raises:
        BeamIOError: When it runs: a folder is among them.

    Source: Beam ``ReadMatches``.
    """

    def __init__(
        self, compression: Compression | None = None, skip_directories: bool = True
    ) -> None:
        super().__init__()
        self._compression, self._skip = compression, skip_directories

    def expand(self, given: PCollection[Any]) -> PCollection[ReadableFile]:
        return given | "Read" >> ParDo(_Opening(self._compression, self._skip))


class _Opening(DoFn[Any, ReadableFile]):
    def __init__(self, compression: Compression | None, skip: bool) -> None:
        self._compression, self._skip = compression, skip

    def process(self, element: Any) -> Iterator[ReadableFile]:
        file = FileMetadata(element, 0) if isinstance(element, str) else element
        if not file.path.endswith(("/", "\\")):
            yield ReadableFile(file, self._compression)
        elif not self._skip:
            raise BeamIOError(
                f"Directories are not allowed in ReadMatches transform. Found {file.path}. Leave "
                "skip_directories=False out"
            )
