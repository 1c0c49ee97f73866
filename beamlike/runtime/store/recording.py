"""A record of what reached a shard in each step, stored with its state for `beamlike capture`.

A recorded step has the rows of a micro-batch and the clocks before and after it, which determine
its output. Steps without rows in which nothing is due are left out, because they change nothing. A
record has a maximal size: the oldest steps are deleted, and it says where it begins.

==========  =====================================================  ==========================
blob        holds                                                  cleared
==========  =====================================================  ==========================
-2          which steps there are, their sizes, where the record   never
            begins, and the clocks after the last step
-3 - n      step n: its rows, and its clocks                       when the record is full
==========  =====================================================  ==========================

Where each key has a watermark of its own, a row also has the watermark that judged it, and the
clock of its key after the step.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Self

import attrs
import pyarrow as pa

from beamlike.errors import StateError
from beamlike.machine.input_clocks import SourceClock
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.runtime.changes import RESOLUTION, resolution_in
from beamlike.runtime.clock import Clock, ShardInput
from beamlike.runtime.envelope import TIMES, coarser
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.blobs import one_chunk, pack_blob, unpack_blob
from beamlike.runtime.store.index import READ_ERRORS, Index
from beamlike.runtime.store.key_clocks import KeyClocks
from beamlike.runtime.store.state import Key, key_tuples
from beamlike.runtime.store.stores import Store

OWN: Final = ("own_judged_at", "own_watermark", "own_greatest", "own_active_at")
"""Columns that a recorded row has besides: of its key the watermark (ticks) that judged it, and the
fields of `KeyClock` after the step."""

_CONTENTS: Final = -2
_FIRST: Final = -3
_NOTHING: Final = pa.table({})


@attrs.frozen
class ShardMoment:
    """The watermark and processing time of a shard, in ticks of its query or in ms."""

    watermark: int
    clock: int

    def in_milliseconds(self, unit: Resolution) -> Self:
        """This moment, which counts ticks of ``unit``, in ms."""
        return type(self)(unit.to_ms(self.watermark), unit.to_ms(self.clock))


@attrs.frozen(eq=False)
class RecordedStep:
    """A step of a shard, in ticks of its query or in ms.

    Args:
        judged_at: The watermark as it began, which decided which rows were late.
        after: The clocks at its end. Processing time has this value during all of the step.
        rows: What arrived, in order, as `beamlike.runtime.shard.Shard.step` takes it. Where each
            key has a watermark of its own, also how it stands, in the columns of `OWN`.
        key_clock: How such watermarks follow their rows; None: there is one for all keys.
    """

    judged_at: int
    after: ShardMoment
    rows: pa.Table
    key_clock: SourceClock | None = None

    def in_milliseconds(self, unit: Resolution) -> Self:
        """This step, which counts ticks of ``unit``, in ms."""
        if unit is MILLISECONDS:
            return self
        return type(self)(
            unit.to_ms(self.judged_at),
            self.after.in_milliseconds(unit),
            coarser(self.rows, (*TIMES, *OWN), unit.per_ms),
            self.key_clock and self.key_clock.in_resolution(MILLISECONDS),
        )


@attrs.frozen
class _Contents:
    """Which steps are recorded: from number ``first`` on, one for each of ``sizes`` (bytes); and
    what their times count."""

    first: int
    sizes: tuple[int, ...]
    since: ShardMoment | None
    until: ShardMoment
    resolution: str = MILLISECONDS.word

    @classmethod
    def read(cls, blob: bytes) -> Self:
        _, header = unpack_blob(blob)
        since = header["since"]
        return cls(
            header["first"],
            tuple(header["sizes"]),
            None if since is None else ShardMoment(**since),
            ShardMoment(**header["until"]),
            header.get("resolution", MILLISECONDS.word),
        )

    def dump(self) -> bytes:
        return pack_blob(_NOTHING, attrs.asdict(self))


@attrs.frozen(eq=False)
class StateRecord:
    """The recorded steps of a shard, with all times in ms, whatever its query counts.

    Args:
        steps: The steps, in order.
        since: The clocks at the beginning, if the shard had stepped before; what it kept then is
            not in the record. None: the record begins with the shard.
        until: The clocks after the last step that was seen, recorded or not.
    """

    steps: Sequence[RecordedStep]
    since: ShardMoment | None
    until: ShardMoment

    @classmethod
    def read(cls, blob_at: Callable[[int], bytes | None]) -> Self | None:
        """The record among the blobs of a shard; None if there is none.

        Raises:
            StateError: It is damaged.
        """
        blob = blob_at(_CONTENTS)
        if blob is None:
            return None
        try:
            contents = _Contents.read(blob)
            unit = resolution_in({RESOLUTION: contents.resolution})
            steps = []
            for number in range(contents.first, contents.first + len(contents.sizes)):
                rows, header = unpack_blob(blob_at(_FIRST - number) or b"")
                after, key_clock = ShardMoment(**header["after"]), header.get("key_clock")
                source = None if key_clock is None else SourceClock.from_json(key_clock, unit)
                step = RecordedStep(header["judged_at"], after, rows, source)
                steps.append(step.in_milliseconds(unit))
            since = contents.since and contents.since.in_milliseconds(unit)
            return cls(steps, since, contents.until.in_milliseconds(unit))
        except READ_ERRORS as error:
            raise StateError(f"the record of a shard is damaged: {error}") from error


class StateRecorder:
    """Records the steps of the shards of a plan, in the store of each.

    Args:
        plan: What the shards do.
        most: Bytes of a shard's record at most. The last step is kept in any case.
    """

    def __init__(self, plan: Plan, most: int) -> None:
        self._plan, self._most = plan, most

    def watch(self, store: Store, index: Index, batch: ShardInput) -> Callable[[], None]:
        """Look at a step before it is made. What is returned records it, once it is."""
        arrivals, (begin, to) = batch.tables, batch.moves(index.clocks, self._plan)
        after = ShardMoment(to.watermark, to.clock)
        matters = bool(arrivals) or bool(index.due(to))
        contents = self._contents(store, None if index.is_new else index)
        rows = one_chunk(arrivals) if arrivals else _NOTHING
        source = self._plan.key_clock
        if source is not None and arrivals:
            clocks = KeyClocks(self._plan, source, store, index)
            rows = _with_own(rows, clocks, len(self._plan.keys), begin, to)

        def record() -> None:
            if matters:
                header: dict[str, Any] = {
                    "judged_at": begin.watermark,
                    "after": attrs.asdict(after),
                }
                if source is not None:
                    header["key_clock"] = source.to_json()
                self._append(store, contents, pack_blob(rows, header, small=True), after)
            elif after != contents.until:
                store.write(_CONTENTS, attrs.evolve(contents, until=after).dump())

        return record

    def _contents(self, store: Store, index: Index | None) -> _Contents:
        """The record so far; a new one if steps were made without a recorder."""
        blob = store.read(_CONTENTS)
        known = None if blob is None else _Contents.read(blob)
        now = ShardMoment(self._plan.resolution.earliest, 0)
        if index is not None:
            now = ShardMoment(index.clocks.watermark, index.clocks.clock)
        if known is not None and known.until == now:
            return known
        for number in () if known is None else range(known.first, known.first + len(known.sizes)):
            store.write(_FIRST - number, None)
        return _Contents(0, (), None if index is None else now, now, self._plan.resolution.word)

    def _append(self, store: Store, contents: _Contents, step: bytes, after: ShardMoment) -> None:
        number, sizes = contents.first + len(contents.sizes), [*contents.sizes, len(step)]
        store.write(_FIRST - number, step)
        first, since = contents.first, contents.since
        while len(sizes) > 1 and sum(sizes) > self._most:
            _, header = unpack_blob(store.read(_FIRST - first) or b"")
            since = ShardMoment(**header["after"])
            store.write(_FIRST - first, None)
            del sizes[0]
            first += 1
        kept = attrs.evolve(contents, first=first, sizes=tuple(sizes), since=since, until=after)
        store.write(_CONTENTS, kept.dump())


def _with_own(rows: pa.Table, clocks: KeyClocks, width: int, begin: Clock, to: Clock) -> pa.Table:
    """The rows of a step, each with the watermark of its key; a key has ``width`` columns."""
    keys = key_tuples(rows.columns[:width], rows.num_rows)
    greatest = dict[tuple[int, Key], int]()
    places = list(zip(rows.column("bucket").to_pylist(), keys, strict=True))
    for place, timestamp in zip(places, rows.column("ts").to_pylist(), strict=True):
        greatest[place] = max(timestamp, greatest.get(place, timestamp))
    opened = {bucket: clocks.load(bucket) for bucket in {bucket for bucket, _ in greatest}}
    key_clocks = dict[tuple[int, Key], tuple[int, ...]]()
    for (bucket, key), reached in greatest.items():
        _, begins, _ = opened[bucket].step(key, reached, begin, to)
        key_clocks[bucket, key] = (begins.watermark, *attrs.astuple(opened[bucket].known[key]))
    for name, values in zip(
        OWN, zip(*(key_clocks[place] for place in places), strict=True), strict=True
    ):
        rows = rows.append_column(name, pa.array(values, pa.int64()))
    return rows
