"""A shard's saved rows: pages, and a log of what changed since they were written.

A row is never changed. When a window changes, its row is marked *gone* and another is appended. So
a step writes as much as it changed, in one blob of the log, however many windows the shard has.
When as many rows are gone or in the log as are alive, the live rows are written to new pages and
the log is empty again: over many steps that costs about as much as the log itself. Where most keys
change in every step, each step writes pages only. A log that has many blobs ends too, however short
it is.

The rows of a step are written by bucket, window and key, not in order of arrival. So a step that is
repeated with its rows in another order (from another number of tasks, say) writes the same bytes,
except for values that depend on the order, such as lists and sums of floats. That matters where
Spark gives the files of both attempts the same names: a snapshot of the lost attempt may then lie
under the changes of the attempt that counts.

Reading takes the pages and the log together. A worker that stepped the shard before remembers its
rows, under a digest of the blobs that they were read from. The index has the digest of the rows
that are meant. So a worker may have forgotten them, but never takes others for them. From an older
state it catches up by the log. Copies of blobs that another worker of the machine has written may
be in the state cache of the host, under names that begin with the digest.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, Self

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import StateError
from beamlike.machine.columnar.arrays import Bools, Ints, order_of, starts_of_runs
from beamlike.runtime.store.blobs import concat, damaged, digest_of, pack_blob, pieces, unpack_blob
from beamlike.runtime.store.stores import Recent, Store

PAGE_BYTES: Final = 8 * 2**20
"""Bytes of a page at most, before it is compressed; one row may have more."""

ALWAYS_REWRITTEN_ROWS: Final = 1_000
"""A shard with no more rows than this writes all of them anew in each step."""

LOG_BLOB_BYTES: Final = 2**30
"""Bytes of a blob of a log at most, before it is compressed."""

LOG_BLOBS: Final = 64
"""Blobs of a log at most: reading takes them all, and the index names them all."""

REMEMBERED: Final = 256 * 2**20
"""Bytes of rows that a worker remembers at most, of all its shards."""


@attrs.frozen
class PageContents:
    """Where a shard's rows are, and their digests; part of its index.

    ==========  ==========================================  ================================
    field       stored                                      cleared
    ==========  ==========================================  ================================
    ``pages``   numbers of the pages, in order              replaced by new pages
    ``log``     numbers of the log's blobs, in order        when the pages are replaced
    ``digests`` digest of the pages, then of pages and log  when the pages are replaced
                up to each blob of the log; none without
                rows
    ``logged``  how many rows the log has                   when the pages are replaced
    ``dead``    how many of all rows are gone               when the pages are replaced
    ``next``    the number of the next blob                 never, only forward
    ``living``  how many of all rows are alive              never, written with each change
    ==========  ==========================================  ================================
    """

    pages: tuple[int, ...] = ()
    log: tuple[int, ...] = ()
    digests: tuple[str, ...] = ()
    logged: int = 0
    dead: int = 0
    next: int = 0
    living: int = 0

    def to_json(self) -> list[Any]:
        return list(attrs.astuple(self))

    @classmethod
    def from_json(cls, saved: Sequence[Any]) -> Self:
        pages, log, digests, *counts = saved
        return cls(tuple(pages), tuple(log), tuple(digests), *counts)


@attrs.frozen(eq=False)
class SavedRows:
    """All rows of a shard, in the order in which they were written, and which of them live.

    They are in one piece where they fit.
    """

    table: pa.Table
    lives: Bools

    @property
    def size(self) -> int:
        """The size of the rows, in bytes, about."""
        return int(self.table.nbytes) + len(self.lives)

    def after(self, gone: Ints, new: pa.Table) -> Self:
        """All rows, after those at some places were marked gone and new ones were appended."""
        lives = np.ones(len(self.lives) + new.num_rows, np.bool_)
        lives[: len(self.lives)] = self.lives
        lives[gone] = False
        return type(self)(concat([self.table, new]), lives)

    def living(self, gone: Ints, new: pa.Table) -> Self:
        """Only the live rows, after those at some places were marked gone and new ones appended."""
        stays = self.lives.copy()
        stays[gone] = False
        table = concat([self.table.filter(pa.array(stays)), new]) if stays.any() else new
        return type(self)(table, np.ones(table.num_rows, np.bool_))


def rows_memory() -> Recent[SavedRows]:
    """A memory for the rows that a worker stepped last, by the digest of their blobs."""
    return Recent(lambda: REMEMBERED)


_MEMORY = rows_memory()


class Pages:
    """Reads and writes the rows of one shard."""

    def __init__(self, schema: pa.Schema, store: Store, contents: PageContents) -> None:
        self._schema = schema
        self._store = store
        self.contents = contents

    def read(self) -> SavedRows:
        """All rows.

        Raises:
            StateError: A blob is not where the index says, or is not what was written.
        """
        contents = self.contents
        if not contents.digests:
            return SavedRows(self._schema.empty_table(), np.zeros(0, np.bool_))
        rows, known = None, len(contents.digests)
        while rows is None and known:
            known -= 1
            rows = _MEMORY.find(contents.digests[known])
        if rows is None:
            blobs = self._blobs(contents.pages, contents.digests[0])
            tables = [_rows_of(blob)[0] for blob in blobs]
            table = concat([self._schema.empty_table(), *tables])
            rows = SavedRows(table, np.ones(table.num_rows, np.bool_))
        chain = zip(contents.log[known:], pairwise(contents.digests[known:]), strict=True)
        for number, (before, digest) in chain:
            [blob] = self._blobs([number], digest, before)
            new, gone = _rows_of(blob)
            rows = rows.after(gone, new)
        _MEMORY.forget(contents.digests[known])
        _MEMORY.keep(contents.digests[-1], rows, rows.size)
        return rows

    def remember(self, rows: SavedRows) -> None:
        """Remember these as the rows that `read` returned: the same rows in a faster form."""
        _MEMORY.keep(self.contents.digests[-1], rows, rows.size)

    def replace(self, rows: SavedRows, gone: Ints, new: pa.Table) -> None:
        """Write that the rows at some places are gone, and new rows."""
        before = self.contents
        if not len(gone) and not new.num_rows:
            return
        gone, new = np.sort(gone), in_order(new)
        dead, logged = before.dead + len(gone), before.logged + new.num_rows
        living = len(rows.lives) + new.num_rows - dead
        is_cheap = logged + dead <= living and len(before.log) < LOG_BLOBS
        if (
            before.pages
            and living > ALWAYS_REWRITTEN_ROWS
            and is_cheap
            and new.nbytes <= LOG_BLOB_BYTES
        ):
            rows = rows.after(gone, new)
            self._append(gone, new, logged, dead, living)
        else:
            rows = rows.living(gone, new)
            self._write_anew(rows.table)
        if before.digests:
            _MEMORY.forget(before.digests[-1])
        if self.contents.digests:
            _MEMORY.keep(self.contents.digests[-1], rows, rows.size)

    def _append(self, gone: Ints, new: pa.Table, logged: int, dead: int, living: int) -> None:
        before = self.contents
        places = b64encode(gone.astype(np.int64).tobytes()).decode()
        blob = pack_blob(new.combine_chunks(), {"gone": places}, small=True)
        digest = digest_of(before.digests[-1].encode(), blob)
        self._store.write(before.next, blob)
        self._keep([blob], digest)
        self.contents = PageContents(
            before.pages,
            (*before.log, before.next),
            (*before.digests, digest),
            logged,
            dead,
            before.next + 1,
            living,
        )

    def _write_anew(self, living: pa.Table) -> None:
        before = self.contents
        for number in (*before.pages, *before.log):
            self._store.write(number, None)
        counts = [len(before.pages), *[1] * len(before.log)]
        for digest, count in zip(before.digests, counts, strict=False):  # none without rows
            for name in _names(digest, count):
                self._store.state_cache.forget(name)
        pages = pieces(living, PAGE_BYTES)
        blobs = [pack_blob(page.combine_chunks(), {}, small=True) for page in pages]
        numbers = range(before.next, before.next + len(blobs))
        digest = digest_of(*blobs)
        for number, blob in zip(numbers, blobs, strict=True):
            self._store.write(number, blob)
        self._keep(blobs, digest)
        digests = (digest,) if blobs else ()
        self.contents = PageContents(
            tuple(numbers), (), digests, next=numbers.stop, living=living.num_rows
        )

    def _blobs(self, numbers: Sequence[int], digest: str, before: str = "") -> list[bytes]:
        """The blobs with these numbers. ``digest`` must be the digest of ``before``, the digest of
        the blobs before them, and of these."""
        names = _names(digest, len(numbers))
        copies = [blob for blob in map(self._store.state_cache.find, names) if blob is not None]
        if len(copies) == len(names) and digest_of(before.encode(), *copies) == digest:
            return copies
        blobs = [self._blob(number) for number in numbers]
        if digest_of(before.encode(), *blobs) != digest:  # a wrong byte may be a wrong sum
            raise damaged(blobs[-1], "it, or one before it, is not what was written")
        self._keep(blobs, digest)
        return blobs

    def _keep(self, blobs: Sequence[bytes], digest: str) -> None:
        for name, blob in zip(_names(digest, len(blobs)), blobs, strict=True):
            self._store.state_cache.keep(name, blob)

    def _blob(self, number: int) -> bytes:
        blob = self._store.read(number)
        if blob is None:
            raise StateError(
                f"the state names blob {number} of a shard, and it is not there; the checkpoint is "
                "damaged: continue from a copy of it, or start with a new checkpointLocation"
            )
        return blob


def _rows_of(blob: bytes) -> tuple[pa.Table, Ints]:
    """The rows of a blob, and the places of the rows that were gone when it was written."""
    table, header = unpack_blob(blob)
    gone = np.frombuffer(b64decode(header.get("gone", "")), np.int64)
    return table.replace_schema_metadata(None), gone


def _names(digest: str, count: int) -> list[str]:
    """The names of copies of ``count`` blobs with this digest."""
    return [f"{digest}-{place}" for place in range(count)]


MOST_SORTED_BYTES: Final = 2**30
"""Rows with more bytes are not sorted: Arrow does not take more of a column in one piece."""

_PLACE: Final = ("bucket", "end", "start")
_KEY: Final = "key_"


def in_order(rows: pa.Table) -> pa.Table:
    """The rows sorted by bucket, window and key. No two rows have the same of these."""
    if rows.num_rows < 2 or rows.nbytes > MOST_SORTED_BYTES:
        return rows
    names = [name for name in _PLACE if name in rows.column_names]
    names += [name for name in rows.column_names if name.startswith(_KEY)]
    if not names:
        return rows
    if not set(_PLACE[:2]) <= set(names):
        return rows.take(_order(rows, names))
    # Few windows of a bucket end at the same time, unless they are fixed: only those are compared
    # by their keys, which takes most of the time.
    bucket, end = (rows.column(name).to_numpy() for name in _PLACE[:2])
    order = order_of(bucket, end)
    new = starts_of_runs(bucket[order], end[order])
    alike = np.flatnonzero(~(new & np.append(new[1:], True)))
    if len(alike):
        of_alike = order[alike]
        order[alike] = of_alike[_order(rows.select(names).take(pa.array(of_alike)), names)]

    return rows.take(pa.array(order))


def _order(rows: pa.Table, names: Sequence[str]) -> pa.Array:
    """The order of rows by these columns."""
    columns = [part for name in names for part in _sortable(rows.column(name))]
    numbers = [str(number) for number in range(len(columns))]
    by = [(number, "ascending") for number in numbers]
    return pc.sort_indices(pa.table(columns, numbers), sort_keys=by)


def _sortable(column: pa.ChunkedArray) -> Iterator[pa.ChunkedArray]:
    """Columns by which Arrow can sort, and which differ wherever this one does."""
    if pa.types.is_struct(column.type):
        yield column.is_valid()
        for place in range(column.type.num_fields):
            yield from _sortable(pc.struct_field(column, [place]))
    elif _has_order(column.type):
        yield column
    else:
        yield pa.chunked_array([pa.array(map(_text, column), pa.string())])


def _text(value: pa.Scalar) -> str | None:
    try:
        return str(value)
    except (OverflowError, ValueError):  # a time that Python does not have: these stay as they came
        return None


def _has_order(dtype: pa.DataType) -> bool:
    try:
        pc.sort_indices(pa.array([], dtype))
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False
    return True
