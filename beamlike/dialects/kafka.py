"""Sessions in the words of Kafka Streams.

    table = (
        group_by_key()
        .windowed_by(SessionWindows.of_inactivity_gap_and_grace("5 minutes", "1 minute"))
        .emit_strategy(EmitStrategy.on_window_close())
        .aggregate(lambda: 0, lambda key, value, total: total + value, lambda key, a, b: a + b)
    )

Records exactly one gap apart are one session, whose bounds are the times of its first and of its
last record, both inside. Time is stream time: the greatest timestamp so far, of all keys. A
session is closed once stream time is past its end, the gap and the grace; a record is too late if
the session that it would make, or make longer, is closed.

In the model: ``Sessions(gap + 1 ms)``, lateness ``grace``, ``late_check="merged"``, and as
watermark the stream time. On update: a pane for every record, retracting. On close: one pane, as
the window expires.

Source: Kafka Streams ``SessionWindowedKStream``, ``KStreamSessionWindowAggregate``; KIP-94,
KIP-825.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Self

import attrs

from beamlike.dialects.folds import Fold
from beamlike.dialects.kafka_driver import CachingDriver, Driver, Rules
from beamlike.dialects.kafka_store import Materialized, SessionStore
from beamlike.errors import WindowError
from beamlike.model.combine import CombineFn, Count
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import (
    AccumulationMode,
    LateCheck,
    OnTimeBehavior,
    WindowingStrategy,
)
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.triggers import AfterCount, Never, Repeatedly

__all__ = [
    "CachingDriver",
    "CogroupedKStream",
    "Driver",
    "EmitStrategy",
    "KGroupedStream",
    "KTable",
    "Materialized",
    "SessionStore",
    "SessionWindowedCogroupedKStream",
    "SessionWindowedKStream",
    "SessionWindows",
    "Suppressed",
    "group_by_key",
]

_UNNAMED = Materialized("sessions")
Initializer = Callable[[], Any]
Aggregator = Callable[[Any, Any, Any], Any]
"""``(key, value, aggregate) -> aggregate``."""
Merger = Callable[[Any, Any, Any], Any]
"""``(key, aggregate, aggregate) -> aggregate``."""


@attrs.frozen
class SessionWindows:
    """How long a silence ends a session, and how long after that records are still taken (ms).

    Source: Kafka Streams ``SessionWindows``.
    """

    inactivity_gap: int
    grace: int
    answers_expired: bool = False

    @classmethod
    def of_inactivity_gap_and_grace(cls, gap: DurationLike, grace: DurationLike) -> Self:
        """Sessions that end with a silence of more than ``gap``.

        Raises:
            WindowError: The gap is 0.
            TimeError: A duration cannot be read, or is negative.
        """
        inactivity = duration_ms(gap, "SessionWindows gap")
        if inactivity == 0:
            raise WindowError(
                'SessionWindows need a gap of more than 0 ms; give one such as "5 minutes"'
            )
        return cls(inactivity, duration_ms(grace, "SessionWindows grace"))

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
                f"until({retention!r}) must not be shorter than the gap of {self.inactivity_gap} "
                "ms, because sessions would be gone before they are over"
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


class Suppressed(Enum):
    """What `KTable.suppress` holds back. Source: Kafka Streams ``Suppressed``."""

    UNTIL_WINDOW_CLOSES = "until_window_closes"

    @classmethod
    def until_window_closes(cls) -> "Suppressed":
        """All but the final result."""
        return cls.UNTIL_WINDOW_CLOSES


def group_by_key() -> "KGroupedStream":
    """Records that are grouped by the key that they have. Records without a key are dropped.

    Source: Kafka Streams ``KStream.groupByKey``.
    """
    return KGroupedStream()


@attrs.frozen
class KGroupedStream:
    """A stream grouped by key. Source: Kafka Streams ``KGroupedStream``."""

    def windowed_by(self, windows: SessionWindows) -> "SessionWindowedKStream":
        """Its records in sessions."""
        return SessionWindowedKStream(windows)

    def cogroup(self, aggregator: Aggregator) -> "CogroupedKStream":
        """This stream, to be aggregated together with others."""
        return CogroupedKStream((aggregator,))


@attrs.frozen
class SessionWindowedKStream:
    """Sessions that wait for an aggregation. Source: Kafka Streams ``SessionWindowedKStream``."""

    windows: SessionWindows
    emit: EmitStrategy = EmitStrategy.ON_WINDOW_UPDATE

    def emit_strategy(self, emit: EmitStrategy) -> "SessionWindowedKStream":
        """When results come out."""
        return attrs.evolve(self, emit=emit)

    def count(self, materialized: Materialized = _UNNAMED) -> "KTable":
        """How many records, also those with a null value."""
        return KTable(self.windows, self.emit, Count(), materialized)

    def reduce(
        self, reducer: Callable[[Any, Any], Any], materialized: Materialized = _UNNAMED
    ) -> "KTable":
        """Values made one by a function of two; the value of a new record comes second."""

        def merged(key: Any, one: Any, other: Any) -> Any:
            return other if one is None else reducer(one, other)

        return self.aggregate(
            lambda: None,
            lambda key, value, reduced: merged(key, reduced, value),
            merged,
            materialized,
        )

    def aggregate(
        self,
        initializer: Initializer,
        aggregator: Aggregator,
        merger: Merger,
        materialized: Materialized = _UNNAMED,
    ) -> "KTable":
        """Any fold.

        Args:
            initializer: What a fold starts from. Kafka starts one for every record, and merges
                the sessions that it joins into it: let it be neutral to ``merger``.
            aggregator: ``(key, value, aggregate) -> aggregate``.
            merger: ``(key, aggregate, aggregate) -> aggregate``. An aggregate of None is a value
                here; in Kafka it deletes the session.
            materialized: How long closed sessions are kept for those who ask.

        Raises:
            WindowError: They would be gone before they are closed.
        """
        fold = Fold(initializer, (aggregator,), merger)
        return KTable(self.windows, self.emit, fold, materialized)


@attrs.frozen
class CogroupedKStream:
    """Several streams, each with its aggregator. Source: Kafka Streams ``CogroupedKStream``."""

    aggregators: tuple[Aggregator, ...]

    def cogroup(self, stream: KGroupedStream, aggregator: Aggregator) -> "CogroupedKStream":
        """One stream more; its records are those with its number, counted from 0."""
        return CogroupedKStream((*self.aggregators, aggregator))

    def windowed_by(self, windows: SessionWindows) -> "SessionWindowedCogroupedKStream":
        """The records of all streams in the same sessions."""
        return SessionWindowedCogroupedKStream(windows, self.aggregators)


@attrs.frozen
class SessionWindowedCogroupedKStream:
    """Sessions of several streams. Source: Kafka Streams ``SessionWindowedCogroupedKStream``."""

    windows: SessionWindows
    aggregators: tuple[Aggregator, ...]

    def aggregate(
        self, initializer: Initializer, merger: Merger, materialized: Materialized = _UNNAMED
    ) -> "KTable":
        """The fold, see `SessionWindowedKStream.aggregate`."""
        fold = Fold(initializer, self.aggregators, merger)
        return KTable(self.windows, EmitStrategy.ON_WINDOW_UPDATE, fold, materialized)


@attrs.frozen
class KTable:
    """A table of sessions. Source: Kafka Streams ``KTable<Windowed<K>, V>``."""

    windows: SessionWindows
    emit: EmitStrategy
    combine: CombineFn
    materialized: Materialized = _UNNAMED

    def __attrs_post_init__(self) -> None:
        self._retention()

    def _retention(self) -> int:
        return self.materialized.kept_for(self.windows.inactivity_gap, self.windows.grace)

    def suppress(self, what: Suppressed) -> "KTable":
        """Only final results, as with `EmitStrategy.on_window_close`.

        Kafka lets a result through a millisecond before its session is closed, so that another
        one can follow it. Here a final result is final.
        """
        return attrs.evolve(self, emit=EmitStrategy.ON_WINDOW_CLOSE)

    @property
    def strategy(self) -> WindowingStrategy:
        """The same in the words of the model."""
        on_update = self.emit is EmitStrategy.ON_WINDOW_UPDATE
        return WindowingStrategy(
            Sessions(self.windows.inactivity_gap + 1),
            Repeatedly(AfterCount(1)) if on_update else Never(),
            AccumulationMode.RETRACTING if on_update else AccumulationMode.DISCARDING,
            self.windows.grace,
            on_time_behavior=OnTimeBehavior.FIRE_IF_NON_EMPTY,
            late_check=LateCheck.MERGED,
        )

    def driver(self) -> Driver:
        """The table in memory, to be fed record by record, without a record cache."""
        return Driver(self.strategy, self.combine, self._rules())

    def caching_driver(self) -> CachingDriver:
        """The table in memory, behind a record cache that is flushed when somebody commits."""
        return CachingDriver(self.strategy, self.combine, self._rules())

    def _rules(self) -> Rules:
        said = self.windows
        return Rules(said.inactivity_gap, self._retention(), said.answers_expired)
