# ruff: noqa: B008 (that is how Beam has it)
"""Sources of Beam without an end, on Spark, in a process that can be killed.

Arguments: ``log`` or ``files``, the folder of the source, that of the rows, that of the checkpoint.
Each micro-batch writes its rows to a file of its number. With ``drain`` as the last argument the
pipeline ends when it has taken all that is there.
"""

import sys
import time
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io import fileio
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import trigger, window
from apache_beam.utils.timestamp import Duration, Timestamp

from beamlike.runners.beam import BeamlikeRunner, WriteRows
from tests.beam_runner.scenarios.json_files import batch_writer

END = "end of the log"
SOON = Duration(micros=200_000)


class ReadLog(beam.DoFn):
    """The records of a partition of a log, as a reader of Kafka: from an offset on, for ever.

    A partition is a file to which lines are added: an event time (s) and a word. The restriction
    is the range of offsets that is left, and the watermark the time of the last record.
    """

    class Offsets(beam.transforms.core.RestrictionProvider):
        def initial_restriction(self, path: str) -> OffsetRange:
            return OffsetRange(0, 2**62)

        def create_tracker(self, offsets: OffsetRange) -> OffsetRestrictionTracker:
            return OffsetRestrictionTracker(offsets)

        def restriction_size(self, path: str, offsets: OffsetRange) -> int:
            return 1

        def truncate(self, path: str, offsets: OffsetRange) -> None:
            return None

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        path: str,
        currencies: dict[str, int],
        tracker: Any = beam.DoFn.RestrictionParam(Offsets()),
        watermark: Any = beam.DoFn.WatermarkEstimatorParam(
            ManualWatermarkEstimator.default_provider()
        ),
    ) -> Any:
        offset = tracker.current_restriction().start
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        for line in lines[offset:]:
            if not tracker.try_claim(offset):
                return
            if line == END:
                tracker.try_claim(2**62)  # nothing is left
                return
            second, word = line.split(" ")
            watermark.set_watermark(Timestamp(int(second)))
            record = Path(path).stem, offset, word, currencies[word]
            yield window.TimestampedValue(record, int(second))
            offset += 1
        tracker.defer_remainder(SOON)


def add_lines(folder: Path, partition: str, *records: tuple[int, str] | str) -> None:
    """Add records, or lines as they are, to a partition."""
    lines = [
        record if isinstance(record, str) else f"{record[0]} {record[1]}" for record in records
    ]
    with open(folder / f"{partition}.log", "a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def read_log(p: beam.Pipeline, folder: str) -> Any:
    """Counts of words in each ten seconds of event time, and every record."""
    prices = p | "Prices" >> beam.Create([("tea", 3), ("milk", 2)])
    records = (
        p
        | "Partitions" >> beam.Create(sorted(map(str, Path(folder).glob("*.log"))))
        | beam.ParDo(ReadLog(), beam.pvalue.AsDict(prices))
    )
    counts = (
        records
        | beam.Map(lambda record: (record[2], record[3])).with_output_types(tuple[str, int])
        | beam.WindowInto(window.FixedWindows(10))
        | beam.CombinePerKey(sum)
        | "Sums" >> beam.Map(lambda pair, w=beam.DoFn.WindowParam: (*pair, int(w.start), "sum"))
    )
    kept = records | beam.Map(lambda record: (record[0], record[3], record[1], record[2]))
    return (counts, kept) | beam.Flatten()


def read_files(p: beam.Pipeline, folder: str) -> Any:
    """How often each word stands in the files of a folder, as often as one comes."""
    return (
        p
        | fileio.MatchContinuously(f"{folder}/*.log", interval=0.5)
        | fileio.ReadMatches()
        | beam.FlatMap(lambda file: file.read_utf8().splitlines())
        | beam.Map(lambda line: (line.split(" ")[1], 1)).with_output_types(tuple[str, int])
        | beam.WindowInto(
            window.GlobalWindows(),
            trigger=trigger.Repeatedly(trigger.AfterCount(1)),
            accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
        )
        | beam.CombinePerKey(sum)
        | beam.MapTuple(lambda word, n: (word, n, 0, "count"))
    )


def main(source: str, folder: str, out: str, checkpoint: str, *, drains: bool) -> None:
    """Run it."""
    options = PipelineOptions(["--shards=2", f"--checkpoint={checkpoint}"])
    p = beam.Pipeline(runner=BeamlikeRunner("spark"), options=options)
    rows = {"log": read_log, "files": read_files}[source](p, folder)
    rows | WriteRows("word string, n long, start long, what string", batch_writer(out))
    result = p.run()
    if drains:
        time.sleep(20)
        result.drain()
    else:
        result.wait_until_finish()


if __name__ == "__main__":
    main(*sys.argv[1:5], drains=sys.argv[5:] == ["drain"])
