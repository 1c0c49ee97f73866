"""Writes the end of event time into a query's checkpoint: at its next start all windows end.

Spark notes each micro-batch in ``offsets`` before it runs, with its watermark. A micro-batch that
is noted there and not in ``commits`` runs first when the query starts again. So a micro-batch is
noted here that reads nothing and has the end of time as its watermark. It runs with the query's own
code and writes to the query's own sink. The watermark stays at the end of time: rows that arrive
later are late for every window.

Source: the layout of Spark's offset log, ``OffsetSeqLog``, version 1; Dataflow's drain.
"""

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import StateError
from beamlike.hosts.clock import wall_clock_ms
from beamlike.hosts.failed_starts import advising
from beamlike.model.time import MAX_TIMESTAMP

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_VERSION: Final = "v1"
_WATERMARK: Final = "batchWatermarkMs"
_TIME: Final = "batchTimestampMs"


@attrs.frozen
class Log:
    """The micro-batches of a checkpoint.

    Args:
        path: The folder of the checkpoint, for messages.
        is_complete: Whether the last micro-batch has run to its end.
    """

    path: str
    last: int
    lines: tuple[str, ...]
    is_complete: bool
    _files: "FileSystem"
    _home: str

    @classmethod
    def read(cls, path: str) -> "Log":
        """Read the log of a checkpoint.

        Raises:
            StateError: There is none, it is that of a pipeline, it is of a version of Spark with
                another layout, or it cannot be read.
        """
        with _reaching(path):
            files, home = _opened(path)
            noted, committed = (
                _numbers(files, f"{home}/offsets"),
                _numbers(files, f"{home}/commits"),
            )
            if not noted and _numbers(files, f"{home}/query/offsets"):
                raise StateError(
                    f"{path} is the checkpoint of a pipeline; run the pipeline, and call drain() "
                    "of what run() returns"
                )
            last = _last_of(path, noted)
            with files.open_input_stream(f"{home}/offsets/{last}") as stream:
                lines = tuple(stream.read().decode(errors="replace").splitlines())
        log = cls(path, last, lines, last in committed, files, home)
        log._check()
        return log

    @property
    def is_drained(self) -> bool:
        """Whether the last micro-batch has the end of time for its watermark."""
        return int(self._facts[_WATERMARK]) >= MAX_TIMESTAMP

    @property
    def _facts(self) -> dict[str, Any]:
        return dict(json.loads(self.lines[1]))

    def _check(self) -> None:
        version = self.lines[0] if self.lines else "nothing"
        try:
            facts = self._facts
            numbers = {type(facts[fact]) for fact in (_WATERMARK, _TIME)}
            known = version == _VERSION and numbers == {int}
        except (ValueError, IndexError, KeyError, TypeError, RecursionError):
            known = False
        if not known:
            raise StateError(
                f"the offsets of the checkpoint {self.path} are of {version!r}, and only "
                f"{_VERSION!r} is known here; to end its windows, send rows whose time is past them"
            )

    def end(self) -> int:
        """Note a micro-batch that reads nothing and ends all windows. Returns its number.

        Raises:
            StateError: The last micro-batch has not run to its end, and would be lost. Or nothing
                can be written there.
        """
        if self.is_drained:
            return self.last
        if not self.is_complete:
            raise unfinished(self.path, self.last, "drain it")
        facts = self._facts
        facts[_WATERMARK] = MAX_TIMESTAMP
        facts[_TIME] = max(facts[_TIME], wall_clock_ms())
        version, _, *sources = self.lines
        text = "\n".join((version, json.dumps(facts, separators=(",", ":")), *sources))
        number = self.last + 1
        hidden, noted = (f"{self._home}/offsets/{name}" for name in (f".{number}.end", number))
        with _reaching(self.path):
            with self._files.open_output_stream(hidden) as stream:
                stream.write(text.encode())
            self._files.move(hidden, noted)
        return number


def last_batch(path: str) -> tuple[int, bool]:
    """The number of the last micro-batch of a checkpoint, and whether it has run to its end."""
    with _reaching(path):
        files, home = _opened(path)
        last = _last_of(path, _numbers(files, f"{home}/offsets"))
        return last, last in _numbers(files, f"{home}/commits")


def unfinished(path: str, number: int, then: str) -> StateError:
    """The error that a micro-batch has not run to its end; ``then`` is what to do once it has."""
    return StateError(
        f"micro-batch {number} of the checkpoint {path} has not run to its end: start the query "
        f"once more, until it waits for data, stop it, and {then} then"
    )


def _last_of(path: str, noted: Collection[int]) -> int:
    if not noted:
        raise StateError(
            f"{path} is no checkpoint of a query that has run: it has no offsets; give the folder "
            "that the query has as checkpointLocation"
        )
    return max(noted)


def mark_end(path: str) -> int:
    """Make the next start of a query end all of its windows. Returns that micro-batch's number.

    A checkpoint that is marked or drained already stays as it is.
    """
    return Log.read(path).end()


def drain(writer: "DataStreamWriter", path: str) -> None:
    """See `beamlike.drain`."""
    if not hasattr(writer, "trigger"):
        raise StateError(
            f"drain takes what starts the query, got {type(writer).__name__}; pass "
            "panes.writeStream.foreachBatch(save), with the sink that it has had"
        )
    # Of a folder without any, Spark would make a new checkpoint and read everything once more.
    log = Log.read(path)
    writer = writer.option("checkpointLocation", path)
    if not log.is_drained:
        _run(writer.trigger(availableNow=True).start())
        mark_end(path)
    if not Log.read(path).is_complete:
        # One micro-batch and no more: what has arrived meanwhile is not read, and not late.
        _run(writer.trigger(once=True).start())


def _run(query: "StreamingQuery") -> None:
    from beamlike.hosts.spark.worker_errors import as_raised

    try:
        with as_raised(), advising():
            query.awaitTermination()
    finally:
        query.stop()


@contextmanager
def _reaching(path: str) -> Iterator[None]:
    """Raise errors of reading the files of a checkpoint as errors of beamlike."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        first, *_ = str(error).splitlines() or [""]
        raise StateError(
            f"the files of {path} cannot be reached: {first}; give the folder that the query has "
            "as checkpointLocation, or its URL as pyarrow.fs reads it"
        ) from error


def _opened(path: str) -> tuple["FileSystem", str]:
    from pyarrow.fs import FileSystem, LocalFileSystem

    if "://" in path:
        files, home = FileSystem.from_uri(path)
        return files, str(home)
    return LocalFileSystem(), str(Path(path.removeprefix("file:")).absolute())


def _numbers(files: "FileSystem", folder: str) -> set[int]:
    from pyarrow.fs import FileSelector

    infos = files.get_file_info(FileSelector(folder, allow_not_found=True))
    return {int(file.base_name) for file in infos if file.base_name.isdecimal()}
