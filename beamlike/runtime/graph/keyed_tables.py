"""Tables of elements by key, which the shards of a node take.

====================  ====================  ====================================================
column                type                  holds
====================  ====================  ====================================================
``key_key``           binary                the key, see `beamlike.runtime.graph.keys`
``value_value``       binary, or plain      the value: as it is where all of a table have one
                                            plain type, else on the wire
``ts``                int64                 event time (ticks)
``start``, ``end``    int64                 its window (ticks); null: the machine assigns it
``bucket``            int32                 of its key, see `Plan`
====================  ====================  ====================================================

Elements that `beamlike.runtime.graph.early` combined come in tables of combined elements, see
`beamlike.runtime.envelope`.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final
from zlib import crc32

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.columnar.columns import Panes, infos_of, panes_of
from beamlike.machine.events import Pane
from beamlike.model.bundle import Bundle, Retraction, Spans
from beamlike.model.coders import Coders
from beamlike.model.column_bundle import RepeatedKey
from beamlike.runtime.accumulator_columns import ARROW, as_column
from beamlike.runtime.column_shard import Pass
from beamlike.runtime.envelope import by_shard, is_lifted
from beamlike.runtime.graph.keys import key_bytes, key_of
from beamlike.runtime.graph.stateful import Keyed
from beamlike.runtime.graph.wire import Wire

_ESCAPED: Final = ('"', "\\")
_NOTED: Final = "noted"
"""The column that marks elements which are only recorded."""


def read_values(values: Iterable[Any], wire: Wire) -> Iterator[Any]:
    """The values in a table's column."""
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
    return by_shard(keyed_table(keyed, blobs, hashes_of(blobs), wire), shards, buckets)


def hashes_of(blobs: Sequence[bytes]) -> Ints:
    """The hash of each key, which says its shard and its bucket."""
    if isinstance(blobs, RepeatedKey):
        return np.full(len(blobs), crc32(blobs.key), np.int64)
    return np.fromiter(map(crc32, blobs), np.int64, len(blobs))


def keyed_table(keyed: Keyed, blobs: Sequence[bytes], hashes: Ints, wire: Wire) -> pa.Table:
    """The elements as a table with the ``hash`` of each key in place of its bucket.

    Raises:
        CoderError: A value cannot be bytes.
    """
    declared, keyed = keyed.declared, keyed.with_objects()
    values = as_column(keyed.values) if declared is None else typed(keyed.values, ARROW[declared])
    if values is None:
        values = pa.array(wire.blobs_of(keyed.values), pa.binary())
    return pa.table({**keyed_columns(keyed, blobs, hashes), "value_value": values})


def keyed_columns(keyed: Keyed, blobs: Sequence[bytes], hashes: Ints) -> dict[str, pa.Array]:
    """The columns of elements besides their values."""
    number, unassigned = pa.int64(), None
    if keyed.unassigned is not None:
        unassigned = np.array(keyed.unassigned, np.bool_)
    if isinstance(blobs, RepeatedKey):
        keys = pa.repeat(pa.scalar(blobs.key, pa.binary()), len(blobs))
    else:
        keys = pa.array(blobs, pa.binary())
    return {
        "key_key": keys,
        "ts": pa.array(keyed.timestamps, number),
        "start": pa.array(keyed.windows.starts, number, mask=unassigned),
        "end": pa.array(keyed.windows.ends, number, mask=unassigned),
        "hash": pa.array(hashes),
    }


def typed(values: Sequence[Any], dtype: pa.DataType) -> pa.Array:
    """Values of a declared type as a column."""
    return values if isinstance(values, pa.Array) else pa.array(values, dtype)


def text_blobs(texts: Sequence[str]) -> list[bytes] | None:
    """The bytes of texts as `key_bytes` makes them, all at once in a fifth of the time.

    None if one of them has a character that JSON escapes.
    """
    together = "".join(texts)
    if not (together.isascii() and together.isprintable()) or any(
        sign in together for sign in _ESCAPED
    ):
        return None
    return ('"s' + '"\n"s'.join(texts) + '"').encode().split(b"\n")


