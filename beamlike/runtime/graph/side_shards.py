"""A function that looks into side inputs, on a shard.

Elements are dealt out to all shards; each shard is sent every pane of a side input once. To the
machines a pane is the digest of its items, and so is it in the state of their windows. The items
are stored beside that, once for each shard, until no element can look there any more. The function
is called where they are: what leaves the shard is what it makes.

What arrives is a table:

==================  ======  =================================================================
column              type    holds
==================  ======  =================================================================
``source``          int32   0 for elements, else the number of the side input, from 1
``value_value``     binary  a `Main` with a `Batch`, or the items of a pane, on the wire
``digest``          string  of the items; null for elements
``count``           int64   how many elements there are; 0 for a pane
``ts``              int64   event time (ms), the least of a batch
``start``, ``end``  int64   the window (ms)
==================  ======  =================================================================
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final
from zlib import crc32

import attrs
import numpy as np
import pyarrow as pa

from beamlike.errors import StateError
from beamlike.machine.clocks import Clocks, HostWatermark, ShardWatermark, WatermarkUpdate
from beamlike.machine.events import Drop, Element
from beamlike.machine.side_input import Side
from beamlike.model.bundle import Bundle
from beamlike.model.windows import Window, bounds, window_of
from beamlike.runtime.graph.side_inputs import (
    NOTHING_SEEN,
    Batch,
    SideInputWorker,
    batches,
    dropped,
    released,
    shown_panes,
)
from beamlike.runtime.graph.stage import StageStepped, plan_of
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.plan import Plan
from beamlike.runtime.shard import Shard
from beamlike.runtime.store.index import Index, ShardStatus
from beamlike.runtime.store.stores import Nearby, Store

_COLUMNS: Final = {
    "source": pa.int32(),
    "value_value": pa.binary(),
    "digest": pa.string(),
    "count": pa.int64(),
    "ts": pa.int64(),
    "start": pa.int64(),
    "end": pa.int64(),
}
_KEY: Final = b"()"
"""The key of all that a machine takes: a shard has one view of each side input."""


def dealt_out(given: Sequence[Bundle], wire: Wire, shards: int) -> Iterator[tuple[int, pa.Table]]:
    """A table for each shard that gets something, with the shard's position.

    An element goes where its value, its time and how often both came before send it: the same
    elements in any order are dealt out in the same way, also where many are equal.

    Args:
        given: The elements of the main source, and the panes of each side input.
        wire: How values are bytes.
        shards: How many there are.

    Raises:
        CoderError: A value cannot be bytes.
    """
    main, *sides = given
    panes = [
        (number, blob, _digest(blob), 0, timestamp, *bounds(window))
        for number, side in enumerate(sides, 1)
        for window, timestamp, items in shown_panes(side)
        for blob in (wire.dumps(list(items)),)
    ]
    places = _shards_of(main, wire, shards)
    for shard in range(shards):
        own = main if shards == 1 else main.at(np.nonzero(places == shard)[0].tolist())
        rows = [*panes, *(_row(window, batch, wire) for window, batch in batches(own))]
        if rows:
            columns = zip(*rows, strict=True)
            arrays = map(pa.array, columns, _COLUMNS.values())
            yield shard, pa.Table.from_arrays([*arrays], [*_COLUMNS])


def _shards_of(main: Bundle, wire: Wire, shards: int) -> Any:
    """The shard of each element."""
    hashed = np.fromiter(map(crc32, wire.each(main.values)), np.int64, len(main))
    hashed = (hashed + np.array(main.timestamps, np.int64)) & 0xFFFFFFFF
    order = np.argsort(hashed, kind="stable")
    runs = np.flatnonzero(np.diff(hashed[order], prepend=-1))
    lengths = np.diff(np.append(runs, len(order)))
    before = np.empty(len(order), np.int64)
    before[order] = np.arange(len(order)) - np.repeat(runs, lengths)
    return (hashed + before) % shards


def _row(window: Window, batch: Batch, wire: Wire) -> tuple[Any, ...]:
    element = batch.element(window)
    value = wire.dumps(element.value)
    return 0, value, None, len(batch.values), element.timestamp, *bounds(window)


def _digest(blob: bytes) -> str:
    return blake2b(blob, digest_size=16).hexdigest()


@attrs.frozen
class SideClocks:
    """The clocks of one machine of a node.

    Args:
        clocks: Of its inputs; those of its side input are marked.
        positions: Where the inputs of the node are among them.
    """

    clocks: Clocks
    positions: Mapping[int, int]

    def updates(self, updates: Iterable[WatermarkUpdate]) -> Iterator[WatermarkUpdate]:
        """Those of the node's updates that concern this machine."""
        for update in updates:
            if isinstance(update, HostWatermark):
                yield update
            elif update.input in self.positions:
                yield attrs.evolve(update, input=self.positions[update.input])


