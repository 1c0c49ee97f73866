"""Beam's own leader board over a stream of files.

Arguments: the folder of the files, that of the panes, that of the checkpoint. Each micro-batch
writes its panes to a file of its number. With ``drain`` as the last argument it ends when it has
taken all that is there.
"""

import json
import sys
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.examples.complete.game import leader_board
from apache_beam.options.pipeline_options import PipelineOptions

from beamlike.hosts.spark.session import local_session
from beamlike.runners.beam import BeamlikeRunner, FromDataFrame, WriteRows

SCHEMA = "team string, score long, at timestamp"


def main(folder: str, out: str, checkpoint: str, *, drains: bool) -> None:
    """Run it."""
    spark = local_session()
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(folder)
    # Classes and functions of the main program travel with the pipeline.
    options = PipelineOptions(["--shards=2", f"--checkpoint={checkpoint}"])

    def write(frame: Any, number: int) -> None:
        panes = [[*row] for row in frame.collect()]
        Path(out, f"{number}.json").write_text(json.dumps(panes), encoding="utf-8")

    p = beam.Pipeline(runner=BeamlikeRunner("spark"), options=options)
    (
        p
        | FromDataFrame(rows, timestamp="at", watermark="1 minute", max_ahead=None)
        | beam.Map(lambda row: {"team": row.team, "score": row.score})
        | leader_board.CalculateTeamScores(60, 120)
        | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (*pair, int(w.start)))
        | WriteRows("team string, score long, start long", write)
    )
    result = p.run()
    if drains:
        result.query.processAllAvailable()
        result.drain()
    else:
        result.wait_until_finish()


if __name__ == "__main__":
    main(*sys.argv[1:4], drains=sys.argv[4:] == ["drain"])
