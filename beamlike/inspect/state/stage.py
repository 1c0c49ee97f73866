"""All shards of a saved grouping, and its windows as one table."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import StateError
from beamlike.inspect.state.function_state import SavedFunction, Specs, saved_column
from beamlike.inspect.state.keys import key_texts, row_sizes
from beamlike.inspect.state.shard import KeyOfState, SavedShard, clocks_of_keys
from beamlike.inspect.state.trigger import SavedTrigger
from beamlike.machine.columnar.arrays import NEVER, NOTHING, Bools, Ints, later
from beamlike.machine.reference.running import Now, TriggerView
from beamlike.machine.userstate.running import GC_DELAY
from beamlike.model.session_merging import ENDED
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import GLOBAL_WINDOW, Window, bounds, window_of
from beamlike.runtime.ddl import read_columns
from beamlike.runtime.plan import number_of_shard
from beamlike.runtime.store.column_state import integers, saved_withdrawn_at
from beamlike.runtime.store.index import READ_ERRORS
from beamlike.runtime.store.state import ROW_COLUMNS

TIME = pa.timestamp("ms", "UTC")
_GLOBAL = bounds(GLOBAL_WINDOW)
_ALL_OF_TIME = MAX_TIMESTAMP - MIN_TIMESTAMP


def columns(ddl: str) -> pa.Schema:
    """The columns of a table of saved state, whose instants count milliseconds."""
    return pa.schema(
        [
            field.with_type(TIME) if pa.types.is_timestamp(field.type) else field
            for field in read_columns(ddl)
        ]
    )


COMMON = columns(
    "stage string, operator int, shard int, key string, start timestamp, end timestamp, "
    "closed boolean, new_elements bigint, size bigint, timing string, index bigint, "
    "nonspeculative bigint, standing bigint, hold timestamp, due_event timestamp, "
    "due_clock timestamp, bytes bigint, finished bigint, values array<bigint>"
)
"""The columns that windows of every grouping have."""


@attrs.frozen(slots=False, eq=False)
class SavedStage:
    """A grouping, or whatever else keeps windows, as it is saved.

    Args:
        operator: Its number among Spark's stateful operators.
        shards: Its shards that have stepped, in order; at least one.
        in_pipeline: Whether it belongs to a pipeline of Python functions. Keys are bytes then.
    """

    name: str
    operator: int
    shards: tuple[SavedShard, ...]
    in_pipeline: bool = False

    @property
    def identity(self) -> Mapping[str, str]:
        """What its state depends on, in words."""
        return self._latest.identity

    @cached_property
    def _latest(self) -> SavedShard:
        """The shard that stepped last. Others do not have later changes of the query yet."""
        return max(self.shards, key=lambda shard: shard.clocks.clock)

    @property
    def watermark(self) -> int:
        """The least input watermark of its shards (ms)."""
        return min(shard.clocks.watermark for shard in self.shards)

    @property
    def output_watermark(self) -> int:
        """The least output watermark of its shards (ms): what the stage after it waits for."""
        return min(shard.output_watermark for shard in self.shards)

    @cached_property
    def of_keys(self) -> Sequence[KeyOfState]:
        """The watermarks of its keys, if each has its own, as of their last steps.

        Raises:
            StateError: They are none that beamlike writes.
        """
        return clocks_of_keys(self.shards, in_bytes=self.in_pipeline)

    @cached_property
    def trigger(self) -> SavedTrigger | None:
        """Its trigger; None if it has none, or the checkpoint does not say which.

        Or if it is not the trigger that these windows had.
        """
        text = self._latest.about.get("trigger", self.identity.get("trigger"))
        trigger = SavedTrigger.known(text)
        slots = {len(_numbered("t", shard.rows)) for shard in self.shards if shard.rows.num_rows}
        return trigger if trigger is not None and slots <= {len(trigger.slots)} else None

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The position of each shard among all that there are."""
        count = int(self.identity["shards"])
        return tuple(number_of_shard(shard.group, count) for shard in self.shards)

    @cached_property
    def windows(self) -> pa.Table:
        """The windows, with the key's columns and the accumulators; see the package.

        Raises:
            StateError: Its rows are none that beamlike writes.
        """
        try:
            parts = [
                self._windows(shard, number)
                for shard, number in zip(self.shards, self.numbers, strict=True)
                if shard.rows.num_rows
            ]
            return pa.concat_tables(parts).combine_chunks() if parts else COMMON.empty_table()
        except READ_ERRORS as error:
            first, *_ = str(error).splitlines() or [""]
            raise StateError(
                f"the windows of {self.name!r} cannot be read: {type(error).__name__}: {first}; "
                "the checkpoint is damaged: open a copy of it"
            ) from error

    @property
    def key_columns(self) -> Mapping[str, pa.DataType]:
        """The key columns of `windows`, by the user's names."""
        return {
            field.name.removeprefix("key_"): field.type
            for field in self.windows.schema
            if field.name.startswith("key_")
        }

    @property
    def accumulator_columns(self) -> Sequence[str]:
        """Those columns of `windows` that hold what is accumulated."""
        names = self.windows.schema.names
        common = set(COMMON.names)
        return [name for name in names if name not in common and not name.startswith("key_")]

    @cached_property
    def specs(self) -> Specs | None:
        """The states and timers of a function; None if it is none."""
        return Specs.known(self._latest.identity)

    @cached_property
    def functions(self) -> Sequence[SavedFunction] | None:
        """What a function with states and timers has saved of each window of `windows`.

        None if it is no such function.

        Raises:
            StateError: It cannot be read.
        """
        if self.specs is None:
            return None
        return [function for of_shard in self._read.values() for function in of_shard]

    @cached_property
    def _read(self) -> Mapping[int, Sequence[SavedFunction]]:
        """The same by the group of each shard that has windows, whose deadlines need it, too."""
        assert self.specs is not None, "it is a function"
        functions = {}
        for shard in self.shards:
            if shard.rows.num_rows:
                blobs = shard.rows.column(saved_column(shard.rows.schema.names)).to_pylist()
                functions[shard.group] = list(map(self.specs.read, blobs))
        return functions

    def trigger_of(self, row: Mapping[str, Any]) -> TriggerView | None:
        """What the trigger of a window waits for; None if its trigger is not known.

        Args:
            row: Of `windows`: ``shard``, ``finished``, ``values``, and the window's bounds in ms.
        """
        if self.trigger is None:
            return None
        clocks = self.shards[self.numbers.index(row["shard"])].clocks
        now = Now(saved_window(row["start"], row["end"]), clocks.watermark, clocks.clock)
        return self.trigger.view(row["finished"] or 0, row["values"], now)

    def _windows(self, shard: SavedShard, number: int) -> pa.Table:
        rows, count = shard.rows, shard.rows.num_rows
        keys = [name for name in rows.schema.names if name.startswith("key_")]
        slots = _numbered("t", rows)
        column = {name: rows.column(name) for name in rows.schema.names}
        start, end = integers(column["start"]), integers(column["end"])
        is_global = (start == _GLOBAL[0]) & (end == _GLOBAL[1])
        processing_timers = column["processing_timers"].combine_chunks()
        size = column.get("size", pa.nulls(count, pa.int64()))
        panes = column.get("unretracted_panes", pa.nulls(count, pa.list_(pa.int64())))
        machine = ROW_COLUMNS.keys() | {"unretracted_panes", "size"}
        machine |= {*keys, *slots, *_numbered("d", rows)}
        table: dict[str, Any] = {
            "stage": pa.array([self.name] * count, pa.string()),
            "operator": np.full(count, self.operator, np.int32),
            "shard": np.full(count, number, np.int32),
            "key": key_texts([column[name] for name in keys], count, in_bytes=self.in_pipeline),
            **{name: column[name] for name in keys},
            "start": pa.array(start, mask=is_global).cast(TIME),
            "end": pa.array(end, mask=is_global).cast(TIME),
            "closed": _closed(rows),
            "new_elements": column["new_elements"],
            # End events count for more in a saved size.
            "size": pc.bit_wise_and(size, pa.scalar(ENDED - 1)),
            **{name: column[name] for name in ("timing", "index", "nonspeculative")},
            "standing": pc.list_value_length(panes).cast(pa.int64()),
            "hold": self._hold(shard, rows, end),
            "due_event": self._due(shard, rows, end),
            "due_clock": _first(processing_timers).cast(TIME),
            "bytes": row_sizes(rows),
            "finished": column["finished"],
            "values": _side_by_side([column[name] for name in slots], count),
            **{name: column[name] for name in column if name not in machine},
        }
        return pa.table(table)

    def _hold(self, shard: SavedShard, rows: pa.Table, end: Ints) -> pa.Array:
        """Where each window holds the output watermark of its shard; see `ColumnShard`."""
        hold, withdrawn = rows.column("element_hold"), saved_withdrawn_at(rows)
        lateness = self._allowed_lateness
        if lateness is None or withdrawn is None:
            return hold.cast(TIME)
        expiry, until = _expiry(end, lateness), later(withdrawn, lateness, NEVER)
        fires = (withdrawn != NEVER) & ~_closed(rows) & (shard.clocks.watermark <= expiry)
        # A window that lives has not reached its expiry: a hold there holds nothing.
        correction = pa.array(until, mask=~fires | (until >= expiry))
        return pc.min_element_wise(hold, correction).cast(TIME)

    @property
    def _allowed_lateness(self) -> int | None:
        """How late data may be (ms); None if that is not known."""
        # Earlier versions left it among the words.
        of_identity = milliseconds(self.identity.get("allowed lateness", ""))
        lateness = self._latest.about.get("allowed lateness", of_identity)
        # More than all of time changes nothing, and would be too much for 64 bits.
        return None if lateness is None else min(lateness, _ALL_OF_TIME)

    def _due(self, shard: SavedShard, rows: pa.Table, end: Ints) -> pa.Array:
        """When each window's next timer is, as in the machine; see `next_timers`."""
        lateness, last = self._allowed_lateness, END_OF_GLOBAL_WINDOW
        if lateness is None:
            return pa.nulls(len(end), TIME)
        retained = min(self._latest.about.get("retained", 0), _ALL_OF_TIME)
        expiry = _expiry(end, lateness)
        forgotten = later(expiry, retained, last)
        if self.specs is not None:
            due = self._due_of_functions(self._read[shard.group], expiry, lateness)
            return pa.array(due + 1, mask=due + 1 > last).cast(TIME)
        due = np.where(expiry < shard.clocks.watermark, forgotten, expiry)
        awaits = pc.fill_null(rows.column("end_timer_set"), False).to_numpy()
        if "trigger" not in self._latest.about.keys() | self.identity.keys():
            # In a look-up they wait for the side input, whose watermark is another one.
            return pa.array(due + 1, mask=awaits | (due + 1 > last)).cast(TIME)
        due = np.where(awaits, np.minimum(due, end - 1), due)
        watermark = shard.clocks.watermark
        for slot in () if self.trigger is None else self.trigger.marks:
            mark = integers(rows.column(f"t{slot}"))
            waits = (mark != NOTHING) & (mark >= watermark) & (expiry >= watermark)
            due = np.where(waits, np.minimum(due, mark), due)
        return pa.array(due + 1, mask=due + 1 > last).cast(TIME)

    @staticmethod
    def _due_of_functions(functions: Sequence[SavedFunction], expiry: Ints, lateness: int) -> Ints:
        """The same for windows of a function: the first timer, element that waits, or end."""
        due = expiry + GC_DELAY
        for index, function in enumerate(functions):
            turns = [min(time + lateness, int(expiry[index])) for time in function.waiting[:1]]
            timers = [] if function.next_event is None else [function.next_event]
            due[index] = min([int(due[index]), *timers, *turns])
        return due


