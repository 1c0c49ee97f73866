"""A shard of numbers at rest, as pages and a log: stepped, failed and restarted."""

import json
from collections.abc import Callable, Iterable
from typing import Final

import attrs
import numpy as np
import pyarrow as pa

from beamlike.runtime.store.blobs import unpack_blob
from beamlike.runtime.store.pages import PageContents, Pages, SavedRows
from beamlike.runtime.store.stores import INDEX
from tests.support.machines.in_shard import DictStore

ROW: Final = 8
"""Bytes of a row."""

Limit = Callable[[str, int], None]
"""Sets one of the limits of pages, by its name."""

Worker = Callable[[], None]
"""Lets a worker take over that knows nothing."""

_SCHEMA: Final = pa.schema([("number", pa.int64())])


class CountingStore(DictStore):
    """A store that counts, but for the index, which blobs were read and the bytes written."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[int] = []
        self.written = 0

    def read(self, number: int) -> bytes | None:
        self.reads += [number] if number != INDEX else []
        return super().read(number)

    def write(self, number: int, blob: bytes | None) -> None:
        self.written += 0 if number == INDEX else len(blob or b"")
        super().write(number, blob)


@attrs.frozen
class Checkpoint:
    """What is left of a shard when its query ends."""

    blobs: dict[int, bytes]
    index: bytes


class Shard:
    """A shard from step to step: rows of one number each, no number twice.

    What happens to it is what Spark does: each step starts from an index as bytes, and what a
    failed step has written is thrown away.
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self.store = CountingStore()
        self.contents = PageContents()
        self.step(new=numbers)

    def step(self, gone: Iterable[int] = (), new: Iterable[int] = ()) -> None:
        """These numbers go, and others come."""
        self.contents = self._replace(gone, new).contents

    def fail(self, gone: Iterable[int] = (), new: Iterable[int] = ()) -> None:
        """A step that raises after its write: nothing of it is left but the worker's memory."""
        blobs = dict(self.store.blobs)
        self._replace(gone, new)
        self.store.blobs = blobs

    @property
    def rows(self) -> SavedRows:
        """All rows at rest, those that are gone among them."""
        return self._pages().read()

    @property
    def numbers(self) -> list[int]:
        """Those that are there, in the order in which they came."""
        rows = self.rows
        return list(rows.table.column("number").to_numpy()[rows.lives])

    def read(self) -> list[int]:
        """The numbers of the blobs that the worker reads if it goes on now."""
        self.store.reads = []
        self._pages().read()
        return self.store.reads

    def blobs(self) -> list[pa.Table]:
        """What rests, in order of number."""
        return [unpack_blob(blob)[0] for _, blob in sorted(self.store.blobs.items())]

    def end(self) -> Checkpoint:
        """What is left if the query ends now."""
        return Checkpoint(dict(self.store.blobs), json.dumps(self.contents.to_json()).encode())

    def go_on_from(self, checkpoint: Checkpoint) -> None:
        """The query is restarted from there."""
        self.store.blobs = dict(checkpoint.blobs)
        self.contents = PageContents.from_json(json.loads(checkpoint.index))

    def _replace(self, gone: Iterable[int], new: Iterable[int]) -> Pages:
        self.go_on_from(self.end())
        shard = self._pages()
        rows = shard.read()
        number = rows.table.column("number").to_numpy()
        places = np.nonzero(rows.lives & np.isin(number, list(gone)))[0]
        shard.replace(rows, places, _table(new))
        return shard

    def _pages(self) -> Pages:
        return Pages(_SCHEMA, self.store, self.contents)


def _table(numbers: Iterable[int]) -> pa.Table:
    return pa.table({"number": pa.array(list(numbers), pa.int64())})
