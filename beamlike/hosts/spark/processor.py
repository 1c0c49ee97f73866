"""The stateful processor of Spark: it brings each group of an operator to its work."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from beamlike.hosts.garbage import paused_gc
from beamlike.hosts.spark.state_cache import worker_state_cache
from beamlike.hosts.spark.unpack import OutputBlobs, output_blob
from beamlike.hosts.spark.workers import prepare_logs
from beamlike.hosts.step_notes import step_noted
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.store.stores import NO_STATE_CACHE, NoStore, StateCache, Store
from beamlike.runtime.work import END_OF_TIME, HostReport, Work, known_watermark

_LOGGED: Final = set[Hashable]()
"""The failures that this worker has logged: each is logged once for all of its tasks."""


class SparkStore(Store):
    """A shard's blobs in Spark's state of the current group, by number; -1 is the index.

    Blobs and index share one state: each state costs every task some milliseconds at its start.

    Args:
        blobs: The state, see `beamlike.hosts.spark.deferred.blobs_of`.
        place: What comes before the number in a key of the state, where that has the blobs of
            several stages.
    """

    def __init__(self, blobs: Any, *place: int, state_cache: StateCache = NO_STATE_CACHE) -> None:
        self._blobs, self._place, self.state_cache = blobs, place, state_cache

    def read(self, number: int) -> bytes | None:
        row = self._blobs.getValue((*self._place, number))
        return None if row is None else bytes(row[0])

    def write(self, number: int, blob: bytes | None) -> None:
        if blob is None:
            self._blobs.removeKey((*self._place, number))
        else:
            self._blobs.updateValue((*self._place, number), (blob,))


class TextStore(SparkStore):
    """A store with an index and nothing else: a text in Spark's state of the current group."""

    def read(self, number: int) -> bytes | None:
        row = self._blobs.get()
        return None if row is None else row[0].encode()

    def write(self, number: int, blob: bytes | None) -> None:
        assert blob is not None, "an index is not forgotten"
        self._blobs.update((blob.decode(),))


class GroupProcessor:
    """Steps each group of Spark once in a micro-batch, with rows or without.

    Args:
        copies: Whether the workers of an executor may share copies of state.
    """

    def __init__(
        self, work: Work, *, copies: bool = False, store: type[SparkStore] = SparkStore
    ) -> None:
        self._work, self._copies, self._store = work, copies, store
        self._row = Row(*work.columns)

    def open(self, handle: StatefulProcessorHandle, state: Any) -> None:
        """Get ready for the groups of a task; ``state`` is their state, opened."""
        prepare_logs()
        self._handle, self._state = handle, state
        self._state_cache, self._output = worker_state_cache(self._copies), OutputBlobs()
        self._stepped: set[int] = set()
        self._work.share_logged(_LOGGED)

    def _stores(self, *place: int) -> Store:
        return self._store(self._state, *place, state_cache=self._state_cache)

    def rows(self, key: Any, rows: Iterable[Row], times: Any) -> Iterator[Row]:
        """Step a group that has rows, see `StatefulProcessor.handleInputRows`."""
        yield from self._step(key[0], [bytes(row.blob) for row in rows], times)

    def timer(self, key: Any, times: Any) -> Iterator[Row]:
        """Step a group whose timer has expired, see `StatefulProcessor.handleExpiredTimer`."""
        # Rows come first. A group that had some has seen this watermark, and waits for the next.
        # Spark makes a new processor once for each task: no group is taken for one of the
        # micro-batch before.
        if key[0] not in self._stepped:
            yield from self._step(key[0], [], times)

    def _step(self, group: int, blobs: Sequence[bytes], times: Any) -> Iterator[Row]:
        self._stepped.add(group)
        report = HostReport(self._updates(times), times.getCurrentProcessingTimeInMs())
        with paused_gc(), step_noted(self._work.words_of_step(group, blobs)):
            out = self._work.step(group, self._stores, blobs, report)
            rows = [self._row(*map(self._sent, columns)) for columns in out]
        yield from rows

    def _sent(self, value: Any) -> Any:
        return self._output.of(value) if isinstance(value, pa.Table) else value

    def _updates(self, times: Any) -> list[HostWatermark]:
        """Spark's watermark; and set a timer, so that Spark calls the group when it moves."""
        if self._work.host_says == "never":
            return []
        watermark = times.getCurrentWatermarkInMs()
        if watermark >= MAX_TIMESTAMP:
            # The query is drained: all inputs have come to their end.
            return [HostWatermark(MAX_TIMESTAMP)]
        if self._work.host_says == "always":
            # The shard's own index knows what is due; Spark only has to call. A single timer just
            # ahead of the watermark does that, and Spark removes it when it fires.
            self._handle.registerTimer(watermark + 1)
            # Spark's watermark follows from the micro-batches before: it is there first.
            return [HostWatermark(known_watermark(watermark), begins=True)]
        # Updates of its inputs trigger its steps, but for the drain, which needs a timer. One would
        # do; to check that it is set takes as long as to set it again.
        self._handle.registerTimer(MAX_TIMESTAMP)
        return []

    def close(self) -> None:
        """Called after the last group of a task."""
        self._work.close()
        # Between tasks a worker keeps what it remembers, and not what it needed meanwhile.
        pa.default_memory_pool().release_unused()


def at_once(work: Work, columns: Sequence[str]) -> Callable[[pa.Table], pa.Table]:
    """The function for ``applyInArrow`` that steps a group once, over data that ends.

    Args:
        columns: Which columns of the work's output come out.
    """
    kinds = {"shard": pa.int32(), "blob": pa.binary()}

    def run(group: pa.Table) -> pa.Table:
        number, blobs = group.column("shard")[0].as_py(), group.column("blob").to_pylist()
        try:
            with paused_gc(), step_noted(work.words_of_step(number, blobs)):
                out = work.step(number, lambda *_: NoStore(), blobs, HostReport(END_OF_TIME, 0))
        finally:
            work.close()
        sent = {}
        for name in columns:
            place, dtype = work.columns.index(name), kinds[name]
            # Together blobs may be more than fits in one piece.
            pieces = [pa.array([_sent(row[place])], dtype) for row in out]
            sent[name] = pa.chunked_array(pieces, dtype)
        return pa.table(sent)

    return run


def _sent(value: Any) -> Any:
    return output_blob(value) if isinstance(value, pa.Table) else value
