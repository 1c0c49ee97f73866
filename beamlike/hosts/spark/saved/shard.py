"""One shard of a saved grouping: its index and its rows, out of its blobs."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from beamlike.errors import StateError
from beamlike.hosts.spark.blobs import unpack_blob
from beamlike.hosts.spark.clock import Clock
from beamlike.hosts.spark.pages import Contents, Pages
from beamlike.hosts.spark.plan import LAYOUT_VERSION
from beamlike.machine.columnar.arrays import NEVER

__all__ = ["INDEX", "SavedShard"]

INDEX = -1
"""The number of the blob that is the index."""


@attrs.frozen(eq=False)
class SavedShard:
    """A shard as it rests.

    Args:
        group: Its grouping key in Spark.
        partition: The partition of Spark's state that it lies in.
        identity: What its state depends on, in words; see `Plan.identity`.
        about: What else was noted of its grouping; nothing by earlier versions.
        at: Where its clocks stand.
        output_watermark: What the next stage is promised, ms.
        next_event: Something changes once the watermark is past this (ms); None: nothing will.
        next_clock: The same of the clock.
        next_side: The same of the side input's own watermark, in a look-up.
        earliest_hold: Where its windows hold the output watermark, ms; None: none does.
        rows: Its windows, see `beamlike.hosts.spark.state`.
        stored: Bytes of all its blobs.
    """

    group: int
    partition: int
    identity: Mapping[str, str]
    about: Mapping[str, Any]
    at: Clock
    output_watermark: int
    next_event: int | None
    next_clock: int | None
    next_side: int | None
    earliest_hold: int | None
    rows: pa.Table
    stored: int

    @classmethod
    def of(cls, group: int, partition: int, blobs: Mapping[int, bytes]) -> "SavedShard":
        """Read the blobs of a shard, by number.

        Raises:
            StateError: Another version has written them, or they are damaged.
        """
        try:
            table, header = unpack_blob(blobs[INDEX])
            identity, contents = header["plan"], Contents.from_json(header["contents"])
        except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise _unreadable(group, error) from error
        _check_version(identity)
        try:
            event, timer, hold = (_least(table.column(it)) for it in ("event", "timer", "hold"))
            # Earlier versions had none.
            side = _least(table.column("side")) if "side" in table.column_names else None
            return cls(
                group,
                partition,
                identity,
                header.get("about", {}),
                Clock.from_json(header),
                header["output"],
                event,
                timer,
                side,
                hold,
                _living(contents, blobs),
                sum(map(len, blobs.values())),
            )
        except (pa.ArrowException, KeyError, TypeError, ValueError, IndexError) as error:
            raise _unreadable(group, error) from error


@attrs.frozen
class _Blobs:
    """The blobs of a shard as a `Store` that nobody writes to."""

    blobs: Mapping[int, bytes]

    def read(self, number: int) -> bytes | None:
        return self.blobs.get(number)

    def write(self, number: int, blob: bytes | None) -> None:
        raise NotImplementedError("saved state is read here, and left as it is")

    def read_index(self) -> bytes | None:
        return self.read(INDEX)

    def write_index(self, blob: bytes) -> None:
        self.write(INDEX, blob)


def _living(contents: Contents, blobs: Mapping[int, bytes]) -> pa.Table:
    if not contents.digests:
        return pa.table({})
    first = blobs.get(contents.pages[0])
    schema = pa.schema([]) if first is None else unpack_blob(first)[0].schema.remove_metadata()
    rows = Pages(schema, _Blobs(blobs), contents).read()
    return rows.table if rows.lives.all() else rows.table.filter(pa.array(rows.lives))


def _least(column: pa.ChunkedArray) -> int | None:
    least = int(np.min(column.to_numpy(), initial=NEVER))
    return None if least == NEVER else least


def _check_version(identity: Mapping[str, str]) -> None:
    found = identity.get("layout version")
    if found != str(LAYOUT_VERSION):
        raise StateError(
            f"the state has layout version {found}, and this beamlike reads {LAYOUT_VERSION}; open "
            "it with the version of beamlike that the query runs with"
        )


def _unreadable(group: int, error: Exception) -> StateError:
    return StateError(
        f"the state of the group {group} cannot be read: {type(error).__name__}: {error}; the "
        "checkpoint is damaged, or a version of beamlike wrote it that this one does not know: "
        "open a copy of the checkpoint, or use the version that the query runs with"
    )
