"""The watermarks of keys where each key has its own, stored with the state of their shard.

There is a blob for each bucket, with a row for each of its keys, also for keys without windows: the
columns of the key, and the fields of `KeyClock`. A step reads and writes the blobs of the buckets
that it touches. The index has the digest of each blob.
"""

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import NEVER
from beamlike.machine.input_clocks import SourceClock
from beamlike.machine.key_clock import KeyClock
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.model.resolution import MICROSECONDS
from beamlike.runtime.clock import Clock
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import table_of
from beamlike.runtime.store.blobs import damaged, pack_blob, unpack_blob
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import in_order
from beamlike.runtime.store.state import Key, key_tuples
from beamlike.runtime.store.stores import Store

_FIRST: Final = -(2**30)
"""The number of the first of these blobs. Records of a shard count down from -3 and get nowhere
near."""
CLOCK_FIELDS: Final = tuple(field.name for field in attrs.fields(KeyClock))


class KeyClocks:
    """Reads and writes the clocks of the keys of one shard.

    Args:
        plan: What the shard does.
        source: How the watermark of a key follows its elements.
        store: The shard's state.
        index: Its index.
    """

    def __init__(self, plan: Plan, source: SourceClock, store: Store, index: Index) -> None:
        keys = plan.key_columns.items()
        self._schema = pa.schema([*keys, *((name, pa.int64()) for name in CLOCK_FIELDS)])
        self._source, self._store, self._index = source, store, index
        # Up to the last step the watermarks followed as the query said then.
        self._before = source if index.key_clock is None else index.key_clock

    def load(self, bucket: int) -> "BucketClocks":
        """The clocks of a bucket's keys.

        Raises:
            StateError: The blob is not there, or is not what was written.
        """
        known = dict[Key, KeyClock]()
        digest = int(self._index.key_clock_digests[bucket])
        if digest != NEVER:
            known = _clocks_in(_read(self._store.read(_FIRST - bucket), digest))
        return BucketClocks(known, self._source, self._before, self._index.clocks)

    def save(self, bucket: int, clocks: "BucketClocks") -> None:
        """Write the clocks of a bucket after a step."""
        if not clocks.known:
            return
        rows = [(*key, *attrs.astuple(clock)) for key, clock in clocks.known.items()]
        table = table_of([*zip(*rows, strict=True)], self._schema)
        blob = pack_blob(in_order(table), {}, small=True)
        self._store.write(_FIRST - bucket, blob)
        self._index.key_clock_digests[bucket] = _digest(blob)


class BucketClocks:
    """The clocks of the keys of one bucket in a step.

    Args:
        known: The clocks of keys that have had elements.
        source: How watermarks follow elements from this step on.
        before: How they followed until now.
        now: The clocks of the shard after its last step.
    """

    def __init__(
        self, known: dict[Key, KeyClock], source: SourceClock, before: SourceClock, now: Clock
    ) -> None:
        self.known = known
        if source != before:  # none may go back to what the new rule would have said
            self.known = {key: clock.caught_up(before, now.clock) for key, clock in known.items()}
        self._source, self._before, self._now = source, before, now

    def step(
        self, key: Key, greatest: int | None, begin: Clock, to: Clock
    ) -> tuple[Clock, Clock, Clock]:
        """The clocks of a key after the step before, as this one begins, and as it ends.

        Args:
            key: The key.
            greatest: The greatest event time of its elements in this step (ticks); None: none came.
            begin: The clocks of the shard as the step begins; their watermark holds for all keys.
            to: The clocks of the shard as the step ends.
        """
        before = self.known.get(key)
        if before is not None:
            before = before.caught_up(self._before, self._now.clock)
        reached = self._now.watermark if before is None else before.watermark
        clock = attrs.evolve(self._now, watermark=max(reached, self._now.watermark))
        begin = attrs.evolve(begin, watermark=max(clock.watermark, begin.watermark))
        after = before
        if greatest is not None:
            after = KeyClock.after(before, greatest, self._source, to.clock)
        elif before is not None:
            after = before.caught_up(self._source, to.clock)
        reached = begin.watermark if after is None else max(begin.watermark, after.watermark)
        to = attrs.evolve(to, watermark=max(reached, to.watermark))
        if after is not None:
            self.known[key] = attrs.evolve(after, watermark=to.watermark)
        return clock, begin, to

    def deadlines(self, key: Key, timers: NextTimers) -> NextTimers:
        """The deadlines of a key, with the processing time at which its watermark passes the
        earliest event time."""
        clock = self.known.get(key)
        if clock is None or timers.event is None:
            return timers
        due = clock.due(self._source, timers.event)
        if due is None or (timers.clock is not None and timers.clock <= due):
            return timers
        return timers._replace(clock=due)


def saved_clocks(blob_at: Callable[[int], bytes | None], digests: Iterable[int]) -> pa.Table | None:
    """The clocks of all keys of a shard, as they are saved; None: there are none.

    Args:
        blob_at: Gives the blob of a number.
        digests: Those of the index, by bucket.

    Raises:
        StateError: A blob is not there, or not what was written.
    """
    tables = [
        _read(blob_at(_FIRST - bucket), int(digest))
        for bucket, digest in enumerate(digests)
        if digest != NEVER
    ]
    return pa.concat_tables(tables) if tables else None


def _read(blob: bytes | None, digest: int) -> pa.Table:
    if blob is None or _digest(blob) != digest:
        raise damaged(blob or b"", "it is not what was written of its keys' watermarks")
    table = unpack_blob(blob)[0].replace_schema_metadata(None)
    table.validate(full=True)  # the file may be hostile: no offset may lead out of its buffer
    for name in CLOCK_FIELDS:
        column = table.column(name)
        if column.type != pa.int64() or column.null_count:
            raise ValueError(f"{name} is {column.type} with {column.null_count} nulls")
        least, greatest = pc.min_max(column).as_py().values()
        if least < MICROSECONDS.earliest or greatest > MICROSECONDS.end_of_time:
            raise ValueError(f"{name} is no instant")
    return table


def _clocks_in(table: pa.Table) -> dict[Key, KeyClock]:
    keys = key_tuples(table.columns[: -len(CLOCK_FIELDS)], table.num_rows)
    fields = (table.column(name).to_pylist() for name in CLOCK_FIELDS)
    return {key: KeyClock(*values) for key, *values in zip(keys, *fields, strict=True)}


def _digest(blob: bytes) -> int:
    """A digest that is not `NEVER`, which stands for no blob."""
    digest: Any = np.frombuffer(blake2b(blob, digest_size=8).digest(), np.int64)[0]
    return int(digest) >> 1
