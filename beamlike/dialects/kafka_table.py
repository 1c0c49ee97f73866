"""A table of Kafka's sessions: how its results come out, in memory and over a DataFrame.

Source: Kafka Streams ``KTable``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import attrs

from beamlike.api.arguments import A_KEY, A_TIMESTAMP, column_names
from beamlike.dialects import frames
from beamlike.dialects.folds import Fold, Record
from beamlike.dialects.kafka_driver import CachingDriver, Driver, TableParts
from beamlike.dialects.kafka_words import Suppressed
from beamlike.dialects.stages import check_kind
from beamlike.errors import ColumnError, UnsupportedError
from beamlike.model.combine import CombineFn, Count
from beamlike.model.combine.base import Around
from beamlike.model.time import DurationLike
from beamlike.runtime.options import Render

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@attrs.frozen
class OfRecords(Around):
    """A fold of records, given as tuples of the key's columns, the value and perhaps the stream."""

    of: CombineFn
    keys: int
    numbered: bool

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        return self.of.add(accumulator, [self._record(columns) for columns in values], timestamps)

    def _record(self, columns: tuple[Any, ...]) -> Record:
        key, value = columns[: self.keys], columns[self.keys]
        return Record(key[0] if self.keys == 1 else key, value, columns[-1] if self.numbered else 0)


@attrs.frozen
class KTable(TableParts):
    """A table of sessions. Source: Kafka Streams ``KTable<Windowed<K>, V>``."""

    def suppress(self, suppressed: Suppressed) -> "KTable":
        """Hold changes back: only final results, as with `EmitStrategy.on_window_close`, or one
        change of each session at a time.

        Kafka lets a final result through a millisecond before its session is closed, so that
        another one can follow it. Here a final result is final, unless it ``repeats``. It waits in
        the state, and of a buffer only the limit counts.

        Raises:
            WindowingError: It does not say what to hold back.
        """
        check_kind("suppress", suppressed, Suppressed, "Suppressed.until_window_closes()")
        if suppressed.repeats:
            return attrs.evolve(self, suppressed=attrs.evolve(suppressed, limit=self.closes_after))
        if suppressed.limit is None:
            return attrs.evolve(self, final=suppressed)
        return attrs.evolve(self, suppressed=suppressed)

    def send_old_values(self) -> "KTable":
        """Changes carry what they replace, in ``old`` of their rows.

        As in Kafka, a change that comes without a record cache shows sessions that are gone,
        and not what the session itself had before.
        """
        return attrs.evolve(self, old_values=True)

    def driver(self) -> Driver:
        """The table in memory, to be fed record by record, without a record cache."""
        return Driver(self)

    def caching_driver(self) -> CachingDriver:
        """The table in memory, behind a record cache that is flushed at each commit.

        Kafka has no cache where results come on close (`EmitStrategy.on_window_close`), and they
        do not wait here either.
        """
        return CachingDriver(self)

    @frames.called_by_name("KTable", key=A_KEY, timestamp=A_TIMESTAMP)
    def on_dataframe(
        self,
        df: "DataFrame",
        *,
        key: str | Sequence[str],
        timestamp: str,
        value: str | None = None,
        stream: str | None = None,
        returns: str | None = None,
        watermark: DurationLike | None = 0,
        **options: Unpack[frames.GroupOptions],
    ) -> "DataFrame":
        """The table of a DataFrame's rows, streaming or bounded; see `beamlike.dialects.frames`.

        ``start`` and ``end`` are the times of the first and the last record of a session, and
        ``timestamp`` is the end, also in tombstones. The result is a changelog: of a micro-batch
        it has the last value of each session, as a record cache that is flushed after each, and
        no tombstone where a session only got another value.

        Stream time is the greatest timestamp of all partitions, and moves at the end of a
        micro-batch. The sessions that are open are in `beamlike.open_state`. Times before
        1970, which records of Kafka cannot have, are times like others.

        Args:
            key: The key's columns. Rows without a key are dropped.
            timestamp: The column with the records' times.
            value: The column that is aggregated; a count needs none.
            stream: Of streams that are aggregated together: the column that has their number.
            returns: The type of the result as DDL, such as ``"bigint"``; a count needs none.
            watermark: By how much stream time trails the greatest timestamp; Kafka's by nothing.
            options: See `Stream.group`. The grouping has the name of the store.

        Raises:
            UnsupportedError: The rule of KIP-94 (`SessionWindows.until`), or that of
                `Materialized.with_caching_disabled`, whose answers to late records are in no
                state; `Suppressed.until_time_limit`, or final results that repeat; a limit of what
                waits; old values.
            CombineError: ``returns`` is missing.
            ColumnError: A column is missing or has a type that cannot be used; ``value`` is not
                given, or ``stream`` is for one stream, or not for several.
        """
        if self.windows.answers_expired:
            raise UnsupportedError(
                "until(...) answers records that are too late and stores nothing, which a query "
                "cannot; give the windows a grace in its place"
            )
        if self.hides_early:
            raise UnsupportedError(
                "with_caching_disabled and the shortest retention let a record of the last "
                "millisecond be aggregated alone and not stored, which a query cannot; leave it "
                "out, or give a retention of more than gap and grace"
            )
        most = None if self.final is None else self.final.buffer.most
        if most is not None:
            raise UnsupportedError(
                f"a query does not count the sessions that are open, and no more than {most} may "
                "be; leave the buffer out: Suppressed.until_window_closes()"
            )
        if self.suppressed is not None or self.old_values:
            raise UnsupportedError(
                "a query holds nothing back by stream time and emits no old values; write it "
                "with this package, Stream.window(trigger=Repeatedly(AfterProcessingTime(...)))"
                ' for a rate and render="retractions" for what is withdrawn'
            )
        if isinstance(self.combine, Fold):
            self._check_columns(value, stream)
        options.setdefault("name", self.materialized.name)
        keys = column_names(key, "key")
        columns = [*keys, *(name for name in (value, stream) if name is not None)]
        combine = self.combine
        if combine != Count():
            combine = OfRecords(combine, len(keys), stream is not None)
        as_changelog = not self.on_close
        rows = frames.by_event_time(df, timestamp, watermark)
        render: Render = "changelog" if as_changelog else "retractions"
        parts = self.strategy, combine, keys, columns, returns
        everything = frames.grouped(rows, *parts, options, render)
        is_tombstone = "change = 'delete'" if as_changelog else "false"
        window = "if(dropped IS NULL, window, dropped.window)"
        last = frames.before(f"{window}.`end`", self.windows.inactivity_gap + 1)
        return frames.shown(
            everything,
            keys,
            kinds={"tombstone": is_tombstone},
            timestamp=last,
            value=f"if({is_tombstone}, NULL, value)",
            start=f"{window}.start",
            end=last,
        )

    def _check_columns(self, value: str | None, stream: str | None) -> None:
        if value is None:
            raise ColumnError('value is missing; name the column that is aggregated: value="v"')
        if self.streams > 1 and stream is None:
            raise ColumnError(
                f"stream is missing, and the table is of {self.streams} streams; name the column "
                "that has the number of each record's stream, counted from 0"
            )
        if self.streams == 1 and stream is not None:
            raise ColumnError(f"stream={stream!r} is for several streams, and the table is of one")
