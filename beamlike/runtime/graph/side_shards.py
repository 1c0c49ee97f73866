"""A function that looks into side inputs, on a shard.

Elements are dealt out to all shards. Every pane of a side input is sent to each shard. In the
machines, and in the state of their windows, a digest stands for the items of a pane. Each shard
stores the items themselves once, until no element can look there any more. The function is called
on the shard, so its outputs are what leaves the shard.

What arrives is a table:

==================  ======  =================================================================
column              type    holds
==================  ======  =================================================================
``source``          int32   0 for elements, else the number of the side input, from 1
``value_value``     binary  a `Main` with a `SideBatch`, or the items of a pane, on the wire
``digest``          string  of the items; null for elements
``count``           int64   how many elements there are; 0 for a pane
``ts``              int64   event time (ticks), the least of a batch
``start``, ``end``  int64   the window (ticks)
==================  ======  =================================================================
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from itertools import chain
from types import NoneType
from typing import Any, Final
from zlib import crc32

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.clocks import Clocks
from beamlike.machine.events import Drop
from beamlike.machine.input_clocks import (
    HostWatermark,
    InputClock,
    ShardWatermark,
    SourceClock,
    SourceProgress,
    StageClock,
    WatermarkUpdate,
)
from beamlike.model.bundle import Bundle
from beamlike.model.windows import Window, bounds
from beamlike.runtime.clock import Delivered, ShardInput, ShardStatus
from beamlike.runtime.graph.side_contents import SideContents, Space
from beamlike.runtime.graph.side_inputs import (
    SideBatch,
    SideInputWorker,
    batches,
    dropped,
    released,
    shown_panes,
)
from beamlike.runtime.graph.stage import StageStepped, plan_of
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import table_of
from beamlike.runtime.shard import Shard
from beamlike.runtime.store.blobs import digest_of
from beamlike.runtime.store.stores import Store

_COLUMNS: Final = pa.schema(
    [
        *(("source", pa.int32()), ("value_value", pa.binary()), ("digest", pa.string())),
        *((name, pa.int64()) for name in ("count", "ts", "start", "end")),
    ]
)
_OF_MACHINE: Final = pa.schema(
    [
        *(("key_key", pa.binary()), ("value_value", pa.binary())),
        *((name, pa.int64()) for name in ("ts", "start", "end")),
        ("bucket", pa.int32()),
    ]
)
"""The columns that a machine takes, see `beamlike.runtime.envelope`."""
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
"""Knuth's multiplicative hash: numbers that are evenly spaced land everywhere."""
_HASHED: Final = frozenset((bool, bytes, int, str, date, datetime, time, timedelta))
"""Classes whose equal values have one hash in all processes of a query, because Spark gives these
one seed. None is not among them, nor are floats, which may be NaN: their hashes are addresses."""
_KEY: Final = b"()"
"""The key of everything that a machine takes: a shard has one view of each side input."""


def dealt_out(bundles: Sequence[Bundle], wire: Wire, shards: int) -> Iterator[tuple[int, pa.Table]]:
    """A table for each shard that gets something, with the shard's position.

    The shard of an element depends on its value, its time, and how often both came before. So the
    same elements are dealt out in the same way in any order, also if many are equal. Spark may
    repeat a task with its rows in another order, after shards have taken what it sent before.

    Args:
        bundles: The elements of the main source, and the panes of each side input.
        wire: How values are bytes.
        shards: How many there are.

    Raises:
        CoderError: A value cannot be bytes.
    """
    main, *sides = bundles
    panes = [
        (number, blob, digest_of(blob), 0, timestamp, *bounds(window))
        for number, side in enumerate(sides, 1)
        for window, timestamp, items in shown_panes(side)
        for blob in (wire.dumps(list(items)),)
    ]
    places = _shards_of(main, wire, shards)
    for shard in range(shards):
        shard_elements = main if shards == 1 else main.take(np.nonzero(places == shard)[0].tolist())
        rows = [*panes, *(_row(window, batch, wire) for window, batch in batches(shard_elements))]
        if rows:
            yield shard, table_of([*zip(*rows, strict=True)], _COLUMNS)


