"""Before the shuffle: rows become batches for shards. After it the batches are read again.

Each batch has one kind, see `beamlike.runtime.envelope`: elements for a shard, or for a group of
the fanout; rows that were dropped here or before, which are finished; and for all shards the
watermark updates of the inputs. The first shard is also sent how many rows there were, and which
event times were delivered: see `beamlike.runtime.clock`.

An empty batch only wakes its shard: every shard takes part in every micro-batch, so that all of
them see every watermark and every clock.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

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
    InputUpdate,
    ShardWatermark,
    SourceClock,
    SourceProgress,
)
from beamlike.model.resolution import Resolution
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.clock import Delivered, delivered_by
from beamlike.runtime.envelope import (
    TIMES,
    Envelope,
    Kind,
    Order,
    Received,
    by_shard,
    coarser,
    elements_in,
    opened,
    sealed,
)
from beamlike.runtime.lift import Lifter
from beamlike.runtime.logs import LONGEST_EXAMPLE
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.progress import progress_of
from beamlike.runtime.row_metadata import (
    BAD_ROWS,
    DROPPED_ROW,
    REPORT,
    STAGE_MARKS,
    canonical,
    readable_values,
)
from beamlike.runtime.store.state import Key
from beamlike.safe_text import short_repr

EMPTY: Final = b""
"""A blob that only triggers a step of its shard."""

_ROWS_OF_A_BLOB = 200_000
"""So many rows are gathered before they are packed, over all shards."""
_BYTES_OF_A_BLOB = 256 * 2**20
"""Or so many bytes: of rows with large values fewer fit in a blob."""

Batches = Iterator[pa.RecordBatch]


@attrs.define
class Arrived(Received):
    """What a shard of a grouping of rows was sent in one micro-batch.

    ``finished`` are output rows that only pass through. ``elements`` is how many rows the inputs
    had, those that were refused among them, as far as this shard counts them for all, as it does
    with the event times that were delivered.
    """

    finished: list[pa.Table] = attrs.field(factory=list)
    elements: int = 0

    def take(self, envelope: Envelope) -> bool:
        match envelope.content:
            case Kind.FINISHED:
                self.finished.append(envelope.table)
            case Kind.COUNTS:
                self.elements += sum(envelope.table.column("elements").to_pylist())
            case _:
                return super().take(envelope)
        return True


def read_blobs(blobs: Iterable[bytes]) -> Arrived:
    """Everything that a shard was sent."""
    arrived = Arrived()
    for envelope in opened(blob for blob in blobs if blob != EMPTY):
        arrived.take(envelope)
    return arrived


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
    """Rows of one input as batches, each with the shard that it is for.

    Input columns: see `beamlike.hosts.spark.bind.packer_columns`. In the blobs keys and values have
    their names.

    Args:
        plan: The grouping.
        batches: The rows.
        input_index: Position of the input among the plan's.
        assign: Gives rows their windows here; None: they have them, or the machine assigns.
        part: Which part of the input these rows are, for the order in which they arrive.
    """
    names = [*plan.key_columns, *plan.value_columns]
    seen = Arrived()
    lifter = Lifter(plan) if plan.lift else None
    for sequence, gathered in enumerate(_gathered(batches)):
        table = canonical(pa.Table.from_batches(gathered))
        table = table.rename_columns([*names, *table.column_names[len(names) :]])
        seen.reached += _updates_of(plan, table, input_index)
        seen.delivered += _delivered(plan, table, input_index)
        seen.elements += table.column("kind").null_count
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
    yield updated(plan, receivers, seen)


def _gathered(batches: Batches) -> Iterator[list[pa.RecordBatch]]:
    """Arrow's batches of rows, some at a time: few large batches cost less than many small ones."""
    gathered: list[pa.RecordBatch] = []
    for batch in batches:
        gathered.append(batch)
        large = sum(rows.nbytes for rows in gathered) >= _BYTES_OF_A_BLOB
        if large or sum(rows.num_rows for rows in gathered) >= _ROWS_OF_A_BLOB:
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def _updates_of(plan: Plan, table: pa.Table, index: int) -> list[InputUpdate]:
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


def _delivered(plan: Plan, table: pa.Table, index: int) -> Iterator[Delivered]:
    """What these rows say of the event times of their source, if that can jump."""
    source = plan.source if plan.clocks is None else plan.clocks.inputs[index]
    times = _believed_times(table)
    greatest = pc.max(times).as_py()
    if not isinstance(source, SourceClock) or greatest is None:
        return
    wait = plan.longest_wait
    gap = source.max_jump if wait is None else source.delay + wait
    if gap is not None:
        row = table.slice(pc.index(times, greatest).as_py(), 1)
        values = (readable_values(row.column(name))[0] for name in plan.key_columns)
        last = [f"{name}={short_repr(key)}" for name, key in zip(plan.keys, values, strict=True)]
        last.append(f"at {plan.resolution.show_instant(greatest)}")
        yield delivered_by(index, times, gap, ", ".join(last)[:LONGEST_EXAMPLE])


def _believed_times(table: pa.Table) -> pa.ChunkedArray:
    """The event times of rows of a source, without those too far ahead of the clock."""
    times = table.column("ts")
    if table.column("reason").null_count < table.num_rows:
        far = pc.equal(table.column("reason"), RowProblem.FAR_FUTURE.value)
        times = pc.if_else(pc.fill_null(far, False), None, times)
    return times


def updated(plan: Plan, receivers: Sequence[int], seen: Arrived) -> pa.RecordBatch:
    """What all receivers are sent besides elements.

    Args:
        plan: The grouping.
        receivers: Its shards, or the groups of its fanout. The first counts for all.
        seen: What a task has seen of the inputs.
    """
    for_all = [EMPTY] if plan.clocks is None and not seen.clock else [*seen.news()]
    for_first = [*seen.deliveries()]
    if seen.elements:
        counted = pa.table({"elements": pa.array([seen.elements], pa.int64())})
        for_first.append(sealed(Kind.COUNTS, counted))
    ids = [*receivers] * len(for_all) + [receivers[0]] * len(for_first)
    return packed_blobs(ids, [blob for blob in for_all for _ in receivers] + for_first)


def _sort_out(plan: Plan, table: pa.Table) -> tuple[pa.Table, list[pa.RecordBatch]]:
    """The elements among the rows, and batches with the rows that no machine can take."""
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
    """A row for each window of each row, for inputs with a window function of their own; and
    batches with the rows for which that function raised, if such rows are to be dropped."""
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
    columns = [table.column(name).to_pylist() for name in plan.value_columns]
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
    """The rows dealt out in turn to the groups of the fanout, whatever their keys are."""
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
    """The rows as one batch for each shard, combined before by the lifter if there is one."""
    if lifter is not None:
        # Nothing is late here, but a function of the user's may raise.
        table, failed = lifter.lift([table], None)
        if failed:
            yield _finished_blob(plan, OutputTable(plan).build(failed))
    yield packed_shards(plan, table, order)


def packed_shards(plan: Plan, table: pa.Table, order: Order) -> pa.RecordBatch:
    """Rows or combined elements with a hash, as one batch for each shard."""
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


def arrived_in(resolution: Resolution, before: Resolution, arrived: Arrived) -> Arrived:
    """What a shard was sent, in coarser ticks than ``before``, rounded down."""
    factor = resolution.micros // before.micros

    def update(watermark_update: InputUpdate) -> InputUpdate:
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
        tables={
            node: [coarser(table, TIMES, factor) for table in tables]
            for node, tables in arrived.tables.items()
        },
        reached=[update(moved) for moved in arrived.reached],
        delivered=delivered,
    )
