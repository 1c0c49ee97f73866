# ruff: noqa: B008 (that is how Beam has it)
"""Beam's own leader board over a stream of files, and beside it a function with states and timers.

Arguments: the folder of the files, that of the panes, that of the totals, that of the checkpoint.
Each micro-batch writes its panes, and its totals, to a file of its number. With ``drain`` as the
last argument it ends when it has taken all that is there.
"""

import sys
from typing import Any

import apache_beam as beam
from apache_beam.examples.complete.game import leader_board
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import userstate, window

from beamlike.hosts.spark.session import local_session
from beamlike.runners.beam import BeamlikeRunner, FromDataFrame, WriteRows
from tests.beam_runner.scenarios.json_files import batch_writer, run_to_end

SCHEMA = "team string, score long, at timestamp"
ROWS = "team string, score long, start long"


class Totals(beam.DoFn):
    """The total of each team and hour, when a timer says that the hour is over."""

    TOTAL = userstate.CombiningValueStateSpec("total", sum)
    END = userstate.TimerSpec("end", beam.TimeDomain.WATERMARK)

    def process(
        self,
        pair: Any,
        total: Any = beam.DoFn.StateParam(TOTAL),
        end: Any = beam.DoFn.TimerParam(END),
        hour: Any = beam.DoFn.WindowParam,
    ) -> None:
        total.add(pair[1])
        end.set(hour.end)

    @userstate.on_timer(END)
    def over(
        self,
        team: Any = beam.DoFn.KeyParam,
        total: Any = beam.DoFn.StateParam(TOTAL),
        hour: Any = beam.DoFn.WindowParam,
    ) -> Any:
        yield team, total.read(), int(hour.start)


def main(folder: str, out: str, totals: str, checkpoint: str, *, drains: bool) -> None:
    """Run it."""
    spark = local_session()
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(folder)
    # Classes and functions of the main program travel with the pipeline.
    options = PipelineOptions(["--shards=2", f"--checkpoint={checkpoint}", "--save_main_session"])

    p = beam.Pipeline(runner=BeamlikeRunner("spark"), options=options)
    scores = p | FromDataFrame(rows, timestamp="at", watermark="1 minute", max_ahead=None)
    (
        scores
        | beam.Map(lambda row: {"team": row.team, "score": row.score})
        | leader_board.CalculateTeamScores(60, 120)
        | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (*pair, int(w.start)))
        | "Panes" >> WriteRows(ROWS, batch_writer(out))
    )
    (
        scores
        | "Pairs" >> beam.Map(lambda row: (row.team, row.score)).with_output_types(tuple[str, int])
        | "Hours" >> beam.WindowInto(window.FixedWindows(3_600))
        | "Totals" >> beam.ParDo(Totals())
        | "Hourly" >> WriteRows(ROWS, batch_writer(totals))
    )
    run_to_end(p, drains=drains)


if __name__ == "__main__":
    main(*sys.argv[1:5], drains=sys.argv[5:] == ["drain"])
