"""Saved state of whatever resolution in milliseconds, which people read."""

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.inspect.state.trigger import SavedTrigger
from beamlike.model.resolution import Resolution
from beamlike.runtime.clock import Clock
from beamlike.runtime.envelope import coarser

_INSTANTS = ("start", "output_watermark", "element_hold")


def clock_in_ms(at: Clock, unit: Resolution) -> Clock:
    """The clocks of a shard, which count so, in milliseconds."""
    return at if unit.per_ms == 1 else at.in_coarser_ticks(unit.per_ms)


def in_ms(instant: int | None, unit: Resolution) -> int | None:
    """An instant or a duration, which counts so, in milliseconds."""
    return None if instant is None else unit.to_ms(instant)


def rows_in_ms(rows: pa.Table, trigger: SavedTrigger | None, unit: Resolution) -> pa.Table:
    """The windows of a shard, which count so, in milliseconds.

    Args:
        rows: As they are saved.
        trigger: Their trigger, which says which numbers are instants; None: that is not known.
    """
    factor = unit.per_ms
    if factor == 1 or not rows.num_rows:
        return rows
    targets = () if trigger is None else (f"t{slot}" for slot in trigger.instants)
    rows = coarser(rows, (*_INSTANTS, *targets), factor)
    end = rows.column("end").to_numpy()
    place = rows.column_names.index("end")
    # A millisecond that has begun counts: no window is empty.
    rows = rows.set_column(place, "end", pa.chunked_array([pa.array(-(-end // factor))]))
    timers = rows.column("processing_timers").combine_chunks()
    place = rows.column_names.index("processing_timers")
    rows = rows.set_column(place, "processing_timers", _list_in_ms(timers, factor))
    if "unretracted_panes" in rows.column_names:
        panes = rows.column("unretracted_panes").combine_chunks()
        place = rows.column_names.index("unretracted_panes")
        rows = rows.set_column(place, "unretracted_panes", _panes_in_ms(panes, factor))
    return rows


def _list_in_ms(timers: pa.Array, factor: int) -> pa.Array:
    table = coarser(pa.table({"at": timers.values}), ("at",), factor)
    return _with_values(timers, table.column("at").combine_chunks())


def _panes_in_ms(panes: pa.Array, factor: int) -> pa.Array:
    fields = list(panes.type.value_type)
    names = [field.name for field in fields]
    table = pa.table([panes.values.field(name) for name in names], names=names)
    table = coarser(table, ("timestamp", "start", "end"), factor)
    columns = [table.column(name).combine_chunks() for name in names]
    return _with_values(panes, pa.StructArray.from_arrays(columns, fields=fields))


def _with_values(lists: pa.Array, values: pa.Array) -> pa.Array:
    offsets = pc.fill_null(lists.offsets, 0)
    return pa.ListArray.from_arrays(offsets, values, type=lists.type)
