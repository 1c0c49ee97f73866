"""Do host, restart and bundle cut change nothing? ``python -m tests.differential`` asks.

From the top of the checkout. Random scenarios, each with its own windows, trigger, mode,
lateness and data, are checked against every law of `tests.support.differential`: the Spark
shard emits what memory does, with its state packed and unpacked at every step; restarts, the
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
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent

from beamlike.errors import TestStreamError
from beamlike.testing.scenarios.writing import scenario_text
from beamlike.testing.streams.as_code import as_test_stream
from tests.differential.kept import (
    CHUNK,
    ENOUGH,
    Checked,
    Chunk,
    Kept,
    applied_laws,
    in_processes,
    on_spark_in_parts,
    parser_of,
    report,
)
from tests.support.differential import (
    EITHER_MACHINE,
    KEYS,
    ON_LOCAL,
    ON_SPARK,
    Broken,
    broken_laws,
    broken_on_spark,
    broken_streams,
    case_of,
    differences,
    streams_of,
)
from tests.support.generated.shrinking import smallest, transcript_of

PASSES = 25
"""Passes of many keys in a progress report: about as long as a chunk."""

PARTS = ("local", "laws", "streams")
"""Scenarios on memory and local, the same under all laws, and streams for the two machines."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = parser_of("tests.differential", __doc__, "scenarios")
    parser.add_argument(
        "--streams",
        type=int,
        default=50_000,
        metavar="N",
        help=f"scenarios for the machines, {KEYS} in a pass (default 50000)",
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="default all")
    args = parser.parse_args(arguments)

    started = time.monotonic()
    kept = None if args.progress is None else Kept.at(args.progress)
    checked = {} if kept is None else kept.checked()
    numbers = range(args.first, args.first + args.scenarios)
    passes = range(args.first, args.first + math.ceil(args.streams / KEYS))
    chunks = [
        chunk
        for part in args.parts
        for chunk in _chunks(part, args.seed, passes if part == "streams" else numbers)
        if str(chunk) not in checked
    ]
    broken: list[Broken] = []
    for done, found in _shown(in_processes(_check, chunks, args.jobs), len(chunks)):
        broken += found
        checked[done.chunk] = done
        if kept is not None and not found:
            kept.add(done)
        if len(broken) >= ENOUGH or time.monotonic() > started + 60 * args.minutes:
            break
    on_spark = numbers[: args.spark]
    if on_spark and len(broken) < ENOUGH:
        broken += on_spark_in_parts(
            "scenarios",
            on_spark,
            lambda part, spark: broken_on_spark([case_of(args.seed, it) for it in part], spark),
        )
        checked[ON_SPARK] = Checked(ON_SPARK, len(on_spark), {ON_SPARK: len(on_spark)}, 0)

    for law, count in applied_laws(checked).items():
        print(f"{count:>8}  {law}")
    for one in broken[:ENOUGH]:
        _show(smallest(one))
    verdict = "every law holds" if not broken else f"{len(broken)} broken"
    scenarios = sum(done.scenarios for done in checked.values())
    took = time.monotonic() - started
    print(f"\n{scenarios} scenarios of seed {args.seed} in {took:.0f} s: {verdict}")
    if args.report is not None:
        args.report.write_text(report(checked, verdict), encoding="utf-8")
    return int(bool(broken))


Found = tuple[Checked, list[Broken]]
"""What was checked of a chunk, and what breaks a law."""


def _chunks(part: str, seed: int, numbers: range) -> Iterator[Chunk]:
    each = PASSES if part == "streams" else CHUNK
    for index in range(0, len(numbers), each):
        yield Chunk(part, seed, numbers[index : index + each])


def _check(chunk: Chunk) -> Found:
    started = time.monotonic()
    scenarios, broken, applied = _CHECKS[chunk.part](chunk)
    took = round(time.monotonic() - started, 3)
    return Checked(str(chunk), scenarios, dict(applied), took), broken


def _check_local(chunk: Chunk) -> tuple[int, list[Broken], Counter[str]]:
    broken = []
    for number in chunk.numbers:
        case = case_of(chunk.seed, number, thorough=True)
        if found := differences(case, ON_LOCAL):
            broken.append(Broken(case, ON_LOCAL, tuple(found)))
    count = len(chunk.numbers)
    return count, broken, Counter({ON_LOCAL: count})


def _check_laws(chunk: Chunk) -> tuple[int, list[Broken], Counter[str]]:
    applied: Counter[str] = Counter()
    cases = (case_of(chunk.seed, number) for number in chunk.numbers)
    broken = [broken_law for case in cases for broken_law in broken_laws(case, applied)]
    del applied[ON_LOCAL]  # these scenarios are counted in a part of their own
    return len(chunk.numbers), broken, applied


def _check_streams(chunk: Chunk) -> tuple[int, list[Broken], Counter[str]]:
    cases = (streams_of(chunk.seed, number) for number in chunk.numbers)
    broken = [broken_stream for case in cases for broken_stream in broken_streams(case)]
    count = KEYS * len(chunk.numbers)
    return count, broken, Counter({EITHER_MACHINE: count})


_CHECKS = {"local": _check_local, "laws": _check_laws, "streams": _check_streams}


def _shown(chunks: Iterable[Found], total: int) -> Iterable[Found]:
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


def _counted(chunks: Iterable[Found]) -> Iterator[Found]:
    done = 0
    for chunk in chunks:
        done += chunk[0].scenarios
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
    # By its own name: processes that share the work look there for what they are to call.
    from tests.differential.__main__ import main as command

    sys.exit(command())
