"""Topics of Kafka in pipelines, with a data source in place of Spark's connector."""

from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from tests.support import topics

pytestmark = pytest.mark.spark


def test_records_are_read_by_their_own_times_summed_by_minute_and_written(
    spark: Any, tmp_path: Path
) -> None:
    spark.dataSource.register(topics.Topics)
    topics.send(tmp_path, "clicks", (b"a", b"1"), (b"a", b"2"), (b"b", b"4"), (b"a", b"8"))
    kafka = {"kafka.bootstrap.servers": str(tmp_path)}
    records = spark.read.format(topics.FORMAT).options(subscribe="clicks", **kafka).load()

    def write(rows: Any, _number: int) -> None:
        rows.write.format(topics.FORMAT).options(topic="sums", **kafka).mode("append").save()

    pipeline = beam.Pipeline(runner="SparkRunner")
    clicks = pipeline | beam.FromDataFrame(records, timestamp="timestamp")
    sums = (
        clicks
        | beam.Map(lambda row: (row.key.decode(), int(row.value)))
        | beam.WindowInto(beam.window.FixedWindows(60))
        | beam.CombinePerKey(sum)
        | beam.MapTuple(lambda key, number: (key.encode(), str(number).encode()))
    )
    _ = sums | beam.WriteRows("key binary, value binary", write)
    pipeline.run(spark=spark).wait_until_finish()
    written = [(key, value) for key, value, _ in topics.received(tmp_path, "sums")]
    assert sorted(written, key=str) == [(b"a", b"3"), (b"a", b"8"), (b"b", b"4")]
