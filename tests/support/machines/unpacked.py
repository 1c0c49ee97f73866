"""Blobs of a shard's output as rows, as the query has them after `beamlike.hosts.spark.unpack`."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.hosts.spark.unpack import unpacked_schema, unpacker
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import MARKS


def unpacked(plan: Plan, blobs: Sequence[bytes]) -> list[pa.Table]:
    """A table for each blob that has rows."""
    schema = OutputTable(plan).schema
    carried = pa.RecordBatch.from_pydict({"blob": pa.array(blobs, pa.binary())})
    return [
        pa.Table.from_arrays(
            [
                pc.list_element(column, 0) if name == MARKS else column
                for name, column in zip(schema.names, batch.columns, strict=True)
            ],
            schema=schema,
        )
        for batch in unpacker(unpacked_schema(schema))(iter([carried]))
    ]
