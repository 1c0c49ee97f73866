"""After the shards: batches become output rows.

The output of a shard in a micro-batch goes through Spark as one Arrow batch, and so does the output
of all shards of a task when only the watermark moved. Such a batch holds two gigabytes at most. If
a task emits more than a part of that, the rest waits in files on the task's machine, and Spark
carries their names. The operator that reads them runs in the same task.

Most rows are panes with a hidden column that is nearly empty, but would be more than half of their
size. So columns without values, and such fields of the hidden column, are left out of a batch. From
here on to Spark the hidden column is a list of one struct, or null: Arrow would use room for each
field of a struct that is null, and uses none in a list that is null.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from beamlike.hosts.spark.workers import local_folder, tune_worker_process
from beamlike.runtime.envelope import Envelope, Kind, sealed
from beamlike.runtime.packing import Batches
from beamlike.runtime.row_metadata import MARKS

CARRIED: Final = 2**29
"""The most bytes of a task's output that Spark carries; the rest goes to files."""

OUTPUT_BATCH_BYTES: Final = 2**26
"""Bytes of the batches in which rows leave, about."""


class OutputBlobs:
    """The output of one task as batches that Spark carries, with rows or with names of files."""

    def __init__(self) -> None:
        self._carried = 0

    def of(self, table: pa.Table) -> bytes:
        """A table of its output as a batch for `unpacker`."""
        full = _full_columns(table)
        if self._carried + full.nbytes <= CARRIED:
            blob = sealed(Kind.FINISHED, full)
            self._carried += len(blob)
            return blob
        place, name = tempfile.mkstemp(prefix="beamlike-output-", dir=local_folder() or None)
        with os.fdopen(place, "wb") as file, pa.ipc.new_stream(file, full.schema) as writer:
            writer.write_table(full)
        return sealed(Kind.FILE, os.fsencode(name))


def output_blob(table: pa.Table) -> bytes:
    """Output rows as a batch for `unpacker`, however many they are."""
    return sealed(Kind.FINISHED, _full_columns(table))


def _full_columns(table: pa.Table) -> pa.Table:
    """The columns that are not null in every row. The fields of the hidden column are columns too,
    named after it and the field."""
    columns = {name: table.column(name) for name in table.column_names if name != MARKS}
    marks = table.column(MARKS)
    names = [field.name for field in marks.type]
    of_marks = zip(names, marks.flatten(), strict=True)
    columns |= {f"{MARKS}.{name}": column for name, column in of_marks}
    return pa.table(
        {k: column for k, column in columns.items() if column.null_count < table.num_rows}
    )


def unpacked_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of the rows of `unpacker`: the hidden column is a list of one item, or null."""
    listed = pa.field(MARKS, pa.list_(schema.field(MARKS).type))
    return pa.schema([listed if field.name == MARKS else field for field in schema])


def unpacker(schema: pa.Schema) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that makes output rows of batches."""

    def unpack(batches: Batches) -> Batches:
        tune_worker_process()
        for batch in batches:
            for blob in batch.column("blob").drop_null():
                for rows in _batches(Envelope.opened(blob.as_buffer())):
                    yield from _in_batches(_in_full(rows, schema))

    return unpack


def _batches(envelope: Envelope) -> Iterator[pa.RecordBatch]:
    if envelope.content is not Kind.FILE:
        yield from envelope.table.to_batches()
        return
    name = os.fsdecode(envelope.body.to_pybytes())
    with pa.memory_map(name) as file:
        Path(name).unlink()
        yield from pa.ipc.open_stream(file).read_all().to_batches()


def _in_full(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The rows of a batch with the columns that it left out."""
    known = dict(zip(rows.schema.names, rows.columns, strict=True))
    count = rows.num_rows

    def column(name: str, dtype: pa.DataType) -> pa.Array:
        return known[name] if name in known else pa.nulls(count, dtype)

    of_marks = list(schema.field(MARKS).type.value_type)
    fields = [(f"{MARKS}.{of_mark.name}", of_mark.type) for of_mark in of_marks]
    if any(name in known for name, _ in fields):
        children = [column(*field) for field in fields]
        marks = pa.StructArray.from_arrays(children, fields=of_marks)
        known[MARKS] = pa.ListArray.from_arrays(np.arange(count + 1, dtype=np.int32), marks)
    columns = [column(field.name, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _in_batches(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    size = rows.num_rows
    if rows.nbytes > OUTPUT_BATCH_BYTES:
        size = max(rows.num_rows * OUTPUT_BATCH_BYTES // rows.nbytes, 1)
    for index in range(0, rows.num_rows, max(size, 1)):
        yield rows.slice(index, size)
