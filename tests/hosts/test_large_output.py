"""What a task emits beyond what Spark carries at once waits in files, and comes out as well."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from beamlike.hosts.spark import unpack as of
from beamlike.hosts.spark.unpack import OutputBlobs, output_blob, unpacked_schema, unpacker
from beamlike.runtime.row_metadata import MARKS, time_types

TYPES = time_types(wall_clock=False)


def rows(**columns: Sequence[Any]) -> pa.Table:
    """Output rows of a shard, none of them dropped."""
    table = pa.table(columns)
    return table.append_column(MARKS, pa.nulls(table.num_rows, TYPES.marks))


TABLES = [rows(n=range(start, start + 1_000)) for start in (0, 1_000, 2_000)]


def unpacked(blobs: list[bytes], schema: pa.Schema) -> list[pa.RecordBatch]:
    batch = pa.RecordBatch.from_pydict({"blob": pa.array([*blobs, None], pa.binary())})
    return list(unpacker(unpacked_schema(schema))(iter([batch])))


@pytest.mark.parametrize(("carried", "files"), [(2**29, 0), (18_000, 1), (0, 3)])
def test_output_beyond_what_spark_carries_waits_in_files_and_none_is_left(
    carried: int, files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of, "CARRIED", carried)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/elsewhere")
    output = OutputBlobs()

    blobs = [output.of(table) for table in TABLES]
    waiting = list(tmp_path.iterdir())
    batches = unpacked(blobs, TABLES[0].schema)

    assert len(waiting) == files
    assert pa.Table.from_batches(batches).column("n").to_pylist() == list(range(3_000))
    assert list(tmp_path.iterdir()) == []


def test_large_output_leaves_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of, "OUTPUT_BATCH_BYTES", 3_033)

    batches = unpacked([OutputBlobs().of(TABLES[0])], TABLES[0].schema)

    assert [batch.num_rows for batch in batches] == [250] * 4


def test_a_row_larger_than_a_batch_leaves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of, "OUTPUT_BATCH_BYTES", 10)
    wide = rows(text=["x" * 50, "y" * 50])

    batches = unpacked([OutputBlobs().of(wide)], wide.schema)

    assert [batch.num_rows for batch in batches] == [1, 1]


@pytest.mark.parametrize("carried", [2**29, 0])
def test_what_is_null_in_all_rows_is_not_carried_and_comes_out_null(
    carried: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of, "CARRIED", carried)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    panes = rows(n=[1, None], window=[None, None], key=["ann", "bob"])
    panes = panes.cast(panes.schema.set(1, pa.field("window", TYPES.window)))
    blob = OutputBlobs().of(panes)

    [batch] = unpacked([blob], panes.schema)

    assert batch.to_pylist() == [
        {"n": 1, "window": None, "key": "ann", MARKS: None},
        {"n": None, "window": None, "key": "bob", MARKS: None},
    ]


def test_the_hidden_column_comes_out_as_a_list_of_one() -> None:
    lost = {"kind": "dropped", "dropped": {"reason": "expired", "count": 3}}
    nothing = dict.fromkeys(TYPES.dropped.names)
    table = pa.table({"n": [1, 2], MARKS: pa.array([None, lost], TYPES.marks)})

    [batch] = unpacked([output_blob(table)], table.schema)

    marks = dict.fromkeys(TYPES.marks.names)
    assert batch.to_pylist() == [
        {"n": 1, MARKS: [marks | {"dropped": None}]},
        {"n": 2, MARKS: [marks | lost | {"dropped": nothing | lost["dropped"]}]},
    ]


def test_output_without_rows_has_none() -> None:
    empty = TABLES[0].slice(0, 0)

    assert unpacked([output_blob(empty)], empty.schema) == []
