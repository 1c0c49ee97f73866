"""Sources and sinks of one's own, sequences, and Kafka."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io import Read, Sink, Write, Writer, iobase
from beamlike.beam.io.external.generate_sequence import GenerateSequence
from beamlike.beam.io.filebasedsink import FileBasedSink
from beamlike.beam.io.filebasedsource import FileBasedSource
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.beam.io.range_trackers import OffsetRangeTracker, OrderedPositionRangeTracker
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms.periodicsequence import PeriodicImpulse, PeriodicSequence, RebaseMode
from beamlike.beam.utils.timestamp import Timestamp
from beamlike.errors import BeamlikeError, EnvironmentProblem, PipelineError, UnsupportedError
from tests.support.pipelines.files import HOSTS, files_in, read_by, writing


class Counting(iobase.BoundedSource):
    """The numbers below another."""

    def __init__(self, count: int) -> None:
        self.count = count

    def get_range_tracker(self, start_position: Any, stop_position: Any) -> OffsetRangeTracker:
        return OffsetRangeTracker(start_position or 0, stop_position or self.count)

    def read(self, range_tracker: Any) -> Iterator[int]:
        for at in range(range_tracker.start_position(), self.count + 5):
            if not range_tracker.try_claim(at):
                return
            yield at


class Blocks(FileBasedSource):
    """Blocks of two bytes."""

    def read_records(self, file_name: str, offset_range_tracker: Any) -> Iterator[str]:
        with self.open_file(file_name) as file:
            at = offset_range_tracker.start_position()
            while offset_range_tracker.try_claim(at):
                block = file.read(2)
                if not block:
                    return
                yield block.decode()
                at += 2


@HOSTS
def test_sources_of_ones_own(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("aabb")
    (tmp_path / "b").write_text("cc")
    with TestPipeline(host, spark=read_by(host, request)) as p:
        assert_that(p | "Count" >> Read(Counting(3)), equal_to([0, 1, 2]), label="Numbers")
        blocks = p | "Blocks" >> Read(Blocks(f"{tmp_path}/*"))
        assert_that(blocks, equal_to(["aa", "bb", "cc"]), label="Files")


class Table:
    """A service that keeps tables in folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self) -> str:
        (self.folder / "token").write_text("open")
        return "token"

    def rows(self, name: str, rows: Sequence[str]) -> None:
        (self.folder / name).write_text(",".join(rows))

    def rename(self, name: str, new: str) -> None:
        (self.folder / name).rename(self.folder / new)


class TableSink(Sink):
    """A sink of that service, as Beam's guide writes one."""

    def __init__(self, table: Table, final: str) -> None:
        self.table, self.final = table, final

    def initialize_write(self) -> str:
        return self.table.begin()

    def open_writer(self, init_result: str, uid: str) -> "TableWriter":
        assert init_result == "token"
        return TableWriter(self.table, f"table-{uid}")

    def pre_finalize(self, init_result: str, writer_results: Sequence[str]) -> int:
        return len(writer_results)

    def finalize_write(
        self, init_result: str, writer_results: Sequence[str], pre_finalize_result: int
    ) -> Iterable[str]:
        for at, name in enumerate(writer_results):
            self.table.rename(name, f"{self.final}{at} of {pre_finalize_result}")
            yield f"{self.final}{at}"


class TableWriter(Writer):
    def __init__(self, table: Table, name: str) -> None:
        self.table, self.name, self.rows = table, name, list[str]()

    def write(self, value: Any) -> None:
        self.rows.append(str(value))

    def close(self) -> str:
        self.table.rows(self.name, self.rows)
        return self.name


