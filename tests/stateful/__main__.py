"""Does no host differ over states and timers? ``python -m tests.stateful`` asks.

From the top of the checkout. Random functions with states of all kinds and timers of both clocks,
over random streams in random windows, are checked against each law of `tests.stateful.laws`: the
memory host, the local host, rows in a shard and the layers of the Spark host bring out the same,
and so does a plain model of the rules; restarts and the cut of bundles change nothing.

What breaks a law is made smaller and printed. With ``--progress`` the work goes on where it was,
and begins anew once the sources have changed. Exit status: 0 if every law holds, 1 if not.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.stateful.laws import LAWS, ON_SPARK
from tests.stateful.programs import Program, program_of
from tests.stateful.smaller import smallest
from tests.support.laws import Broken
from tests.support.search import Chunk, Search, chunks_of, random_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    args = random_parser("tests.stateful", __doc__, "programs").parse_args(arguments)

    def on_spark(part: range, spark: Any) -> list[Broken[Program]]:
        from tests.stateful.on_spark import broken_on_spark

        return broken_on_spark([program_of(args.seed, it) for it in part], spark)

    search = Search("tests.stateful", "programs", (*LAWS, ON_SPARK), _check, _show)
    numbers = range(args.first, args.first + args.programs)
    return search.run(args, chunks_of("programs", args.seed, numbers), on_spark)


def _check(chunk: Chunk, applied: Counter[str]) -> tuple[int, list[Broken[Program]]]:
    programs = (program_of(chunk.seed, number) for number in chunk.numbers)
    broken = [found for program in programs for found in LAWS.broken(program, applied)]
    return len(chunk.numbers), broken


def _show(broken: Broken[Program]) -> None:
    seed, number = broken.case.name.split(":")
    print(f"\nprogram {number} of seed {seed} breaks a law: {broken.law}")
    print(f"again: python -m tests.stateful --seed {seed} --first {number} --programs 1\n")
    least = smallest(broken)
    for difference in least.differences[:10]:
        print(f"  {difference}")
    program = least.case
    print(f"\n  {program.kind.__name__}({program.name!r}, {program.lateness}, {program.fails})")
    print(f"  {program.window_fn}, allowed lateness {program.lateness} ms")
    for step in program.script:
        print(f"  {step}")


if __name__ == "__main__":
    # By its own name: processes that share the work look there for what they are to call.
    from tests.stateful.__main__ import main as command

    sys.exit(command())
