"""Kafka's sessions, when their results come out, and the buffer that holds them back.

Source: Kafka Streams ``SessionWindows``, ``EmitStrategy``, ``Suppressed``,
``KTableSuppressProcessorSupplier``, ``InMemoryTimeOrderedKeyValueChangeBuffer``; KIP-94, KIP-825.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Literal, NoReturn, Self

import attrs

from beamlike.dialects.kafka_store import key_bytes
from beamlike.dialects.stages import Row
from beamlike.errors import BufferFullError, UnsupportedError, WindowError
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike, duration_ms, show_duration


def _gap(gap: DurationLike) -> int:
    return duration_ms(gap, "SessionWindows gap")


def _grace(grace: DurationLike) -> int:
    return duration_ms(grace, "SessionWindows grace")


@attrs.frozen
class SessionWindows:
    """The gap that ends a session, and how long after it records are still accepted (ms).

    With a gap of 0, which Kafka takes since 4.1, only records of one instant are a session.

    Raises:
        TimeError: A duration cannot be read, or is negative.

    Source: Kafka Streams ``SessionWindows``.
    """

    inactivity_gap: int = attrs.field(converter=_gap)
    grace: int = attrs.field(converter=_grace)
    answers_expired: bool = False

    @classmethod
    def of_inactivity_gap_and_grace(cls, gap: DurationLike, grace: DurationLike) -> Self:
        """Sessions that end after more than ``gap`` without a record.

        Raises:
            TimeError: A duration cannot be read, or is negative.
        """
        return cls(gap, grace)

    @classmethod
    def of_inactivity_gap_with_no_grace(cls, gap: DurationLike) -> Self:
        """As `of_inactivity_gap_and_grace` with a grace of 0."""
        return cls.of_inactivity_gap_and_grace(gap, 0)

    def until(self, retention: DurationLike) -> Self:
        """KIP-94's own rule, from before there was a grace, in place of it.

        A record is taken while the session that it would make, or make longer, ends not more than
        ``retention`` before stream time. After that it is aggregated alone, and the result comes
        out and is not stored.

        Raises:
            WindowError: The retention is shorter than the gap.
            TimeError: It cannot be read.
        """
        kept = duration_ms(retention, "until retention")
        if kept < self.inactivity_gap:
            raise WindowError(
                f"until({retention!r}) must not be shorter than the gap of "
                f"{show_duration(self.inactivity_gap)}, because sessions would be gone before they "
                "are over; give a longer one"
            )
        return attrs.evolve(self, grace=kept - self.inactivity_gap, answers_expired=True)


class EmitStrategy(Enum):
    """When results come out. Source: Kafka Streams ``EmitStrategy`` (KIP-825)."""

    ON_WINDOW_UPDATE = "on_window_update"
    ON_WINDOW_CLOSE = "on_window_close"

    @classmethod
    def on_window_update(cls) -> "EmitStrategy":
        """A change for every record: the default."""
        return cls.ON_WINDOW_UPDATE

    @classmethod
    def on_window_close(cls) -> "EmitStrategy":
        """One result for each session, when it is closed."""
        return cls.ON_WINDOW_CLOSE


EmitStrategyLike = EmitStrategy | Literal["on_window_update", "on_window_close"]


@attrs.frozen
class BufferConfig:
    """How many results may wait. Source: Kafka Streams ``Suppressed.BufferConfig``."""

    most: int | None = None
    shuts_down: bool = False

    @classmethod
    def unbounded(cls) -> "BufferConfig":
        """As many as there are."""
        return cls()

    @classmethod
    def max_records(cls, most: int) -> "BufferConfig":
        """At most so many. If there are more, those that wait longest come out early: with 0
        everything at once.

        Raises:
            WindowError: It is no whole number of 0 or more.
        """
        return cls(whole_number(most, 0, "max_records", WindowError))

    @classmethod
    def max_bytes(cls, most: int) -> NoReturn:
        """Kafka counts the bytes of what it has serialized. Here nothing is.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            f"BufferConfig.max_bytes({most!r}): what waits here is not serialized and has no size "
            "in bytes; count results, with BufferConfig.max_records"
        )

    def emit_early_when_full(self) -> "BufferConfig":
        """Those that wait longest come out early: the default."""
        return attrs.evolve(self, shuts_down=False)

    def shut_down_when_full(self) -> "BufferConfig":
        """One more is a failure."""
        return attrs.evolve(self, shuts_down=True)


