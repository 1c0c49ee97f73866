"""Laws of random things, checked chunk by chunk: by processes, in a file that outlives the run, and
as a text. `tests.differential` and `tests.stateful` are commands of this.
"""

import math
import platform
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import attrs

from tests.exhaustive.progress import Lines, digest_of
from tests.support.commands import command_parser

B = TypeVar("B")

CHUNK: Final = 250
"""Scenarios of one progress report; and so many run side by side on Spark."""

ENOUGH: Final = 5
"""After so many broken laws nothing new is to be learnt from more."""

SOURCES: Final = ("beamlike", "testing")
"""What a result is a result of."""


@attrs.frozen
class Chunk:
    """Some scenarios of a part, by their numbers, or some passes of many keys."""

    part: str
    seed: int
    numbers: range

    def __str__(self) -> str:
        return f"{self.part}/{self.seed}/{self.numbers.start}-{self.numbers.stop - 1}"


@attrs.frozen
class Checked:
    """How many scenarios of a chunk were compared, and how often each law applied."""

    chunk: str
    scenarios: int
    applied: Mapping[str, int]
    seconds: float


@attrs.frozen
class Kept:
    """The chunks in which every law holds, in a file to which each is added."""

    lines: Lines

    @classmethod
    def at(cls, path: Path) -> Self:
        return cls(Lines.at(path, digest_of(SOURCES)))

    def add(self, checked: Checked) -> None:
        self.lines.add(attrs.asdict(checked))

    def checked(self) -> dict[str, Checked]:
        found = [Checked(**line) for line in self.lines if "chunk" in line]
        return {one.chunk: one for one in found}


def parser_of(command: str, description: str | None, things: str) -> ArgumentParser:
    """The arguments of a command that checks laws of random scenarios, or of other things."""
    parser = command_parser(command, description)
    add = parser.add_argument
    add(f"--{things}", type=int, default=20_000, metavar="N", help="default 20000")
    add("--seed", type=int, default=0, help=f"another one, other {things}")
    add("--first", type=int, default=0, metavar="N", help="number of the first (default 0)")
    on_spark = "the first N also run on Spark, in streaming queries (default 0)"
    add("--spark", type=int, default=0, metavar="N", help=on_spark)
    add("--jobs", type=int, default=1, help="processes that share the work")
    add("--minutes", type=float, default=math.inf, help="stop after so long")
    add("--progress", type=Path, metavar="FILE", help="what is done already")
    add("--report", type=Path, metavar="FILE", help="write the result there, such as LATEST.md")
    return parser


def in_processes(
    check: Callable[[Chunk], tuple[Checked, list[B]]], chunks: Sequence[Chunk], jobs: int
) -> Iterator[tuple[Checked, list[B]]]:
    """What was checked of each chunk, and what breaks a law."""
    if jobs <= 1:
        yield from map(check, chunks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(check, chunks)
        finally:
            pool.shutdown(cancel_futures=True)  # when the time is up, what has not begun is left


def on_spark_in_parts(
    things: str, numbers: range, broken_of: Callable[[range, Any], list[B]]
) -> list[B]:
    """What breaks the law of Spark, some hundred side by side in one query."""
    from beamlike.cli.silence_spark import quiet_session

    broken = []
    print("starting Spark", file=sys.stderr, flush=True)
    with quiet_session("beamlike laws") as spark:
        for index in range(0, len(numbers), CHUNK):
            part = numbers[index : index + CHUNK]
            broken += broken_of(part, spark)
            print(f"{index + len(part)} {things} on Spark", file=sys.stderr, flush=True)
    return broken


@attrs.frozen
class Search:
    """A command that looks for what breaks a law, and says what it looked at.

    Attributes:
        command: Its module.
        things: What the laws are of, in the plural.
        laws: All of them, that of Spark at last.
        check: Checks a chunk.
        show: Prints what breaks a law, made smaller.
    """

    command: str
    things: str
    laws: Sequence[str]
    check: Callable[[Chunk], tuple[Checked, list[Any]]]
    show: Callable[[Any], None]

    def run(
        self,
        args: Namespace,
        chunks: Sequence[Chunk],
        broken_on_spark: Callable[[range, Any], list[Any]],
    ) -> int:
        """Check the chunks that are not done yet, and some things on Spark; the exit status."""
        started = time.monotonic()
        kept = None if args.progress is None else Kept.at(args.progress)
        checked = {} if kept is None else kept.checked()
        todo = [chunk for chunk in chunks if str(chunk) not in checked]
        broken: list[Any] = []
        for done, found in self._shown(in_processes(self.check, todo, args.jobs), len(todo)):
            broken += found
            checked[done.chunk] = done
            if kept is not None and not found:
                kept.add(done)
            if len(broken) >= ENOUGH or time.monotonic() > started + 60 * args.minutes:
                break
        on_spark = range(args.first, args.first + args.spark)
        if on_spark and len(broken) < ENOUGH:
            broken += on_spark_in_parts(self.things, on_spark, broken_on_spark)
            law, count = self.laws[-1], len(on_spark)
            checked[law] = Checked(law, count, {law: count}, 0)

        for law, count in applied_laws(checked, self.laws).items():
            print(f"{count:>8}  {law}")
        for one in broken[:ENOUGH]:
            self.show(one)
        verdict = "every law holds" if not broken else f"{len(broken)} broken"
        compared = sum(done.scenarios for done in checked.values())
        took = time.monotonic() - started
        print(f"\n{compared} {self.things} of seed {args.seed} in {took:.0f} s: {verdict}")
        if args.report is not None:
            text = report(checked, verdict, self.command, self.laws)
            args.report.write_text(text, encoding="utf-8")
        return int(bool(broken))

    def _shown(self, chunks: Iterable[Any], total: int) -> Iterable[Any]:
        """The chunks, and how far they are on stderr."""
        try:
            from rich.console import Console
            from rich.progress import track
        except ImportError:
            return self._counted(chunks)
        console = Console(stderr=True)
        if not console.is_terminal:
            return self._counted(chunks)
        return track(chunks, "Checking", total, console=console)

    def _counted(self, chunks: Iterable[Any]) -> Iterator[Any]:
        done = 0
        for chunk in chunks:
            done += chunk[0].scenarios
            print(f"{done} {self.things}", file=sys.stderr, flush=True)
            yield chunk


def applied_laws(checked: Mapping[str, Checked], laws: Iterable[str]) -> dict[str, int]:
    """How often each law was checked."""
    applied = Counter[str]()
    for one in checked.values():
        applied.update(one.applied)
    return {law: applied[law] for law in laws if applied[law]}


def report(checked: Mapping[str, Checked], verdict: str, command: str, laws: Iterable[str]) -> str:
    """What was compared, part by part and law by law."""
    parts: dict[str, list[Checked]] = {}
    for one in checked.values():
        parts.setdefault(one.chunk.partition("/")[0], []).append(one)
    counts = [
        f"| {part} | {sum(one.scenarios for one in them):,} | "
        f"{sum(one.seconds for one in them):,.0f} |"
        for part, them in parts.items()
    ]
    return "\n".join(
        [
            "# The latest comparison",
            "",
            f"`python -m {command}`, {datetime.now(UTC).date()}; "
            f"Python {platform.python_version()}. {verdict[0].upper()}{verdict[1:]}.",
            "",
            "| part | scenarios | seconds of work |",
            "|---|---|---|",
            *counts,
            "",
            "| law | scenarios |",
            "|---|---|",
            *(f"| {law} | {count:,} |" for law, count in applied_laws(checked, laws).items()),
            "",
        ]
    )
