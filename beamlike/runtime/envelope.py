"""What goes from one operator of a query to the next: batches, each of one kind.

A batch is bytes. First come a few numbers, which say its kind, whom it is for, and its place in the
order of arrival, so that an operator hands on what is not for it without reading it. Then come the
columns of its kind, as an Arrow stream.

==============  ====================================================================================
kind            columns
==============  ====================================================================================
``ELEMENTS``    what arrives at the machine of a node, see `beamlike.runtime.arrivals`; on the way
                to a group of a fanout with the hash of each key in place of its bucket
``WATERMARKS``  ``of``, ``shard``, ``part``, ``watermark``, ``before``: how far an input or a node
                has come (ms); the shard is null for rows of a source
``DELIVERED``   ``of``, ``starts``, ``ends``, ``last``: see `beamlike.machine.jumps.Delivered`
``CLOCK``       ``of``, ``clock``: processing time (ms), as a script says it
``COUNTS``      what nodes of a pipeline counted, see `beamlike.runtime.tally.tallies_table`; of an
                input of a grouping, how many ``elements`` it had
``FINISHED``    rows of the output, see `beamlike.runtime.output`
``FILE``        none: the name of a file with such rows, where they are many
``BUNDLE``      elements of a pipeline on an edge
``DROPS``       elements that nodes of a pipeline dropped
``METRICS``     what functions of a pipeline counted
``TRACES``      what happened inside of groupings while a script was played
==============  ====================================================================================

The last four hold values of Python, of any class. They are one pickle each and not columns: an
object for each element would take longer than everything else that is done with it.
"""

import struct
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any, Final, Self

import attrs
import pyarrow as pa

from beamlike.errors import StateError
from beamlike.machine.clocks import ShardWatermark, SourceProgress, WatermarkUpdate
from beamlike.machine.jumps import Delivered
from beamlike.runtime.store.blobs import damaged, stream_of, table_in


class Kind(IntEnum):
    """What a batch holds. The numbers are in messages that wait in checkpoints."""

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
"""The place of a batch among those that come to one receiver."""

_HEAD: Final = struct.Struct("<2sBxi3i12x")
_MAGIC: Final = b"bl"
_PICKLED: Final = b"\x80"
"""What all that earlier versions sent begins with."""
_EARLIER: Final = (
    "what an earlier version of beamlike sent into this query waits in its checkpoint, and this "
    "version cannot read it; start the pipeline once with that version, which ends the micro-batch "
    "that had begun, and then with this one"
)


@attrs.frozen
class Envelope:
    """A batch.

    Args:
        kind: What it holds.
        blob: All of it, as it was sent.
        number: The number of the node or of the edge that it is for.
        order: Its place in the order of arrival.
    """

    kind: Kind
    blob: Any = attrs.field(repr=False)
    number: int = 0
    order: Order = (0, 0, 0)

    @classmethod
    def opened(cls, blob: bytes) -> Self:
        """The batch in these bytes. Its body is not read, and not copied.

        Raises:
            StateError: They are none.
        """
        if bytes(blob[:1]) == _PICKLED:
            raise StateError(_EARLIER)
        try:
            magic, kind, number, first, second, third = _HEAD.unpack_from(blob)
            if magic != _MAGIC:
                raise ValueError("it is not a batch of beamlike")
            return cls(Kind(kind), blob, number, (first, second, third))
        except (struct.error, ValueError) as error:
            raise StateError(damaged(blob, str(error))) from error

    @property
    def body(self) -> pa.Buffer:
        """Its columns as a stream, or its pickle."""
        return pa.py_buffer(self.blob).slice(_HEAD.size)

    @property
    def table(self) -> pa.Table:
        """Its columns.

        Raises:
            StateError: They are damaged.
        """
        return table_in(self.body)


def sealed(kind: Kind, body: pa.Table | bytes, number: int = 0, order: Order = (0, 0, 0)) -> bytes:
    """A batch as bytes; see `Envelope`."""
    head = _HEAD.pack(_MAGIC, kind, number, *order)
    return head + body if isinstance(body, bytes) else stream_of(body, head)


# -- columns of each kind --------------------------------------------------------------------

_WATERMARKS: Final = pa.schema(
    [
        ("of", pa.int32()),
        ("shard", pa.int32()),
        ("part", pa.string()),
        ("watermark", pa.int64()),
        ("before", pa.int64()),
    ]
)
_DELIVERED: Final = pa.schema(
    [
        ("of", pa.int32()),
        ("starts", pa.list_(pa.int64())),
        ("ends", pa.list_(pa.int64())),
        ("last", pa.string()),
    ]
)
_CLOCK: Final = pa.schema([("of", pa.int32()), ("clock", pa.int64())])


def _table(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    columns = [*zip(*rows, strict=True)] or [()] * len(schema)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _rows(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


@attrs.frozen
class Reached:
    """How far a source, or a shard of a node that keeps state, has come: its watermark (ms).

    For a source that does not report its watermark, the greatest event time (ms) in some rows.
    ``before`` is where the watermark was before this micro-batch (ms); None: that is not known.
    """

    node: int
    shard: int
    watermark: int
    before: int | None = None


def reached_table(reached: Iterable[Reached]) -> pa.Table:
    """Watermarks of nodes of a pipeline."""
    rows = ((it.node, it.shard, None, it.watermark, it.before) for it in reached)
    return _table(rows, _WATERMARKS)


def reached_in(table: pa.Table) -> list[Reached]:
    """What `reached_table` made columns of."""
    return [Reached(node, shard, at, before) for node, shard, _, at, before in _rows(table)]


def updates_table(updates: Iterable[WatermarkUpdate]) -> pa.Table:
    """Watermark updates of inputs: of sources, and of shards of a grouping before."""
    rows: list[tuple[Any, ...]] = []
    for update in updates:
        if isinstance(update, SourceProgress):
            rows.append((update.input, None, update.part, update.greatest, None))
        elif isinstance(update, ShardWatermark):
            rows.append((update.input, update.shard, None, update.watermark, None))
    return _table(rows, _WATERMARKS)


def updates_in(table: pa.Table) -> list[WatermarkUpdate]:
    """What `updates_table` made columns of."""
    return [
        SourceProgress(of, at, part) if shard is None else ShardWatermark(of, shard, at)
        for of, shard, part, at, _ in _rows(table)
    ]


def delivered_table(delivered: Iterable[Delivered]) -> pa.Table:
    """What the event times of rows say."""
    rows = ((it.source, *zip(*it.stretches, strict=True), it.last) for it in delivered)
    return _table(rows, _DELIVERED)


def delivered_in(table: pa.Table) -> list[Delivered]:
    """What `delivered_table` made columns of."""
    return [
        Delivered(of, [*zip(starts, ends, strict=True)], last)
        for of, starts, ends, last in _rows(table)
    ]


def clock_table(clocks: Iterable[tuple[int, int]]) -> pa.Table:
    """Processing time (ms) by the numbers of the sources whose scripts say it."""
    return _table(clocks, _CLOCK)


def clocks_in(table: pa.Table) -> dict[int, int]:
    """What `clock_table` made columns of."""
    return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