@attrs.frozen
class Suppressed:
    """What is held back, and for how long. Source: Kafka Streams ``Suppressed``.

    ``limit`` (ms) is None where only final results come out. ``repeats``: see
    `until_window_closes`.
    """

    limit: int | None = None
    buffer: BufferConfig = BufferConfig()
    repeats: bool = False

    @classmethod
    def until_window_closes(
        cls, buffer: BufferConfig | None = None, *, repeats: bool = False
    ) -> "Suppressed":
        """All but the final result.

        Args:
            repeats: As Kafka does it to the millisecond: a result comes one millisecond before its
                session is closed, and a record of that millisecond makes another one come.
            buffer: How many sessions may be open at once; by default any number. Kafka counts
                sessions that have merged into others, too, until they would have been closed.

        Raises:
            WindowError: It lets results come out early, and they would not be final.
        """
        kept = buffer or BufferConfig.unbounded()
        if kept.most is not None and not kept.shuts_down:
            raise WindowError(
                f"until_window_closes with a buffer of max_records({kept.most}) that emits early: "
                "what comes out early is not final; add .shut_down_when_full(), or give "
                "BufferConfig.unbounded()"
            )
        return cls(None, kept, repeats)

    @classmethod
    def until_time_limit(
        cls, limit: DurationLike, buffer: BufferConfig | None = None
    ) -> "Suppressed":
        """A change of a session waits for this long, in stream time, and takes along what
        changes meanwhile: of each session one change comes in each ``limit`` at most. Later
        changes do not make it wait longer.

        Stream time is here the greatest end of a session so far, as in Kafka.

        Args:
            limit: How long; 0 lets everything through at once.
            buffer: How many sessions may wait; by default any number.

        Raises:
            TimeError: The limit cannot be read.
        """
        return cls(duration_ms(limit, "until_time_limit limit"), buffer or BufferConfig.unbounded())


class Buffer:
    """Changes that wait, by key and session. The last one of each is kept.

    Args:
        limit: For how long they wait (ms).
        held: Its other settings.
    """

    def __init__(self, limit: int, held: Suppressed) -> None:
        self._limit = limit
        self._config = held.buffer
        self._swallows_tombstones = held.repeats
        self._time: int | None = None
        self._since: dict[tuple[Any, Any], int] = {}
        self._rows: dict[tuple[Any, Any], Row] = {}

    def through(self, rows: Iterable[Row]) -> list[Row]:
        """What comes out because of these changes. What is dropped does not wait."""
        out = (out for row in rows for out in self._one(row))
        return [row for row in out if row.kind != "tombstone" or not self._swallows_tombstones]

    def _one(self, row: Row) -> Iterator[Row]:
        if row.kind == "dropped" or row.timestamp is None:
            yield row
            return
        self._time = row.timestamp if self._time is None else max(self._time, row.timestamp)
        name = (row.key, row.window)
        self._since.setdefault(name, row.timestamp)
        self._rows[name] = row
        while self._rows and self._since[self._first()] <= self._time - self._limit:
            yield self._take()
        most = self._config.most
        while most is not None and len(self._rows) > most:
            if self._config.shuts_down:
                raise BufferFullError(most)
            yield self._take()

    def _take(self) -> Row:
        name = self._first()
        del self._since[name]
        return self._rows.pop(name)

    def _first(self) -> tuple[Any, Any]:
        """Which waits longest; of several the least by key, end and start."""
        return min(self._since, key=lambda it: (self._since[it], *_serialized(*it)))


def _serialized(key: Any, window: Any) -> tuple[bytes, int, int]:
    start, end = window
    return key_bytes(key), end, start
