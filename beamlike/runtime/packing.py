"""Before the shuffle: rows become blobs for shards. After it these are read again.

A blob is a batch of one kind, see `beamlike.runtime.envelope`: elements of a shard, or of a group
of the fanout; rows that were dropped here or before, which are finished; and for all shards the
watermark updates of the inputs. The first shard is also sent how many rows there were, and which
event times were delivered: see `beamlike.runtime.clock`.

An empty blob carries nothing and only triggers a step of its shard: every shard takes part in every
micro-batch, so that all of them see every watermark and every clock.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import attrgetter

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import InputRowError, UnsupportedError, UserFunctionError, WindowError
from beamlike.machine.assigning import windows_of
from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.columnar.assign import assign as assign_windows
from beamlike.machine.columnar.assign import check_assignable
from beamlike.machine.events import Drop, Element, RowProblem
from beamlike.machine.failures import OnFailure
from beamlike.machine.input_clocks import (
    ShardWatermark,
    SourceClock,
    SourceProgress,
    WatermarkUpdate,
)
from beamlike.model.resolution import Resolution
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.clock import Delivered
from beamlike.runtime.envelope import (
    TIMES,
    Envelope,
    Kind,
    Order,
    by_shard,
    clock_table,
    clocks_in,
    coarser,
    delivered_in,
    delivered_table,
    elements_in,
    sealed,
    updates_in,
    updates_table,
)
from beamlike.runtime.lift import Lifter, lifter_of
from beamlike.runtime.logs import delivered_rows
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.progress import progress_of
from beamlike.runtime.row_metadata import BAD_ROWS, DROPPED_ROW, REPORT, STAGE_MARKS, canonical
from beamlike.runtime.store.state import Key

EMPTY = b""
"""A blob that only triggers a step of its shard."""

_ROWS_OF_A_BLOB = 200_000
"""So many rows are gathered before they are packed, over all shards."""
_BYTES_OF_A_BLOB = 256 * 2**20
"""Or so many bytes: of rows with large values fewer fit in a blob."""

Batches = Iterator[pa.RecordBatch]


def packed_blobs(shards: list[int], blobs: list[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(shards, pa.int32()), pa.array(blobs, pa.binary())], ["shard", "blob"]
    )


def packed(
    plan: Plan,
    batches: Batches,
    input_index: int = 0,
    assign: WindowFn | None = None,
    part: int = 0,
) -> Batches:
    """Rows of one input as blobs, each with the shard that it is for.

    Input columns: see `beamlike.hosts.spark.bind.packer_columns`. In the blobs keys and values have
    their names.

    Args:
        plan: The grouping.
        batches: The rows.
        input_index: Position of the input among the plan's.
        assign: Gives rows their windows here; None: they have them, or the machine assigns.
        part: Which part of the input these rows are, for the order in which they arrive.
    """
    names = [
        *(f"key_{name}" for name in plan.keys),
        *(f"value_{name}" for name in plan.values),
    ]
    updates: list[WatermarkUpdate] = []
    delivered: list[Delivered] = []
    elements = 0
    lifter = lifter_of(plan) if plan.lift else None
    for sequence, gathered in enumerate(_gathered(batches)):
        table = canonical(pa.Table.from_batches(gathered))
        table = table.rename_columns([*names, *table.column_names[len(names) :]])
        updates += _updates_of(plan, table, input_index)
        delivered += delivered_rows(plan, table, _believed_times(table), input_index)
        elements += table.column("kind").null_count
        table, finished = _sort_out(plan, table)
        yield from finished
        if table.num_rows:
            if assign is not None and "start" not in table.column_names:
                table, failed = _assigned(plan, table, assign)
                yield from failed
            order = (input_index, part, sequence)
            if plan.fanout:
                yield _dealt(plan, table, order)
            else:
                yield from _spread(plan, table, order, lifter)
    receivers = list(plan.fanout_ids or plan.shard_ids)
    yield updated(plan, receivers, updates, elements, delivered)


def _gathered(batches: Batches) -> Iterator[list[pa.RecordBatch]]:
    """Batches, some at a time: a few large blobs cost less than many small ones."""
    gathered: list[pa.RecordBatch] = []
    for batch in batches:
        gathered.append(batch)
        large = sum(rows.nbytes for rows in gathered) >= _BYTES_OF_A_BLOB
        if large or sum(rows.num_rows for rows in gathered) >= _ROWS_OF_A_BLOB:
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def _updates_of(plan: Plan, table: pa.Table, index: int) -> list[WatermarkUpdate]:
    """The updates of the watermark of their input in these rows."""
    if plan.clocks is None or not table.num_rows:
        return []
    clock = plan.clocks.inputs[index]
    if isinstance(clock, SourceClock):
        parts = table.column("part") if clock.by_part else None
        keys = table.column("hash") if plan.keys else None
        return [*progress_of(index, clock, _believed_times(table), parts, keys)]
    reports = table.filter(pc.equal(table.column("kind"), REPORT))
    shards, watermarks = (reports.column(name).to_pylist() for name in ("shard", "watermark"))
    return list(map(ShardWatermark, [index] * len(shards), shards, watermarks))


def _believed_times(table: pa.Table) -> pa.ChunkedArray:
    """The event times of rows of a source, without those too far ahead of the clock."""
    times = table.column("ts")
    if table.column("reason").null_count < table.num_rows:
        far = pc.equal(table.column("reason"), RowProblem.FAR_FUTURE.value)
        times = pc.if_else(pc.fill_null(far, False), None, times)
    return times


def updated(
    plan: Plan,
    receivers: Sequence[int],
    updates: Sequence[WatermarkUpdate],
    elements: int = 0,
    delivered: Sequence[Delivered] = (),
    clock: int | None = None,
) -> pa.RecordBatch:
    """What all receivers are sent besides elements.

    Args:
        plan: The grouping.
        receivers: Its shards, or the groups of its fanout. The first counts for all.
        updates: Watermark updates of the inputs.
        elements: How many rows there were.
        delivered: What their event times say.
        clock: Processing time (ms), if the receivers do not have it from their host.
    """
    usual = EMPTY if plan.clocks is None else sealed(Kind.WATERMARKS, updates_table(updates))
    ids, blobs = [*receivers], [usual] * len(receivers)
    if clock is not None:
        ids += receivers
        blobs += [sealed(Kind.CLOCK, clock_table([(0, clock)]))] * len(receivers)
    if elements:
        counted = pa.table({"elements": pa.array([elements], pa.int64())})
        ids.append(receivers[0])
        blobs.append(sealed(Kind.COUNTS, counted))
    if delivered:
        ids.append(receivers[0])
        blobs.append(sealed(Kind.DELIVERED, delivered_table(delivered)))
    return packed_blobs(ids, blobs)


def _sort_out(plan: Plan, table: pa.Table) -> tuple[pa.Table, list[pa.RecordBatch]]:
    """The elements among the rows, and blobs with those that no machine can take."""
    finished = []
    if table.column("kind").null_count < table.num_rows:
        before = table.filter(pc.equal(table.column("kind"), DROPPED_ROW))
        if before.num_rows:  # after a grouping only
            finished.append(
                _finished_blob(plan, OutputTable(plan).dropped_before(before.column("dropped")))
            )
        table = table.filter(pc.is_null(table.column("kind")))
    if table.column("reason").null_count < table.num_rows:
        good = pc.is_null(table.column("reason"))
        finished.append(_refuse(plan, table.filter(pc.invert(good))))
        table = table.filter(good)
    spent = {"reason", "element", "part", *STAGE_MARKS} - {"ts"}
    if "start" in table.column_names and table.column("start").null_count < table.num_rows:
        spent -= {"start", "end"}  # else no row has a window yet
    return table.select([name for name in table.column_names if name not in spent]), finished


def _assigned(
    plan: Plan, table: pa.Table, window_fn: WindowFn
) -> tuple[pa.Table, list[pa.RecordBatch]]:
    """A row for each window of each row, for inputs with a window function of their own.

    And blobs with the rows for which that function raised, if such rows are to be dropped.
    """
    if plan.machine_name != "reference":
        # Not a user's own, nor a calendar that has no window for some row.
        with suppress(UnsupportedError, WindowError):
            check_assignable(window_fn)
            assigned = assign_windows(window_fn, table.column("ts").to_numpy())
            return _with_windows(table, assigned.row, assigned.start, assigned.end), []
    # Row by row. No watermark is known here, so the drops have none.
    on_error = OnFailure(plan.on_error)
    rows, starts, ends = [], [], []
    dropped: list[tuple[Key, Drop]] = []
    columns = [table.column(f"value_{name}").to_pylist() for name in plan.values]
    values = zip(*columns, strict=True) if columns else [()] * table.num_rows
    elements = zip(values, elements_in(plan, table), strict=True)
    for row, (value, (key, element)) in enumerate(elements):
        try:
            windows = windows_of(Element(value, element.timestamp), window_fn, on_error, None)
        except UserFunctionError as error:
            # The machine does not know the key's name.
            raise error.of_key(key) from error.__cause__
        if isinstance(windows, Drop):
            # Computed from the row's columns, shown as what the stage makes of them.
            dropped.append((key, attrs.evolve(windows, element=element)))
            continue
        for window in windows:
            rows.append(row)
            starts.append(window.start)
            ends.append(window.end)
    arrays = (np.array(column, np.int64) for column in (rows, starts, ends))
    failed = [_finished_blob(plan, OutputTable(plan).build(dropped))] if dropped else []
    return _with_windows(table, *arrays), failed


def _with_windows(table: pa.Table, row: Ints, start: Ints, end: Ints) -> pa.Table:
    table = table.take(pa.array(row))
    table = table.append_column("start", pa.array(start))
    return table.append_column("end", pa.array(end))


def _dealt(plan: Plan, table: pa.Table, order: Order) -> pa.RecordBatch:
    """The rows dealt out in turn to the groups of the fanout, whatever their keys."""
    groups = len(plan.fanout_ids)
    blobs = [
        sealed(
            Kind.ELEMENTS,
            table.take(pa.array(np.arange(index, table.num_rows, groups))).combine_chunks(),
            order=order,
        )
        for index in range(groups)
    ]
    return packed_blobs(list(plan.fanout_ids), blobs)


def _spread(plan: Plan, table: pa.Table, order: Order, lifter: Lifter | None) -> Batches:
    """The rows as one blob for each shard, combined before by the lifter if there is one."""
    if lifter is not None:
        # Nothing is late here, but a function of the user's may raise.
        table, failed = lifter.lift([table], None)
        if failed:
            yield _finished_blob(plan, OutputTable(plan).build(failed))
    yield packed_shards(plan, table, order)


def packed_shards(plan: Plan, table: pa.Table, order: Order) -> pa.RecordBatch:
    """What has a hash as one blob for each shard. ``order`` keeps a shard's blobs in order."""
    ids, blobs = [], []
    for shard, rows in by_shard(table, plan.shards, plan.buckets):
        ids.append(plan.shard_ids[shard])
        blobs.append(sealed(Kind.ELEMENTS, rows, order=order))
    return packed_blobs(ids, blobs)


