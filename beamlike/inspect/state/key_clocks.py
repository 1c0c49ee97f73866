"""The watermarks of keys that have each its own, as they are saved."""

from collections.abc import Iterable, Iterator, Sequence

import attrs
import pyarrow as pa

from beamlike.errors import StateError
from beamlike.inspect.state.keys import key_texts
from beamlike.inspect.state.shard import SavedShard
from beamlike.machine.key_clock import KeyClock
from beamlike.runtime.store.index import UNREADABLE


@attrs.frozen
class KeyOfState:
    """The watermark of a key, as of its last step."""

    key: str
    clock: KeyClock


def clocks_of_keys(shards: Iterable[SavedShard], *, in_bytes: bool) -> Sequence[KeyOfState]:
    """The watermarks of the keys of some shards; none if there is one for all keys."""
    tables = [shard.of_keys for shard in shards if shard.of_keys is not None]
    try:
        return [it for table in tables for it in _clocks_in(table, in_bytes=in_bytes)]
    except UNREADABLE as error:
        raise StateError(f"the watermarks of keys are none: {error}") from error


def _clocks_in(table: pa.Table, *, in_bytes: bool) -> Iterator[KeyOfState]:
    width = table.num_columns - len(attrs.fields(KeyClock))
    keys = key_texts(table.columns[:width], table.num_rows, in_bytes=in_bytes)
    fields = (column.to_pylist() for column in table.columns[width:])
    for key, *own in zip(keys.to_pylist(), *fields, strict=True):
        yield KeyOfState(key, KeyClock(*own))
