"""What goes from one operator of a query to the next: batches, each of one kind.

A batch is bytes: a head of 32 bytes, then the columns of its kind as an Arrow stream. The head is
``bl``, a byte for the kind, a byte 0, and four little-endian int32: the number of the node or edge
that the batch is for, in a pipeline, and its `Order`; zeros follow, which keep the columns aligned.
An operator reads the head, and hands on what is not for it without reading the rest. An empty
batch, of no bytes at all, only wakes its shard. Instants are in ticks of the plan, see
`Resolution`, except where ``CLOCK`` says otherwise.

=============  =====================================================================================
word           what it is
=============  =====================================================================================
batch          bytes as above, on their way to an operator
blob           bytes of any kind: batches, and pages and indexes of saved state
message        a row of Spark with a batch in it
`Envelope`     a batch whose head was read
`Received`     what such batches hold, sorted by kind, besides elements of pipelines on their way
``Mail``       all batches of a pipeline that come to an operator in a micro-batch, sorted by kind
``Parcel``     the elements of one edge in such mail, still closed
message        a batch in a row of Spark, which carries it to its receiver
=============  =====================================================================================

==============  ====================================================================================
kind            columns
==============  ====================================================================================
``ELEMENTS``    what arrives at the machine of a node, rows or combined elements; on the way
                to a group of a fanout with the hash of each key in place of its bucket
``WATERMARKS``  ``of``, ``shard``, ``part``, ``watermark``, ``before``, ``start``, ``senders``:
                how far an input or a node has come; the shard is null for rows of a source,
                which have a ``start`` if they come in stretches, see `SourceProgress`
``DELIVERED``   ``of``, ``starts``, ``ends``, ``last``: see `beamlike.runtime.clock.Delivered`
``CLOCK``       ``of``, ``clock``: processing time, as a script says it
``COUNTS``      what nodes of a pipeline counted, see `beamlike.runtime.tally.tallies_table`; of an
                input of a grouping, how many ``elements`` it had
``FINISHED``    rows of the output, see `beamlike.runtime.output`
``FILE``        none: the name of a file with rows of the output, where they are many
``BUNDLE``      elements of a pipeline on an edge
``DROPS``       elements that nodes of a pipeline dropped
``METRICS``     what functions of a pipeline counted
``TRACES``      what happened inside of groupings while a script was played
==============  ====================================================================================

The last four hold values of Python, of any class. Each is one pickle and not columns: an object for
each element would take longer than everything else that is done with it.

Tasks with rows of a source write ``ELEMENTS`` for the shard of each key, or for a group of a
fanout, ``WATERMARKS`` for every shard, and for the first shard ``DELIVERED``, by which it finds
jumps, and ``COUNTS``. They write rows that they drop as ``FINISHED``, which a shard hands on. A
fanout writes what these tasks do. Scripts of tests write ``CLOCK`` for every shard. Shards write
panes and drops as ``FINISHED`` or ``FILE``, which `beamlike.hosts.spark.unpack` reads. In a
pipeline nodes write ``BUNDLE`` for each operator with a node that reads the edge, ``ELEMENTS`` and
``WATERMARKS`` for the next layer, and ``COUNTS``, ``DROPS``, ``METRICS`` and ``TRACES`` for the end
of the query.

A table of rows has the key columns, the value columns, ``ts``, ``bucket`` and, if rows come
in windows, ``start`` and ``end``. A table of combined elements has the key columns,
``start``, ``end``, ``count``, ``ts``, ``judged``, ``merged``, the columns of the accumulator, and
``bucket``.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from operator import attrgetter
from typing import Any, Final, Self

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import StateError
from beamlike.machine.events import Element, Item, Lifted
from beamlike.machine.input_clocks import (
    InputUpdate,
    ShardWatermark,
    SourceProgress,
    WatermarkUpdate,
)
from beamlike.model.windows import window_of
from beamlike.runtime.clock import Delivered
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import table_of
from beamlike.runtime.store.blobs import damaged, stream_of, table_in
from beamlike.runtime.store.narrow import narrowed
from beamlike.runtime.store.state import Key, key_tuples


class Kind(IntEnum):
    """What a batch holds. The numbers are in batches that wait in checkpoints."""

    ELEMENTS = 1
    WATERMARKS = 2
    DELIVERED = 3
    CLOCK = 4
    COUNTS = 5
    FINISHED = 6
    BUNDLE = 7
    DROPS = 8
    METRICS = 9
    TRACES = 10
    FILE = 11


Order = tuple[int, int, int]
"""The place of a batch among those that one receiver gets: they are taken in ascending order."""

_HEAD: Final = struct.Struct("<2sBxi3i12x")
_MAGIC: Final = b"bl"
_PICKLED: Final = b"\x80"
"""The first byte of whatever earlier versions sent."""
_EARLIER: Final = (
    "what an earlier version of beamlike sent into this query waits in its checkpoint, and this "
    "version cannot read it; start the pipeline once with that version, which ends the micro-batch "
    "that had begun, and then with this one"
)


@attrs.frozen
class Envelope:
    """A batch.

    Args:
        content: What it holds.
        blob: All of it, as it was sent.
        number: The number of the node or of the edge that it is for.
        order: Its place in the order of arrival.
    """

    content: Kind
    blob: Any = attrs.field(repr=False)
    number: int = 0
    order: Order = (0, 0, 0)

    @classmethod
    def opened(cls, blob: bytes) -> Self:
        """Read the head of a batch. The rest is not read, and not copied.

        Raises:
            StateError: These bytes are not a batch, or one of an earlier version.
        """
        if bytes(blob[:1]) == _PICKLED:
            raise StateError(_EARLIER)
        try:
            magic, content, number, first, second, third = _HEAD.unpack_from(blob)
            if magic != _MAGIC:
                raise ValueError("it is not a batch of beamlike")
            return cls(Kind(content), blob, number, (first, second, third))
        except (struct.error, ValueError) as error:
            raise damaged(blob, str(error)) from error

    @property
    def body(self) -> pa.Buffer:
        """All after the head: the columns as an Arrow stream, or the pickle."""
        return pa.py_buffer(self.blob).slice(_HEAD.size)

    @property
    def table(self) -> pa.Table:
        """Its columns.

        Raises:
            StateError: They are damaged.
        """
        return table_in(self.body)


def sealed(
    content: Kind, body: pa.Table | bytes, number: int = 0, order: Order = (0, 0, 0)
) -> bytes:
    """A batch as bytes; see `Envelope`. Whole numbers of elements are narrow in it."""
    head = _HEAD.pack(_MAGIC, content, number, *order)
    if isinstance(body, bytes):
        return head + body
    return stream_of(narrowed(body) if content is Kind.ELEMENTS else body, head)


# -- columns of each kind --------------------------------------------------------------------

_WATERMARKS: Final = pa.schema(
    [
        *(("of", pa.int32()), ("shard", pa.int32()), ("part", pa.string())),
        *((name, pa.int64()) for name in ("watermark", "before", "start", "senders")),
    ]
)
_DELIVERED: Final = pa.schema(
    [
        ("of", pa.int32()),
        *((name, pa.list_(pa.int64())) for name in ("starts", "ends")),
        ("last", pa.string()),
    ]
)
_CLOCK: Final = pa.schema([("of", pa.int32()), ("clock", pa.int64())])


def _table(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    return table_of([*zip(*rows, strict=True)] or [()] * len(schema), schema)


def _rows(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def updates_table(updates: Iterable[WatermarkUpdate]) -> pa.Table:
    """Watermark updates of inputs: of sources, and of shards of a grouping before."""
    rows: list[tuple[Any, ...]] = []
    for update in updates:
        if isinstance(update, SourceProgress):
            stretch = (update.greatest, None, update.start, update.senders)
            rows.append((update.input, None, update.part, *stretch))
        elif isinstance(update, ShardWatermark):
            position = (update.watermark, update.before, None, 1)
            rows.append((update.input, update.shard, None, *position))
    return _table(rows, _WATERMARKS)


def updates_in(table: pa.Table) -> list[InputUpdate]:
    """What `updates_table` made columns of."""
    return [
        SourceProgress(of, mark, part, start, senders)
        if shard is None
        else ShardWatermark(of, shard, mark, before)
        for of, shard, part, mark, before, start, senders in _rows(table)
    ]


def delivered_table(delivered: Iterable[Delivered]) -> pa.Table:
    """What the event times of rows say."""
    rows = ((part.source, *zip(*part.stretches, strict=True), part.last) for part in delivered)
    return _table(rows, _DELIVERED)


def delivered_in(table: pa.Table) -> list[Delivered]:
    """What `delivered_table` made columns of."""
    return [
        Delivered(of, [*zip(starts, ends, strict=True)], last)
        for of, starts, ends, last in _rows(table)
    ]


def clock_table(clocks: Iterable[tuple[int, int]]) -> pa.Table:
    """Processing time by the numbers of the sources whose scripts say it: for a grouping of rows in
    ms, for a pipeline in ticks of its graph."""
    return _table(clocks, _CLOCK)


def clocks_in(table: pa.Table) -> dict[int, int]:
    """What `clock_table` made columns of."""
    return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))


def opened(blobs: Iterable[bytes]) -> list[Envelope]:
    """The batches in these blobs, in their order: they come out of the shuffle in any.

    Raises:
        StateError: One is not a batch.
    """
    return sorted(map(Envelope.opened, blobs), key=attrgetter("order"))


@attrs.define
class Received:
    """What comes to an operator in a micro-batch, or leaves it, besides what is on its way further.

    Args:
        tables: Elements for machines, by the numbers of their nodes, in order of arrival.
        reached: How far inputs have come, which go by their positions, or by their numbers.
        delivered: The event times of rows of these inputs.
        clock: Processing time (ms) as the scripts of some sources say it; without one, that of the
            host counts.
    """

    tables: dict[int, list[pa.Table]] = attrs.field(factory=lambda: defaultdict(list))
    reached: list[InputUpdate] = attrs.field(factory=list)
    delivered: list[Delivered] = attrs.field(factory=list)
    clock: dict[int, int] = attrs.field(factory=dict)

    def take(self, envelope: Envelope) -> bool:
        """Take in what a batch holds; whether it is of a kind that is taken here.

        Raises:
            StateError: It is damaged.
        """
        match envelope.content:
            case Kind.ELEMENTS:
                self.tables[envelope.number].append(envelope.table)
            case Kind.WATERMARKS:
                self.reached += updates_in(envelope.table)
            case Kind.DELIVERED:
                self.delivered += delivered_in(envelope.table)
            case Kind.CLOCK:
                self.clock |= clocks_in(envelope.table)
            case _:
                return False
        return True

    def news(self, place: int = 0) -> Iterator[bytes]:
        """Watermarks and the clock as batches, at least one: they concern every shard.

        Args:
            place: Their place in the order of arrival.
        """
        order = (place, 0, 0)
        yield sealed(Kind.WATERMARKS, updates_table(self.reached), order=order)
        if self.clock:
            yield sealed(Kind.CLOCK, clock_table(self.clock.items()), order=order)

    def deliveries(self, place: int = 0) -> Iterator[bytes]:
        """Event times as a batch, if there are any: the first shard looks at them for all.

        Args:
            place: Their place in the order of arrival.
        """
        if self.delivered:
            yield sealed(Kind.DELIVERED, delivered_table(self.delivered), order=(place, 0, 0))


TIMES: Final = ("ts", "start", "end", "watermark")
"""The columns of rows on their way that are instants."""


def coarser(table: pa.Table, names: Sequence[str], factor: int) -> pa.Table:
    """A table with some columns of instants, those that it has, in ticks ``factor`` times as long,
    rounded down."""
    for name in names:
        if name in table.column_names:
            place = table.column_names.index(name)
            instants = table.column(name)
            numbers = pc.fill_null(instants, 0).to_numpy() // factor
            column = pa.array(numbers, mask=instants.is_null().to_numpy())
            table = table.set_column(place, name, column)
    return table


def arriving(plan: Plan, table: pa.Table) -> Iterator[tuple[Key, Item]]:
    """The elements or combined elements of a table with their keys, in order of its rows."""
    return _lifted_in(plan, table) if is_lifted(table) else elements_in(plan, table)


def is_lifted(table: pa.Table) -> bool:
    """Whether a table has combined elements, and not rows."""
    return "count" in table.column_names


def elements_of(table: pa.Table) -> int:
    """How many elements a table stands for."""
    return int(table.column("count").to_numpy().sum()) if is_lifted(table) else table.num_rows


def by_shard(table: pa.Table, shards: int, buckets: int) -> Iterator[tuple[int, pa.Table]]:
    """A table for each shard that gets something, with the shard's position.

    Args:
        table: Rows or combined elements, with the ``hash`` of each key. What comes out has the
            ``bucket`` in its place.
        shards: The groups that share the keys.
        buckets: See `beamlike.runtime.plan.Plan`.
    """
    hashes = table.column("hash").to_numpy().view(np.uint64)
    shard = (hashes % shards).astype(np.int64)
    bucket = (hashes // shards % buckets).astype(np.int32)
    table = table.drop_columns(["hash"]).append_column("bucket", pa.array(bucket))
    order = np.argsort(shard, kind="stable")
    bounds = np.searchsorted(shard[order], np.arange(shards + 1))
    for position, (start, end) in enumerate(pairwise(bounds)):
        if start < end:
            yield position, table.take(pa.array(order[start:end])).combine_chunks()


def elements_in(plan: Plan, table: pa.Table) -> Iterator[tuple[Key, Element]]:
    """The elements of a table of rows."""
    values = [table.column(name).to_pylist() for name in plan.value_columns]
    rows = zip(*values, strict=True) if values else [()] * table.num_rows
    columns: list[Any] = [plan.operation.elements(rows), table.column("ts").to_pylist()]
    if "start" in table.column_names:
        spans = zip(*(table.column(side).to_pylist() for side in ("start", "end")), strict=True)
        columns.append([None if start is None else window_of(start, end) for start, end in spans])
    return zip(_keys(plan, table), map(Element, *columns), strict=True)


def _lifted_in(plan: Plan, table: pa.Table) -> Iterator[tuple[Key, Lifted]]:
    layout = plan.operation.accumulator
    accumulators = layout.decode([table.column(name) for name in layout.types()])
    names = ("count", "start", "end", "ts", "judged", "merged")
    columns = [table.column(name).to_pylist() for name in names]
    lifted = (
        Lifted(accumulator, count, window_of(start, end), timestamp, judged, merged)
        for accumulator, count, start, end, timestamp, judged, merged in zip(
            accumulators, *columns, strict=True
        )
    )
    return zip(_keys(plan, table), lifted, strict=True)


def _keys(plan: Plan, table: pa.Table) -> Sequence[Key]:
    return key_tuples(list(map(table.column, plan.key_columns)), table.num_rows)