class SideInputStage:
    """The shards of a node with side inputs.

    Args:
        worker: What the node does.
        wire: How values are bytes.
        shards: How many there are.
        clocks: Those of each machine. The first takes what arrives; to any other the first input
            is the machine before.
    """

    notes: Final = False

    def __init__(
        self, worker: SideInputWorker, wire: Wire, shards: int, clocks: Sequence[SideClocks]
    ) -> None:
        self.worker, self.wire, self._clocks = worker, wire, clocks
        self._plans = [
            plan_of(worker.node, machine, wire, shards=shards, buckets=1, clocks=of.clocks)
            for machine, of in zip(worker.machines, clocks, strict=True)
        ]
        self._shards = [*map(Shard, self._plans)]

    @property
    def plan(self) -> Plan:
        """What saved state depends on is that of the first machine, which names all side inputs."""
        return self._plans[0]

    def together(self, tables: Sequence[pa.Table]) -> list[pa.Table]:
        """What arrives in a micro-batch, in order of arrival."""
        return list(tables)

    def count(self, tables: Sequence[pa.Table]) -> int:
        """How many elements arrive."""
        return sum(sum(table.column("count").to_pylist()) for table in tables)

    def step(
        self,
        store: Store,
        tables: Sequence[pa.Table],
        updates: Sequence[WatermarkUpdate],
        clock: int,
    ) -> StageStepped:
        """Take a shard through a micro-batch; see `Stage.step`.

        Raises:
            UserFunctionError: A window function of the user's raised.
            TransformError: The function raised.
            StateError: The state was written by another node, or is damaged.
        """
        sides = len(self._shards)
        contents = _Contents(self.wire, _Space(store, sides, sides + 1))
        arrived = [row for table in tables for row in table.to_pylist()]
        mains = [row for row in arrived if row["source"] == 0]
        drops, passed, statuses = list[tuple[Any, Drop]](), list[tuple[Window, Batch]](), []
        output_watermark, looked = 0, list[int]()
        for number, shard in enumerate(self._shards):
            space = _Space(store, number, sides + 1)
            shown = [row for row in arrived if row["source"] == number + 1]
            if number:
                mains = [
                    {"value_value": self.wire.dumps(it.value), **_time(it)}
                    for it in (batch.element(window) for window, batch in passed)
                ]
            rows = [*(contents.shown(number, row) for row in shown), *mains]
            of_inputs = [*self._clocks[number].updates(updates)]
            if number:
                of_inputs.append(ShardWatermark(0, 0, output_watermark))
            stepped = shard.step(space, [_machine_table(rows)] if rows else [], of_inputs, clock)
            effects = [effect for _, effect in stepped.effects]
            passed, output_watermark = released(effects), stepped.output_watermark
            drops += (contents.named(drop) for drop in dropped(effects))
            statuses.append(stepped.status)
            looked.append(_looked_until(self._plans[number], space))
        seen = [
            (window, attrs.evolve(batch, seen=tuple(map(contents.items, batch.seen))))
            for window, batch in passed
        ]
        out: dict[str, Bundle] = {}
        for tag, bundle in self.worker.look(seen):
            out.setdefault(tag, Bundle()).extend(bundle)
        contents.save(self.worker, looked)
        return StageStepped(out, drops, [], output_watermark, _together(statuses), list, [], list)


def _time(element: Element) -> dict[str, Any]:
    assert element.window is not None, "a batch is in a window"
    start, end = bounds(element.window)
    return {"ts": element.timestamp, "start": start, "end": end}


def _machine_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """What a machine takes, as `beamlike.runtime.arrivals` reads it."""
    number = pa.int64()
    return pa.table(
        {
            "key_key": pa.array([_KEY] * len(rows), pa.binary()),
            "value_value": pa.array([row["value_value"] for row in rows], pa.binary()),
            "ts": pa.array([row["ts"] for row in rows], number),
            "start": pa.array([row["start"] for row in rows], number),
            "end": pa.array([row["end"] for row in rows], number),
            "bucket": pa.array([0] * len(rows), pa.int32()),
        }
    )


def _looked_until(plan: Plan, space: "_Space") -> int:
    """The watermark (ms) that both inputs of a machine have reached."""
    at = Index.load(plan, space.read_index()).at
    return min(at.watermark, at.side_at)


def _together(statuses: Sequence[ShardStatus]) -> ShardStatus:
    """The status of all machines of a shard."""
    deadlines = [it.deadline for it in statuses if it.deadline is not None]
    open_windows = sum(it.windows_open for it in statuses)
    return attrs.evolve(
        statuses[0], windows_open=open_windows, deadline=min(deadlines, default=None)
    )


class _Space:
    """The blobs of one of several that share a store.

    Args:
        store: The store.
        place: Which one.
        count: How many there are.
    """

    def __init__(self, store: Store, place: int, count: int) -> None:
        self._store, self._place, self._count = store, place, count

    @property
    def nearby(self) -> Nearby:
        return self._store.nearby

    def read(self, number: int) -> bytes | None:
        return self._store.read(number * self._count + self._place)

    def write(self, number: int, blob: bytes | None) -> None:
        self._store.write(number * self._count + self._place, blob)

    def read_index(self) -> bytes | None:
        return self._store.read(-1 - self._place) if self._place else self._store.read_index()

    def write_index(self, blob: bytes) -> None:
        if self._place:
            self._store.write(-1 - self._place, blob)
        else:
            self._store.write_index(blob)


