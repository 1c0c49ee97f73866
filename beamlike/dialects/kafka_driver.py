"""A table of Kafka Streams in memory: records go in, changes come out.

Source: Kafka Streams ``TopologyTestDriver``, ``KStreamSessionWindowAggregate``,
``CachingSessionStore``, ``InMemoryTimeOrderedKeyValueChangeBuffer``.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import attrs

from beamlike.dialects.folds import Fold, Record
from beamlike.dialects.kafka_store import ReadOnlySessionStore, Session, key_bytes
from beamlike.dialects.kafka_words import (
    UNNAMED,
    EmitStrategy,
    Materialized,
    SessionWindows,
    Suppressed,
)
from beamlike.dialects.stages import Bounds, DialectRun, Row, kind_of
from beamlike.errors import BufferFullError, TimeError, WindowError, WindowingError
from beamlike.machine.events import Drop
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import how_many
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP, InstantLike, event_time_ms
from beamlike.model.triggers import AfterCount, Never, Repeatedly
from beamlike.model.windows import Window
from beamlike.runtime.script import Output

_Name = tuple[Any, Bounds]
"""The key and the bounds of a session."""


@attrs.frozen
class TableParts:
    """What a table is made of, and what follows for its driver."""

    windows: SessionWindows
    emit: EmitStrategy
    combine: CombineFn
    materialized: Materialized = attrs.field(
        default=UNNAMED, validator=kind_of(Materialized, 'Materialized.as_("visits")')
    )
    suppressed: Suppressed | None = None
    final: Suppressed | None = None
    """What makes results final, if that is `suppress`. What it is fed with may be cached."""
    old_values: bool = False

    def __attrs_post_init__(self) -> None:
        if self.retention == 0:
            raise WindowError(
                f"the session store {self.materialized.name!r} would keep nothing, because gap, "
                "grace and retention are 0; give a retention of 1 ms or more, or leave "
                "with_caching_disabled() out"
            )

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing in the words of the model."""
        touches = self.width == self.windows.inactivity_gap
        return WindowingStrategy(
            Sessions(self.width, merge_touching=touches),
            Never() if self.on_close else Repeatedly(AfterCount(1)),
            "discarding" if self.on_close else "retracting",
            # No window lasts for 0 ms: then it is the lateness that is a millisecond less.
            self.windows.grace - (self.hides_early and not touches),
            on_time_behavior="fire_if_non_empty",
            late_check="merged",
        )

    @property
    def width(self) -> int:
        """How long the window of a single record is in the model (ms).

        Half open windows that touch and are one are the same sessions, and expire a millisecond
        earlier.
        """
        gap = self.windows.inactivity_gap
        return gap if self.hides_early and gap > 0 else gap + 1

    @property
    def streams(self) -> int:
        """How many streams are aggregated together."""
        return len(self.combine.adders) if isinstance(self.combine, Fold) else 1

    @property
    def closes_after(self) -> int:
        """How long after its last record a session is closed (ms)."""
        return self.windows.inactivity_gap + self.windows.grace

    @property
    def on_close(self) -> bool:
        """Whether results come as sessions are closed, and not on each update."""
        return self.emit is EmitStrategy.ON_WINDOW_CLOSE or self.final is not None

    @property
    def retention(self) -> int:
        """How long the store keeps sessions in memory (ms)."""
        return self.materialized.kept_for(self.windows.inactivity_gap, self.windows.grace)

    @property
    def keeps_closed(self) -> int:
        """How long the store keeps sessions that are closed (ms), if its retention was given and is
        longer. A record that is in time merges with them."""
        return max(0, self.retention - self.closes_after - 1)

    @property
    def hides_early(self) -> bool:
        """Whether a session is out of reach a millisecond before it is closed. A record that would
        have joined it then is aggregated alone."""
        kept_while_open = self.materialized.caching or self.retention > self.closes_after
        return not (self.on_close or kept_while_open)