@HOSTS
def test_a_sink_of_ones_own(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with writing(host, request) as p:
        _ = p | beam.Create([1, 2, 3]) | Write(TableSink(Table(tmp_path), "final"))
    assert files_in(tmp_path) == {"token": "open", "final0 of 1": "1,2,3"}


class Upper(FileBasedSink):
    def write_encoded_record(self, file_handle: Any, encoded_value: bytes) -> None:
        file_handle.write(encoded_value.upper())


@HOSTS
def test_a_sink_of_files_of_ones_own(
    host: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    sink = Upper(f"{tmp_path}/out", beam.coders.StrUtf8Coder(), ".txt", num_shards=2)
    with writing(host, request) as p:
        _ = p | beam.Create(["a", "b", "c"]) | Write(sink)
    assert files_in(tmp_path) == {
        "out-00000-of-00002.txt": "AC",
        "out-00001-of-00002.txt": "B",
    }


def test_positions_are_claimed_in_their_order() -> None:
    tracker = OffsetRangeTracker(2, 6)
    assert [tracker.try_claim(at) for at in (2, 4)] == [True, True]
    assert (tracker.fraction_consumed(), tracker.position_at_fraction(0.5)) == (0.5, 4)
    for position, problem in (
        (3, "which is before the last-returned record"),
        (4, "a split point at 4 was claimed twice"),
    ):
        with pytest.raises(PipelineError, match=problem):
            tracker.try_claim(position)
    assert not tracker.try_claim(6)
    texts = OrderedPositionRangeTracker("b", "d")
    assert [texts.try_claim(it) for it in ("b", "c", "d")] == [True, True, False]
    with pytest.raises(PipelineError, match="Positions must be claimed in order"):
        texts.try_claim("a")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Read(3), "Read needs a BoundedSource, got 3"),
        (lambda: Write(3), "Write needs a Sink, got 3"),
        (lambda: OffsetRangeTracker(3, 2), "start must not be after the end, got 3 and 2"),
        (lambda: OffsetRangeTracker(0, None), "Start and stop offset must not be None"),
        (lambda: GenerateSequence(0), "GenerateSequence needs an end here; write Gener"),
        (lambda: PeriodicImpulse(0), "PeriodicImpulse needs an end here, because nothing sleeps"),
        (lambda: PeriodicImpulse(0, 10, 0), "fire_interval must be more than 0, got 0"),
        (lambda: PeriodicImpulse(0, 10**9, 1), "would happen 1000000000 times, and the most is"),
        (
            lambda: PeriodicImpulse(0, 30, 10, data=[(Timestamp(0), "a")]),
            "data has 1 elements with times of their own, and 3 happen",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(make: Any, problem: str) -> None:
    with pytest.raises(PipelineError, match=problem):
        make()


def timed(element: Any, at: Any = beam.DoFn.TimestampParam) -> tuple[Any, float]:
    return element, float(at)


@HOSTS
def test_impulses_at_regular_times(host: str, request: pytest.FixtureRequest) -> None:
    with TestPipeline(host, spark=read_by(host, request)) as p:
        plain = p | "Plain" >> PeriodicImpulse(5, 30, 10)
        assert_that(
            plain | "T1" >> beam.Map(timed), equal_to([(5.0, 5.0), (15.0, 15.0), (25.0, 25.0)])
        )
        data = p | "Data" >> PeriodicImpulse(0, fire_interval=10, data=["a", "b"])
        assert_that(data | "T2" >> beam.Map(timed), equal_to([("a", 0.0), ("b", 10.0)]), "Data is")
        own = [(Timestamp(7), "late"), (Timestamp(3), "later")]
        placed = p | "Own" >> PeriodicImpulse(0, 20, 10, data=own)
        assert_that(placed | "T3" >> beam.Map(timed), equal_to([("late", 7), ("later", 3)]), "Own")


@HOSTS
@pytest.mark.parametrize("times", [(60, 0, 70, 10), (70, 60, 10, 0), (0, 10, 60, 70)], ids=str)
def test_impulses_with_times_of_their_own_come_in_any_order_and_none_is_late(
    host: str, times: Sequence[int], request: pytest.FixtureRequest
) -> None:
    with TestPipeline(host, spark=read_by(host, request)) as p:
        counts = (
            p
            | PeriodicImpulse(0, 40, 10, data=[(Timestamp(time), time) for time in times])
            | beam.WindowInto(beam.FixedWindows(60))
            | beam.combiners.Count.Globally().without_defaults()
            | beam.Map(lambda count, window=beam.DoFn.WindowParam: (int(window.start), count))
        )
        assert_that(counts, equal_to([(0, 2), (60, 2)]))


@HOSTS
def test_impulses_in_windows_of_their_own(host: str, request: pytest.FixtureRequest) -> None:
    with TestPipeline(host, spark=read_by(host, request)) as p:
        counts = (
            p
            | PeriodicImpulse(0, 30, 10, apply_windowing=True)
            | beam.combiners.Count.Globally().without_defaults()
        )
        assert_that(counts, equal_to([1, 1, 1]))


def test_impulses_from_now_on() -> None:
    before = Timestamp.now()
    with TestPipeline() as p:
        times = p | PeriodicImpulse(0, 20, 10, rebase=RebaseMode.REBASE_ALL)
    first, second = (it.element.value for it in p.result.out_of(times.edge))
    assert (first >= before, second - first) == (True, pytest.approx(10))


def test_sequences() -> None:
    with TestPipeline() as p:
        spans = p | beam.Create([(0, 3, 1)])
        assert_that(spans | PeriodicSequence(), equal_to([0.0, 1.0, 2.0]), "Times")
        assert_that(p | GenerateSequence(3, 6), equal_to([3, 4, 5]), "Numbers")


SERVERS = {"bootstrap.servers": "localhost:9092"}
STRING = "org.apache.kafka.common.serialization.StringDeserializer"


def test_kafka_is_for_spark() -> None:
    with pytest.raises(UnsupportedError) as raised:
        _ = beam.Pipeline() | ReadFromKafka(SERVERS, ["clicks"])
    assert str(raised.value) == (
        "ReadFromKafka works on Spark only, and this pipeline is for the host 'local'; write "
        'Pipeline(runner="SparkRunner"), or beamlike run --host spark'
    )
    with pytest.raises(UnsupportedError, match="WriteToKafka works on Spark only"):
        _ = beam.Pipeline() | beam.Create([(b"k", b"v")]) | WriteToKafka(SERVERS, "clicks")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: ReadFromKafka({}, ["a"]), "ReadFromKafka needs the servers"),
        (lambda: ReadFromKafka(SERVERS, "a"), 'topics must be a list such as \\["clicks"\\]'),
        (lambda: ReadFromKafka(SERVERS, ["a"], "x.Y"), "and not 'x.Y'; take bytes"),
        (
            lambda: ReadFromKafka(SERVERS, ["a"], timestamp_policy="Mine"),
            "timestamp_policy should be one of ProcessingTime, CreateTime, LogAppendTime",
        ),
        (lambda: WriteToKafka(SERVERS, "a", with_headers=True), "writes no headers here"),
    ],
)
def test_what_kafka_cannot_do_here(make: Any, problem: str) -> None:
    with pytest.raises(BeamlikeError, match=problem):
        make()


@pytest.mark.spark
def test_without_the_connector_there_is_a_word(spark: Any) -> None:
    with pytest.raises(EnvironmentProblem) as raised:
        _ = beam.Pipeline("SparkRunner") | ReadFromKafka(SERVERS, ["clicks"])
    assert str(raised.value).startswith(
        "ReadFromKafka needs Spark's Kafka connector, which is not on its class path; start Spark "
        "with --packages org.apache.spark:spark-sql-kafka-0-10_2.13:"
    )
    p = beam.Pipeline("SparkRunner")
    _ = p | beam.Create([(b"k", b"v")]) | WriteToKafka(SERVERS, "clicks")
    with pytest.raises(EnvironmentProblem, match="WriteToKafka needs Spark's Kafka connector"):
        p.run(spark=spark)
