"""``beamlike state``: the state of a streaming query, from its checkpoint."""

import argparse
import sys
from typing import TYPE_CHECKING, Any, Final

from beamlike.cli.argument_types import Parser, place, whole_number
from beamlike.cli.silence_spark import quiet_session
from beamlike.errors import BeamlikeError, StateError
from beamlike.model.fingerprint import visible

if TYPE_CHECKING:
    from beamlike.inspect.state.report import SavedState

_SHOWN: Final = 20

DESCRIPTION: Final = """\
Open the checkpoint of a streaming query and list its state: its
groupings with their watermarks and what holds them back, their shards, and the
open windows of each key with their last pane, what their trigger waits for,
when they change by themselves, and their size. The query may be running;
nothing in the checkpoint changes, and nothing in it is run.

CHECKPOINT is the checkpointLocation of the query, or the checkpoint of a
pipeline.
"""

EPILOG: Final = """\
the columns of the table of windows:
  new          elements since the last pane
  last pane    its timing and its index; - if there was none
  watermark    it changes by itself once the watermark reaches this
  clock        it changes by itself once processing time is past this
  bytes        in memory, key and accumulator included
  waits for    what brings the next pane; "closed" if none will come. Of a
               function with states and timers: the timer that fires next

why does nothing come out?
  Look at "output watermark": it shows which key and which window hold it back.
  If nothing does, the watermark itself does not move: an input is behind.

exit status:
  0   the state was read
  2   it cannot be: there is no checkpoint, no such batch, stage or key, or
      another version of beamlike has written it

examples:
  beamlike state /data/checkpoints/orders
  beamlike state /data/checkpoints/orders --key ann --key bob
  beamlike state /data/checkpoints/orders --key '{"shop": "Rome", "till": 3}'
  beamlike state /data/checkpoints/orders --sort largest --limit 5
  beamlike state /data/checkpoints/orders --batch 1041 --sort deadline
  beamlike state /data/checkpoints/orders --json | jq '.windows[].key'
"""

_UNPICKLE: Final = (
    "beamlike: --unpickle opens pickles of the checkpoint, and opening a pickle runs whatever code "
    "its writer put into it; do so only with checkpoints that your own queries wrote"
)


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    take = parser.take
    take("CHECKPOINT", "a folder, or its URL", place)
    take(
        "--key KEY",
        "show all of the windows of this key, with every node of their trigger and what they "
        "hold, or every state and timer of a function; may be given again. It is read as JSON "
        "first: a value, so that '\"7\"' is a text and null stands for no key, a list in the order "
        "of the key columns, or an object by their names; and then as the text that is listed",
        action="append",
        default=[],
    )
    take("--stage NAME", "only this grouping; may be given again", action="append", default=[])
    take("--batch N", "the state after micro-batch N (default: the last)", whole_number(0))
    take(
        "--sort",
        "oldest: by start (default); largest: by bytes; deadline: what changes next",
        choices=("oldest", "largest", "deadline"),
        default="oldest",
    )
    take(
        "--limit N",
        f"so many windows at most (default: {_SHOWN} in a table, all of them elsewhere)",
        whole_number(0),
    )
    take("--json", "one JSON document instead of a table, for programs")
    take(
        "--unpickle",
        "show also what is saved as pickles. This runs code that is in them: only for "
        "checkpoints that you trust",
    )


def run(args: argparse.Namespace) -> int:
    """Read the state and show it."""
    from beamlike.inspect.state.checkpoint import check_folder

    check_folder(args.checkpoint)
    if args.unpickle:
        print(_UNPICKLE, file=sys.stderr)
    state = read_state(args.checkpoint, args.batch, "beamlike state")
    for damage in state.damaged:
        print(f"beamlike: {visible(str(damage))}", file=sys.stderr)
    _show(state, args)
    return int(bool(state.damaged))


def read_state(checkpoint: str, batch: int | None, app: str) -> "SavedState":
    """The state after a micro-batch, or the last one, by a session of that name. Once it is here,
    Spark is no longer needed."""
    from beamlike.inspect.state.report import SavedState

    refused: BeamlikeError | None = None
    with quiet_session(app, short_lived=True) as spark:
        try:
            return SavedState.open(spark, checkpoint, batch)
        except StateError as error:
            refused = error  # what Spark has logged says no more than that
    raise refused


def _show(state: "SavedState", args: argparse.Namespace) -> None:
    from beamlike.cli.state_json import document
    from beamlike.cli.state_text import listing
    from beamlike.inspect.state.choice import choose

    places = choose(state, stages=args.stage, keys=args.key, sort=args.sort)
    if args.json:
        lines = document(state, args.stage, places, args.limit, unpickle=args.unpickle)
    else:
        most = (len(places) if args.key else _SHOWN) if args.limit is None else args.limit
        how: dict[str, Any] = {"in_full": bool(args.key), "unpickle": args.unpickle}
        lines = listing(
            state, args.stage, places.slice(0, most), of=len(places), sort=args.sort, **how
        )
    for line in lines:
        print(line)
