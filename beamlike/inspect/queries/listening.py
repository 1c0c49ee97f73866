"""Spark's listener for what its queries do. Importing this imports pyspark."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from beamlike.hosts.clock import wall_clock_ms
from beamlike.inspect.queries.progress import Progress, spark_instant_ms

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery, StreamingQueryManager


class QueryEvents(Protocol):
    """What gets the events: `MetricsListener`, or the history of a live view. Instants are epoch
    ms. What it returns is not looked at."""

    def started(self, query: str, run: str, name: str | None, clock: int) -> object: ...

    def progressed(self, progress: Progress) -> object: ...

    def ended(self, query: str, run: str, exception: str | None, clock: int) -> None: ...


class Listener(StreamingQueryListener):
    """Passes on Spark's events, and decides nothing.

    Args:
        to: What gets them.
        query: The id of the only query whose events it passes on; None: of all.
    """

    def __init__(self, to: QueryEvents, query: str | None = None) -> None:
        self._to, self._query = to, query
        self._gate = threading.Lock()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        if self._wanted(event):
            clock = spark_instant_ms(event.timestamp) or wall_clock_ms()
            self._to.started(str(event.id), str(event.runId), event.name, clock)

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        if self._wanted(event.progress):
            self._to.progressed(Progress.of(event.progress.json))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        if self._wanted(event):
            self._to.ended(str(event.id), str(event.runId), event.exception, wall_clock_ms())

    def _wanted(self, event: Any) -> bool:
        with self._gate:  # not before `begin` is done, which passes on what was before
            return self._query is None or str(event.id) == self._query

    def begin(self, streams: "StreamingQueryManager", running: "Sequence[StreamingQuery]") -> None:
        """Listen from now on, and catch up with what these queries have done so far.

        Spark remembers the last of their micro-batches, 100 by default.
        """
        with self._gate:
            streams.addListener(self)
            for query in running:
                self._catch_up(query)

    def end(self, streams: "StreamingQueryManager") -> None:
        """Listen no more."""
        with suppress(Exception):  # a session that was stopped has no listeners any more
            streams.removeListener(self)

    def _catch_up(self, query: "StreamingQuery") -> None:
        known = str(query.id), str(query.runId)
        recent = [Progress.of(progress.json) for progress in query.recentProgress]
        # Spark does not report when it started; it ran by the first of these.
        self._to.started(*known, query.name, recent[0].began_ms if recent else wall_clock_ms())
        for progress in recent:
            self._to.progressed(progress)
        if not query.isActive:
            failure = query.exception()
            self._to.ended(*known, None if failure is None else str(failure), wall_clock_ms())
