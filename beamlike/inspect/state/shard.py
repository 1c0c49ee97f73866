"""One shard of a saved grouping: its index, rows and watermarks of keys, in milliseconds."""

import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import StateError
from beamlike.inspect.state.keys import key_texts
from beamlike.inspect.state.trigger import SavedTrigger
from beamlike.machine.columnar.arrays import NEVER
from beamlike.machine.key_clock import KeyClock
from beamlike.model.resolution import Resolution
from beamlike.runtime.changes import LAYOUTS, read_layouts, resolution_in
from beamlike.runtime.clock import Clock
from beamlike.runtime.envelope import coarser
from beamlike.runtime.store.blobs import unpack_blob
from beamlike.runtime.store.index import READ_ERRORS, open_index
from beamlike.runtime.store.key_clocks import CLOCK_FIELDS, saved_clocks
from beamlike.runtime.store.pages import PageContents, Pages
from beamlike.runtime.store.recording import StateRecord
from beamlike.runtime.store.state import ROW_COLUMNS
from beamlike.runtime.store.stores import INDEX, DictStore

_INSTANTS = (
    *("start", "output_watermark", "element_hold", "processing_timers", "unretracted_panes"),
)


def rows_in_ms(rows: pa.Table, trigger: SavedTrigger | None, unit: Resolution) -> pa.Table:
    """The windows of a shard in milliseconds. Their trigger says which numbers are instants."""
    factor = unit.per_ms
    if factor == 1 or not rows.num_rows:
        return rows
    targets = () if trigger is None else (f"t{slot}" for slot in trigger.instants)
    for name in (*_INSTANTS, *targets):
        if name in rows.column_names:
            rows = _replaced(rows, name, lambda instants: _instants_in_ms(instants, factor))
    # A millisecond that has begun counts: no window is empty.
    return _replaced(rows, "end", lambda end: pa.array(-(-end.to_numpy() // factor)))


def _replaced(rows: pa.Table, name: str, convert: Callable[[pa.Array], pa.Array]) -> pa.Table:
    place, column = rows.column_names.index(name), rows.column(name).combine_chunks()
    return rows.set_column(place, name, pa.chunked_array([convert(column)]))


def _instants_in_ms(array: pa.Array, factor: int) -> pa.Array:
    """Instants, lists of them, or lists of panes with instants."""
    dtype = array.type
    if pa.types.is_list(dtype):
        offsets = pc.fill_null(array.offsets, 0)
        return pa.ListArray.from_arrays(offsets, _instants_in_ms(array.values, factor), type=dtype)
    if pa.types.is_struct(dtype):
        parts = {field.name: array.field(field.name) for field in dtype}
        for name in ("timestamp", "start", "end"):
            parts[name] = _instants_in_ms(parts[name], factor)
        return pa.StructArray.from_arrays(list(parts.values()), fields=list(dtype))
    return coarser(pa.table({"at": array}), ("at",), factor).column("at").combine_chunks()


_SLOT: Final = re.compile(r"t[0-9]+")


@attrs.frozen(eq=False)
class SavedShard:
    """A shard as it is saved.

    Args:
        group: Its grouping key in Spark.
        partition: The partition of Spark's state that it lies in.
        identity: What its state depends on, in words; see `Plan.identity`.
        about: What else was noted of its grouping; nothing by earlier versions.
        clocks: Its watermark, its clock and those of its inputs.
        output_watermark: Its output watermark, ms.
        next_event: Something changes once the watermark is past this (ms); None: nothing will.
        next_clock: The same of the clock.
        next_side: The same of the side input's own watermark, in a look-up.
        rows: Its windows, see `beamlike.runtime.store.state`.
        stored: Bytes of all its blobs.
        record: What it was sent, if that was recorded.
        of_keys: The watermark of each key, where each has its own; see
            `beamlike.runtime.store.key_clocks`.
    """

    group: int
    partition: int
    identity: Mapping[str, str]
    about: Mapping[str, Any]
    clocks: Clock
    output_watermark: int
    next_event: int | None
    next_clock: int | None
    next_side: int | None
    rows: pa.Table
    stored: int
    record: StateRecord | None = None
    of_keys: pa.Table | None = None

    @classmethod
    def of(cls, group: int, partition: int, blobs: Mapping[int, bytes]) -> "SavedShard":
        """Read the blobs of a shard, by number."""
        try:
            columns, header = open_index(blobs[INDEX])
            identity = {str(name): str(text) for name, text in header["plan"].items()}
            contents = PageContents.from_json(header["contents"])
        except (StateError, *READ_ERRORS) as error:
            raise _unreadable(group, error) from error
        _check_version(identity)
        try:
            _check_header(identity, header)
            unit, about = resolution_in(identity), _about(header)
            # Earlier versions had no such columns, nor has what has not such deadlines.
            deadlines = (columns.get(name, ()) for name in ("event", "timer", "side"))
            leasts = (int(np.min(of_rows, initial=NEVER)) for of_rows in deadlines)
            event, timer, side = (None if least == NEVER else unit.to_ms(least) for least in leasts)
            trigger = SavedTrigger.known(about.get("trigger", identity.get("trigger")))
            of_keys = saved_clocks(blobs.get, columns.get("own", ()))
            for length in {"allowed lateness", "retained"} & about.keys():
                about[length] = unit.to_ms(about[length])
            clock = Clock.from_json(header)
            if unit.per_ms != 1:
                clock = clock.in_ticks(lambda instant: instant // unit.per_ms)
            return cls(
                *(group, partition, identity, about, clock),
                *(unit.to_ms(header["output"]), event, timer, side),
                rows_in_ms(_living(contents, blobs), trigger, unit),
                sum(map(len, blobs.values())),
                StateRecord.read(blobs.get),
                None if of_keys is None else coarser(of_keys, CLOCK_FIELDS, unit.per_ms),
            )
        except (StateError, *READ_ERRORS) as error:
            raise _unreadable(group, error) from error


def _living(contents: PageContents, blobs: Mapping[int, bytes]) -> pa.Table:
    if not contents.digests:
        return pa.table({})
    for number in (*contents.pages, *contents.log):
        if (blob := blobs.get(number)) is not None:
            # The file may be hostile: no offset may lead out of its buffer.
            unpack_blob(blob)[0].validate(full=True)
    first = blobs.get(contents.pages[0])
    schema = pa.schema([]) if first is None else unpack_blob(first)[0].schema.remove_metadata()
    store = DictStore()
    store.blobs |= blobs
    rows = Pages(schema, store, contents).read()
    _check_columns(rows.table)
    return rows.table if rows.lives.all() else rows.table.filter(pa.array(rows.lives))


def _check_header(identity: Mapping[str, str], header: Mapping[str, Any]) -> None:
    """Refuse words that are not what they should be: the file may be hostile."""
    shards = identity["shards"]
    if not (shards.isdecimal() and len(shards) < 10 and int(shards)):
        raise ValueError(f"its number of shards is {reprlib.repr(shards)}")
    clocks = Clock.from_json(header)
    instants = {"output": header["output"], "watermark": clocks.watermark, "clock": clocks.clock}
    if clocks.side is not None:
        instants["side"] = clocks.side
    for index, state in enumerate(clocks.inputs):
        # A drain puts it past the end of time, so that the watermark, which trails it, is there.
        greatest = 0 if state.greatest is None else state.greatest
        if type(greatest) is not int or greatest.bit_length() > 63:
            shown = reprlib.repr(greatest)
            raise ValueError(f"the greatest time of input {index} is no instant: {shown}")
        instants[f"input {index}"] = state.active_at
        instants |= {f"shard {of} of input {index}": shard for of, shard in enumerate(state.shards)}
        for part in state.parts:
            if type(part.part) is not str:
                shown = reprlib.repr(part.part)
                raise ValueError(f"the name of a part of input {index} is {shown}")
            of_input = f"part {part.part!r} of input {index}"
            instants |= {of_input: part.active_at}
            instants |= {f"the greatest time of {of_input}": part.greatest}
    unit = resolution_in(identity)
    for label, instant in instants.items():
        if type(instant) is not int or not unit.earliest <= instant <= unit.end_of_time:
            raise ValueError(f"{label} is no instant: {reprlib.repr(instant)}")


def _about(header: Mapping[str, Any]) -> dict[str, Any]:
    """What was noted of the grouping."""
    about = header.get("about", {})
    if not isinstance(about, dict):
        raise ValueError(f"what it notes of its grouping is no object: {reprlib.repr(about)}")
    for field in ("stage", "trigger"):
        if not isinstance(about.get(field, ""), str):
            raise ValueError(f"its {field} is no text: {reprlib.repr(about[field])}")
    for field in ("allowed lateness", "retained"):
        length = about.get(field, 0)
        if type(length) is not int or length < 0:
            raise ValueError(f"its {field} is no length of time: {reprlib.repr(length)}")
    return about


def _check_columns(table: pa.Table) -> None:
    """Refuse rows that are not windows, by the name of a column."""
    for name in ROW_COLUMNS:
        if name not in table.column_names:
            raise ValueError(f"its rows have no column {name!r}")
    if len(set(table.column_names)) < table.num_columns:
        raise ValueError("two columns of its rows have one name")
    for field in table.schema:
        dtype = ROW_COLUMNS.get(field.name)
        if _SLOT.fullmatch(field.name) or field.name == "size":
            dtype = pa.int64()
        if dtype is not None and field.type != dtype:
            raise ValueError(f"column {field.name!r} of its rows is {field.type} and not {dtype}")
        if field.name == "unretracted_panes" and not pa.types.is_list(field.type):
            raise ValueError(f"column 'unretracted_panes' of its rows is {field.type} and no list")
    for name in ("start", "end", "output_watermark"):
        if table.column(name).null_count:
            raise ValueError(f"column {name!r} of its rows has nulls")


def _check_version(identity: Mapping[str, str]) -> None:
    version = identity.get("layout version")
    if version not in [str(layout) for layout in LAYOUTS]:
        raise StateError(
            f"the state has layout version {version}, and this beamlike reads {read_layouts()}; "
            "open it with the version of beamlike that the query runs with"
        )


def _unreadable(group: int, error: BaseException) -> StateError:
    if isinstance(error, StateError) and error.__cause__ is None:
        return StateError(f"group {group}: {error}")
    problem = error.__cause__ if isinstance(error, StateError) else error
    return StateError(
        f"the state of the group {group} cannot be read: {type(problem).__name__}: {problem}; the "
        "checkpoint is damaged, or a version of beamlike wrote it that this one does not know: "
        "open a copy of the checkpoint, or use the version that the query runs with"
    )


@attrs.frozen
class KeyOfState:
    """The watermark of a key, as of its last step."""

    key: str
    clock: KeyClock


def clocks_of_keys(shards: Iterable[SavedShard], *, in_bytes: bool) -> Sequence[KeyOfState]:
    """The watermarks of the keys of some shards; none if there is one for all keys."""
    clocks: list[KeyOfState] = []
    width = len(attrs.fields(KeyClock))
    try:
        for table in (shard.of_keys for shard in shards if shard.of_keys is not None):
            keys = key_texts(table.columns[:-width], table.num_rows, in_bytes=in_bytes)
            fields = (column.to_pylist() for column in table.columns[-width:])
            for key, *clock in zip(keys.to_pylist(), *fields, strict=True):
                clocks.append(KeyOfState(key, KeyClock(*clock)))
    except READ_ERRORS as error:
        raise StateError(f"the watermarks of keys are none: {error}") from error
    return clocks
