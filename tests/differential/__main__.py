"""Do host, restart and bundle cut change nothing? ``python -m tests.differential`` asks.

From the top of the checkout. Random scenarios, each with its own windows, trigger, mode,
lateness and data, are checked against every law of `tests.support.differential`: the Spark
shard says and remembers what memory does, with its state packed at every step; restarts, the
order inside a bundle and, where it must not matter, its cut change nothing; every element is
emitted, buffered or dropped; and some more. Some laws cost much and are checked of one scenario in
three; but each scenario runs on the hosts memory and local.

Then the two machines are compared on many more (``--streams``): some tens of keys at once, each
with random elements of its own, in a Spark shard that either machine steps by turns. Panes, drops,
everything that is remembered and all deadlines have to be those of memory after each step.

What breaks a law is made smaller and printed twice: as a test stream, to be pasted into a test, and
as a transcript, to be saved in a file and replayed with ``beamlike replay``.

With ``--progress`` the work goes on where it was, and begins anew once the sources have changed.
Exit status: 0 if every law holds, 1 if not.
"""

import contextlib
import math
import sys
from collections import Counter
from collections.abc import Sequence
from textwrap import indent

from beamlike.errors import TestStreamError
from beamlike.testing.scenarios.writing import scenario_text
from beamlike.testing.streams.as_code import as_test_stream
from tests.support.differential import (
    EITHER_MACHINE,
    KEYS,
    LAWS,
    ON_LOCAL,
    ON_SPARK,
    Case,
    broken_on_spark,
    case_of,
    streams_of,
)
from tests.support.generated.shrinking import smallest, transcript_of
from tests.support.laws import Broken
from tests.support.search import CHUNK, Chunk, Search, chunks_of, random_parser

PASSES = 25
"""Passes of many keys in a progress report: about as long as a chunk."""

PARTS = ("local", "laws", "streams")
"""Scenarios on memory and local, the same under all laws, and streams for the two machines."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = random_parser("tests.differential", __doc__, "scenarios")
    parser.add_argument(
        "--streams",
        type=int,
        default=50_000,
        metavar="N",
        help=f"scenarios for the machines, {KEYS} in a pass (default 50000)",
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="default all")
    args = parser.parse_args(arguments)

    numbers = range(args.first, args.first + args.scenarios)
    passes = range(args.first, args.first + math.ceil(args.streams / KEYS))
    chunks = [
        chunk
        for part in args.parts
        for chunk in (
            chunks_of(part, args.seed, passes, PASSES)
            if part == "streams"
            else chunks_of(part, args.seed, numbers, CHUNK)
        )
    ]
    search = Search("tests.differential", "scenarios", (*LAWS, ON_SPARK), _check, _show)
    return search.run(
        args,
        chunks,
        lambda part, spark: broken_on_spark([case_of(args.seed, it) for it in part], spark),
    )


def _check(chunk: Chunk, applied: Counter[str]) -> tuple[int, list[Broken[Case]]]:
    broken: list[Broken[Case]] = []
    for number in chunk.numbers:
        match chunk.part:
            case "local":
                case = case_of(chunk.seed, number, thorough=True)
                broken += LAWS.broken(case, applied, [ON_LOCAL])
            case "laws":
                # On local these scenarios are counted in a part of their own.
                laws = [law for law in LAWS if law != ON_LOCAL]
                broken += LAWS.broken(case_of(chunk.seed, number), applied, laws)
            case "streams":
                broken += LAWS.broken(streams_of(chunk.seed, number), applied, [EITHER_MACHINE])
    if chunk.part != "streams":
        return len(chunk.numbers), broken
    applied[EITHER_MACHINE] *= KEYS
    return KEYS * len(chunk.numbers), broken


def _show(found: Broken[Case]) -> None:
    broken = smallest(found)
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
    # By its own name: processes that share the work look there for what they are to call.
    from tests.differential.__main__ import main as command

    sys.exit(command())
