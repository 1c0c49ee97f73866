"""Does every small stream come out as the rules say? ``python -m tests.exhaustive`` asks.

From the top of the checkout. For each of several hundred strategies all streams up to a bound are
played: elements at the few times around each boundary, in every cut into bundles, between moves of
the watermark and of the clock. What comes out of the reference machine and of the runtime on the
local host (`engines.ENGINES`) is compared with a model (`rules`) that was written from the rules
alone and reads the whole history for every question. Then the laws of `laws` are checked on the
streams of a smaller bound.

``wide`` has up to four events over all values around each boundary, ``deep`` five and six events
over few of them, ``laws`` up to three.

Streams are of one key. Those of two keys are a law: the elements of each stream are dealt to two
keys in every way. Not here, because Beam has no rules for it: late checks other than the usual
one, triggers that Beam does not have, sessions with bounds, with gaps of their own or that touch,
and calendar windows, which are fixed windows of other sizes. Of a dropped element the session that
it nearly joined is not compared.

The search goes on where it was: a file keeps which pieces are done, and begins anew once the
sources have changed. Exit status: 0 if nothing differs so far, 1 if something does.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from tests.exhaustive.progress import Done, Piece, Progress
from tests.exhaustive.report import report
from tests.exhaustive.work import BOUNDS, do, pieces
from tests.support.commands import command_parser

ENOUGH = 5
"""After so many pieces that differ nothing new is to be learnt from more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    args = _parser().parse_args(arguments)
    bounds = tuple(args.bounds)
    progress = Progress.at(args.progress, fresh=args.fresh)
    known = progress.done()
    todo = [piece for piece in pieces(bounds) if str(piece) not in known]
    todo = todo if args.pieces is None else todo[: args.pieces]
    until = None if args.minutes is None else time.monotonic() + 60 * args.minutes
    bad: list[Done] = []
    for number, result in enumerate(results(todo, args.jobs, until), 1):
        progress.add(result)
        if result.differences:
            bad.append(result)
            print("\n".join(result.differences), flush=True)
        if number % 100 == 0:
            print(f"{number} of {len(todo)} pieces", file=sys.stderr, flush=True)
        if len(bad) >= ENOUGH:
            break
    text = report(progress.done(), bounds, bad)
    print(text)
    if args.report is not None:
        args.report.write_text(text, encoding="utf-8")
    return int(bool(bad))


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("tests.exhaustive", __doc__)
    parser.add_argument(
        "--progress",
        type=Path,
        default=Path(tempfile.gettempdir()) / "beamlike-exhaustive.jsonl",
        metavar="FILE",
        help="what is done already (default %(default)s)",
    )
    parser.add_argument("--fresh", action="store_true", help="begin anew")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the work")
    parser.add_argument("--minutes", type=float, metavar="M", help="stop after so long")
    parser.add_argument("--pieces", type=int, metavar="N", help="do at most so many pieces")
    parser.add_argument(
        "--bounds", nargs="+", choices=BOUNDS, default=BOUNDS, help="which parts (default all)"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write the result there, such as LATEST.md"
    )
    return parser


def results(todo: Sequence[Piece], jobs: int, until: float | None) -> Iterator[Done]:
    """What comes of the pieces, until the time is up."""

    def in_time() -> bool:
        return until is None or time.monotonic() < until

    waiting = iter(todo)
    if jobs <= 1:
        while in_time():
            for piece in islice(waiting, 1):
                yield do(piece)
                break
            else:
                return
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running: set[Future[Done]] = {pool.submit(do, one) for one in islice(waiting, 2 * jobs)}
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            if in_time():
                running |= {pool.submit(do, one) for one in islice(waiting, len(ended))}
            yield from (one.result() for one in ended)


if __name__ == "__main__":
    sys.exit(main())
