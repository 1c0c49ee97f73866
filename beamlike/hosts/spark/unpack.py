"""After the shards: blobs become output rows."""

from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.workers import ease_worker
from beamlike.runtime.store.blobs import unpack_blob

__all__ = ["unpack"]


def unpack(batches: Batches) -> Batches:
    """For ``mapInArrow``: output blobs in, output rows out."""
    ease_worker()
    for batch in batches:
        for blob in batch.column("blob").drop_null():
            table, _ = unpack_blob(blob.as_buffer())
            yield from table.replace_schema_metadata(None).to_batches()
