"""Files that appear while a pipeline runs.

Source: Beam Python ``io.fileio.MatchContinuously``, ``io.textio.ReadAllFromTextContinuously``;
Beam Java ``Watch``.
"""

from collections.abc import Iterator
from inspect import signature
from typing import Any, Final

from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.io.file_systems import FileMetadata
from beamlike.api.pipelines.io.fileio import EmptyMatch, EmptyMatchTreatment, MatchAll
from beamlike.api.pipelines.io.sequences import PeriodicImpulse
from beamlike.api.pipelines.io.text import ReadAllFromText
from beamlike.api.pipelines.more_coders import FloatCoder
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.reading import Instant
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP
from beamlike.api.pipelines.python.window_fns import FixedWindows
from beamlike.api.pipelines.python.windowing import WindowInto
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.userstate import ReadModifyWriteStateSpec


class MatchContinuously(PTransform[Any, PCollection[FileMetadata]]):
    """The files that fit a pattern, looked for again and again; each comes out once.

        pipeline | MatchContinuously("/data/*.csv", interval=60, stop_timestamp=...)

    Applied to a pipeline it looks at regular times, and nothing waits for these to come, see
    `PeriodicImpulse`: there must be an end. Applied to a collection it looks once for each
    element. On Spark that is how to watch a folder for as long as the query runs:

        ticks = spark.readStream.format("rate").load()
        looks = pipeline | FromDataFrame(ticks, timestamp="timestamp", watermark="0 seconds")
        files = looks | MatchContinuously("/data/*.csv")

    Args:
        file_pattern: See `FileSystems.match`.
        interval: Seconds from one look to the next.
        has_deduplication: Whether a file comes out once only; else with each look.
        start_timestamp: When the first look is; by default when the pipeline is built.
        stop_timestamp: When there is none any more.
        match_updated_files: Whether a file that has changed since comes out again.
        apply_windowing: Whether the files of each interval are in a window of their own.
        empty_match_treatment: Whether each look must find some.

    Raises:
        BeamIOError: When it runs: a look must find files, and finds none.
        PipelineError: When it is applied to a pipeline: there is no end.

    Source: Beam ``MatchContinuously``.
    """

    def __init__(
        self,
        file_pattern: str,
        interval: float = 360.0,
        has_deduplication: bool = True,
        start_timestamp: Instant | None = None,
        stop_timestamp: Instant = MAX_TIMESTAMP,
        match_updated_files: bool = False,
        apply_windowing: bool = False,
        empty_match_treatment: EmptyMatch = EmptyMatchTreatment.ALLOW,
    ) -> None:
        super().__init__()
        self._pattern, self._interval = file_pattern, interval
        self._start, self._stop = start_timestamp, stop_timestamp
        self._once, self._again = has_deduplication, match_updated_files
        self._windowed, self._empty = apply_windowing, empty_match_treatment

    def expand(self, given: Any) -> PCollection[FileMetadata]:
        if isinstance(given, Pipeline):
            given = given | PeriodicImpulse(self._start, self._stop, self._interval)
        patterns = given | "GetFilePattern" >> Map(lambda _, pattern: pattern, self._pattern)
        files: PCollection[Any] = patterns | MatchAll(self._empty)
        if self._once:
            named = files | "ToKV" >> Map(lambda file: (file.path, file))
            files = named | "RemoveAlreadyRead" >> ParDo(_NotSeen(self._again))
        if self._windowed:  # last: what has been seen is known for as long as the pipeline runs
            files = files | WindowInto(FixedWindows(self._interval))
        return files


class _NotSeen(DoFn[Any, Any]):
    """Files that were not seen before, or have changed since."""

    CHANGED: Final = ReadModifyWriteStateSpec("changed", FloatCoder())

    def __init__(self, again: bool) -> None:
        self._again = again

    def process(
        self,
        element: tuple[str, FileMetadata],
        changed: Any = DoFn.StateParam(CHANGED),  # noqa: B008
    ) -> Iterator[FileMetadata]:
        _, file = element
        before = changed.read()
        if before is None or (self._again and before < file.last_updated_in_seconds):
            changed.write(float(file.last_updated_in_seconds))
            yield file


class ReadAllFromTextContinuously(PTransform[Any, PCollection[Any]]):
    """The lines of text files, also of those that appear while the pipeline runs.

    Args:
        file_pattern: Which files, see `MatchContinuously`.
        how: The other arguments of `MatchContinuously`, and those of `ReadAllFromText`.

    Raises:
        PipelineError: As of both.

    Source: Beam ``ReadAllFromTextContinuously``.
    """

    def __init__(self, file_pattern: str, **how: Any) -> None:
        super().__init__()
        known = signature(MatchContinuously).parameters
        of_match = {name: how.pop(name) for name in known if name in how}
        self._match = MatchContinuously(file_pattern, **of_match)
        self._read = ReadAllFromText(**how)

    def expand(self, given: Any) -> PCollection[Any]:
        lines: PCollection[Any] = given | self._match | self._read
        return lines
