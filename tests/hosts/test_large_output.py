"""What a task emits beyond what Spark carries at once waits in files, and comes out as well."""

from pathlib import Path

import pyarrow as pa
import pytest

from beamlike.hosts.spark import unpack as of
from beamlike.hosts.spark.unpack import OutputBlobs, unpack

TABLES = [pa.table({"n": range(start, start + 1_000)}) for start in (0, 1_000, 2_000)]


def rows_of(blobs: list[bytes]) -> list[pa.RecordBatch]:
    batch = pa.RecordBatch.from_pydict({"blob": pa.array([*blobs, None], pa.binary())})
    return list(unpack(iter([batch])))


@pytest.mark.parametrize(("carried", "files"), [(2**29, 0), (18_000, 1), (0, 3)])
def test_output_beyond_what_spark_carries_waits_in_files_and_none_is_left(
    carried: int, files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of, "CARRIED", carried)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/elsewhere")
    output = OutputBlobs()

    blobs = [output.of(table) for table in TABLES]
    waiting = list(tmp_path.iterdir())
    batches = rows_of(blobs)

    assert len(waiting) == files
    assert pa.Table.from_batches(batches).column("n").to_pylist() == list(range(3_000))
    assert list(tmp_path.iterdir()) == []


def test_large_output_leaves_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of, "AT_ONCE", 2_000)

    batches = rows_of([OutputBlobs().of(TABLES[0])])

    assert [batch.num_rows for batch in batches] == [250] * 4


def test_a_row_larger_than_a_batch_leaves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of, "AT_ONCE", 10)
    wide = pa.table({"text": ["x" * 50, "y" * 50]})

    assert [batch.num_rows for batch in rows_of([OutputBlobs().of(wide)])] == [1, 1]
