"""Files of formats that have records: what is written is read again, on each host."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.io.records_of_rows import record_of
from beamlike.api.pipelines.io.tfrecord import masked_crc32c
from beamlike.beam.io import (
    ReadAllFromAvro,
    ReadAllFromParquet,
    ReadAllFromTFRecord,
    ReadFromAvro,
    ReadFromCsv,
    ReadFromJson,
    ReadFromParquet,
    ReadFromParquetBatched,
    ReadFromTFRecord,
    WriteToAvro,
    WriteToCsv,
    WriteToJson,
    WriteToParquet,
    WriteToParquetBatched,
    WriteToTFRecord,
)
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.errors import BeamlikeError, PipelineError
from tests.support.pipelines.files import HOSTS, files_in, read_by, writing

ROWS = [{"user": "joe", "points": 3}, {"user": "ann", "points": 5}]
AVRO = {
    "type": "record",
    "name": "Score",
    "fields": [{"name": "user", "type": "string"}, {"name": "points", "type": "long"}],
}
ARROW = pa.schema([("user", pa.string()), ("points", pa.int64())])


class Score(NamedTuple):
    user: str
    points: int


@HOSTS
@pytest.mark.parametrize(
    ("write", "read"),
    [
        (lambda out: WriteToParquet(out, ARROW, codec="snappy"), ReadFromParquet),
        (lambda out: WriteToParquet(out, record_batch_size=1), ReadFromParquet),
        (lambda out: WriteToAvro(out, AVRO), ReadFromAvro),
        (lambda out: WriteToAvro(out, AVRO, codec="null"), ReadFromAvro),
    ],
    ids=["parquet", "parquet of its own schema", "avro", "avro not compressed"],
)
def test_dictionaries_are_written_and_read(
    host: str, write: Any, read: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with writing(host, request) as p:
        _ = p | beam.Create(ROWS) | write(f"{tmp_path}/out")
    assert [it.name for it in tmp_path.iterdir()] == ["out-00000-of-00001"]
    with TestPipeline(host, spark=read_by(host, request)) as p:
        assert_that(p | read(f"{tmp_path}/out*"), equal_to(ROWS), label="Same")
        rows = p | "Rows" >> read(f"{tmp_path}/out*", as_rows=True)
        assert_that(rows, equal_to([beam.Row(**it) for it in ROWS]), label="Rows are the same")


@HOSTS
def test_rows_as_csv_and_json(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    rows = [beam.Row(user="joe", points=3), beam.Row(user="an,n", points=5)]
    with writing(host, request) as p:
        made = p | beam.Create(rows)
        _ = made | WriteToCsv(f"{tmp_path}/scores.csv")
        _ = made | WriteToJson(f"{tmp_path}/scores.json", num_shards=1)
    assert files_in(tmp_path) == {
        "scores.csv-00000-of-00001": 'user,points\njoe,3\n"an,n",5\n',
        "scores.json-00000-of-00001": '{"user":"joe","points":3}\n{"user":"an,n","points":5}\n',
    }
    with TestPipeline(host, spark=read_by(host, request)) as p:
        assert_that(p | ReadFromCsv(f"{tmp_path}/*.csv*"), equal_to(rows), label="Csv")
        assert_that(p | ReadFromJson(f"{tmp_path}/*.json*"), equal_to(rows), label="Json")


def test_csv_as_pandas_is_asked_to_read_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1;x\n2;y\n")
    with TestPipeline() as p:
        read = p | ReadFromCsv(
            f"{tmp_path}/a.csv", sep=";", names=["n", "t"], filename_column="file"
        )
        path = f"{tmp_path}/a.csv"
        expected = [beam.Row(n=1, t="x", file=path), beam.Row(n=2, t="y", file=path)]
        assert_that(read, equal_to(expected))


def test_a_text_that_is_missing_is_none_and_a_number_is_not_a_number(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,age,city\nann,31,Rome\nbob,,\n")
    with TestPipeline() as p:
        read = p | ReadFromCsv(f"{tmp_path}/a.csv") | beam.Map(lambda row: repr((*row,)))
        assert_that(read, equal_to(["('ann', 31.0, 'Rome')", "('bob', nan, None)"]))


def test_one_list_of_json(tmp_path: Path) -> None:
    with TestPipeline() as p:
        _ = p | beam.Create(ROWS) | WriteToJson(f"{tmp_path}/all", lines=False)
    (text,) = files_in(tmp_path).values()
    assert json.loads(text) == ROWS
    with TestPipeline() as p:
        read = p | ReadFromJson(f"{tmp_path}/all*", lines=False)
        assert_that(read, equal_to([beam.Row(**it) for it in ROWS]))


def test_columns_and_tables_of_parquet(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(ROWS, schema=ARROW)
    with TestPipeline() as p:
        _ = p | beam.Create([table, table]) | WriteToParquetBatched(f"{tmp_path}/out", ARROW)
    with TestPipeline() as p:
        points = p | ReadFromParquet(f"{tmp_path}/out*", columns=["points"])
        assert_that(points, equal_to([{"points": 3}, {"points": 5}] * 2), label="Columns")
        tables = p | ReadFromParquetBatched(f"{tmp_path}/out*") | beam.Map(len)
        assert_that(tables, equal_to([2, 2]), label="Tables")
        names = p | beam.Create([f"{tmp_path}/out*"])
        named = names | ReadAllFromParquet(with_filename=True) | beam.Map(lambda it: it[1]["user"])
        assert_that(named, equal_to(["joe", "ann"] * 2), label="All")


def test_empty_collections_are_files_of_no_rows(tmp_path: Path) -> None:
    with TestPipeline() as p:
        nothing = p | beam.Create([])
        _ = nothing | WriteToParquet(f"{tmp_path}/p", ARROW)
        _ = nothing | WriteToAvro(f"{tmp_path}/a", AVRO)
        _ = nothing | WriteToTFRecord(f"{tmp_path}/t")
        _ = nothing | WriteToCsv(f"{tmp_path}/c")
    assert sorted(it.name[0] for it in tmp_path.iterdir()) == ["a", "p", "t"]
    assert pq.read_table(tmp_path / "p-00000-of-00001").schema == ARROW
    with TestPipeline() as p:
        read = [p | ReadFromParquet(f"{tmp_path}/p*"), p | ReadFromAvro(f"{tmp_path}/a*")]
        assert_that(read | beam.Flatten(), equal_to([]))


@HOSTS
def test_bytes_as_tfrecords(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with writing(host, request) as p:
        made = p | beam.Create([b"one", b"", b"three"])
        _ = made | WriteToTFRecord(f"{tmp_path}/out", file_name_suffix=".tfrecord.gz")
    with TestPipeline(host, spark=read_by(host, request)) as p:
        read = p | ReadFromTFRecord(f"{tmp_path}/*.tfrecord.gz")
        assert_that(read, equal_to([b"one", b"", b"three"]), label="Read")
        every = p | beam.Create([f"{tmp_path}/*"]) | ReadAllFromTFRecord()
        assert_that(every, equal_to([b"one", b"", b"three"]), label="All")


def test_a_tfrecord_is_length_and_bytes_with_their_checksums(tmp_path: Path) -> None:
    # The checksum of these digits is the one by which CRC-32C is known.
    crc = (((0xE3069283 >> 15) | (0xE3069283 << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked_crc32c(b"123456789") == crc
    with TestPipeline() as p:
        _ = p | beam.Create([b"123456789"]) | WriteToTFRecord(f"{tmp_path}/out")
    length = (9).to_bytes(8, "little")
    sums = [masked_crc32c(length).to_bytes(4, "little"), crc.to_bytes(4, "little")]
    written = (tmp_path / "out-00000-of-00001").read_bytes()
    assert written == length + sums[0] + b"123456789" + sums[1]


@pytest.mark.parametrize("end", [5, 15, 18])
def test_a_tfrecord_that_is_cut_off(end: int, tmp_path: Path) -> None:
    with TestPipeline() as p:
        _ = p | beam.Create([b"foo"]) | WriteToTFRecord(f"{tmp_path}/out", shard_name_template="")
    (tmp_path / "out").write_bytes((tmp_path / "out").read_bytes()[:end])
    p = beam.Pipeline()
    _ = p | ReadFromTFRecord(f"{tmp_path}/out")
    with pytest.raises(OSError, match="is no valid TFRecord file of whole records"):
        p.run()


def test_records_of_all_that_has_fields() -> None:
    expected = {"user": "joe", "points": 3}
    for element in (Score("joe", 3), beam.Row(**expected), expected):
        assert record_of(element, "It") == expected
    with pytest.raises(PipelineError) as raised:
        record_of("joe", "WriteToCsv")
    assert str(raised.value) == (
        "WriteToCsv writes elements that have fields, got 'joe'; write "
        "Map(lambda it: beam.Row(name=it)) before"
    )


@pytest.mark.parametrize(
    "write",
    [
        lambda out: WriteToParquet(out, ARROW),
        lambda out: WriteToAvro(out, AVRO),
        WriteToCsv,
        lambda out: WriteToJson(out, num_shards=2),
    ],
    ids=["parquet", "avro", "csv", "json"],
)
def test_an_element_that_does_not_fit_leaves_no_file(write: Any, tmp_path: Path) -> None:
    p = beam.Pipeline()
    _ = p | beam.Create([*ROWS, "no fields"]) | write(f"{tmp_path}/out")
    with pytest.raises(BeamlikeError, match="writes elements that have fields, got 'no fields'"):
        p.run()
    assert [*tmp_path.iterdir()] == []


def test_all_avro_files_of_a_collection(tmp_path: Path) -> None:
    with TestPipeline() as p:
        _ = p | beam.Create(ROWS) | WriteToAvro(f"{tmp_path}/out", AVRO, file_name_suffix=".avro")
    path = f"{tmp_path}/out-00000-of-00001.avro"
    with TestPipeline() as p:
        read = p | beam.Create([path]) | ReadAllFromAvro(with_filename=True)
        assert_that(read, equal_to([(path, row) for row in ROWS]))


def test_avro_needs_a_schema_and_a_codec_that_there_is(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="WriteToAvro needs a schema here; write schema="):
        WriteToAvro(f"{tmp_path}/out")
    with pytest.raises(PipelineError, match=r"with codec '\.avro': unrecognized codec"):
        WriteToAvro(f"{tmp_path}/out", AVRO, ".avro")
    with pytest.raises(PipelineError, match=r"cannot write \{'type': 'thing'\} with codec"):
        WriteToAvro(f"{tmp_path}/out", {"type": "thing"})