def _finished_blob(plan: Plan, finished: pa.Table) -> pa.RecordBatch:
    return packed_blobs([plan.shard_ids[0]], [sealed(Kind.FINISHED, finished)])


def _refuse(plan: Plan, refused: pa.Table) -> pa.RecordBatch:
    """Rows that no machine can take, as finished drops; or the end of the query."""
    rows = refused.to_pylist()
    # What the query's author rejects is dropped in any case.
    bad = [row for row in rows if row["reason"] in BAD_ROWS]
    if bad and plan.on_error == "fail":
        raise InputRowError(
            f"{len(bad)} row(s) cannot be grouped; the first: {bad[0]['reason']} in "
            f'{bad[0]["element"]}. Repair the input, or use on_error="drop" to have such rows '
            "delivered as dropped"
        )
    return _finished_blob(plan, OutputTable(plan).refused(rows))


@attrs.define
class Arrived:
    """What a shard was sent in one micro-batch.

    ``tables`` hold elements, in order of arrival; ``finished`` are output rows that only pass
    through; ``updates`` are the watermark updates of the inputs, and ``elements`` is how many rows
    they had, those that were refused among them, as far as this shard counts them for all, as it
    does with the event times that were ``delivered``. ``clock`` is the processing time (ms) that a
    script says; None if it says none.
    """

    tables: list[pa.Table]
    finished: list[pa.Table]
    updates: list[WatermarkUpdate]
    elements: int = 0
    clock: int | None = None
    delivered: list[Delivered] = attrs.field(factory=list)


