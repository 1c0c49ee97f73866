"""Does every small stream come out as the rules say? ``python -m tests.exhaustive`` asks.

From the top of the checkout. For each of several hundred strategies all streams up to a bound are
played: elements at the few times around each boundary, in every cut into bundles, between moves of
the watermark and of the clock. What comes out of the reference machine and of the runtime on the
local host (`engines.ENGINES`) is compared with a model (`rules`) that was written from the rules
alone and reads the whole history for every question. Then the laws of `laws` are checked on the
streams of a smaller bound.

``wide`` has up to four events over all values around each boundary, ``deep`` five and six events
over few of them, ``laws`` up to three.

Streams are of one key; many of them are keys of one shard. Not here, because Beam has no rules for
it: late checks other than the usual one, triggers that Beam does not have, sessions with bounds,
with gaps of their own or that touch, and calendar windows, which are fixed windows of other sizes.
Of a dropped element the session that it nearly joined is not compared.

The search goes on where it was: a file keeps which strategies are done in each part. It begins anew
once the sources have changed, or the file is gone. Exit status: 0 if nothing differs so far, 1 if
something does.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.exhaustive.engines import ENGINES
from tests.exhaustive.laws import LAWS
from tests.exhaustive.search import Difference
from tests.exhaustive.strategies import STRATEGIES
from tests.exhaustive.work import BOUNDS, check, chunks, streams_in_all
from tests.support.differential import LAWS as RANDOM_LAWS
from tests.support.differential import Case
from tests.support.generated.shrinking import smallest
from tests.support.laws import Broken
from tests.support.search import Search, search_parser

DECIDING: Final = (
    *("beamlike/machine", "beamlike/model", "beamlike/runtime"),
    *("tests/support/differential.py", "tests/support/machines"),
    *(
        f"tests/exhaustive/{name}.py"
        for name in (
            *("events", "history", "triggers", "rules", "scripts", "engines", "shards"),
            *("streams", "strategies", "search", "laws"),
        )
    ),
)
"""What a result is a result of. After a change of these nothing counts as done."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = search_parser("tests.exhaustive", __doc__)
    parser.set_defaults(progress=Path(tempfile.gettempdir()) / "beamlike-exhaustive.jsonl")
    parser.add_argument(
        "--bounds", nargs="+", choices=BOUNDS, default=BOUNDS, help="which parts (default all)"
    )
    args = parser.parse_args(arguments)
    note = (
        f"{len(STRATEGIES)} strategies, {streams_in_all(args.bounds):,} streams of one key. "
        "Where not all were compared, the same command goes on."
    )
    search = Search(
        *("tests.exhaustive", "streams", (*ENGINES, *LAWS, *RANDOM_LAWS), check, _show),
        sources=DECIDING,
        note=note,
    )
    return search.run(args, chunks(args.bounds))


def _show(found: Difference | Broken[Case]) -> None:
    if isinstance(found, Difference):
        print(found)
        return
    least = smallest(found)
    print(least.case.strategy, least.law, *least.differences[:10], *least.case.script, sep="\n  ")


if __name__ == "__main__":
    # By its own name: processes that share the work look there for what they are to call.
    from tests.exhaustive.__main__ import main as command

    sys.exit(command())
