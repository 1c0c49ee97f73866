"""What Kafka says of sessions: their gap, when results come out and how long they wait, and how
long a table keeps them.

Source: Kafka Streams ``SessionWindows``, ``EmitStrategy``, ``Suppressed``, ``Materialized``;
KIP-94, KIP-825.
"""

from enum import Enum
from typing import Literal, NoReturn, Self

import attrs

from beamlike.errors import UnsupportedError, WindowError, WindowingError
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


@attrs.frozen
class Materialized:
    """How a table's sessions are kept for those who ask.

    Source: Kafka Streams ``Materialized``.
    """

    name: str
    retention: int | None = None
    caching: bool = True

    @classmethod
    def as_(cls, name: str) -> "Materialized":
        """A store of this name. It keeps sessions for as long as they are open.

        Raises:
            WindowingError: The name is no text.
        """
        if not isinstance(name, str) or not name:
            raise WindowingError(
                f'the name of a store must be a text such as "visits", got {name!r}'
            )
        return cls(name)

    def with_retention(self, retention: DurationLike) -> "Materialized":
        """Closed sessions stay, until their end is so far behind the latest end of any.

        A record that is in time merges with one that stays, also where that has been a result on
        close: it is then in two results, as in Kafka. A query over a DataFrame keeps open sessions
        only.

        Raises:
            TimeError: The duration cannot be read.
        """
        return attrs.evolve(self, retention=duration_ms(retention, "with_retention retention"))

    def with_caching_disabled(self) -> "Materialized":
        """As Kafka without a record cache: what the store hides cannot be joined either.

        It hides a session whose end is ``retention`` behind the latest end. With Kafka's retention
        by default, the gap and the grace, that is one millisecond before the session is closed: a
        record of that millisecond that would have joined it is aggregated alone, and not stored.
        A longer retention hides no open session.
        """
        return attrs.evolve(self, caching=False)

    def kept_for(self, gap: int, grace: int) -> int:
        """The retention (ms). By default a millisecond more than Kafka's, which hides a session
        one millisecond before it is closed; see `with_caching_disabled`.

        Raises:
            WindowError: Sessions would be gone before they are closed.
        """
        if self.retention is None:
            return gap + grace + self.caching
        if self.retention < gap + grace:
            raise WindowError(
                f"the retention of the session store {self.name!r} must be no smaller than its "
                f"inactivity gap plus the grace period, got "
                f"retention={show_duration(self.retention)}, gap={show_duration(gap)} and "
                f"grace={show_duration(grace)}; give {show_duration(gap + grace)} or more"
            )
        return self.retention


UNNAMED = Materialized("sessions")
"""The store of a table that names none."""
