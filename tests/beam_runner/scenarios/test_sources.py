"""Splittable functions without an end as sources."""

from pathlib import Path

import apache_beam as beam
from apache_beam.io import fileio
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import window
from apache_beam.utils.timestamp import Timestamp

from beamlike.runners.beam import BeamlikeRunner
from tests.beam_runner.scenarios.source_job import END, ReadLog, add_lines


def test_a_splittable_function_without_an_end_sees_side_inputs(host: str, tmp_path: Path) -> None:
    add_lines(tmp_path, "p0", (1, "tea"), (2, "milk"), (11, "tea"), END)
    add_lines(tmp_path, "p1", (3, "milk"), END)
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        prices = p | "Prices" >> beam.Create([("tea", 3), ("milk", 2)])
        sums = (
            p
            | beam.Create([str(tmp_path / "p0.log"), str(tmp_path / "p1.log")])
            | beam.ParDo(ReadLog(), beam.pvalue.AsDict(prices))
            | beam.Map(lambda record: ("all", record[3]))
            | beam.WindowInto(window.FixedWindows(10))
            | beam.CombinePerKey(sum)
            | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (pair[1], int(w.start)))
        )
        assert_that(sums, equal_to([(7, 0), (3, 10)]))


def test_files_are_matched_until_a_time(host: str, tmp_path: Path) -> None:
    add_lines(tmp_path, "a", (1, "tea"))
    add_lines(tmp_path, "b", (2, "milk"))
    start = Timestamp.now()
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        lines = (
            p
            | fileio.MatchContinuously(
                f"{tmp_path}/*.log", interval=0.5, start_timestamp=start, stop_timestamp=start + 2
            )
            | fileio.ReadMatches()
            | beam.Map(lambda file: file.read_utf8())
        )
        assert_that(lines, equal_to(["1 tea\n", "2 milk\n"]))  # each once