class _Contents:
    """The items that the side windows of a shard hold, stored by number.

    ===========  ===========================================  ===================================
    field        stored                                       cleared
    ===========  ===========================================  ===================================
    ``windows``  the digest of the items that each side       when no element can look into the
                 window of a side input holds                 window any more
    ``numbers``  the number of the blob with these items, by  with the last window that holds
                 their digest                                 them
    ``next``     the number of the next blob                  never
    ===========  ===========================================  ===================================
    """

    def __init__(self, wire: Wire, space: _Space) -> None:
        self._wire, self._space = wire, space
        saved = space.read_index()
        index = {} if saved is None else json.loads(saved)
        self._windows = {
            (side, start, end): digest for side, start, end, digest in index.get("windows", ())
        }
        self._numbers: dict[str, int] = index.get("numbers", {})
        self._next: int = index.get("next", 0)
        self._saved = saved
        self._arrived: dict[str, bytes] = {}

    def shown(self, side: int, row: Mapping[str, Any]) -> dict[str, Any]:
        """A pane as a machine takes it: its items are one, their digest."""
        digest = row["digest"]
        self._arrived[digest] = row["value_value"]
        self._windows[side, row["start"], row["end"]] = digest
        return {**row, "value_value": self._wire.dumps(Side((digest,)))}

    def items(self, digest: Any) -> Sequence[Any]:
        """The items with this digest.

        Raises:
            StateError: They are not there, or not what was written.
        """
        if digest == NOTHING_SEEN:
            return NOTHING_SEEN
        known = _RECENT.find(digest)
        if known is None:
            blob = self._blob(digest)
            known = self._wire.loads(blob)
            _RECENT.keep(digest, known, len(blob))
        return known

    def _blob(self, digest: str) -> bytes:
        blob = self._arrived.get(digest) or self._space.nearby.find(digest)
        if blob is not None and _digest(blob) == digest:
            return blob
        number = self._numbers.get(digest)
        blob = None if number is None else self._space.read(number)
        if blob is None or _digest(blob) != digest:
            raise StateError(
                "the state of a side input names items that are not there, or not what was "
                "written; the checkpoint is damaged: continue from a copy of it, or start with a "
                "new checkpoint"
            )
        self._space.nearby.keep(digest, blob)
        return blob

    def named(self, dropped_by_key: tuple[Any, Drop]) -> tuple[Any, Drop]:
        """A drop with the items of a pane in place of their digest."""
        key, drop = dropped_by_key
        element = drop.element
        if not isinstance(element, Element) or not isinstance(element.value, Side):
            return dropped_by_key
        (digest,) = element.value.content
        value = Side(tuple(self.items(digest)))
        return key, attrs.evolve(drop, element=attrs.evolve(element, value=value))

    def save(self, worker: SideInputWorker, looked: Sequence[int]) -> None:
        """Store what windows hold, and forget what no element can look into any more.

        Args:
            worker: Whose machines say until when a window is looked into.
            looked: The watermark of each machine (ms).
        """
        self._windows = {
            (side, start, end): digest
            for (side, start, end), digest in self._windows.items()
            if looked[side] <= worker.machines[side].last_look(window_of(start, end))
        }
        held = set(self._windows.values())
        for digest in [*self._numbers]:
            if digest not in held:
                self._space.write(self._numbers.pop(digest), None)
                self._space.nearby.forget(digest)
        for digest in sorted(held - self._numbers.keys()):
            self._space.write(self._next, self._arrived[digest])
            self._space.nearby.keep(digest, self._arrived[digest])
            self._numbers[digest] = self._next
            self._next += 1
        windows = [[*window, digest] for window, digest in sorted(self._windows.items())]
        index = {"windows": windows, "numbers": self._numbers, "next": self._next}
        saved = json.dumps(index).encode()
        if saved != (self._saved or json.dumps({"windows": [], "numbers": {}, "next": 0}).encode()):
            self._space.write_index(saved)


class _Recent:
    """The items that the shards of this process have looked into last, read once for all."""

    def __init__(self, room: int) -> None:
        self._room, self._taken = room, 0
        self._items: OrderedDict[str, tuple[Sequence[Any], int]] = OrderedDict()

    def find(self, digest: str) -> Sequence[Any] | None:
        """The items with this digest; None if they have been forgotten."""
        if digest not in self._items:
            return None
        self._items.move_to_end(digest)
        return self._items[digest][0]

    def keep(self, digest: str, items: Sequence[Any], size: int) -> None:
        """Keep items, which were so many bytes on the wire, in place of the oldest."""
        self._items[digest] = items, size
        self._taken += size
        while self._taken > self._room and len(self._items) > 1:
            _, (_, freed) = self._items.popitem(last=False)
            self._taken -= freed


_RECENT: Final = _Recent(256 * 1024 * 1024)