def arrived_in(resolution: Resolution, before: Resolution, arrived: Arrived) -> Arrived:
    """What a shard was sent, in coarser ticks than before. What is finer goes."""
    factor = resolution.micros // before.micros

    def update(watermark_update: WatermarkUpdate) -> WatermarkUpdate:
        if isinstance(watermark_update, SourceProgress):
            start = None if watermark_update.start is None else watermark_update.start // factor
            return attrs.evolve(
                watermark_update, greatest=watermark_update.greatest // factor, start=start
            )
        return attrs.evolve(watermark_update, watermark=watermark_update.watermark // factor)

    delivered = [
        attrs.evolve(rows, stretches=[(a // factor, b // factor) for a, b in rows.stretches])
        for rows in arrived.delivered
    ]
    return attrs.evolve(
        arrived,
        tables=[coarser(table, TIMES, factor) for table in arrived.tables],
        updates=[update(moved) for moved in arrived.updates],
        delivered=delivered,
    )


def read_blobs(blobs: Iterable[bytes]) -> Arrived:
    """Everything that a shard was sent."""
    envelopes = [Envelope.opened(blob) for blob in blobs if blob != EMPTY]
    # Blobs come out of the shuffle in any order.
    envelopes.sort(key=attrgetter("order"))
    arrived = Arrived([], [], [])
    for envelope in envelopes:
        table = envelope.table
        match envelope.content:
            case Kind.ELEMENTS:
                arrived.tables.append(table)
            case Kind.FINISHED:
                arrived.finished.append(table)
            case Kind.WATERMARKS:
                arrived.updates += updates_in(table)
            case Kind.DELIVERED:
                arrived.delivered += delivered_in(table)
            case Kind.COUNTS:
                arrived.elements += sum(table.column("elements").to_pylist())
            case Kind.CLOCK:
                (arrived.clock,) = clocks_in(table).values()
    return arrived
