"""Elements on their way to the machine of a node, by key: the tables that its shards take.

====================  ====================  ====================================================
column                type                  holds
====================  ====================  ====================================================
``key_key``           binary                the key, see `beamlike.runtime.graph.keys`
``value_value``       binary, or plain      the value: as it is where all of a table have one
                                            plain type, else on the wire
``ts``                int64                 event time, ms
``start``, ``end``    int64                 its window, ms
``bucket``            int32                 of its key, see `Plan`
``first``             bool                  whether it comes before the others of a micro-batch
====================  ====================  ====================================================
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from beamlike.model.coders import Coders
from beamlike.runtime.graph.keys import key_bytes
from beamlike.runtime.graph.staged import Keyed
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.typed import ARROW, as_column


def read_values(values: Iterable[Any], wire: Wire) -> Iterator[Any]:
    """The values of a table's column, as they were."""
    loads = wire.loads
    return (loads(value) if type(value) is bytes else value for value in values)


def shard_tables(
    keyed: Keyed, blobs: Sequence[bytes], wire: Wire, shards: int, buckets: int
) -> Iterator[tuple[int, pa.Table]]:
    """A table for each shard that gets elements, with the shard's position.

    Args:
        keyed: The elements.
        blobs: Their keys in bytes.
        wire: How values are bytes.
        shards: The groups that share the keys.
        buckets: See `beamlike.runtime.plan.Plan`.

    Raises:
        CoderError: A value cannot be bytes.
    """
    declared = keyed.declared
    values = (
        as_column(keyed.values) if declared is None else pa.array(keyed.values, ARROW[declared])
    )
    if values is None:
        values = pa.array(wire.each(keyed.values), pa.binary())
    hashed = np.fromiter(map(crc32, blobs), np.int64, len(blobs))
    number = pa.int64()
    table = pa.table(
        {
            "key_key": pa.array(blobs, pa.binary()),
            "value_value": values,
            "ts": pa.array(keyed.timestamps, number),
            "start": pa.array(keyed.windows.starts, number),
            "end": pa.array(keyed.windows.ends, number),
            "bucket": pa.array(hashed // shards % buckets, pa.int32()),
            "first": pa.array(keyed.first, pa.bool_()),
        }
    )
    shard = hashed % shards
    for at in np.unique(shard).tolist():
        yield at, table.take(pa.array(np.nonzero(shard == at)[0]))


def key_blobs(keys: Sequence[Any], coders: Coders) -> list[bytes]:
    """Keys in bytes.

    Raises:
        UnfitKeyError: One is none for other processes.
    """
    kinds = set(map(type, keys))
    if len(kinds) == 1 and kinds <= {int, str, bytes}:
        # Equal keys of one of these types have equal bytes.
        known = {key: key_bytes(key, coders) for key in set(keys)}
        return [known[key] for key in keys]
    return [key_bytes(key, coders) for key in keys]


def together(tables: Sequence[pa.Table], wire: Wire) -> list[pa.Table]:
    """Tables of a micro-batch in order of arrival, with values of one type; none if there is none.

    What comes first does.
    """
    if not tables:
        return []
    kinds = {table.schema.field("value_value").type for table in tables}
    if len(kinds) > 1:
        tables = [_on_wire(table, wire) for table in tables]
    whole = pa.concat_tables(tables)
    first = whole.column("first").to_numpy()
    if first.any() and not first.all():
        whole = whole.take(pa.array(np.argsort(~first, kind="stable")))
    return [whole.drop_columns(["first"])]


def _on_wire(table: pa.Table, wire: Wire) -> pa.Table:
    values = table.column("value_value")
    if pa.types.is_binary(values.type):
        return table
    at = table.schema.get_field_index("value_value")
    blobs = pa.array(wire.each(values.to_pylist()), pa.binary())
    return table.set_column(at, "value_value", blobs)
