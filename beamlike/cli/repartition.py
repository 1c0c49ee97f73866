"""``beamlike repartition``: the state of a stopped query over another number of partitions."""

import argparse
from typing import Final

from beamlike.cli.argument_types import Parser, place, whole_number
from beamlike.cli.silence_spark import quiet_session

DESCRIPTION: Final = """\
Spread the saved state of a streaming query over another number of Spark's
partitions, so that more or fewer tasks work on it at once. The query goes on
with the same panes; its shards stay, and more partitions than shards have
nothing to do.

CHECKPOINT is the checkpointLocation of a query that is stopped. Spark writes a
micro-batch into it that reads nothing and goes to no sink. A query with Spark's
file sink needs --output: without a note of that micro-batch there, Spark can no
longer read the folder.
"""

EPILOG: Final = """\
exit status:
  0   the state has so many partitions
  2   it cannot be: there is no checkpoint, its last micro-batch has not run to
      its end, or Spark refuses, because it has that many already for example

examples:
  beamlike repartition /data/checkpoints/orders 16
  beamlike repartition /data/checkpoints/orders 16 --output /data/orders
  beamlike repartition checkpoint 2
"""


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    parser.take("CHECKPOINT", "a folder, or its URL as Spark reads it", place)
    parser.take("PARTITIONS", "how many", whole_number(1))
    parser.take(
        "--output FOLDER", "the folder that the query writes to, with a sink of files", place
    )


def run(args: argparse.Namespace) -> int:
    """Spread the state."""
    from beamlike.hosts.spark.repartition import check_stopped, repartition

    check_stopped(args.checkpoint, args.output)  # before Spark starts, which takes seconds
    with quiet_session("beamlike repartition") as spark:
        number = repartition(spark, args.checkpoint, args.partitions, args.output)
    print(
        f"the state of {args.checkpoint} has {args.partitions} partitions, as of micro-batch "
        f"{number}: start the query as before"
    )
    return 0
