"""``beamlike drain``: all windows of a query end at its next start."""

import argparse
from typing import Final

from beamlike.cli.argument_types import Parser, place

DESCRIPTION: Final = """\
Have a streaming query bring all of its windows to their end at its next start.

A mark is written into the checkpoint. The query, started once more with its own
code, then runs one micro-batch that reads nothing and has the end of time for
its watermark: each open window emits its last pane, on time if its end was
still ahead and late if it was not, and nothing is open after that.

CHECKPOINT is the checkpointLocation of a query that is stopped. From Python,
beamlike.drain does all of this, and takes in first what has arrived. A pipeline
is drained by drain() of what run() returned.
"""

EPILOG: Final = """\
what to do then:
  1  start the query with writer.trigger(once=True): it runs that micro-batch
     and stops. With another trigger it continues, and what it reads from then on
     is late for every window
  2  beamlike state CHECKPOINT shows that no window is open
  3  start the changed query with a checkpointLocation of its own

exit status:
  0   the mark is there
  2   it cannot be written: there is no checkpoint, or none that can be reached,
      its last micro-batch has not run to its end, or a version of Spark has
      written it that keeps its offsets otherwise

examples:
  beamlike drain /data/checkpoints/orders
  beamlike drain file:///data/checkpoints/orders
  beamlike drain s3://our-bucket/checkpoints/orders
"""


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    parser.take("CHECKPOINT", "a folder, or its URL as pyarrow.fs reads it", place)


def run(args: argparse.Namespace) -> int:
    """Write the mark."""
    from beamlike.hosts.spark.drain import Log, mark_end

    before = Log.read(args.checkpoint)
    if before.is_drained and before.is_complete:
        print(f"{args.checkpoint} is drained: micro-batch {before.last} has ended all windows")
        return 0
    number = mark_end(args.checkpoint)
    print(
        f"micro-batch {number} of {args.checkpoint} will end all windows: start the query once "
        "more with writer.trigger(once=True)"
    )
    return 0
