"""Do host, restart and bundle cut change nothing? ``python -m tests.differential`` asks.

From the top of the checkout. Random scenarios, each with its own windows, trigger, mode,
lateness and data, are checked against every law of `beamlike.testing.differential`: the Spark
shard emits what memory does, with its state packed and unpacked at every step; restarts, the
order inside a bundle and, where it must not matter, its cut change nothing; every element is
emitted, buffered or dropped; and some more.

Then the two machines are compared on many more (``--streams``): some tens of keys at once, each
with random elements of its own, in a Spark shard that either machine steps by turns. Panes, drops,
everything that is remembered and all deadlines have to be those of memory after each step.

What breaks a law is made smaller and printed twice: as a test stream, to be pasted into a test, and
as a transcript, to be saved in a file and replayed with ``beamlike replay``.

Exit status: 0 if every law holds, 1 if not.
"""

import argparse
import contextlib
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from textwrap import indent

from beamlike.errors import TestStreamError
from beamlike.testing.as_code import as_test_stream
from beamlike.testing.differential import (
    EITHER_MACHINE,
    KEYS,
    LAWS,
    ON_SPARK,
    Broken,
    broken_laws,
    broken_on_spark,
    broken_streams,
    case_of,
    streams_of,
)
from beamlike.testing.shrinking import smallest, transcript_of
from beamlike.testing.transcript_writing import scenario_text

CHUNK = 250
"""Scenarios of one progress report; and so many run side by side on Spark."""

PASSES = 25
"""Passes of many keys in a progress report: about as long as a chunk."""

ENOUGH = 5
"""After so many broken laws nothing new is to be learnt from more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scenarios", type=int, default=20_000, metavar="N", help="default 20000")
    parser.add_argument(
        "--streams",
        type=int,
        default=50_000,
        metavar="N",
        help=f"scenarios for the machines, {KEYS} in a pass (default 50000)",
    )
    parser.add_argument("--seed", type=int, default=0, help="another one, other scenarios")
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        metavar="N",
        help="number of the first scenario, and of the first pass (default 0)",
    )
    parser.add_argument(
        "--spark",
        type=int,
        default=0,
        metavar="N",
        help="the first N also run on Spark, in streaming queries (default 0)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the work")
    args = parser.parse_args(arguments)

    started = time.monotonic()
    numbers = range(args.first, args.first + args.scenarios)
    passes = range(args.first, args.first + math.ceil(args.streams / KEYS))
    chunks: list[Chunk] = [
        *((_check_chunk, numbers[at : at + CHUNK]) for at in range(0, len(numbers), CHUNK)),
        *((_check_passes, passes[at : at + PASSES]) for at in range(0, len(passes), PASSES)),
    ]
    applied: Counter[str] = Counter()
    broken: list[Broken] = []
    done = 0
    for size, found, counts in _shown(_checked(args.seed, chunks, args.jobs), len(chunks)):
        done += size
        broken += found
        applied += counts
        if len(broken) >= ENOUGH:
            break
    on_spark = numbers[: args.spark]
    if on_spark and len(broken) < ENOUGH:
        broken += _on_spark(args.seed, on_spark)
        applied[ON_SPARK] = len(on_spark)

    for law in (*LAWS, ON_SPARK):
        if applied[law]:
            print(f"{applied[law]:>8}  {law}")
    for one in broken[:ENOUGH]:
        _show(smallest(one))
    verdict = "every law holds" if not broken else f"{len(broken)} broken"
    print(
        f"\n{done} scenarios of seed {args.seed} in {time.monotonic() - started:.0f} s: {verdict}"
    )
    return int(bool(broken))


Checked = tuple[int, list[Broken], Counter[str]]
"""Of a chunk: how many scenarios, what they break, and how often each law applied."""

Chunk = tuple[Callable[[int, range], Checked], range]


def _check_chunk(seed: int, numbers: range) -> Checked:
    applied: Counter[str] = Counter()
    broken = [one for number in numbers for one in broken_laws(case_of(seed, number), applied)]
    return len(numbers), broken, applied


def _check_passes(seed: int, numbers: range) -> Checked:
    broken = [one for number in numbers for one in broken_streams(streams_of(seed, number))]
    return KEYS * len(numbers), broken, Counter({EITHER_MACHINE: KEYS * len(numbers)})


def _check(seed: int, chunk: Chunk) -> Checked:
    check, numbers = chunk
    return check(seed, numbers)


def _checked(seed: int, chunks: Sequence[Chunk], jobs: int) -> Iterator[Checked]:
    if jobs <= 1:
        yield from (_check(seed, chunk) for chunk in chunks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_check, [seed] * len(chunks), chunks)


def _on_spark(seed: int, numbers: range) -> list[Broken]:
    from beamlike.cli.quiet import quiet_session
    from beamlike.hosts.spark.replay import close_replayer

    broken = []
    print("starting Spark", file=sys.stderr, flush=True)
    with quiet_session("beamlike differential") as spark:
        for at in range(0, len(numbers), CHUNK):
            part = numbers[at : at + CHUNK]
            broken += broken_on_spark([case_of(seed, number) for number in part], spark)
            print(f"{at + len(part)} scenarios on Spark", file=sys.stderr, flush=True)
        close_replayer()
    return broken


def _shown(chunks: Iterable[Checked], total: int) -> Iterable[Checked]:
    """The chunks, and how far they are on stderr."""
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        return _counted(chunks)
    console = Console(stderr=True)
    if not console.is_terminal:
        return _counted(chunks)
    return track(chunks, "Checking", total, console=console)


def _counted(chunks: Iterable[Checked]) -> Iterator[Checked]:
    done = 0
    for chunk in chunks:
        done += chunk[0]
        print(f"{done} scenarios", file=sys.stderr, flush=True)
        yield chunk


def _show(broken: Broken) -> None:
    seed, name = broken.case.name.split(":")
    number, *streams = name.split()
    what, counts = ("pass", f"0 --streams {KEYS}") if streams else ("scenario", "1 --streams 0")
    print(f"\n{what} {number} of seed {seed} breaks a law: {broken.law}")
    print(
        f"again: python -m tests.differential --seed {seed} --first {number} --scenarios {counts}\n"
    )
    for difference in broken.differences[:10]:
        print(f"  {difference}")
    case = broken.case
    # Elements of many keys at once may bring windows along, which no test stream says.
    with contextlib.suppress(TestStreamError):
        code = as_test_stream(case.script, case.strategy, case.machine.combine)
        print(f"\nas a test stream:\n\n{indent(code, '    ')}")
    print(f"\n{scenario_text(transcript_of(broken))}")


if __name__ == "__main__":
    sys.exit(main())
