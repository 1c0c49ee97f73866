"""Blobs: Arrow tables as bytes, with a few words of JSON in front, and how much fits into one.

Rows cross the shuffle and are saved in state as blobs, because a call into Spark costs about the
same for one row as for thousands.

Arrow counts the bytes of texts and the items of lists in a column with 31 bits, and Java the bytes
of a blob. That limits what a pass over a shard has in one column: of a key or a value among the
rows of one micro-batch, and of a key or an aggregate among its windows. With more, the shard takes
its keys in more passes. What fits in none is reported before Arrow, Spark or Java fail, and in
their place where only Arrow detects it, with the key and the window that take most of it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beamlike.errors import StateError, UnsupportedError, WorkerMemoryError
from beamlike.model.resolution import Resolution
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.narrow import narrowed, widened
from beamlike.safe_text import short_repr

_HEADER = b"beamlike"
# Threads of its own would take the cores that Spark gave to other tasks.
_SMALL = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


def pack_blob(table: pa.Table, header: Mapping[str, Any], *, small: bool = False) -> bytes:
    """A table and its header as one Arrow IPC stream.

    With ``small`` its numbers are narrow and it is compressed, which is worth its time for what
    goes to disk. Spark itself compresses what it shuffles.
    """
    table = narrowed(table) if small else table
    notes = table.schema.metadata or {}
    table = table.replace_schema_metadata({**notes, _HEADER: json.dumps(header).encode()})
    if small:
        return bytes(_written(table, pa.BufferOutputStream(), _SMALL).getvalue().to_pybytes())
    return stream_of(table)


def stream_of(table: pa.Table, head: bytes = b"") -> bytes:
    """A table as an Arrow stream after ``head``, whose length must keep the stream aligned."""
    # A buffer that grows with what is written is copied each time.
    size = _written(table, pa.MockOutputStream()).size()
    buffer = pa.allocate_buffer(len(head) + size)
    sink = pa.FixedSizeBufferWriter(buffer)
    sink.write(head)
    _written(table, sink)
    return bytes(buffer.to_pybytes())


def _written(table: pa.Table, sink: Any, options: pa.ipc.IpcWriteOptions | None = None) -> Any:
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink


def table_in(stream: bytes | pa.Buffer) -> pa.Table:
    """The table in an Arrow stream; narrow numbers have the types again that they had before.

    Raises:
        StateError: It is not a stream, or is damaged. A changed value is not noticed here: saved
            state has a digest for that, see `beamlike.runtime.store.pages`.
    """
    try:
        table = pa.ipc.open_stream(pa.py_buffer(stream)).read_all()
        table.validate()
        return widened(table)
    except (
        pa.ArrowException,
        LookupError,
        TypeError,
        ValueError,
        OSError,
        RecursionError,
    ) as error:
        raise damaged(stream, f"{type(error).__name__}: {error}") from error


def unpack_blob(blob: bytes | pa.Buffer) -> tuple[pa.Table, dict[str, Any]]:
    """The table and the header of a blob.

    Raises:
        StateError: It is not a blob, or is damaged; see `table_in`.
    """
    table = table_in(blob)
    try:
        header = json.loads((table.schema.metadata or {}).get(_HEADER, b"{}"))
    except (ValueError, RecursionError) as error:
        raise damaged(blob, f"{type(error).__name__}: {error}") from error
    if not isinstance(header, dict):
        raise damaged(blob, "its header is not an object")
    return table, header


def digest_of(*blobs: bytes) -> str:
    """The digest of blobs one after the other."""
    digest = blake2b(digest_size=16)
    for blob in blobs:
        digest.update(blob)
    return digest.hexdigest()


class _DamagedError(StateError):
    """Bytes are not those that were written. `explaining_overflow` says of which shard they are."""


def damaged(blob: bytes | pa.Buffer, why: str) -> StateError:
    """The error for a blob that cannot be read."""
    return _DamagedError(
        f"a blob of {len(blob):,} bytes cannot be read: {why}; nothing was computed from it. If it "
        "is from a checkpoint, that is damaged: stop the query, keep the checkpoint as it is, and "
        "continue from a copy of it, or start with a new checkpointLocation; see "
        '"When something is wrong" in docs/pages/operating.md'
    )


MOST_IN_ONE_PIECE: Final = 2**31 - 1
"""Bytes of text, or items of lists, of one column in one piece; bytes of a blob."""

_BESIDES: Final = 2**20
"""The bytes that a blob may have besides its columns, at most."""

_OVERFLOWS: Final = re.compile("overflow|cannot contain more than", re.IGNORECASE)
"""The texts of Arrow's errors where 31 bits are not enough."""


