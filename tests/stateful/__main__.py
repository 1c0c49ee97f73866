"""Does no host differ over states and timers? ``python -m tests.stateful`` asks.

From the top of the checkout. Random functions with states of all kinds and timers of both clocks,
over random streams in random windows, are checked against each law of `tests.stateful.laws`: the
memory host, the local host, rows in a shard and the layers of the Spark host bring out the same,
and so does a plain model of the rules; restarts and the cut of bundles change nothing.

What breaks a law is made smaller and printed. With ``--progress`` the work goes on where it was,
and begins anew once the sources have changed. Exit status: 0 if every law holds, 1 if not.
"""

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.differential.kept import Checked, Chunk, Kept
from tests.stateful.kept import ON_SPARK, applied_laws, report
from tests.stateful.laws import Broken, broken_laws
from tests.stateful.programs import program_of
from tests.stateful.smaller import smallest

CHUNK = 250
"""Programs of one progress report."""

ENOUGH = 5
"""After so many broken laws nothing new is to be learnt from more."""

Found = tuple[Checked, list[Broken]]
"""What was checked of a chunk, and what breaks a law."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stateful",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--programs", type=int, default=20_000, metavar="N", help="default 20000")
    parser.add_argument("--seed", type=int, default=0, help="another one, other programs")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first")
    parser.add_argument(
        "--spark",
        type=int,
        default=0,
        metavar="N",
        help="the first N also run on Spark, in streaming queries (default 0)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the work")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so long")
    parser.add_argument("--progress", type=Path, metavar="FILE", help="what is done already")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write the result there, such as LATEST.md"
    )
    args = parser.parse_args(arguments)

    started = time.monotonic()
    kept = None if args.progress is None else Kept.at(args.progress)
    checked = {} if kept is None else kept.checked()
    numbers = range(args.first, args.first + args.programs)
    chunks = [
        chunk
        for index in range(0, len(numbers), CHUNK)
        if str(chunk := Chunk("programs", args.seed, numbers[index : index + CHUNK])) not in checked
    ]
    broken: list[Broken] = []
    for done, found in _checked(chunks, args.jobs):
        broken += found
        checked[done.chunk] = done
        if kept is not None and not found:
            kept.add(done)
        programs = sum(one.scenarios for one in checked.values())
        print(f"{programs} programs", file=sys.stderr, flush=True)
        if len(broken) >= ENOUGH or time.monotonic() > started + 60 * args.minutes:
            break
    if args.spark and len(broken) < ENOUGH:
        on_spark = numbers[: args.spark]
        broken += _on_spark(args.seed, on_spark)
        checked[ON_SPARK] = Checked(ON_SPARK, 0, {ON_SPARK: len(on_spark)}, 0)

    for law, count in applied_laws(checked).items():
        print(f"{count:>8}  {law}")
    for one in broken[:ENOUGH]:
        _show(one)
    verdict = "every law holds" if not broken else f"{len(broken)} broken"
    programs = sum(done.scenarios for done in checked.values())
    took = time.monotonic() - started
    print(f"\n{programs} programs of seed {args.seed} in {took:.0f} s: {verdict}")
    if args.report is not None:
        args.report.write_text(report(checked, verdict), encoding="utf-8")
    return int(bool(broken))


def _check(chunk: Chunk) -> Found:
    started = time.monotonic()
    applied: Counter[str] = Counter()
    programs = (program_of(chunk.seed, number) for number in chunk.numbers)
    broken = [broken_law for program in programs for broken_law in broken_laws(program, applied)]
    took = round(time.monotonic() - started, 3)
    return Checked(str(chunk), len(chunk.numbers), dict(applied), took), broken


def _checked(chunks: Sequence[Chunk], jobs: int) -> Iterator[Found]:
    if jobs <= 1:
        yield from map(_check, chunks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(_check, chunks)
        finally:
            pool.shutdown(cancel_futures=True)  # when the time is up, what has not begun is left


def _on_spark(seed: int, numbers: range) -> list[Broken]:
    from beamlike.cli.silence_spark import quiet_session
    from tests.stateful.on_spark import broken_on_spark

    broken = []
    print("starting Spark", file=sys.stderr, flush=True)
    with quiet_session("beamlike stateful") as spark:
        for index in range(0, len(numbers), CHUNK):
            part = numbers[index : index + CHUNK]
            broken += broken_on_spark([program_of(seed, number) for number in part], spark)
            print(f"{index + len(part)} programs on Spark", file=sys.stderr, flush=True)
    return broken


def _show(broken: Broken) -> None:
    seed, number = broken.program.name.split(":")
    print(f"\nprogram {number} of seed {seed} breaks a law: {broken.law}")
    print(f"again: python -m tests.stateful --seed {seed} --first {number} --programs 1\n")
    least = smallest(broken)
    for difference in least.differences[:10]:
        print(f"  {difference}")
    program = least.program
    print(f"\n  {program.kind.__name__}({program.name!r}, {program.lateness}, {program.fails})")
    print(f"  {program.window_fn}, allowed lateness {program.lateness} ms")
    for step in program.script:
        print(f"  {step}")


if __name__ == "__main__":
    # By its own name: processes that share the work look there for what they are to call.
    from tests.stateful.__main__ import main as command

    sys.exit(command())