def _numbered(prefix: str, rows: pa.Table) -> list[str]:
    """The columns whose names are this prefix and a number."""
    return [name for name in rows.schema.names if name[:1] == prefix and name[1:].isdigit()]


def _closed(rows: pa.Table) -> Bools:
    finished: Bools = (integers(pc.fill_null(rows.column("finished"), 0)) & 1) == 1
    return finished


def saved_window(start: int | None, end: int | None) -> Window:
    """The window with these bounds (ms), as tables have them: none of the global one."""
    return GLOBAL_WINDOW if start is None or end is None else window_of(start, end)


def times_in_ms(table: pa.Table) -> pa.Table:
    """The table with its timestamps as numbers (ms): calendars end long before time does."""
    for index, field in enumerate(table.schema):
        if field.type == TIME:
            table = table.set_column(index, field.name, table[field.name].cast(pa.int64()))
    return table


def _expiry(end: Ints, lateness: int) -> Ints:
    """The last watermark (ms) at which data is accepted for windows that end there."""
    return later(end - 1, lateness, END_OF_GLOBAL_WINDOW)


def milliseconds(text: str) -> int | None:
    """The number in words such as ``60000 ms``; None if they are no such words."""
    number = text.removesuffix(" ms")
    return int(number) if text != number and number.isdecimal() and len(number) < 20 else None


def _first(lists: pa.ListArray) -> pa.Array:
    """The first item of each list, null where there is none. Timers are ascending."""
    lengths = pc.fill_null(lists.value_lengths(), 0).to_numpy()
    starts = np.cumsum(lengths) - lengths
    has_items = lengths > 0
    return lists.flatten().take(pa.array(starts, mask=~has_items))


def _side_by_side(columns: Sequence[pa.ChunkedArray], count: int) -> pa.Array:
    """A list of the columns' values for each row."""
    width = len(columns)
    if not width:
        return pa.array([[]] * count, pa.list_(pa.int64()))
    numbers = np.stack([integers(column) for column in columns], axis=1).ravel()
    offsets = pa.array(np.arange(0, width * count + 1, width, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(numbers, mask=numbers == NOTHING))