def _shards_of(main: Bundle, wire: Wire, shards: int) -> Any:
    """The shard of each element."""
    if shards == 1 or not len(main):
        return np.zeros(len(main), np.int64)
    hashed = np.array(_hashes(main.values, wire), np.int64) + np.array(main.timestamps, np.int64)
    mixed = (hashed.astype(np.uint64) * _MIX) >> np.uint64(33)
    order = np.argsort(mixed, kind="stable")
    starts = np.flatnonzero(np.diff(mixed[order], prepend=mixed.max() + 1))
    lengths = np.diff(np.append(starts, len(order)))
    before = np.empty(len(order), np.uint64)
    before[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return ((mixed + before) % np.uint64(shards)).astype(np.int64)


def _hashes(values: Sequence[Any], wire: Wire) -> list[int]:
    """A number for each value, the same in all processes of a query."""
    classes = set(map(type, values))
    if classes <= _HASHED:
        return [*map(hash, values)]
    if classes <= {*_HASHED, float, NoneType}:
        return [0 if value is None or value != value else hash(value) for value in values]
    if all(map(_is_plain_tuple, classes)):
        if _HASHED.issuperset(map(type, chain.from_iterable(values))):
            return [*map(hash, values)]
        if len(set(map(len, values))) == 1:
            columns = (_hashes(column, wire) for column in zip(*values, strict=True))
            return [*map(hash, zip(*columns, strict=True))]
    return [*map(crc32, wire.blobs_of(values))]  # slower, and whatever its class says of hashes


def _is_plain_tuple(cls: type) -> bool:
    plain = (tuple.__hash__, tuple.__iter__)
    return issubclass(cls, tuple) and (cls.__hash__, cls.__iter__) == plain


def _row(window: Window, batch: SideBatch, wire: Wire) -> tuple[Any, ...]:
    element = batch.element(window)
    value = wire.dumps(element.value)
    return 0, value, None, len(batch.values), element.timestamp, *bounds(window)


@attrs.frozen
class InputClocks:
    """The clocks of the inputs of a node, or of one of its machines.

    Args:
        clocks: Of its inputs; those of a side input are marked.
        places: Where the inputs are among them, by the numbers that updates have.
    """

    clocks: Clocks
    places: Mapping[int, int]

    def updates(self, updates: Iterable[WatermarkUpdate]) -> Iterator[WatermarkUpdate]:
        """Those of the updates that concern these inputs."""
        for update in updates:
            if isinstance(update, HostWatermark):
                yield update
            elif update.input in self.places:
                place = self.places[update.input]
                is_source = isinstance(self.clocks.inputs[place], SourceClock)
                if is_source and isinstance(update, ShardWatermark):  # the end of a stream
                    yield SourceProgress(place, update.watermark)
                else:
                    yield attrs.evolve(update, input=place)

    def delivered(self, delivered: Iterable[Delivered]) -> Iterator[Delivered]:
        """Those of the deliveries of rows that come from these inputs."""
        for rows in delivered:
            if rows.source in self.places:
                yield attrs.evolve(rows, source=self.places[rows.source])


def side_clocks(
    origins: Sequence[int],
    main: Sequence[int],
    sides: Sequence[Sequence[int]],
    clock_of: Callable[[int], InputClock],
) -> list[InputClocks]:
    """The clocks of each machine of a node with side inputs.

    Args:
        origins: The numbers of all inputs of the node.
        main: The numbers of those of its main input.
        sides: The numbers of those of each side input.
        clock_of: The clock of an input.
    """
    clocks = []
    for number, side in enumerate(sides):
        # What the first machine lets out comes to the next one within the shard.
        before: Sequence[InputClock] = [StageClock(1)] if number else []
        inputs = side if number else [*dict.fromkeys([*main, *side])]
        places = {origin: place for place, origin in enumerate(inputs, len(before))}
        of_side = frozenset(places[origin] for origin in side)
        positions = {origins.index(origin): place for origin, place in places.items()}
        clocks.append(InputClocks(Clocks((*before, *map(clock_of, inputs)), of_side), positions))
    return clocks


class SideInputStage:
    """The shards of a node with side inputs.

    With several side inputs an element that waits for one holds back the watermark of the later
    machines on its shard. So shards may differ in which late elements they accept.

    Args:
        worker: The worker of the node.
        wire: How values are bytes.
        shards: How many shards there are.
        clocks: The clocks of each machine. For each machine after the first one the first input is
            the machine before it.
    """

    notes: Final = False

    def __init__(
        self, worker: SideInputWorker, wire: Wire, shards: int, clocks: Sequence[InputClocks]
    ) -> None:
        self.worker, self.wire, self._clocks = worker, wire, clocks
        self._plans = [
            plan_of(worker.node, machine, wire, shards=shards, clocks=of.clocks)
            for machine, of in zip(worker.machines, clocks, strict=True)
        ]
        self._shards = [*map(Shard, self._plans)]

    @property
    def plan(self) -> Plan:
        """The plan of the first machine: saved state depends on it, and it names all side
        inputs."""
        return self._plans[0]

    def together(self, tables: Sequence[pa.Table]) -> list[pa.Table]:
        """What arrives in a micro-batch, in order of arrival."""
        return list(tables)

    def count(self, tables: Sequence[pa.Table]) -> int:
        """How many elements arrive."""
        return sum(sum(table.column("count").to_pylist()) for table in tables)

    def step(self, store: Store, batch: ShardInput) -> StageStepped:
        """Take a shard through a micro-batch; see `Stage.step`.

        Raises:
            UserFunctionError: A window function of the user's raised.
            TransformError: The function raised.
            StateError: The state was written by another node, or is damaged.
        """
        sides = len(self._shards)
        contents = SideContents(self.worker, self.wire, Space(store, sides, sides + 1))
        arrived = [row for table in batch.tables for row in table.to_pylist()]
        mains = [row for row in arrived if row["source"] == 0]
        drops, passed = list[tuple[Any, Drop]](), list[tuple[Window, SideBatch]]()
        statuses = list[ShardStatus]()
        for number, shard in enumerate(self._shards):
            space = Space(store, number, sides + 1)
            shown = [row for row in arrived if row["source"] == number + 1]
            if number:
                values = (_row(window, batch, self.wire) for window, batch in passed)
                mains = [dict(zip(_COLUMNS.names, row, strict=True)) for row in values]
            rows = [*(contents.shown(number, row) for row in shown), *mains]
            of_inputs = [*self._clocks[number].updates(batch.updates)]
            if number:
                of_inputs.append(ShardWatermark(0, 0, statuses[-1].output_watermark))
            of_machine = [row | {"key_key": _KEY, "bucket": 0} for row in rows]
            tables = [pa.Table.from_pylist(of_machine, _OF_MACHINE)] if rows else []
            stepped = shard.step(space, ShardInput(tables, of_inputs, batch.clock))
            effects = [effect for _, effect in stepped.effects]
            if number:
                contents.wait(batch for _, batch in passed)
                contents.leave(effects)
            passed = released(effects)
            drops += (contents.named(drop) for drop in dropped(effects))
            statuses.append(stepped.status)
        seen = [
            (window, attrs.evolve(batch, seen=tuple(map(contents.items, now.seen))))
            for window, batch in passed
            for now in (contents.latest.seen_by(window, batch),)
        ]
        out: dict[str, Bundle] = {}
        for tag, bundle in self.worker.look(seen):
            out.setdefault(tag, Bundle()).extend(bundle)
        contents.save([min(status.watermark, status.side_watermark) for status in statuses])
        return StageStepped(out, drops, [], _together(statuses))


def _together(statuses: Sequence[ShardStatus]) -> ShardStatus:
    """The status of all machines of a shard."""
    deadlines = [status.deadline for status in statuses if status.deadline is not None]
    return attrs.evolve(
        statuses[0],
        windows_open=sum(status.windows_open for status in statuses),
        deadline=min(deadlines, default=None),
        output_watermark=statuses[-1].output_watermark,
        output_before=statuses[-1].output_before,
    )
