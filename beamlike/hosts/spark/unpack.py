"""After the shards: blobs become output rows.

What a shard emits in a micro-batch goes through Spark as one Arrow batch, and so does what all
shards of a task emit when only the watermark moved: two gigabytes are the most that it holds. What
a task emits beyond a part of that waits in files on the machine that it runs on, and Spark carries
their names. The operator that reads them is in the same task.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.workers import ease_worker
from beamlike.runtime.store.blobs import pack_blob, unpack_blob

CARRIED: Final = 2**29
"""Bytes of output that Spark carries for a task."""

AT_ONCE: Final = 2**26
"""Bytes of the batches in which rows leave, about."""


class OutputBlobs:
    """The output of one task as blobs that Spark carries, or names of files with them."""

    def __init__(self) -> None:
        self._carried = 0

    def of(self, table: pa.Table) -> bytes:
        """One of its tables, as `unpack` reads it."""
        if self._carried + table.nbytes <= CARRIED:
            blob = pack_blob(table, {"kind": "out"})
            self._carried += len(blob)
            return blob
        # Spark deletes its folders when the application ends, also what a failed task left there.
        folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
        place, name = tempfile.mkstemp(prefix="beamlike-output-", dir=folders or None)
        with os.fdopen(place, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
        return pack_blob(pa.table({}), {"kind": "file", "name": name})


def unpack(batches: Batches) -> Batches:
    """For ``mapInArrow``: output blobs in, output rows out."""
    ease_worker()
    for batch in batches:
        for blob in batch.column("blob").drop_null():
            table, header = unpack_blob(blob.as_buffer())
            yield from _rows(table, header)


def _rows(table: pa.Table, header: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    if header["kind"] == "file":
        with pa.memory_map(header["name"]) as file:
            Path(header["name"]).unlink()
            yield from _in_batches(pa.ipc.open_stream(file).read_all())
    else:
        yield from _in_batches(table)


def _in_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    rows = table.replace_schema_metadata(None)
    if rows.nbytes <= AT_ONCE:
        yield from rows.to_batches()
    else:
        yield from rows.to_batches(max_chunksize=max(rows.num_rows * AT_ONCE // rows.nbytes, 1))
