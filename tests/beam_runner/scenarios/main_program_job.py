# ruff: noqa: B008 (that is how Beam has it)
"""A stream on Spark whose functions, classes and constants are those of the main program.

Arguments: the folder of the files, that of the hourly rows, that of the best scores, that of the
checkpoint. With ``drain`` as the last argument it ends when it has taken all that is there.
"""

import dataclasses
import sys
from enum import Enum
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam import coders
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import userstate, window

from beamlike.hosts.spark.session import local_session
from beamlike.runners.beam import FromDataFrame, WriteRows
from tests.beam_runner.scenarios.json_files import batch_writer, run_to_end

SCHEMA = "team string, score long, at timestamp"
ROWS = "team string, score long, hour long"
HOUR = 3_600
HIGH_FROM = 100


class Level(Enum):
    """How good a score is."""

    LOW = "low"
    HIGH = "high"


class League(NamedTuple):
    """A key: what is equal in two processes is one key."""

    team: str
    level: Level


@dataclasses.dataclass
class Best:
    """What a state keeps."""

    score: int
    level: Level

    def beaten_by(self, score: int) -> bool:
        return score > self.score


def level_of(score: int) -> Level:
    return Level.HIGH if score >= HIGH_FROM else Level.LOW


def row_of(best: Best) -> tuple[str, int, int]:
    assert isinstance(best, Best)
    return best.level.value, best.score, 0


class Total(beam.CombineFn):
    """Adds scores up, in an object of a class of the main program."""

    def create_accumulator(self) -> Best:
        return Best(0, Level.LOW)

    def add_input(self, accumulator: Best, score: int) -> Best:
        assert isinstance(accumulator, Best)
        return Best(accumulator.score + score, level_of(score))

    def merge_accumulators(self, accumulators: Any) -> Best:
        return Best(sum(part.score for part in accumulators), Level.LOW)

    def extract_output(self, accumulator: Best) -> int:
        return accumulator.score


class BestScores(beam.DoFn):
    """A score that is better than all before it."""

    BEST = userstate.ReadModifyWriteStateSpec("best", coders.PickleCoder())

    def process(self, pair: Any, best: Any = beam.DoFn.StateParam(BEST)) -> Any:
        league, score = pair
        assert league.level is level_of(score), "a key is what it was"
        known = best.read()
        assert known is None or isinstance(known, Best), "its class is that of an earlier run"
        if known is None or known.beaten_by(score):
            best.write(Best(score, level_of(score)))
            assert known is None or known.level is league.level
            yield league.team, score, 0


def main(folder: str, hourly: str, bests: str, checkpoint: str, *, drains: bool) -> None:
    """Run it."""
    rows = local_session().readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(folder)
    arguments = ["--runner=beamlike.BeamlikeRunner", "--beamlike_host=spark", "--shards=2"]
    options = PipelineOptions([*arguments, f"--checkpoint={checkpoint}", "--save_main_session"])

    p = beam.Pipeline(options=options)
    scores = (
        p
        | FromDataFrame(rows, timestamp="at", watermark="1 minute", max_ahead=None)
        | beam.Map(lambda row: (League(row.team, level_of(row.score)), row.score))
    )
    (
        scores
        | beam.WindowInto(window.FixedWindows(HOUR))
        | beam.CombinePerKey(Total())
        | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (pair[0].team, pair[1], int(w.start)))
        | "Hourly" >> WriteRows(ROWS, batch_writer(hourly))
    )
    first = p | beam.Create([Best(0, Level.LOW)]) | "First" >> beam.Map(row_of)
    better = scores | beam.ParDo(BestScores())
    (first, better) | beam.Flatten() | "Bests" >> WriteRows(ROWS, batch_writer(bests))
    run_to_end(p, drains=drains)


if __name__ == "__main__":
    main(*sys.argv[1:5], drains=sys.argv[5:] == ["drain"])
