"""A shard's rows at rest: pages, and a log of what changed since they were written.

A row is never changed. What changes a window makes its row *gone* and appends another, so a step
writes as much as it changed, in one blob of the log, however many windows the shard has. When as
many rows are gone or in the log as are alive, those alive are written to new pages and the log is
empty again: over many steps that costs about as much as the log itself. Where most keys change in
every step, each step writes pages and nothing else.

Reading takes the pages and the log together. A worker that stepped the shard before remembers its
rows. What it remembers has for its name a digest of the blobs that it was made from, and the index
says which digest is meant: so it may have forgotten, but never remembers anything else. From an
older state it catches up by the log.
"""

from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final, Protocol, Self

import attrs
import numpy as np
import pyarrow as pa

from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.machine.columnar.arrays import Bools, Ints

__all__ = ["Contents", "Pages", "Rows", "Store"]

PAGE: Final = 50_000
"""Rows of a page at most: some megabytes."""

FEW: Final = 1_000
"""So many rows are written anew without a second thought."""

REMEMBERED: Final = 384 * 2**20
"""Bytes of rows that a worker remembers at most, of all its shards."""


class Store(Protocol):
    """Where a shard's blobs rest between steps, by number.

    A step that raises may have written some of them. Whoever goes on after that throws them
    away, as Spark does with what a failed task has written.
    """

    def read(self, number: int) -> bytes | None: ...

    def write(self, number: int, blob: bytes | None) -> None:
        """Keep the blob; None forgets it."""

    def read_index(self) -> bytes | None: ...

    def write_index(self, blob: bytes) -> None: ...


@attrs.frozen
class Contents:
    """Where a shard's rows are, and what they are; part of its index.

    ==========  ==========================================  ================================
    field       stored                                      cleared
    ==========  ==========================================  ================================
    ``pages``   numbers of the pages, in order              replaced by new pages
    ``log``     numbers of the log's blobs, in order        when the pages are replaced
    ``names``   digest of the pages, and after each blob    likewise
                of the log
    ``logged``  how many rows the log has                   likewise
    ``gone``    how many of all rows are gone               likewise
    ``next``    the number of the next blob                 never, only forward
    ==========  ==========================================  ================================
    """

    pages: tuple[int, ...] = ()
    log: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    logged: int = 0
    gone: int = 0
    next: int = 0

    def to_json(self) -> list[Any]:
        return list(attrs.astuple(self))

    @classmethod
    def from_json(cls, saved: Sequence[Any]) -> Self:
        return cls(*(tuple(it) if isinstance(it, list) else it for it in saved))


@attrs.frozen(eq=False)
class Rows:
    """All rows of a shard, in the order in which they were written, and which of them live."""

    table: pa.Table
    lives: Bools

    @property
    def size(self) -> int:
        """In bytes, about."""
        return int(self.table.nbytes) + len(self.lives)

    def after(self, gone: Ints, new: pa.Table) -> Self:
        """The rows once these are gone, by their places, and others came."""
        lives = np.ones(len(self.lives) + new.num_rows, np.bool_)
        lives[: len(self.lives)] = self.lives
        lives[gone] = False
        return type(self)(pa.concat_tables([self.table, new]).combine_chunks(), lives)


class _Memory:
    """The rows that this worker stepped last, by the digest of their blobs."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Rows] = OrderedDict()
        self._size = 0

    def recall(self, name: str) -> Rows | None:
        return self._known.get(name)

    def forget(self, name: str) -> None:
        known = self._known.pop(name, None)
        if known is not None:
            self._size -= known.size

    def keep(self, name: str, rows: Rows) -> None:
        self.forget(name)
        self._known[name] = rows
        self._size += rows.size
        while self._size > REMEMBERED:
            self.forget(next(iter(self._known)))


_MEMORY = _Memory()


class Pages:
    """Reads and writes the rows of one shard."""

    def __init__(self, schema: pa.Schema, store: Store, contents: Contents) -> None:
        self._schema = schema
        self._store = store
        self.contents = contents

    def read(self) -> Rows:
        """All rows."""
        contents = self.contents
        if not contents.names:
            return Rows(self._schema.empty_table(), np.zeros(0, np.bool_))
        rows, known = None, len(contents.names)
        while rows is None and known:
            known -= 1
            rows = _MEMORY.recall(contents.names[known])
        if rows is None:
            tables = [self._load(number)[0] for number in contents.pages]
            table = pa.concat_tables([self._schema.empty_table(), *tables]).combine_chunks()
            rows = Rows(table, np.ones(table.num_rows, np.bool_))
        for number in contents.log[known:]:
            new, gone = self._load(number)
            rows = rows.after(gone, new)
        _MEMORY.keep(contents.names[-1], rows)
        return rows

    def replace(self, rows: Rows, gone: Ints, new: pa.Table) -> None:
        """Write that some rows are gone, by their places, and that others came."""
        before = self.contents
        if not len(gone) and not new.num_rows:
            return
        rows = rows.after(gone, new)
        dead, logged = before.gone + len(gone), before.logged + new.num_rows
        living = len(rows.lives) - dead
        if before.pages and living > FEW and logged + dead <= living:
            self._append(gone, new, logged, dead)
        else:
            rows = Rows(rows.table.filter(pa.array(rows.lives)), np.ones(living, np.bool_))
            self._write_anew(rows.table)
        if before.names:
            _MEMORY.forget(before.names[-1])
        if self.contents.names:
            _MEMORY.keep(self.contents.names[-1], rows)

    def _append(self, gone: Ints, new: pa.Table, logged: int, dead: int) -> None:
        before = self.contents
        blob = pack_blob(new, {"gone": b64encode(gone.astype(np.int64).tobytes()).decode()})
        self._store.write(before.next, blob)
        self.contents = Contents(
            before.pages,
            (*before.log, before.next),
            (*before.names, _digest(before.names[-1].encode(), blob)),
            logged,
            dead,
            before.next + 1,
        )

    def _write_anew(self, living: pa.Table) -> None:
        before = self.contents
        for number in (*before.pages, *before.log):
            self._store.write(number, None)
        slices = [living.slice(at, PAGE) for at in range(0, living.num_rows, PAGE)]
        blobs = [pack_blob(page.combine_chunks(), {}) for page in slices]
        numbers = range(before.next, before.next + len(blobs))
        for number, blob in zip(numbers, blobs, strict=True):
            self._store.write(number, blob)
        names = (_digest(*blobs),) if blobs else ()
        self.contents = Contents(tuple(numbers), (), names, 0, 0, numbers.stop)

    def _load(self, number: int) -> tuple[pa.Table, Ints]:
        """The rows of a blob, and the places of those that went when it was written."""
        blob = self._store.read(number)
        assert blob is not None, "the index says that there are rows"
        table, header = unpack_blob(blob)
        gone = np.frombuffer(b64decode(header.get("gone", "")), np.int64)
        return table.replace_schema_metadata(None), gone


def _digest(*blobs: bytes) -> str:
    digest = blake2b(digest_size=16)
    for blob in blobs:
        digest.update(blob)
    return digest.hexdigest()
