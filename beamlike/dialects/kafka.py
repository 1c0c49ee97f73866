"""Sessions as in Kafka Streams.

    table = (
        group_by_key()
        .windowed_by(SessionWindows.of_inactivity_gap_and_grace("5 minutes", "1 minute"))
        .emit_strategy(EmitStrategy.on_window_close())
        .aggregate(lambda: 0, lambda key, value, total: total + value, lambda key, a, b: a + b)
    )

Records exactly one gap apart are one session, whose bounds are the times of its first and of its
last record, both inside. Time is stream time: the greatest timestamp so far, of all keys of a
stream. A session is closed once stream time is past its end, the gap and the grace; a record is too
late if the session that it would make, or make longer, is closed for the stream that it is of.
Streams that are aggregated together have a time each.

In the model: ``Sessions(gap + 1 ms)``, lateness ``grace``, ``late_check="merged"``, and as
watermark the stream time. On update: a pane for every record, retracting. On close: one pane, as
the window expires.

Kafka's other windows have no API of their own here. ``TimeWindows`` are `FixedWindows` or
`SlidingWindows` of the model, with stream time as watermark, the grace as allowed lateness and
``late_check="assigned"``; on close or suppressed until then ``Never``, else a pane for every
record, accumulating. Kafka has no hopping window that begins before 1970. Its
``SlidingWindows``, which end with a record or begin after one, are none of the model's.

Source: Kafka Streams ``SessionWindowedKStream``, ``KStreamSessionWindowAggregate``; KIP-94,
KIP-825.
"""

from collections.abc import Callable
from typing import Any, Self

import attrs

from beamlike.dialects.folds import Fold
from beamlike.dialects.kafka_driver import CachingDriver, Driver
from beamlike.dialects.kafka_store import ReadOnlySessionStore
from beamlike.dialects.kafka_table import KTable
from beamlike.dialects.kafka_words import (
    UNNAMED,
    BufferConfig,
    EmitStrategy,
    EmitStrategyLike,
    Materialized,
    SessionWindows,
    Suppressed,
)
from beamlike.dialects.stages import check_function, check_kind, kind_of
from beamlike.model.combine import Count
from beamlike.model.options import option

__all__ = [
    "BufferConfig",
    "CachingDriver",
    "CogroupedKStream",
    "Driver",
    "EmitStrategy",
    "KGroupedStream",
    "KTable",
    "Materialized",
    "ReadOnlySessionStore",
    "SessionWindowedCogroupedKStream",
    "SessionWindowedKStream",
    "SessionWindows",
    "Suppressed",
    "group_by_key",
]

_AGGREGATES = "a key, a value and an aggregate"
Initializer = Callable[[], Any]
Aggregator = Callable[[Any, Any, Any], Any]
"""``(key, value, aggregate) -> aggregate``."""
Merger = Callable[[Any, Any, Any], Any]
"""``(key, aggregate, aggregate) -> aggregate``."""


def group_by_key() -> "KGroupedStream":
    """Records that are grouped by the key that they have. Records without a key are dropped.

    Source: Kafka Streams ``KStream.groupByKey``.
    """
    return KGroupedStream()


@attrs.frozen
class KGroupedStream:
    """A stream grouped by key. Source: Kafka Streams ``KGroupedStream``."""

    def windowed_by(self, windows: SessionWindows) -> "SessionWindowedKStream":
        """Its records in sessions.

        Raises:
            WindowingError: These are no `SessionWindows`.
        """
        return SessionWindowedKStream(windows)

    def cogroup(self, aggregator: Aggregator) -> "CogroupedKStream":
        """This stream, to be aggregated together with others.

        Raises:
            CombineError: The aggregator is no function.
        """
        check_function("cogroup aggregator", aggregator, _AGGREGATES)
        return CogroupedKStream((aggregator,))


_SESSIONS = 'SessionWindows.of_inactivity_gap_with_no_grace("5 minutes")'


