"""Files that appear and change while a pipeline looks for them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io import fileio, textio
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms.periodicsequence import PeriodicImpulse
from beamlike.errors import PipelineError


class Writing(beam.DoFn):
    """Before each look something happens in the folder."""

    def __init__(self, folder: Path, happen: Callable[[Path, int], None]) -> None:
        self._folder, self._happen = folder, happen

    def process(self, number: int) -> Any:
        self._happen(self._folder, number)
        yield number


def write(path: Path, text: str, seconds: int) -> None:
    path.write_text(text, "utf-8")
    os.utime(path, (seconds, seconds))


def one_more(folder: Path, number: int) -> None:
    write(folder / f"{number}.txt", f"line {number}\n", 100)


def the_same_again(folder: Path, number: int) -> None:
    """The file changes before the second look, and not before the third."""
    write(folder / "a.txt", f"{min(number, 1)}\n", 100 + min(number, 1))


def looks(p: Any, folder: Path, happen: Callable[[Path, int], None]) -> Any:
    """Three looks in a row, one for each number."""
    return p | PeriodicImpulse(0, 3, 1) | beam.ParDo(Writing(folder, happen))


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize(
    ("happen", "how", "found"),
    [
        (one_more, {}, ["0.txt", "1.txt", "2.txt"]),
        (one_more, {"has_deduplication": False}, [*["0.txt"] * 3, *["1.txt"] * 2, "2.txt"]),
        (the_same_again, {}, ["a.txt"]),
        (the_same_again, {"match_updated_files": True}, ["a.txt", "a.txt"]),
    ],
    ids=["new files", "each time", "changed", "changed, again"],
)
def test_what_each_look_finds(
    host: str,
    happen: Callable[[Path, int], None],
    how: Any,
    found: list[str],
    tmp_path: Path,
) -> None:
    with TestPipeline(host) as p:
        files = looks(p, tmp_path, happen) | fileio.MatchContinuously(f"{tmp_path}/*", **how)
        names = files | "Names" >> beam.Map(lambda file: Path(file.path).name)
        assert_that(names, equal_to(found))


@pytest.mark.parametrize("host", ["memory", "local"])
def test_looks_at_regular_times_and_their_windows(host: str, tmp_path: Path) -> None:
    one_more(tmp_path, 0)
    with TestPipeline(host) as p:
        files = p | fileio.MatchContinuously(
            f"{tmp_path}/*",
            interval=10,
            has_deduplication=False,
            start_timestamp=100,
            stop_timestamp=130,
            apply_windowing=True,
        )
        counts = files | beam.combiners.Count.Globally().without_defaults()

        def placed(count: int, window: Any = beam.DoFn.WindowParam) -> tuple[int, int]:
            return int(window.start), count

        assert_that(counts | beam.Map(placed), equal_to([(100, 1), (110, 1), (120, 1)]))


@pytest.mark.parametrize("host", ["memory", "local"])
def test_lines_of_files_that_appear(host: str, tmp_path: Path) -> None:
    with TestPipeline(host) as p:
        lines = looks(p, tmp_path, one_more) | textio.ReadAllFromTextContinuously(
            f"{tmp_path}/*.txt", strip_trailing_newlines=True
        )
        assert_that(lines, equal_to(["line 0", "line 1", "line 2"]))


def test_without_an_end_a_pipeline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="needs an end here, because nothing sleeps"):
        beam.Pipeline() | fileio.MatchContinuously(f"{tmp_path}/*")


def test_a_look_that_must_find_something(tmp_path: Path) -> None:
    disallow = fileio.EmptyMatchTreatment.DISALLOW
    p = beam.Pipeline()
    _ = p | fileio.MatchContinuously(
        f"{tmp_path}/*", start_timestamp=0, stop_timestamp=1, empty_match_treatment=disallow
    )
    with pytest.raises(OSError, match="Empty match for pattern"):
        p.run()


@pytest.mark.spark
@pytest.mark.nightly  # three queries, each with two stateful operators
def test_a_stream_of_spark_watches_a_folder(spark: Any, tmp_path: Path) -> None:
    """Each micro-batch of ticks is a look, also after a restart."""
    ticks, watched, out = tmp_path / "ticks", tmp_path / "watched", tmp_path / "out"
    ticks.mkdir()
    watched.mkdir()

    def look(number: int) -> None:
        one_more(watched, number)
        (ticks / f"{number}.json").write_text(f'{{"at": "2026-01-01T00:00:0{number}Z"}}')
        p = beam.Pipeline()
        rows = spark.readStream.schema("at timestamp").json(str(ticks))
        found = (
            p
            | beam.FromDataFrame(rows, timestamp="at", watermark="1 minute")
            | fileio.MatchContinuously(f"{watched}/*")
            | "Name" >> beam.Map(lambda file: beam.Row(name=Path(file.path).name))
        )
        frame = beam.to_data_frame(found, "name string")
        writer = frame.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(out)).awaitTermination()

    for number in range(3):
        look(number)
    names = [row.name for row in spark.read.parquet(str(out)).collect()]
    assert sorted(names) == ["0.txt", "1.txt", "2.txt"]