class Driver(DialectRun):
    """A table without a record cache. Make one with ``KTable.driver``."""

    def __init__(self, table: TableParts) -> None:
        super().__init__(table.strategy, table.combine)
        self._table = table
        self._gap = table.windows.inactivity_gap
        self._stream_times = [MIN_TIMESTAMP] * table.streams
        self._buffer = None if table.suppressed is None else Buffer(table.suppressed)
        self._final: set[_Name] = set()
        self.store = ReadOnlySessionStore(self._sessions, table.retention)
        """The sessions as they are whenever they are asked for."""

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
            UserFunctionError: A function of the fold raised. The record is lost.
            BufferFullError: More results wait than may, or more sessions are open. The rows of this
                record are lost.
        """
        return self._held_back(self._changes(key, value, timestamp, stream))

    def _changes(self, key: Hashable, value: Any, timestamp: InstantLike, stream: int) -> list[Row]:
        time_ms = event_time_ms(timestamp, "pipe_input timestamp")
        if time_ms < 0:
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
            return [Row("dropped", None, value, None, time_ms, "null_key")]
        self._stream_times[stream] = max(self._stream_times[stream], time_ms)
        # No record closes what it joins. So it may come first, and must, where the store hides
        # sessions by the ends that were put into it: this one's is not yet.
        updated = self._arrive(key, Record(key, value, stream), time_ms)
        closed = sorted(self._close(), key=_order)
        most = None if self._table.final is None else self._table.final.buffer.most
        if most is not None and sum(1 for _ in self._stage.windows()) > most:
            raise BufferFullError(most)
        return closed + _without_needless(updated)

    def _reached(self) -> int:
        """The time up to which sessions are closed, or, if the store keeps those, forgotten.

        Each stream has a time of its own, by which its records are late. What is no longer in the
        store, nothing can join.
        """
        return self.stream_time - self._table.keeps_closed

    def _arrive(self, key: Any, record: Record, time_ms: int) -> list[Row]:
        """The changes of the session that a record makes or makes longer; or why there are none."""
        joined = [(time_ms, time_ms)]
        for _, window, _ in self._stage.windows_of(key):
            first, last = self._bounds(window)
            if first - self._gap <= time_ms <= last + self._gap:
                joined.append((first, last))
        first, last = min(start for start, _ in joined), max(end for _, end in joined)
        stream_time = self._stream_times[record.stream]
        is_late = last + self._table.closes_after < stream_time
        outputs: tuple[Output, ...] = ()
        if not (is_late and self._reached() < stream_time):  # where the machine would take it
            outputs = self._stage.arrive(key, record, time_ms)
        if is_late and not self._table.windows.answers_expired:
            return [Row("dropped", key, record.value, (first, last), time_ms, "expired_window")]
        if is_late or any(isinstance(output.effect, Drop) for output in outputs):
            # It joins nothing and is not stored.
            combine = self._stage.combine
            aggregate = combine.extract(combine.add(combine.create(), [record], [time_ms]))
            return [Row("value", key, aggregate, (time_ms, time_ms), time_ms)]
        return [self._row(output) for output in outputs]

    def _close(self) -> Iterable[Row]:
        """The results of sessions that are closed now. What is forgotten has none on update."""
        stays = self._table.on_close and self._table.keeps_closed > 0
        final = list(self._newly_final()) if stays else None
        outputs = self._stage.advance(self._reached())
        return map(self._row, outputs) if final is None else final

    def _newly_final(self) -> Iterator[Row]:
        """The results of sessions that are closed and stay in the store; once each."""
        before, self._final = self._final, set()
        for key, window, state in self._stage.windows():
            bounds = self._bounds(window)
            if bounds[1] + self._table.closes_after < min(self._stream_times):
                self._final.add((key, bounds))
                if (key, bounds) not in before:
                    aggregate = self._stage.combine.extract(state.accumulator)
                    yield Row("value", key, aggregate, bounds, bounds[1])

    def _sessions(self) -> Iterator[Session]:
        """The sessions that the store has: those whose end is less than its retention ago."""
        for key, window, state in self._stage.windows():
            first, last = self._bounds(window)
            aggregate = self._stage.combine.extract(state.accumulator)
            if aggregate is not None and last > self.stream_time - self._table.retention:
                yield Session(key, (first, last), aggregate)

    def _held_back(self, rows: list[Row]) -> list[Row]:
        """What is not held back of these, and of those before."""
        return rows if self._buffer is None else self._buffer.released_by(rows)

    def _row(self, output: Output) -> Row:
        pane = output.effect
        assert not isinstance(pane, Drop), "a record that is late has no pane"
        bounds = self._bounds(pane.window)
        if not pane.retraction:
            return Row("value", output.key, pane.value, bounds, bounds[1])
        old = pane.value if self._table.old_values else None
        return Row("tombstone", output.key, None, bounds, bounds[1], old=old)

    def _bounds(self, window: Window) -> Bounds:
        """First and last record of a session."""
        return window.start, window.end - self._table.width


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
        self._caches = table.emit is EmitStrategy.ON_WINDOW_UPDATE  # on close there is no cache
        self._dirty: dict[_Name, Row] = {}
        self._seen: dict[_Name, Any] = {}
        self._latest_end = MIN_TIMESTAMP

    def pipe_input(
        self, key: Hashable, value: Any, timestamp: InstantLike, stream: int = 0
    ) -> list[Row]:
        """What is dropped, at once. The changes wait."""
        if not self._caches:
            return super().pipe_input(key, value, timestamp, stream)
        rows = self._changes(key, value, timestamp, stream)
        for row in rows:
            if row.kind != "dropped":
                # At the end of the line again, as in Kafka.
                self._dirty.pop(_name(row), None)
                self._dirty[_name(row)] = row
        return [row for row in rows if row.kind == "dropped"]

    def _reached(self) -> int:
        # The cache shows every session, however long the store below keeps it.
        if self._caches and not self._table.keeps_closed:
            return min(self._stream_times)
        return super()._reached()

    def commit(self) -> list[Row]:
        """The last change of each session since the commit before, in the order of these.

        Raises:
            BufferFullError: More results wait than may.
        """
        named, rows = self._table.materialized.retention, []
        kept_below = self._table.closes_after if named is None else named
        for name, row in self._dirty.items():
            seen = name in self._seen
            old = self._seen.pop(name, None)
            _, (_, end) = name
            if row.kind == "value":
                self._seen[name] = row.value
                self._latest_end = max(self._latest_end, end)
            below = end > self._latest_end - kept_below
            if row.kind == "value" or (seen and below):
                rows.append(attrs.evolve(row, old=old if self._table.old_values else None))
        self._dirty.clear()
        return self._held_back(rows)


class Buffer:
    """Changes that wait, by key and session, for as long as they are held back. The last one of
    each is kept."""

    def __init__(self, held: Suppressed) -> None:
        self._held = held
        self._time = MIN_TIMESTAMP
        self._waiting: dict[_Name, tuple[int, Row]] = {}

    def released_by(self, rows: Iterable[Row]) -> list[Row]:
        """What comes out because of these changes. What is dropped does not wait."""
        out = (out for row in rows for out in self._released_by_row(row))
        return [row for row in out if row.kind != "tombstone" or not self._held.repeats]

    def _released_by_row(self, row: Row) -> Iterator[Row]:
        if row.kind == "dropped" or row.timestamp is None:
            yield row
            return
        self._time = max(self._time, row.timestamp)
        since, _ = self._waiting.get(_name(row), (row.timestamp, row))
        self._waiting[_name(row)] = since, row
        while self._waiting and self._longest()[0] <= self._time - (self._held.limit or 0):
            yield self._take()
        most = self._held.buffer.most
        while most is not None and len(self._waiting) > most:
            if self._held.buffer.shuts_down:
                raise BufferFullError(most)
            yield self._take()

    def _longest(self) -> tuple[int, Row]:
        """What waits longest; of several the least by key, end and start."""

        def place(waiting: tuple[int, Row]) -> tuple[Any, ...]:
            end, start, key = _order(waiting[1])
            return waiting[0], key, end, start

        return min(self._waiting.values(), key=place)

    def _take(self) -> Row:
        _, row = self._longest()
        del self._waiting[_name(row)]
        return row


def _without_needless(rows: list[Row]) -> list[Row]:
    """Without the tombstone of a single instant that another record only joined.

    Kafka deletes what a record merged with, unless the session is what the record alone would
    have made.
    """
    if rows and rows[-1].kind == "value":
        _, (first, last) = _name(rows[-1])
        if first == last:
            return rows[-1:]
    return rows


def _order(row: Row) -> tuple[int, int, bytes]:
    _, (start, end) = _name(row)
    return end, start, key_bytes(row.key)


def _name(row: Row) -> _Name:
    assert isinstance(row.window, tuple), "every session has bounds"
    return row.key, row.window