@attrs.frozen
class _Windowed:
    windows: SessionWindows = attrs.field(
        validator=kind_of(SessionWindows, _SESSIONS, "windowed_by")
    )
    emit: EmitStrategy = attrs.field(default=EmitStrategy.ON_WINDOW_UPDATE, kw_only=True)

    def emit_strategy(self, emit: EmitStrategyLike) -> Self:
        """When results come out. Of several streams Kafka has no choice, but `KTable.suppress`.

        Raises:
            WindowingError: There is no such strategy.
        """
        return attrs.evolve(self, emit=option(EmitStrategy, emit, "emit_strategy"))

    def _folded(
        self,
        initializer: Initializer,
        adders: tuple[Aggregator, ...],
        merger: Merger,
        materialized: Materialized,
    ) -> KTable:
        check_function("aggregate initializer", initializer, "no arguments")
        check_function("aggregate merger", merger, "a key and two aggregates")
        return KTable(self.windows, self.emit, Fold(initializer, adders, merger), materialized)


@attrs.frozen
class SessionWindowedKStream(_Windowed):
    """Sessions that wait for an aggregation. Source: Kafka Streams ``SessionWindowedKStream``."""

    def count(self, materialized: Materialized = UNNAMED) -> KTable:
        """How many records, also those with a null value."""
        return KTable(self.windows, self.emit, Count(), materialized)

    def reduce(
        self, reducer: Callable[[Any, Any], Any], materialized: Materialized = UNNAMED
    ) -> KTable:
        """Values made one by a function of two; the value of a new record comes second.

        Raises:
            CombineError: The reducer is no function.
        """
        check_function("reduce reducer", reducer, "two values")

        def merged(key: Any, reduced: Any, other: Any) -> Any:
            return other if reduced is None else reducer(reduced, other)

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
        materialized: Materialized = UNNAMED,
    ) -> KTable:
        """Any fold.

        Args:
            initializer: What a fold starts from. Kafka starts one for every record, and merges
                the sessions that it joins into it: let it be neutral to ``merger``.
            aggregator: ``(key, value, aggregate) -> aggregate``.
            merger: ``(key, aggregate, aggregate) -> aggregate``. An aggregate of None is a value
                here; in Kafka it deletes the session.
            materialized: How long closed sessions are kept for those who ask.

        Raises:
            CombineError: One of them is no function.
            WindowError: They would be gone before they are closed.
        """
        check_function("aggregate aggregator", aggregator, _AGGREGATES)
        return self._folded(initializer, (aggregator,), merger, materialized)


@attrs.frozen
class CogroupedKStream:
    """Several streams, each with its aggregator. Source: Kafka Streams ``CogroupedKStream``."""

    aggregators: tuple[Aggregator, ...]

    def cogroup(self, stream: KGroupedStream, aggregator: Aggregator) -> "CogroupedKStream":
        """One stream more; its records are those with its number, counted from 0.

        Raises:
            WindowingError: The stream is none.
            CombineError: The aggregator is no function.
        """
        check_kind("cogroup stream", stream, KGroupedStream, "group_by_key()")
        check_function("cogroup aggregator", aggregator, _AGGREGATES)
        return CogroupedKStream((*self.aggregators, aggregator))

    def windowed_by(self, windows: SessionWindows) -> "SessionWindowedCogroupedKStream":
        """The records of all streams in the same sessions, see `KGroupedStream.windowed_by`."""
        return SessionWindowedCogroupedKStream(windows, self.aggregators)


@attrs.frozen
class SessionWindowedCogroupedKStream(_Windowed):
    """Sessions of several streams. Source: Kafka Streams ``SessionWindowedCogroupedKStream``."""

    aggregators: tuple[Aggregator, ...]

    def aggregate(
        self, initializer: Initializer, merger: Merger, materialized: Materialized = UNNAMED
    ) -> KTable:
        """The fold, see `SessionWindowedKStream.aggregate`."""
        return self._folded(initializer, self.aggregators, merger, materialized)
