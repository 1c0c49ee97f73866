"""Before and after the shuffle: rows become blobs for shards, blobs become rows.

A blob's header says what it carries:

``rows``   elements of one shard, with the bucket of each
``out``    finished output rows, passed through as they are (rows that cannot be grouped)

An empty blob carries nothing and only wakes its shard: every shard takes part in every
micro-batch, so that all of them see every watermark and every clock.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import InputRowError
from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.output import OutputTable
from beamlike.hosts.spark.plan import Plan

__all__ = ["PACKED", "WAKE", "packer", "read_blobs", "unpack", "waker"]

PACKED = "shard int, blob binary"
"""The Spark schema of packed rows."""

WAKE = b""

Batches = Iterator[pa.RecordBatch]


def _packed(shards: list[int], blobs: list[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(shards, pa.int32()), pa.array(blobs, pa.binary())], ["shard", "blob"]
    )


def packer(plan: Plan) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that turns input rows into blobs.

    Input columns: ``key_0`` ..., ``ts`` (long, ms), ``value_0`` ..., ``hash`` (long), ``reason``
    and ``element`` (strings, null for a good row). In the blobs keys and values have their names.
    """
    names = [
        *(f"key_{name}" for name in plan.keys),
        "ts",
        *(f"value_{name}" for name in plan.values),
        "hash",
        "reason",
        "element",
    ]

    def pack(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = context.partitionId() if context else 0
        for sequence, batch in enumerate(batches):
            table = pa.Table.from_batches([batch]).rename_columns(names)
            good = pc.is_null(table.column("reason"))
            refused = table.filter(pc.invert(good))
            if refused.num_rows:
                yield _refuse(plan, refused)
                table = table.filter(good)
            yield _spread(plan, table.drop_columns(["reason", "element"]), part, sequence)
        yield _packed(list(plan.shard_ids), [WAKE] * plan.shards)

    return pack


def _spread(plan: Plan, table: pa.Table, part: int, sequence: int) -> pa.RecordBatch:
    """The rows as one blob for each shard. ``part`` and ``sequence`` keep their order."""
    hashes = table.column("hash").to_numpy().view(np.uint64)
    shards = (hashes % plan.shards).astype(np.int64)
    buckets = (hashes // plan.shards % plan.buckets).astype(np.int32)
    table = table.drop_columns(["hash"]).append_column("bucket", pa.array(buckets))
    order = np.argsort(shards, kind="stable")
    bounds = np.searchsorted(shards[order], np.arange(plan.shards + 1))
    ids, blobs = [], []
    for shard, (start, end) in enumerate(pairwise(bounds)):
        if start < end:
            rows = table.take(pa.array(order[start:end])).combine_chunks()
            ids.append(plan.shard_ids[shard])
            blobs.append(pack_blob(rows, {"kind": "rows", "order": [part, sequence]}))
    return _packed(ids, blobs)


def _refuse(plan: Plan, refused: pa.Table) -> pa.RecordBatch:
    """Rows that no machine can take, as finished drops; or the end of the query."""
    rows = [
        {
            "key": {name: row[f"key_{name}"] for name in plan.keys},
            "ts": row["ts"],
            "reason": row["reason"],
            "element": row["element"],
        }
        for row in refused.to_pylist()
    ]
    if plan.on_error == "fail":
        raise InputRowError(
            f"{len(rows)} row(s) cannot be grouped; the first: {rows[0]['reason']} in "
            f'{rows[0]["element"]}. Repair the input, or use on_error="drop" to have such rows '
            "delivered as dropped"
        )
    blob = pack_blob(OutputTable(plan).refused(rows), {"kind": "out"})
    return _packed([plan.shard_ids[0]], [blob])


def waker(plan: Plan) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that turns ticks of a clock into wakes of all shards."""

    def wake(batches: Batches) -> Batches:
        for _ in batches:
            pass
        yield _packed(list(plan.shard_ids), [WAKE] * plan.shards)

    return wake


def read_blobs(blobs: Iterator[bytes]) -> tuple[list[pa.Table], list[bytes]]:
    """The arrivals of a shard in order of arrival, and the blobs that only pass through."""
    arrivals: list[tuple[list[int], Any]] = []
    finished: list[bytes] = []
    for blob in blobs:
        if blob == WAKE:
            continue
        table, header = unpack_blob(blob)
        if header["kind"] == "out":
            finished.append(blob)
        else:
            arrivals.append((header["order"], table))
    # Blobs come out of the shuffle in any order.
    arrivals.sort(key=lambda arrival: arrival[0])
    return [table for _, table in arrivals], finished


def unpack(batches: Batches) -> Batches:
    """The function for ``mapInArrow`` that turns output blobs into output rows."""
    for batch in batches:
        for blob in batch.column("blob").to_pylist():
            table, _ = unpack_blob(blob)
            yield from table.replace_schema_metadata(None).to_batches()
