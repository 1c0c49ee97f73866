"""A table of Kafka Streams in memory: records go in, changes come out.

Source: Kafka Streams ``TopologyTestDriver``, ``KStreamSessionWindowAggregate``,
``CachingSessionStore``.
"""

from collections.abc import Hashable
from typing import Any

import attrs

from beamlike.dialects.folds import Fold, Record
from beamlike.dialects.kafka_store import Materialized, SessionStore, key_bytes
from beamlike.dialects.kafka_suppress import Buffer, EmitStrategy, SessionWindows, Suppressed
from beamlike.dialects.stages import Bounds, DialectRun, Row, check_kind
from beamlike.errors import BufferFullError, TimeError, WindowError, WindowingError
from beamlike.machine.events import Drop, Element
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import how_many
from beamlike.model.options import AccumulationMode, LateCheck, OnTimeBehavior
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP, InstantLike, event_time_ms
from beamlike.model.triggers import AfterCount, Never, Repeatedly
from beamlike.model.windows import Window
from beamlike.runtime.script import Output

UNNAMED = Materialized("sessions")


@attrs.frozen
class TableParts:
    """What a table is made of, and what follows for its driver."""

    windows: SessionWindows
    emit: EmitStrategy
    combine: CombineFn
    materialized: Materialized = UNNAMED
    suppressed: Suppressed | None = None
    old_values: bool = False
    most_open: int | None = None
    """So many sessions may wait for their final result; None: any number."""
    is_suppressed: bool = False
    """Whether it is `suppress` that makes results final. What it is fed with may be cached."""

    def __attrs_post_init__(self) -> None:
        check_kind("materialized", self.materialized, Materialized, 'Materialized.as_("visits")')
        if self.retention == 0:
            raise WindowError(
                f"the session store {self.materialized.name!r} would keep nothing, because gap, "
                "grace and retention are 0; give a retention of 1 ms or more, or leave "
                "with_caching_disabled() out"
            )

    @property
    def retention(self) -> int:
        """How long the store keeps sessions in memory (ms)."""
        return self.materialized.kept_for(self.windows.inactivity_gap, self.windows.grace)

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing in the words of the model."""
        on_update = self.emit is EmitStrategy.ON_WINDOW_UPDATE
        return WindowingStrategy(
            self._sessions,
            Repeatedly(AfterCount(1)) if on_update else Never(),
            AccumulationMode.RETRACTING if on_update else AccumulationMode.DISCARDING,
            self.windows.grace - self._closes_before_its_end,
            on_time_behavior=OnTimeBehavior.FIRE_IF_NON_EMPTY,
            late_check=LateCheck.MERGED,
        )

    @property
    def _sessions(self) -> Sessions:
        # Half open, and touching ones are one: the same sessions, which expire a millisecond
        # earlier.
        if self.hides_early and not self._closes_before_its_end:
            return Sessions(self.windows.inactivity_gap, merge_touching=True)
        return Sessions(self.windows.inactivity_gap + 1)

    @property
    def _closes_before_its_end(self) -> bool:
        """Whether it is the lateness that is a millisecond less: no window lasts for 0 ms."""
        return self.hides_early and self.windows.inactivity_gap == 0

    @property
    def streams(self) -> int:
        """How many streams are aggregated together."""
        return len(self.combine.adders) if isinstance(self.combine, Fold) else 1

    @property
    def closes_after(self) -> int:
        """How long after its last record a session is closed (ms)."""
        return self.windows.inactivity_gap + self.windows.grace

    @property
    def caches(self) -> bool:
        """Whether there can be a record cache. Where results come on close there is none."""
        return self.emit is EmitStrategy.ON_WINDOW_UPDATE or self.is_suppressed

    @property
    def retention_below(self) -> int:
        """How long the store below a record cache keeps sessions (ms)."""
        retention = self.materialized.retention
        return self.closes_after if retention is None else retention

    @property
    def keeps_closed(self) -> bool:
        """Whether the store keeps sessions that are closed: its retention was given, and is longer.

        A record that is in time merges with them.
        """
        named = self.materialized.retention is not None
        return named and self.retention > self.closes_after + 1

    @property
    def hides_early(self) -> bool:
        """Whether a session is out of reach a millisecond before it is closed. A record that would
        have joined it then is aggregated alone."""
        kept_while_open = self.retention > self.closes_after
        on_update = self.emit is EmitStrategy.ON_WINDOW_UPDATE
        return on_update and not self.materialized.caching and not kept_while_open


class Driver(DialectRun):
    """A table without a record cache. Make one with ``KTable.driver``."""

    def __init__(self, table: TableParts) -> None:
        strategy = table.strategy
        assert isinstance(strategy.window_fn, Sessions)
        assert isinstance(strategy.window_fn.gap, int)
        self._width = strategy.window_fn.gap  # of the window of a single record
        super().__init__(strategy, table.combine)
        self._table = table
        self._gap = table.windows.inactivity_gap
        self._stream_times = [MIN_TIMESTAMP] * table.streams
        held = table.suppressed
        self._buffer = None if held is None else Buffer(held.limit or 0, held)
        self._final: set[tuple[Any, Bounds]] = set()
        self.store = SessionStore(table.retention)
        """The sessions, to be asked for. Changing it changes no result."""

    @property
    def stream_time(self) -> int:
        """The greatest timestamp so far (ms), or the least of all times."""
        return max(self._stream_times)

    def pipe_input(
        self, key: Hashable, value: Any, timestamp: InstantLike, stream: int = 0
    ) -> list[Row]:
        """The changes that a record makes, in order.

        Tombstones come before the result that replaces them. Sessions that are closed come in
        the order of their end, their start and, if it is text or bytes, their key.

        Args:
            key: None: the record is dropped.
            timestamp: 0 or later.
            stream: The position of its stream, where streams are aggregated together.

        Raises:
            TimeError: The timestamp cannot be read, or is before 1970.
            WindowingError: There is no such stream.
            UserFunctionError: A function of the fold raised. The rows of this record are lost.
            BufferFullError: More results wait than may, or more sessions are open. The rows of this
                record are lost.
        """
        return self._held_back(self._changes(key, value, timestamp, stream))

    def _changes(self, key: Hashable, value: Any, timestamp: InstantLike, stream: int) -> list[Row]:
        at = event_time_ms(timestamp, "pipe_input timestamp")
        if at < 0:
            raise TimeError(
                "pipe_input timestamp must be 0 ms or later, because records of Kafka have no "
                f"negative ones, got {timestamp!r}"
            )
        if stream not in range(self._table.streams):
            raise WindowingError(
                f"pipe_input stream must be the position of one of "
                f"{how_many(self._table.streams, 'stream')}, counted from 0, got {stream!r}"
            )
        if key is None:
            return [Row("dropped", None, value, None, at, "null_key")]
        self._stream_times[stream] = max(self._stream_times[stream], at)
        record = Record(key, value, stream)
        if self._table.hides_early or self._table.keeps_closed:
            # A store hides sessions by the ends that were put into it: this one's is not yet.
            updated = self._arrive(key, record, at)
            final = self._newly_final() if self._table.keeps_closed else None
            forgotten = self._stage.advance(self._reached())
            closed = [self._row(output) for output in forgotten] if final is None else final
        else:
            closed = [self._row(output) for output in self._stage.advance(self._reached())]
            updated = self._arrive(key, record, at)
        closed.sort(key=_order)
        self._keep(key)
        most = self._table.most_open
        if most is not None and sum(1 for _ in self._stage.windows()) > most:
            raise BufferFullError(most)
        return closed + _without_needless(updated)

    def _reached(self) -> int:
        """The time up to which sessions are closed, or, if the store keeps those, forgotten.

        Each stream has a time of its own, by which its records are late. What is closed for all of
        them, or is no longer in the store, nothing can join.
        """
        longer = self._table.retention - self._table.closes_after - (not self._table.hides_early)
        in_store = self.stream_time - max(longer, 0)
        if self._table.keeps_closed:
            return in_store
        return max(min(self._stream_times), in_store)

    def _newly_final(self) -> list[Row]:
        """The results of sessions that are closed now, and stay in the store; once each."""
        if self._table.emit is not EmitStrategy.ON_WINDOW_CLOSE:
            return []
        closes = min(self._stream_times) - self._table.closes_after
        final, rows = set(), []
        for key, window, state in self._stage.windows():
            session = key, self._closed(window)
            if session[1][1] < closes:
                final.add(session)
                if session not in self._final:
                    aggregate = self._stage.combine.extract(state.accumulator)
                    rows.append(self._value(key, window, aggregate))
        self._final = final
        return rows

    def _arrive(self, key: Any, record: Record, timestamp: int) -> list[Row]:
        stream_time = self._stream_times[record.stream]
        if stream_time > self._reached():
            joined = [
                bounds
                for of, window, _ in self._stage.windows()
                for bounds in [self._closed(window)]
                if of == key and self._is_in_reach(bounds, timestamp)
            ]
            last = max([timestamp, *(end for _, end in joined)])
            if last + self._table.closes_after < stream_time:
                element = Element(record, timestamp)
                if self._table.windows.answers_expired:
                    return [self._alone(key, element)]
                first = min([timestamp, *(start for start, _ in joined)])
                window = (first, last)
                return [Row("dropped", key, record.value, window, timestamp, "expired_window")]
        return [self._row(output) for output in self._stage.arrive(key, record, timestamp)]

    def _is_in_reach(self, session: Bounds, timestamp: int) -> bool:
        start, end = session
        return start - self._gap <= timestamp <= end + self._gap

    def _held_back(self, rows: list[Row]) -> list[Row]:
        """What is not held back of these, and of those before."""
        return rows if self._buffer is None else self._buffer.through(rows)

    def _keep(self, key: Hashable) -> None:
        """The sessions of a key as they are now. Those that are closed stay as they were."""
        lateness = self._stage.strategy.allowed_lateness
        is_open = self._stage.watermark - self._gap - lateness
        for session in self.store.find_sessions(key, is_open, self.stream_time):
            self.store.remove(key, session.window)
        for of, window, state in self._stage.windows():
            if of == key:
                aggregate = self._stage.combine.extract(state.accumulator)
                self.store.put(key, self._closed(window), aggregate)

    def _row(self, output: Output) -> Row:
        effect = output.effect
        if isinstance(effect, Drop):
            element = effect.element
            assert isinstance(element, Element), "a record arrived alone"
            if self._table.windows.answers_expired or self._is_out_of_reach(element):
                return self._alone(output.key, element)
            window = self._would_be(output.key, element.timestamp)
            reason = f"{effect.reason.value}_window"
            return Row(
                "dropped", output.key, element.value.value, window, element.timestamp, reason
            )
        if effect.retraction:
            window = self._closed(effect.window)
            old = effect.value if self._table.old_values else None
            return Row("tombstone", output.key, None, window, window[1], old=old)
        return self._value(output.key, effect.window, effect.value)

    def _alone(self, key: Any, record: Element) -> Row:
        """The result of a record that joins nothing and is not stored."""
        combine, at = self._stage.combine, record.timestamp
        aggregate = combine.extract(combine.add(combine.create(), [record.value], [at]))
        return Row("value", key, aggregate, (at, at), at)

    def _is_out_of_reach(self, record: Element) -> bool:
        """Whether a record is in time for its own stream, and nothing that it makes is stored."""
        closes = record.timestamp + self._table.closes_after
        if self._table.hides_early and closes == self.stream_time:
            return True
        return self._table.streams > 1 and closes >= self._stream_times[record.value.stream]

    def _would_be(self, key: Any, at: int) -> Bounds:
        """The session that a record would make with those that the store still has."""
        joined = self.store.find_sessions(key, at - self._gap, at + self._gap)
        bounds = [session.window for session in joined]
        starts, ends = [start for start, _ in bounds], [end for _, end in bounds]
        return min([at, *starts]), max([at, *ends])

    def _value(self, key: Any, window: Window, value: Any) -> Row:
        closed = self._closed(window)
        return Row("value", key, value, closed, closed[1])

    def _closed(self, window: Window) -> Bounds:
        """First and last record of a session."""
        return window.start, window.end - self._width


class CachingDriver(Driver):
    """A table behind a record cache. Make one with ``KTable.caching_driver``.

    What changes waits for `commit`, and of several changes of a session only the last is left. A
    session that was never emitted leaves no tombstone, and neither does one that the store below
    the cache has forgotten: with Kafka's retention by default, the gap and the grace, a session
    whose end is that much behind the latest one. `Materialized.with_retention` of a millisecond
    more brings it. The cache has no limit. Results that come on close
    (`EmitStrategy.on_window_close`) do not wait, because Kafka caches none of these.
    """

    def __init__(self, table: TableParts) -> None:
        super().__init__(table)
        self._dirty: dict[tuple[Any, Bounds], Row] = {}
        self._seen: dict[tuple[Any, Bounds], Any] = {}
        self._latest_end = MIN_TIMESTAMP

    def pipe_input(
        self, key: Hashable, value: Any, timestamp: InstantLike, stream: int = 0
    ) -> list[Row]:
        """What is dropped, at once. The changes wait."""
        if not self._table.caches:
            return super().pipe_input(key, value, timestamp, stream)
        rows = self._changes(key, value, timestamp, stream)
        for row in rows:
            if row.kind != "dropped":
                # At the end of the line again, as in Kafka.
                self._dirty.pop((row.key, _bounds(row)), None)
                self._dirty[row.key, _bounds(row)] = row
        return [row for row in rows if row.kind == "dropped"]

    def _reached(self) -> int:
        # The cache shows every session, however long the store below keeps it.
        if self._table.caches and not self._table.keeps_closed:
            return min(self._stream_times)
        return super()._reached()

    def commit(self) -> list[Row]:
        """The last change of each session since the commit before, in the order of these.

        Raises:
            BufferFullError: More results wait than may.
        """
        rows = []
        for name, row in self._dirty.items():
            seen = name in self._seen
            old = self._seen.pop(name, None)
            _, end = _bounds(row)
            if row.kind == "value":
                self._seen[name] = row.value
                self._latest_end = max(self._latest_end, end)
            below = end > self._latest_end - self._table.retention_below
            if row.kind == "value" or (seen and below):
                rows.append(attrs.evolve(row, old=old if self._table.old_values else None))
        self._dirty.clear()
        return self._held_back(rows)


def _without_needless(rows: list[Row]) -> list[Row]:
    """Without the tombstone of a single instant that another record only joined.

    Kafka deletes what a record merged with, unless the session is what the record alone would
    have made.
    """
    if rows and rows[-1].kind == "value":
        first, last = _bounds(rows[-1])
        if first == last:
            return rows[-1:]
    return rows


def _order(row: Row) -> tuple[int, int, bytes]:
    start, end = _bounds(row)
    return end, start, key_bytes(row.key)


def _bounds(row: Row) -> Bounds:
    assert isinstance(row.window, tuple), "every session has bounds"
    return row.window