class _OverflowError(UnsupportedError):
    """A column does not fit in one piece. `explaining_overflow` says in which shard.

    Attributes:
        column: Its name, as the tables have it.
        held: What it would hold, in words.
    """

    def __init__(self, column: str, held: str) -> None:
        super().__init__(f"column {column!r} would hold {held}, {_AT_MOST}")
        self.column, self.held = column, held


_AT_MOST: Final = "and 2,147,483,647 is the most that fits in one piece there"


def one_chunk(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables one below the other, each column in one piece. A column that a table lacks is null.

    Raises:
        UnsupportedError: A column does not fit.
    """
    error = _overflow(tables)
    if error is not None:
        raise error
    return pa.concat_tables(tables, promote_options="default").combine_chunks()


def concat(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables one below the other, in one piece if they fit, else in as many pieces as now."""
    if len(tables) == 1:
        return tables[0]
    together = pa.concat_tables(tables, promote_options="default")
    return together.combine_chunks() if _overflow(tables) is None else together


def is_arrow_overflow(error: Exception) -> bool:
    """Whether an error says that something did not fit in one piece, from Arrow or from here."""
    if isinstance(error, pa.ArrowInvalid | pa.ArrowCapacityError):
        return _OVERFLOWS.search(str(error)) is not None
    return isinstance(error, _OverflowError)


def pieces(rows: pa.Table, most: int) -> Iterator[pa.Table]:
    """The rows in tables of equal length, none of which has more bytes than that; one row may."""
    count = max(-(-rows.nbytes // most), 1)
    size = max(-(-rows.num_rows // count), 1)
    for start in range(0, rows.num_rows, size):
        piece = rows.slice(start, size)
        if piece.nbytes > most and piece.num_rows > 1:  # its rows are larger than most
            yield from pieces(piece, most)
        else:
            yield piece


def in_blobs(table: pa.Table) -> Iterator[pa.Table]:
    """The rows in tables that fit in a blob each.

    Raises:
        UnsupportedError: A row does not.
    """
    for piece in pieces(table, MOST_IN_ONE_PIECE - _BESIDES):
        if piece.nbytes > MOST_IN_ONE_PIECE - _BESIDES:
            sizes = {name: piece.column(name).nbytes for name in piece.column_names}
            widest = max(sizes, key=sizes.__getitem__)
            held = f"{sizes[widest]:,} of the {piece.nbytes:,} bytes of a row of the output"
            raise _OverflowError(widest, held)
        yield piece


def check_message(message: bytes) -> None:
    """Refuse what a pipeline sends at once, if it does not fit in one blob.

    Raises:
        UnsupportedError: It does not.
    """
    if len(message) > MOST_IN_ONE_PIECE - _BESIDES:
        raise UnsupportedError(
            "what a task of this pipeline sends on in one micro-batch takes "
            f"{len(message):,} bytes, {_AT_MOST}. Let a micro-batch read less "
            "(maxFilesPerTrigger, maxOffsetsPerTrigger), or use more shards, or shorter values"
        )


@contextmanager
def explaining_overflow(
    plan: Plan, shard: int | None, tables: Callable[[], Sequence[pa.Table]] = tuple
) -> Iterator[None]:
    """Errors of damaged state and of lacking room name this shard, and say what to do.

    Args:
        plan: Whose shard it is.
        shard: Its position; None if that is not known.
        tables: What it works on, called where Arrow's own error does not name the column.

    Raises:
        StateError: Saved state is damaged.
        UnsupportedError: A column does not fit in one piece.
        WorkerMemoryError: No memory was left.
    """
    try:
        yield
    except MemoryError as error:
        in_work = list[pa.Table]()
        with suppress(MemoryError):
            in_work += tables()
        raise WorkerMemoryError(_no_memory(plan, shard, in_work)) from error
    except _OverflowError as error:
        raise UnsupportedError(_overflow_text(plan, shard, error.column, error.held)) from None
    except _DamagedError as error:
        raise StateError(f"{_shard_text(plan, shard)}: {error}") from error
    except (pa.ArrowInvalid, pa.ArrowCapacityError) as error:
        if not is_arrow_overflow(error):
            raise
        sizes = [(size, name, unit) for name, size, unit in _sizes(tables())]
        size, widest, unit = max(sizes, default=(0, None, "bytes"))
        held = f"more than the {size:,} {unit} that it has before this step"
        raise UnsupportedError(_overflow_text(plan, shard, widest, held)) from error


def _shard_text(plan: Plan, shard: int | None) -> str:
    name = "a shard" if shard is None else f"shard {shard}"
    return f"{name} of the {plan.shards} of {plan.name!r}"


def _overflow_text(plan: Plan, shard: int | None, column: str | None, held: str) -> str:
    column_text = "a column" if column is None else _called(plan, column)
    return (
        f"{_shard_text(plan, shard)} cannot hold what it is given: "
        f"{column_text} would have {held}, {_AT_MOST}. Spread the keys over more shards, "
        f"shards={2 * plan.shards}; a checkpoint stays with its number of shards, so a stream "
        "needs a new checkpointLocation. Or give it less: shorter values, an aggregate that does "
        "not keep each of them, windows that end sooner, fewer rows in a micro-batch"
    )


def _no_memory(plan: Plan, shard: int | None, held: Sequence[pa.Table]) -> str:
    largest = words_of_largest(held, plan.resolution)
    return (
        f"a worker ran out of memory in {_shard_text(plan, shard)}, which works on "
        f"{sum(table.nbytes for table in held):,} bytes of rows and state"
        + (f": {largest}" if largest else "")
        + ". Nothing of the micro-batch is lost: start the query again with more memory for Python "
        "(spark.executor.pyspark.memory, or a larger machine), fewer rows in a micro-batch, or "
        "fewer tasks at once; a key that is too large needs hot_key_fanout, lift=True, windows "
        "that end sooner, or an aggregate that does not keep each value"
    )


def _called(plan: Plan, column: str) -> str:
    """The user's name for a column of rows or of state."""
    for index, part in enumerate(plan.parts):
        if column.startswith(f"acc{index}_{part.name}") or column == part.name:
            return f"aggregate {part.name!r}"
    for start, noun in (("key_", "key column"), ("value_", "column")):
        if column.startswith(start):
            return f"{noun} {column.removeprefix(start)!r}"
    return f"column {column!r}"


def _overflow(tables: Sequence[pa.Table]) -> _OverflowError | None:
    # Where all columns together fit, which is nearly always, none is looked at.
    if sum(table.nbytes for table in tables) * 8 <= MOST_IN_ONE_PIECE:
        return None
    for name, size, unit in _sizes(tables, beyond=MOST_IN_ONE_PIECE):
        if size > MOST_IN_ONE_PIECE:
            return _OverflowError(name, f"{size:,} {unit}")
    return None


def _sizes(tables: Sequence[pa.Table], beyond: int = 0) -> Iterator[tuple[str, int, str]]:
    """What Arrow has to count in each column of tables, one below the other: name, size and unit.
    Columns whose memory shows that they cannot have more than ``beyond`` are left out."""
    for name in dict.fromkeys(name for table in tables for name in table.column_names):
        columns = [table.column(name) for table in tables if name in table.column_names]
        # A bit is the least that an item takes, so memory says of most columns that they fit.
        if sum(column.nbytes for column in columns) * 8 <= beyond:
            continue
        counted = [_counted(chunk) for column in columns for chunk in column.chunks]
        for same in zip(*counted, strict=True):
            yield name, sum(size for size, _ in same), same[0][1]


def _counted(array: pa.Array) -> list[tuple[int, str]]:
    """What Arrow counts in an array: a size with its unit for each text and list in its type."""
    dtype = array.type
    if pt.is_string(dtype) or pt.is_binary(dtype):
        return [(pc.sum(pc.binary_length(array)).as_py() or 0, "bytes")]
    if pt.is_map(dtype):
        start, end = (array.offsets[end_of].as_py() for end_of in (0, -1))
        parts = (part.slice(start, end - start) for part in (array.keys, array.items))
        return [(end - start, "entries"), *(inner for part in parts for inner in _counted(part))]
    if pt.is_list(dtype):
        items = array.flatten()
        return [(len(items), "items of lists"), *_counted(items)]
    if pt.is_struct(dtype):
        return [counted for field in array.flatten() for counted in _counted(field)]
    return []


# -- the key and the window that take most: asked for where hardly any memory is left --------------

SAMPLE: Final = 1_000
"""The most frequent key is looked for among about so many rows, where every step does that."""


def words_of_largest(
    tables: Sequence[pa.Table], resolution: Resolution, sample: int | None = None
) -> str:
    """The key with the most rows, and the row of state that takes the most, in words.

    Args:
        tables: Rows that arrived, and rows of state, which have a column ``end_timer_set``.
        resolution: What a tick of their times is.
        sample: Among how many rows the most frequent key is looked for; None: among all.
    """
    largest: list[str] = []
    with suppress(MemoryError, pa.ArrowException):
        largest += _frequent([table for table in tables if not _is_state(table)], sample)
    with suppress(MemoryError, pa.ArrowException):
        largest += _widest([table for table in tables if _is_state(table)], resolution)
    return "; ".join(largest)


def _is_state(table: pa.Table) -> bool:
    return "end_timer_set" in table.column_names


def _keys(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name.startswith("key_")]


def _frequent(tables: Sequence[pa.Table], sample: int | None) -> Iterator[str]:
    rows = sum(table.num_rows for table in tables)
    if not rows:
        return
    names = _keys(tables[0])
    step = 1 if sample is None else max(1, rows // sample)
    picked = [
        table.select(names).take(pa.array(range(0, table.num_rows, step))) for table in tables
    ]
    if not names:
        yield f"{rows:,} rows arrived, all of one key"
        return
    of_keys = pa.concat_tables(picked).group_by(names).aggregate([([], "count_all")])
    most = of_keys.take(pa.array([pc.index(of_keys["count_all"], pc.max(of_keys["count_all"]))]))
    share = most["count_all"][0].as_py() / sum(table.num_rows for table in picked)
    about = "" if step == 1 else "about "
    yield f"{rows:,} rows arrived, {about}{share:.0%} of them of key {_key(most, names)}"


def _widest(tables: Sequence[pa.Table], resolution: Resolution) -> Iterator[str]:
    best: tuple[int, pa.Table] | None = None
    for table in tables:
        for name in table.column_names:
            size = _size_of(table.column(name))
            if size is None or not table.num_rows:
                continue
            most = pc.max(size).as_py() or 0
            if best is None or most > best[0]:
                best = most, table.slice(pc.index(size, most).as_py(), 1)
    if best is None or not best[0]:
        return
    most, row = best
    start, end = (resolution.show_instant(row[side][0].as_py()) for side in ("start", "end"))
    key = _key(row, _keys(row))
    yield f"of the state the window [{start}, {end}) of key {key} has the most, {most:,} of a value"


def _size_of(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The bytes or items of each value; None where all values have the same size."""
    dtype = column.type
    if pt.is_string(dtype) or pt.is_binary(dtype):
        return pc.binary_length(column)
    return pc.list_value_length(column) if pt.is_list(dtype) else None


def _key(row: pa.Table, names: Sequence[str]) -> str:
    return ", ".join(
        f"{name.removeprefix('key_')}={short_repr(row[name][0].as_py())}" for name in names
    )
