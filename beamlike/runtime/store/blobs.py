"""Blobs: Arrow tables as bytes, with a few words of JSON in front.

Rows cross the shuffle and are saved in state as blobs, because a call into Spark costs about the
same for one row as for thousands.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from beamlike.errors import StateError

_HEADER = b"beamlike"
# Threads of its own would take the cores that Spark gave to other tasks.
_SMALL = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


def pack_blob(table: pa.Table, header: Mapping[str, Any], *, small: bool = False) -> bytes:
    """A table and its header as one Arrow IPC stream.

    With ``small`` it is compressed, which is worth its time for what goes to disk. Spark itself
    compresses what it shuffles.
    """
    table = table.replace_schema_metadata({_HEADER: json.dumps(header).encode()})
    if small:
        return bytes(_written(table, pa.BufferOutputStream(), _SMALL).getvalue().to_pybytes())
    return stream_of(table)


def stream_of(table: pa.Table, head: bytes = b"") -> bytes:
    """A table as an Arrow stream, after some bytes: as many as keep it aligned, if any."""
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
    """The table in an Arrow stream.

    Raises:
        StateError: It is none, or damaged. Values that were changed in their places are not noticed
            here: what is saved has a digest beside it, see `beamlike.runtime.store.pages`.
    """
    try:
        table = pa.ipc.open_stream(pa.py_buffer(stream)).read_all()
        table.validate()
        return table
    except (pa.ArrowException, ValueError, OSError, RecursionError) as error:
        raise StateError(damaged(stream, f"{type(error).__name__}: {error}")) from error


def unpack_blob(blob: bytes | pa.Buffer) -> tuple[pa.Table, dict[str, Any]]:
    """The table and the header of a blob.

    Raises:
        StateError: It is none, or damaged; as `table_in`.
    """
    table = table_in(blob)
    try:
        header = json.loads((table.schema.metadata or {}).get(_HEADER, b"{}"))
    except (ValueError, RecursionError) as error:
        raise StateError(damaged(blob, f"{type(error).__name__}: {error}")) from error
    if not isinstance(header, dict):
        raise StateError(damaged(blob, "its header is no object"))
    return table, header


def digest_of(*blobs: bytes) -> str:
    """The digest of blobs one after the other."""
    digest = blake2b(digest_size=16)
    for blob in blobs:
        digest.update(blob)
    return digest.hexdigest()


def damaged(blob: bytes | pa.Buffer, why: str) -> str:
    """The error message for a blob that cannot be read."""
    return (
        f"a blob of {len(blob):,} bytes cannot be read: {why}; if it rested in a checkpoint, that "
        "is damaged: continue from a copy of it, or start with a new checkpointLocation"
    )
