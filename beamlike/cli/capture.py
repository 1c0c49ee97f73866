"""``beamlike capture``: a test of what a key got in production."""

import argparse
import sys
from typing import Final

from beamlike.cli.argument_types import Parser, as_path, place, whole_number
from beamlike.cli.state import read_state
from beamlike.errors import EnvironmentProblem, StateError
from beamlike.model.fingerprint import how_many

DESCRIPTION: Final = """\
Write a scenario of what a key got in production, and of the panes and drops
that came out of it. The query records what its shards are sent, if it says so:
record=10_000_000 in windowed(...) or group(...) keeps so many bytes for each
shard beside its state. The query may be running; nothing in the checkpoint
changes, and nothing in it is run.

CHECKPOINT is the checkpointLocation of the query.
"""

EPILOG: Final = """\
the results are listed with their numbers on standard error; --only takes one
of these and writes the fewest elements and moves of the clocks that show it.

exit status:
  0   the scenario was written
  2   it cannot be: nothing is recorded, or not of this key; the grouping has a
      window function or a trigger of your own; there is no such checkpoint

examples:
  beamlike capture /data/checkpoints/orders --key ann > ann.json
  beamlike capture /data/checkpoints/orders --key ann --only 3 --out ann.json
  beamlike capture /data/checkpoints/orders --key ann --values hash --out ann.json
  beamlike capture /data/checkpoints/orders --key '{"shop": "Rome", "till": 3}'
"""


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    from beamlike.testing.scenarios.files import AGGREGATIONS

    take = parser.take
    take("CHECKPOINT", "a folder, or its URL", place)
    take("--key KEY", "as for the command state", required=True)
    take("--stage NAME", "the grouping, if several have the key")
    take("--batch N", "what was recorded up to micro-batch N (default: the last)", whole_number(0))
    take(
        "--aggregation",
        "what a pane makes of its elements (default: list)",
        choices=[name for name, combine in AGGREGATIONS.items() if combine is not None],
        default="list",
    )
    take(
        "--column NAME",
        "the column that is the value of an element (default: all that the grouping reads)",
    )
    take(
        "--values",
        "write values and the key as they are (default), as digests that are equal where the "
        "values are, or as the number of the element",
        choices=("keep", "hash", "number"),
        default="keep",
    )
    take("--only N", "the least that shows result N", whole_number(1))
    take("--out FILE", "write there (default: standard output)", as_path)


def run(args: argparse.Namespace) -> int:
    """Read the record and write the scenario."""
    from beamlike.inspect.state.checkpoint import check_folder
    from beamlike.testing.scenarios.capture import capture
    from beamlike.testing.scenarios.writing import scenario_text

    check_folder(args.checkpoint)
    state = read_state(args.checkpoint, args.batch, "beamlike capture")
    if state.damaged:
        # What is missing could be of this key.
        raise StateError(f"{state.damaged[0]}; a scenario of what is left could be wrong")
    stages = state.stages if args.stage is None else (state.stage(args.stage),)
    captured = capture(
        stages, args.key, aggregation=args.aggregation, column=args.column, shown=args.values
    ).tidied()
    if args.only is not None:
        captured = captured.shrunk_to(args.only)
    text = scenario_text(captured.document()) + "\n"
    if args.out is None:
        print(text, end="")
    else:
        try:
            args.out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise EnvironmentProblem(f"--out {args.out} cannot be written: {error}") from error
    written = f"{how_many(captured.elements, 'element')} of {captured.key!r} written"
    print(*captured.results(), f"beamlike: {written}", sep="\n", file=sys.stderr)
    return 0