def key_blobs(keys: Sequence[Any], coders: Coders) -> Sequence[bytes]:
    """Keys in bytes.

    Raises:
        UnfitKeyError: A value cannot be a key in other processes.
    """
    if isinstance(keys, RepeatedKey):
        return RepeatedKey(key_bytes(keys.key, coders), len(keys))
    kinds = set(map(type, keys))
    if kinds == {str}:
        blobs = text_blobs(keys)
        if blobs is not None:
            return blobs
    if len(kinds) == 1 and kinds <= {int, str, bytes}:
        # Equal keys of one of these types have equal bytes.
        known = {key: key_bytes(key, coders) for key in set(keys)}
        return [known[key] for key in keys]
    if kinds == {tuple} and not any(keys):  # the only key of all elements of a window
        return [key_bytes((), coders)] * len(keys)
    return [key_bytes(key, coders) for key in keys]


def together(tables: Sequence[pa.Table], wire: Wire) -> list[pa.Table]:
    """Tables of a micro-batch in order of arrival, with values of one type; none if there is none.

    Elements that were combined before follow in a table of their own.
    """
    lifted = [table for table in tables if is_lifted(table)]
    combined = [pa.concat_tables(lifted)] if lifted else []
    tables = [table for table in tables if not is_lifted(table) and not _is_noted(table)]
    if not tables:
        return combined
    kinds = {table.schema.field("value_value").type for table in tables}
    if len(kinds) > 1:
        tables = [_on_wire(table, wire) for table in tables]
    return [pa.concat_tables(tables), *combined]


def as_noted(table: pa.Table) -> pa.Table:
    """The table marked as one that is only recorded, because its elements also arrive combined."""
    return table.append_column(_NOTED, pa.array(np.ones(table.num_rows, np.bool_)))


def noted_of(tables: Sequence[pa.Table], wire: Wire) -> list[pa.Table]:
    """Tables with single elements for a record, also of elements that arrive combined."""
    noted = [table.drop_columns([_NOTED]) for table in tables if _is_noted(table)]
    return together(noted or tables, wire)


def _is_noted(table: pa.Table) -> bool:
    return _NOTED in table.column_names


def _on_wire(table: pa.Table, wire: Wire) -> pa.Table:
    values = table.column("value_value")
    if pa.types.is_binary(values.type):
        return table
    blobs = pa.array(wire.blobs_of(values.to_pylist()), pa.binary())
    return table.set_column(table.column_names.index("value_value"), "value_value", blobs)


@attrs.frozen
class SeenKeys:
    """The keys that have come to a grouping in this process, with their order of arrival."""

    keys: dict[bytes, Hashable] = attrs.field(factory=dict)
    ranks: dict[bytes, int] = attrs.field(factory=dict)

    def add(self, blobs: Iterable[bytes], keys: Iterable[Hashable], coders: Coders) -> None:
        """Add keys that come, with their bytes. A key with a coder is what the coder decodes."""
        for blob, key in zip(blobs, keys, strict=True):
            if blob not in self.ranks:
                self.ranks[blob] = len(self.ranks)
                self.keys[blob] = key_of(blob, coders) if coders else key


def bundle_of(panes: Panes, blobs: Sequence[bytes], key_of: Callable[[bytes], Hashable]) -> Bundle:
    """The elements that the panes of a grouping become, see `GroupingWorker.shown`; ``blobs`` are
    the keys in bytes, by their numbers."""
    numbers = panes.key.tolist()
    keys = {number: key_of(blobs[number]) for number in {*numbers}}
    names = [keys[number] for number in numbers]
    values: list[Any] = [*zip(names, panes.values[0].to_pylist(), strict=True)]
    if panes.retraction is not None:
        for place in np.nonzero(panes.retraction)[0].tolist():
            values[place] = Retraction(values[place])
    return Bundle(
        values,
        panes.timestamp.tolist(),
        Spans(panes.start.tolist(), panes.end.tolist()),
        [*infos_of(panes)],
    )


def each_pane(passes: Iterable[tuple[Pass, Sequence[bytes]]]) -> Iterator[tuple[int, bytes, Pane]]:
    """Each pane with its phase and its key in bytes."""
    for passed, blobs in passes:
        for phase, panes in zip(passed.phases, passed.panes, strict=True):
            pairs = panes_of(panes, panes.values[0].to_pylist())
            yield from ((phase, blobs[key], pane) for key, pane in pairs)
