"""A query over tables: its micro-batches, its watermark, and the state of its groupings.

Spark's part is done here, and nothing else: rows go from the packer to their shards, shards are
stepped one after the other, what comes out is put together. The watermark of the query moves
between micro-batches, as Spark's does.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.hosts.describing import Source, noted
from beamlike.hosts.local.tables.frame import MicroBatch, TableFrame
from beamlike.machine.clocks import HostWatermark, SourceClock
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.output import OutputTable
from beamlike.runtime.packing import packed
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.stores import DictStore, Store
from beamlike.runtime.work import FanoutWork, ShardWork, Work, known_watermark


@attrs.frozen
class PackedTable:
    """One input of a grouping: a frame, and what makes the packer's columns of its rows.

    ``assign`` is as of `beamlike.hosts.spark.query.Packed`.
    """

    rows: TableFrame
    columns: Callable[[pa.Table], pa.Table]
    assign: WindowFn | None

    def blobs(self, plan: Plan, index: int, batch: MicroBatch) -> Iterator[pa.RecordBatch]:
        """Its rows in a micro-batch as blobs for shards, as the input with this index."""
        rows = self.columns(self.rows.table(batch)).combine_chunks().to_batches()
        return packed(plan, iter(rows), index, self.assign)


@attrs.frozen
class _State:
    """The saved state of a grouping between micro-batches, by group: what a checkpoint has of it.

    ``fanout`` has that of the groups of its fanout.
    """

    shards: Mapping[int, DictStore] = attrs.field(factory=lambda: defaultdict(DictStore))
    fanout: Mapping[int, DictStore] = attrs.field(factory=lambda: defaultdict(DictStore))

    def copied(self) -> "_State":
        copy = _State()
        for stores, copies in (self.shards, copy.shards), (self.fanout, copy.fanout):
            for group, store in stores.items():
                copies[group].buckets, copies[group].index = dict(store.buckets), store.index
        return copy


class Stage:
    """A grouping: all its shards, in this process.

    Args:
        plan: What it does.
        inputs: What goes in.
        state: Its saved state.
    """

    def __init__(self, plan: Plan, inputs: Sequence[PackedTable], state: _State | None) -> None:
        self.plan, self._inputs = plan, inputs
        self.state = state or _State()
        self._works = ShardWork(plan), FanoutWork(plan)

    def table(self, batch: MicroBatch) -> pa.Table:
        """Everything that comes out in a micro-batch, with the hidden column."""
        updates = []
        if batch.ended:
            updates.append(HostWatermark(MAX_TIMESTAMP))
        elif self.plan.clocks is None:
            updates.append(HostWatermark(known_watermark(batch.watermark), begins=True))
        stores = self.state.shards.__getitem__, self.state.fanout.__getitem__
        return output_of(self._works, self._inputs, batch, updates, *stores)


StoreOf = Callable[[int], Store]
"""The state of a group."""


def output_of(
    works: tuple[ShardWork, FanoutWork],
    inputs: Sequence[PackedTable],
    batch: MicroBatch,
    updates: Sequence[HostWatermark],
    store_of_shard: StoreOf,
    store_of_fanout: StoreOf,
) -> pa.Table:
    """Everything that comes out of a grouping in a micro-batch, with the hidden column."""
    of_shards, of_fanout = works
    plan, received = of_shards.plan, defaultdict[int, list[bytes]](list)
    for index, packed_table in enumerate(inputs):
        _deliver(received, packed_table.blobs(plan, index, batch))

    def stepped(work: Work, groups: Iterable[int], store_of: StoreOf) -> Iterator[tuple[Any, ...]]:
        for group in dict.fromkeys(groups):
            stores = partial(store_of, group)
            yield from work.step(group, stores, received.get(group, []), updates, batch.clock)

    if plan.fanout:
        passed = defaultdict[int, list[bytes]](list)
        groups = (*plan.fanout_ids, *received)
        for shard, blob in stepped(of_fanout, groups, store_of_fanout):
            passed[shard].append(blob)
        received = passed
    rows = stepped(of_shards, plan.shard_ids, store_of_shard)
    tables = [table for table, *_ in rows if table is not None]
    return pa.concat_tables([OutputTable(plan).schema.empty_table(), *tables])


def _deliver(received: dict[int, list[bytes]], packed: Iterable[pa.RecordBatch]) -> None:
    """Sort blobs by the shard, or the group of the fanout, that they are for."""
    for rows in packed:
        groups, blobs = (column.to_pylist() for column in rows.columns)
        for group, blob in zip(groups, blobs, strict=True):
            received[group].append(blob)


class TableQuery:
    """Where frames come from, and what they keep.

    Args:
        schemas: The inputs by name, with the types of their columns.
        before: The query whose state this one continues with, as from a checkpoint.
    """

    is_streaming: Final = True
    without_spark: Final = (
        "and this test runs without it; start a session before, such as bl.local_session(), or "
        'test with host="spark"'
    )
    """What to do where only Spark can help."""

    def __init__(
        self, schemas: Mapping[str, pa.Schema], before: "TableQuery | None" = None
    ) -> None:
        self.frames = {name: self._input(name, schema) for name, schema in schemas.items()}
        self.watermark: int = 0 if before is None else before.watermark
        self._before = before
        self._stages: list[Stage] = []
        self._sources: list[int | None] = []

    def _input(self, name: str, schema: pa.Schema) -> TableFrame:
        nothing = schema.empty_table()
        return TableFrame(
            schema, frozenset((name,)), self, lambda batch: batch.rows.get(name, nothing)
        )

    def source(
        self, inputs: frozenset[str], timestamp: str, clock: SourceClock
    ) -> Callable[[Sequence[int]], None]:
        """What has the watermark of the query follow the event times (ms) of some rows.

        Args:
            inputs: Where these rows come from.
            timestamp: The column with their event time.
            clock: How it follows.
        """
        at = len(self._sources)
        self._sources.append(None)
        if (described := noted()) is not None:
            described.sources.append(Source(inputs, timestamp, clock))

        def follow(times: Sequence[int]) -> None:
            known = self._sources[at]
            reached = [time - clock.delay for time in times]
            self._sources[at] = max([*reached, *([] if known is None else [known])], default=None)

        return follow

    def stage(self, plan: Plan, inputs: Sequence[PackedTable]) -> Stage:
        """A grouping, with the state that the one in its place had before."""
        at, known = len(self._stages), [] if self._before is None else self._before._stages
        state = known[at].state.copied() if at < len(known) else None
        self._stages.append(Stage(plan, inputs, state))
        return self._stages[-1]

    def step(
        self,
        out: TableFrame,
        rows: Mapping[str, pa.Table],
        moves: Mapping[str, int],
        clock: int,
        *,
        ended: bool = False,
    ) -> list[pa.Table]:
        """A micro-batch, and the one without data that a new watermark causes; their rows.

        If it fails nothing has happened.

        Args:
            out: The frame whose rows are wanted.
            ended: All inputs have come to their end.
        """
        states, sources = [it.state.copied() for it in self._stages], list(self._sources)
        watermark = self.watermark
        try:
            came = [out.table(MicroBatch(rows, moves, self.watermark, clock, ended))]
            reached = min((0 if it is None else it for it in self._sources), default=0)
            if reached > self.watermark and not ended:
                self.watermark = reached
                came.append(out.table(MicroBatch({}, {}, reached, clock)))
        except Exception:
            for stage, state in zip(self._stages, states, strict=True):
                stage.state = state
            self._sources, self.watermark = sources, watermark
            raise
        return came
